"""What people read, for results that the other tests of the command line don't meet."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import pytest

from nli_faith import display
from nli_faith.files import Progress
from nli_faith.progress import Meter
from nli_faith.summary import Statistics, make_summary
from nli_faith.types import AnswerScore, ClaimVerdict

IDENTITY = {"model": "m[bold]", "device": "cpu", "dtype": "fp32", "attention": "none"}
CLAIM = ClaimVerdict("It is.", None, 0, 6, "claim", "supported", 0.9, 0.9, 0.05, 0.05, True, 1, "It is so.", 0, 9, True)
SCORE = AnswerScore(1.0, True, "scored", None, 1, 1, 1, 0, 0, 0.9, (CLAIM,))


def summary(*scores: AnswerScore, by: str | None = None) -> dict:
    whole = Statistics(seconds=2.0)
    whole.count(scores, None if by is None else range(len(scores)))
    return make_summary(whole, IDENTITY, by)


def shown(capsys, show, *words) -> str:
    show(*words)
    return capsys.readouterr().out


def test_a_two_class_model_tells_no_garbled_claims(capsys):
    claim = replace(CLAIM, verdict="unsupported", p_neutral=None, p_contradiction=None, conflict=None)
    score = replace(SCORE, n_supported=0, n_contradicted=None, n_unsupported=1, faithfulness=0.0, faithful=False)
    out = shown(capsys, display.show_summary, summary(replace(score, claims=(claim,))))
    assert "1 claim without support; this two-class model can't tell" in out and "contradicted " not in out
    out = shown(capsys, display.show_check, "It is.", replace(score, claims=(claim,)))
    assert out.startswith("? unsupported entailment 0.90\n") and "nearest (chunk 1): It is so." in out


def test_good_and_empty_runs(capsys):
    assert "Every claim is supported by at least one chunk." in shown(capsys, display.show_summary, summary(SCORE))
    out = shown(capsys, display.show_summary, summary())
    assert "No claim was scored." in out and "none" in out


def test_other_languages_and_names_that_look_like_markup(capsys):
    numbers = summary(SCORE) | {"unmeasured_language": 2}
    out = shown(capsys, display.show_summary, numbers)
    assert "2 answers not in English; m[bold] was not measured on them." in out and "(m[bold], cpu" in out
    out = shown(capsys, display.show_summary, numbers | {"model": "nli-faith-xsmall"})
    assert "2 answers not in English; nli-faith-xsmall was measured on English only." in out


def test_many_groups(capsys, monkeypatch):
    monkeypatch.setattr("nli_faith.summary.GROUPS_SHOWN", 3)
    out = shown(capsys, display.show_summary, summary(*[SCORE] * 5, by="[x]"))
    assert "[x]" in out and "and 2 smaller groups" in out


def test_conflicts_and_errors(capsys):
    assert "another chunk contradicts it" in shown(capsys, display.show_check, "It is.", SCORE)
    failed = AnswerScore(None, None, "error", "The cell is\x1b odd.", 0, 0, 0, None, 0, None)
    assert shown(capsys, display.show_check, "", failed) == "error: The cell is\N{REPLACEMENT CHARACTER} odd.\n"


def test_a_doctor_who_finds_something(capsys):
    checks = [{"name": "precision", "ok": False, "detail": "off"}]
    findings = {"facts": {"device": "cpu"}, "checks": checks, "advice": ["Rest."], "ok": False}
    out = shown(capsys, display.show_doctor, findings)
    assert "✗ precision: off" in out and "→ Rest." in out


def test_json_is_json_whatever_the_stream_holds(monkeypatch):
    for encoding in ("utf-8", "ascii"):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding))
        display.show_json({"text": "ü\U0001f600"})
        sys.stdout.flush()
        assert json.loads(raw.getvalue().decode(encoding)) == {"text": "ü\U0001f600"}


@pytest.mark.parametrize(("seconds", "said"), [(12.4, "12 s"), (119.0, "119 s"), (600, "10 min"), (9000, "2.5 h")])
def test_durations(seconds, said):
    assert display.duration(seconds) == said


# Progress --------------------------------------------------------------------------------------------------------


def at(rows: int, seconds: float, total: int | None = 1000, share: float | None = None, resumed: int = 0) -> Progress:
    return Progress(rows, resumed, total, rows / total if total else share, seconds, rows * 3)


def test_lines_of_progress(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("nli_faith.progress.time.monotonic", lambda: now[0])
    with Meter() as meter:
        meter.advance(at(100, 10.0))
        assert capsys.readouterr().err == ""
        now[0] = 31.0
        meter.advance(at(400, 40.0))
    assert capsys.readouterr().err == "400 rows (40 %), 10.0 answers/s, 30 pairs/s, about 60 s left\n"


def test_what_is_not_known_is_not_said(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("nli_faith.progress.time.monotonic", lambda: now[0])
    meter = Meter()
    for seconds, share in ((31.0, None), (62.0, 0.5), (93.0, 0.75)):
        now[0] = seconds
        meter.advance(at(100, seconds, None, share))
    lines = capsys.readouterr().err.splitlines()
    assert "%" not in lines[0] and "left" not in lines[0]
    assert "(50 %)" in lines[1] and "left" not in lines[1]
    assert "(75 %)" in lines[2] and "about 31 s left" in lines[2]


def test_quiet_means_quiet(capsys):
    meter = Meter(quiet=True)
    meter.log("A line.")
    meter.advance(at(1, 1.0))
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Meter() as meter:
        meter.advance(at(500, 10.0))
        meter.log("A line \x1b]0;title\x07 between.")
        meter._bar.refresh()
        meter.advance(at(600, 70.0))  # a minute later: the speed of half a minute ago is not forgotten
        assert meter._bar.tasks[0].fields["rate"].endswith("about 4 min left")
    assert "500 rows" in stream.getvalue() and "A line" in stream.getvalue() and "\x1b]0;" not in stream.getvalue()
