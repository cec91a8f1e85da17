"""The edits benchmark: texts that hold what it needs, edits of one place each, figures that can be done by hand."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from nli_faith import Scorer
from nli_faith.claims import split_claims

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import edits  # noqa: E402

PASSAGES = edits.read_passages()
SENTENCES = edits.make_sentences(PASSAGES)


def made(kind: str, sentence: str, text: str = "", names=()) -> list[str]:
    passage = edits.Passage("", text or sentence, (sentence,), names)
    return [sentence[:a] + new + sentence[b:] for a, b, new in edits.RULES[kind](passage, sentence)]


def test_the_texts_are_many_varied_and_short():
    assert len(PASSAGES) >= 60
    assert len({passage.domain for passage in PASSAGES}) == len(PASSAGES)
    assert all(len(passage.text) < 1000 for passage in PASSAGES)
    for passage in PASSAGES:
        assert len(passage.supported) >= 4
        for name in (name for group in passage.names for name in group):
            assert name in passage.text
        assert all(sentence not in passage.text for sentence in passage.supported), "a supported sentence is a paraphrase"


def test_every_sentence_is_one_claim():
    for sentence in SENTENCES:
        assert [unit.kind for unit in split_claims(sentence.text)] == ["claim"], sentence.text


@pytest.mark.parametrize("kind", edits.RULES)
def test_a_kind_has_enough_edits_and_each_changes_one_place(kind):
    own = [s for s in SENTENCES if s.kind == kind]
    originals = {s.origin: s.text for s in SENTENCES if s.kind == "none"}
    assert len(own) >= edits.FEWEST
    assert len({(s.origin, s.text) for s in own}) == len(own)
    for sentence in own:
        before = originals[sentence.origin]
        assert sentence.text != before
        start = next(i for i, (a, b) in enumerate(zip(before + "\0", sentence.text + "\0")) if a != b)
        same = next(i for i, (a, b) in enumerate(zip(before[::-1] + "\0", sentence.text[::-1] + "\0")) if a != b)
        assert len(before) - start - same <= 30


@pytest.mark.parametrize(
    ("kind", "sentence", "changed"),
    [
        ("unit", "It is 12 kilometres long.", ["It is 12 miles long."]),
        ("negation", "It was built by Ann.", ["It was not built by Ann."]),
        ("negation", "It was not built by Ann.", []),
        ("negation", "It opened in May 1990.", []),
        ("antonym", "The hall is open.", ["The hall is closed."]),
        ("direction", "Sales rose.", ["Sales fell."]),
        ("quantifier", "All rooms are warm.", ["None of the rooms are warm."]),
        ("quantifier", "Overall it is small.", []),
    ],
)
def test_the_rules(kind, sentence, changed):
    assert made(kind, sentence) == changed


def test_a_number_becomes_one_that_the_passage_does_not_have():
    (changed,) = made("number", "It has 34 rooms since 12 May 1990.", "It has 34 rooms, 64 beds and 74 chairs.")
    assert re.fullmatch(r"It has (?!34|64|74)\d\d rooms since 12 May 1990\.", changed)


def test_dates_change_month_year_weekday_and_hour():
    assert {len(made("date", text)) for text in ("in May 1990", "on 3 May 1990")} == {2}
    assert len(made("date", "on Monday at 10:30")) == 2
    assert made("date", "before 9 AM") == ["before 9 PM"]


def test_names_are_swapped_within_the_passage():
    names = (("Ann", "Bob"), ("Rome", "Oslo"))
    assert made("entity", "Ann left Rome.", "Ann and Bob left Rome for Oslo.", names) == ["Bob left Rome.", "Ann left Oslo."]
    assert made("entity", "Ann met Bob.", "Ann and Bob", names) == []


def said(verdict: str, numeric: bool = False, negation: bool = False) -> edits.Said:
    strict = "unsupported" if verdict == "supported" and numeric else verdict
    return edits.Said(verdict, strict, 0.5, numeric, negation)


def test_the_figures():
    passage = edits.Passage("", "t", ("a", "b"), ())
    sentences = [edits.Sentence(passage, text, kind, origin) for text, kind, origin in
                 [("a", "none", 0), ("a1", "number", 0), ("a2", "number", 0), ("b", "none", 1), ("b1", "negation", 1)]]  # fmt: skip
    verdicts = [said("supported"), said("supported", numeric=True), said("contradicted"), said("unsupported"), said("supported", negation=True)]
    report = edits.measure(sentences, verdicts)
    number, negation = report["number"], report["negation"]
    assert (number["edits"], number["sentences"], negation["edits"], negation["sentences"]) == (2, 1, 1, 1)
    assert [number[reading]["caught"][0] for reading in ("verdict", "strict_numbers", "verdict_or_flag")] == [0.5, 1.0, 1.0]
    assert [negation[reading]["caught"][0] for reading in ("verdict", "strict_numbers", "verdict_or_flag")] == [0.0, 0.0, 1.0]
    assert (number["verdict"]["false_alarms"][0], negation["verdict"]["false_alarms"][0]) == (0.0, 1.0)
    assert report["all"]["edits"] == 3 and report["all"]["sentences"] == 2
    low, high = number["strict_numbers"]["caught"][1:]
    assert 0 < low < 0.5 and high == 1  # both edits are of one passage
    assert edits.table(report).count("\n") == len(edits.RULES) + 2


def test_strict_as_it_is_counted_is_strict_as_it_is_scored():
    sample = SENTENCES[:60]
    loose = edits.judge(Scorer("fake", flags=True), sample)
    strict = edits.judge(Scorer("fake", strict_numbers=True), sample)
    assert [said.strict for said in loose] == [said.verdict for said in strict]


def test_a_run_writes_its_files(tmp_path, capsys):
    edits.main(["--model", "fake", "--limit", "40", "--out", str(tmp_path / "new" / "edits")])
    assert "| number |" in capsys.readouterr().out
    stored = json.loads((tmp_path / "new" / "edits.json").read_text())
    assert stored["kinds"]["all"]["edits"] + stored["kinds"]["all"]["sentences"] == 40
    assert len((tmp_path / "new" / "edits.rows.jsonl").read_text().splitlines()) == 40
    assert (tmp_path / "new" / "edits.md").read_text().startswith("| edit |")


def test_the_dry_run_needs_no_model(capsys):
    edits.main(["--dry-run", "--model", "no-such-model"])
    assert "supported sentences" in capsys.readouterr().out
