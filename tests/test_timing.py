"""The timing benchmarks on a tiny model: every contender reads the same pairs, and what was measured is kept."""

from __future__ import annotations

import importlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nli_faith import Scorer
from nli_faith.cells import make_row
from nli_faith.scores import Rule

ROOT = Path(__file__).parent.parent


def load(name: str):
    before = list(sys.path)
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "scripts")]
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before


timing, courses, throughput, early_exit = load("timing"), load("courses"), load("throughput"), load("early_exit")


@pytest.fixture(autouse=True)
def memory_settings_stay(monkeypatch):
    """They are of the process, and other tests share it."""
    for module in (throughput, early_exit):
        monkeypatch.setattr(module, "keep_freed_memory", lambda: False)


@pytest.fixture
def rows(tmp_path, fake):
    path = tmp_path / "rows.jsonl"
    made = timing.made_up_rows(12, fake.reader, chunks=3, tokens=96)
    made[3]["contexts"] += made[4]["contexts"][:1]  # a pair that two rows share only if their claims are equal
    made[5] = made[4] | {"id": "twin"}
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def test_made_up_rows_have_claims_and_their_sources(fake):
    made = timing.made_up_rows(4, fake.reader)
    assert len(made) == 4 and len({row["answer"] for row in made}) == 4
    for row in made:
        assert len(row["contexts"]) == 5 and len(set(row["contexts"])) == 5
        (score,) = fake.score_rows([row])
        assert score.n_claims == 6
        stated = [any(claim.text.rstrip(".") in chunk for chunk in row["contexts"]) for claim in score.claims]
        assert stated.count(True) == 4
    assert made == timing.made_up_rows(4, fake.reader)


def test_shapes_are_models(tmp_path):
    from nli_faith.model import NliModel
    from nli_faith.options import ModelOptions

    small = dict(timing.SHAPES)
    assert small["base"] == (12, 768, 12, 3072) and small["large"] == (24, 1024, 16, 4096)
    timing.SHAPES["tiny"] = (1, 64, 2, 96)
    try:
        model = NliModel(ModelOptions(str(timing.write_shape("tiny", tmp_path)), device="cpu", dtype="fp32"), probe=False)
    finally:
        del timing.SHAPES["tiny"]
    p = model.read_texts([("One sentence.", "A claim."), ("Quite another one, and longer.", "Something else.")])
    assert p.shape == (2, 3) and np.abs(p[0] - p[1]).max() > 1e-4, "probabilities differ from pair to pair"


def test_throughput_keeps_every_line(tmp_path, rows, tiny_folder, capsys, monkeypatch):
    """Cut off in the second round, the file has every contender's first pass; whole, every contender and step."""
    out = tmp_path / "figures" / "out.json"
    common = ["--model", str(tiny_folder), "--device", "cpu", "--dtype", "fp32", "--seconds", "0.02", "--passes", "2", "--parity", "8",
              "--out", str(out), "--rows", str(rows), "--limit", "10", "--lengths", "64", "--pairs", "40", "--peers", "none"]  # fmt: skip
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    add, calls = timing.Report.add, []

    def cut(self, section, line):
        calls.append(line["name"])
        if calls.count(calls[0]) == 2 and len(calls) > 2 + len(set(calls)):
            raise KeyboardInterrupt
        return add(self, section, line)

    with monkeypatch.context() as patch:
        patch.setattr(timing.Report, "add", cut)
        with pytest.raises(KeyboardInterrupt):
            throughput.main(common)
    kept = json.loads(out.read_text())
    assert [line["name"] for line in kept["rows"]] == calls[: len(kept["rows"])] and kept["finished"] is False
    assert [line["passes"] for line in kept["rows"]] == [2, 2, *[1] * (len(kept["rows"]) - 2)], "they take turns"
    throughput.main(common)
    figures = json.loads(out.read_text())
    assert figures["finished"] and set(figures) >= {"machine", "date", "load_before", "load_after", "ceiling_tflops", "peak_memory_mib"}
    names = [line["name"].strip() for line in figures["rows"]]
    assert names[0].startswith("nli-faith (fp32") and "transformers' attention" in names and names[-1].endswith("--early-exit")
    assert len(figures["64 tokens"]) == len(names) - 2
    for line in figures["rows"][:-2] + figures["64 tokens"]:
        assert line["verdict_agreement"] == 1.0 and line["max_difference"] < 1e-3 and line["pairs_per_second"] > 0
    for line in figures["rows"] + figures["64 tokens"]:
        assert line["passes"] == 2 and line["spread"] >= 0 and "load" in line
    assert all(line["answers_per_second"] > 0 for line in figures["rows"])
    printed = capsys.readouterr().out
    assert ("DISTURBED" in printed.rpartition("\nrows")[2]) == figures["disturbed"]
    assert "64 tokens: 40 distinct pairs of 40" in printed and "verdict_agreement" in printed


def test_contenders_take_turns_and_are_given_by_their_median(monkeypatch):
    """One that runs while the machine is slow is not the loser for it."""
    kept = {}
    report = SimpleNamespace(add=lambda section, line: kept.update({line["name"]: line}))
    course = object.__new__(courses.Course)
    order, clock = [], iter([1, 2, 9, 9, 1, 2])
    monkeypatch.setattr(courses, "timed", lambda run: run() or next(clock))
    course._report, course._section, course._most = report, "rows", 3
    course._contenders = [
        courses.Contender(name, lambda name=name: order.append(name), lambda taken: {"passes": len(taken), "seconds": sorted(taken)[len(taken) // 2]})
        for name in ("one", "other")
    ]
    course.race()
    assert order == ["one", "other"] * 3
    assert kept == {"one": {"name": "one", "passes": 3, "seconds": 1}, "other": {"name": "other", "passes": 3, "seconds": 2}}


def test_three_passes_are_the_least_by_default(monkeypatch):
    monkeypatch.setattr(throughput, "NliModel", lambda *args: SimpleNamespace(dtype="fp32"))
    found = []
    monkeypatch.setattr(throughput, "measure", lambda args, *rest: found.append(args))
    throughput.main(["--lengths", "64", "--peers", "none"])
    assert found[0].passes >= 3


def test_a_run_beside_other_work_is_marked(tmp_path, tiny_model, monkeypatch, capsys):
    monkeypatch.setattr("nli_faith.speed.os.cpu_count", lambda: 4)
    monkeypatch.setattr("nli_faith.speed.torch.get_num_threads", lambda: 2)
    for before, after, noisy in ((0.2, 2.1, False), (1.5, 2.1, True), (0.2, 3.5, True)):
        loads = iter([before, after])
        monkeypatch.setattr(timing, "load", lambda loads=loads: next(loads))
        report = timing.Report(tmp_path / "out.json", tiny_model)
        report.finish()
        kept = json.loads((tmp_path / "out.json").read_text())
        assert (kept["disturbed"], kept["load_before"], kept["load_after"]) == (noisy, before, after)
        assert ("DISTURBED" in capsys.readouterr().out) is noisy


def test_a_line_of_the_same_name_is_replaced_and_others_are_kept(tmp_path, tiny_model):
    report = timing.Report(tmp_path / "out.json", tiny_model)
    for name, value in (("a", 1), ("b", 1), ("a", 2)):
        report.add("rows", {"name": name, "value": value})
        report.add("groups", {"windows": name})
    kept = json.loads((tmp_path / "out.json").read_text())
    assert [(line["name"], line["value"]) for line in kept["rows"]] == [("a", 2), ("b", 1)]
    assert [line["windows"] for line in kept["groups"]] == ["a", "b", "a"]


def test_everybody_reads_our_windows_and_claims(rows, fake):
    made = timing.rows_of(str(rows), 10)
    work = throughput.work_of(made, fake)
    counts = fake.score_window(made).counts
    assert len(made) == work.answers == 10
    assert len(work.repeated) == counts.pairs and len(work.texts) == counts.pairs_scored < counts.pairs
    premise, claim = work.texts[0]
    assert premise in " ".join(made[0].chunks) and claim in made[0].answer


def test_an_even_sample():
    assert courses.even_sample(range(10), 5) == [0, 2, 4, 6, 8]
    assert courses.even_sample(range(3), 5) == [0, 1, 2]


@pytest.mark.slow
def test_peers_read_the_same_pairs(tmp_path, tiny_folder):
    """As shipped, every peer gives the probabilities of the plain network."""
    pytest.importorskip("sentence_transformers")
    from export_hf import export

    from nli_faith.made_up import made_up_pairs
    from nli_faith.model import NliModel
    from nli_faith.options import ModelOptions

    reader = NliModel(ModelOptions(str(tiny_folder), device="cpu", dtype="fp32"), probe=False)
    export(tiny_folder, tmp_path / "peer")
    texts = made_up_pairs(64, 7, reader)
    expected = throughput.ours(reader)(texts)
    for name, make in load("peers").peers(str(tmp_path / "peer"), reader, "all").items():
        assert np.abs(make()(texts) - expected).max() < (1e-4 if "shipped" in name or "cards (fp32" in name else 0.1), name


# Early exit ------------------------------------------------------------------------------------------------------


def replayed(scorer, rows, rule=None):
    read = scorer.read_window(rows)
    return read, *early_exit.replay(read, scorer.reader.encoder, rule or Rule(), scorer.answer_threshold)


def test_the_replay_is_the_run(rows, fake):
    """Pairs and verdicts of the replayed waves are those of a real run with early exit."""
    made = timing.rows_of(str(rows), None)
    read, lines, counts = replayed(fake, made)
    early = Scorer("fake", early_exit=True).score_window(made)
    assert counts.pairs_scored == early.counts.pairs_scored < read.counts.pairs_scored
    whole = lines[-1]
    assert whole["windows"] == "all" and whole["verdicts_changed"] == 0 and whole["pairs"] == read.counts.pairs
    assert sum(line["pairs"] for line in lines[:-1]) == whole["pairs"] and sum(line["rows"] for line in lines[:-1]) == 12
    scores = fake.score_window(made).scores
    assert whole["supported"] == sum(score.n_supported for score in scores)
    assert whole["claims"] == sum(score.n_claims for score in scores)
    assert early_exit.compare(scores, early.scores)["verdicts_changed"] == 0


@pytest.mark.parametrize("threshold", [0.7, 0.8])
def test_the_replay_counts_what_is_read_for_faithful_alone(fake, threshold):
    draw = random.Random(0)
    words = "the store opens at nine every day and closes late on monday with a big sale of old books".split()
    chunks = [" ".join(draw.choices(words, k=draw.randint(4, 11))).capitalize() + "." for _ in range(120)]
    made = [make_row(i, "The store opens at nine.", chunks[i : i + 6]) for i in range(0, 120, 6)]
    early = Scorer("fake", early_exit=True).over(fake.reader)
    scorer = Scorer("fake").over(fake.reader)
    cheap = replayed(scorer, made)[2].pairs_scored
    for one in (early, scorer):
        one.calibration = SimpleNamespace(level="row", threshold=threshold)
    _, lines, counts = replayed(scorer, made)
    assert counts.pairs_scored == early.score_window(made).counts.pairs_scored > cheap
    assert lines[-1]["faithful_changed"] == lines[-1]["verdicts_changed"] == 0


def test_the_hit_rate_of_the_order(encoder):
    """Two claims, three chunks, one of which states each: told apart by their words, never by the place of the chunk."""

    class Wordy:
        """Entailed where the premise is the hypothesis."""

        def __init__(self):
            from nli_faith.fake import FakeModel

            self.encoder, self.card, self.classes = encoder, FakeModel(encoder).card, 3

        def probabilities(self, table, premises, hypotheses, counts):
            counts.pairs_scored += len(table)
            same = [np.array_equal(premises[p], hypotheses[h]) for p, h in zip(table.premise, table.hypothesis, strict=True)]
            return np.array([[0.9, 0.1, 0.0] if hit else [0.1, 0.9, 0.0] for hit in same], dtype=np.float32)

    chunks = ["Nothing of that kind here.", "Anna sold lamps in Oslo.", "Omar painted chairs in Lima."]
    row = make_row(0, "Omar painted chairs in Lima. Anna sold lamps in Oslo. Mei went away.", chunks)
    _, lines, counts = replayed(Scorer("fake").over(Wordy()), [row])
    found = lines[-1]
    assert (found["supported"], found["claims"], found["pairs"]) == (2, 3, 9)
    assert found["first_by_overlap"] == 1.0 and found["first_as_given"] == 0.0 and found["first_by_chance"] == round(1 / 3, 4)
    assert counts.pairs_scored == 1 + 1 + 3 and found["share_read"] == round(5 / 9, 4)


def test_a_missing_pair_is_no_silent_answer(rows, fake):
    made = timing.rows_of(str(rows), None)
    read = fake.read_window(made)
    half = SimpleNamespace(grids=read.grids[:3], premises=read.premises, hypotheses=read.hypotheses)
    with pytest.raises(KeyError, match="has not"):
        sides = [(draft.hypotheses, draft.premises) for draft, _ in read.grids]
        from nli_faith.types import Counts
        from nli_faith.waves import score_in_waves

        score_in_waves(sides, read.premises, read.hypotheses, early_exit.Replay(fake.reader.encoder, half), Rule(), Counts(), 0.5)


def test_verdicts_that_differ_are_told_with_their_margin(fake):
    rows = [make_row(0, "Anna sold lamps. Omar went home.", ["Anna sold lamps in Oslo."])]
    scores = fake.score_window(rows).scores
    claims = list(scores[0].claims)
    from dataclasses import replace

    claims[1] = replace(claims[1], verdict="contradicted" if claims[1].verdict != "contradicted" else "supported")
    found = early_exit.compare(scores, [replace(scores[0], claims=tuple(claims))])
    rest = max(claims[1].p_neutral, claims[1].p_contradiction)
    assert found == {"claims": 2, "verdicts_changed": 1, "largest_margin_of_a_change": round(abs(claims[1].p_entailment - rest), 4)}


def test_the_threshold_is_that_of_the_timed_runs_too(tmp_path, rows, tiny_folder, monkeypatch):
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    used, score = [], Scorer.score_window
    monkeypatch.setattr(Scorer, "score_window", lambda self, rows: used.append(self.claim_threshold) or score(self, rows))
    early_exit.main(["--data", str(rows), "--model", str(tiny_folder), "--device", "cpu", "--dtype", "fp32", "--passes", "1",
                     "--threshold", "0.35"])  # fmt: skip
    assert set(used) == {0.35}


def test_early_exit_writes_its_figures(tmp_path, rows, tiny_folder, capsys, monkeypatch):
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    out = tmp_path / "out.json"
    early_exit.main(["--data", str(rows), "--model", str(tiny_folder), "--device", "cpu", "--dtype", "fp32", "--passes", "2",
                     "--out", str(out)])  # fmt: skip
    figures = json.loads(out.read_text())
    assert figures["finished"] and figures["rows"] == 12 and figures["data"] == "rows.jsonl"
    assert [line["name"] for line in figures["timed"]] == ["exhaustive", "early exit"] and figures["timed"][0]["gain"] == 1.0
    assert figures["replayed"][-1]["verdicts_changed"] == 0
    assert figures["runs"]["largest_margin_of_a_change"] < figures["runs"]["allowed_margin"]
    assert figures["distinct_pairs"]["early_exit"] <= figures["distinct_pairs"]["exhaustive"]
    assert "share_read" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_gpu_script_can_be_rehearsed(tmp_path):
    """Every step begins and ends well; the shapes base and large are too slow here, so that Python is a stand-in for them."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncase "$*" in *--shape*) exit 0;; esac\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    places = {"PYTHON": str(python), "DEVICE": "cpu", "SECONDS_EACH": "0.2", "PATIENCE": "20", "ROWS": "4", "OUT": str(tmp_path / "out"), "PEERS": "none",
              "LENGTHS": "64"}  # fmt: skip
    done = subprocess.run(["bash", str(ROOT / "benchmarks" / "gpu.sh")], env=os.environ | places, capture_output=True, text=True)
    assert "FAILED" not in done.stdout and done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "gpu-early-exit.json", "gpu-files-cpu-cpu.json", "gpu-files-cpu.json", "gpu-throughput-xsmall.json",
    ]  # fmt: skip
