"""The timing benchmarks on a tiny model: every contender reads the same pairs, and what was measured is kept."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

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
    course._reader = SimpleNamespace(device=torch.device("cpu"))
    course._contenders = [
        courses.Contender(name, lambda name=name: order.append(name), lambda taken: {"passes": len(taken), "seconds": sorted(taken)[len(taken) // 2]})
        for name in ("one", "other")
    ]
    course.race()
    assert order == ["one", "other"] * 3
    assert kept == {"one": {"name": "one", "passes": 3, "seconds": 1}, "other": {"name": "other", "passes": 3, "seconds": 2}}


class Stub:
    """A report that keeps the last line of each name."""

    def __init__(self) -> None:
        self.lines: dict[str, dict] = {}

    def add(self, section: str, line: dict) -> None:
        self.lines[line["name"]] = line


def course_of(tiny_model, device: str = "cpu", texts: int = 400, **args) -> tuple:
    """(a course over made-up pairs, its report); the device is only said to be that one."""
    from nli_faith.made_up import made_up_pairs

    plain, report = tiny_model.variant(), Stub()
    plain.device = torch.device(device)
    made = (made_up_pairs(32, 40, plain) * 10)[:texts]
    args = SimpleNamespace(**{"seconds": 0.8, "passes": 2, "parity": 8} | args)
    return courses.Course(report, "rows", courses.Work(made, made, 0), plain, 1e12, args), report


class Runner:
    """A contender that takes `each` seconds for a batch, however many pairs there are, and raises `error` from call `at` on."""

    def __init__(self, clock, monkeypatch, each: float = 0.01, error: Exception | None = None, at: int = 0) -> None:
        self.each, self.error, self.at, self.sizes, self.clock = each, error, at, [], clock
        monkeypatch.setattr(courses.time, "perf_counter", lambda: clock[0])

    def __call__(self, texts) -> np.ndarray:
        self.sizes.append(len(texts))
        if self.error is not None and len(self.sizes) > self.at:
            raise self.error
        self.clock[0] += self.each
        return np.full((len(texts), 3), 1 / 3, dtype=np.float32)


MEMORY = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nMore lines.")


def test_who_runs_out_of_memory_in_a_race_is_left_out_with_a_line(tiny_model, monkeypatch, capsys):
    course, report = course_of(tiny_model)
    clock = [0.0]
    big, small = Runner(clock, monkeypatch, error=MEMORY, at=4), Runner(clock, monkeypatch)  # 3 calls in enter, and one pass
    course.enter("big", big)
    course.enter("small", small)
    course.race()
    assert report.lines["small"]["passes"] == 2 and report.lines["big"]["passes"] == 1
    assert "big is left out: OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n" in capsys.readouterr().out
    faulty = Runner(clock, monkeypatch, error=ValueError("a bug"), at=3)
    course.enter("faulty", faulty)
    with pytest.raises(ValueError, match="a bug"):
        course.race()


def test_who_is_spared(capsys, monkeypatch):
    freed = []
    monkeypatch.setattr(courses, "free_memory", freed.append)
    cpu = torch.device("cpu")
    for error, foreign in ((MEMORY, False), (MEMORY, True), (ImportError("No module named 'x'"), True), (TypeError("odd"), True)):
        with courses.spared("peer", cpu, foreign):
            raise error
        assert f"peer is left out: {type(error).__name__}: " in capsys.readouterr().out
    assert freed == [cpu] * 4
    for error, foreign in ((ImportError("x"), False), (KeyboardInterrupt(), True)):
        with pytest.raises(type(error)), courses.spared("peer", cpu, foreign):
            raise error
    with courses.spared("peer", cpu):
        pass
    assert len(freed) == 4 and not capsys.readouterr().out


def test_a_peer_that_is_not_there_does_not_end_the_run(tmp_path, tiny_folder, monkeypatch, capsys):
    def missing():
        raise ModuleNotFoundError("No module named 'sentence_transformers'")

    def too_large(texts):
        raise MEMORY

    makers = {"absent": missing, "too large": lambda: too_large, "odd": lambda: lambda texts: None}
    monkeypatch.setattr(throughput, "peers", lambda *args: makers)
    monkeypatch.setattr(throughput, "export", lambda *args: None)
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    out = tmp_path / "out.json"
    throughput.main(["--model", str(tiny_folder), "--device", "cpu", "--dtype", "fp32", "--seconds", "0.02", "--passes", "1",
                     "--parity", "8", "--out", str(out), "--lengths", "64", "--pairs", "40", "--no-steps"])  # fmt: skip
    assert [line["name"] for line in json.loads(out.read_text())["64 tokens"]] == ["nli-faith (fp32, flat)"]
    printed = capsys.readouterr().out
    assert all(f"{name} is left out: " in printed for name in makers)


@pytest.mark.parametrize(("device", "sizes"), [("cpu", [32, 32, 8]), ("cuda", [32, 32, 128, 400, 400, 8])])
def test_a_gpu_warms_up_with_the_whole_list_which_a_full_batch_sizes(tiny_model, monkeypatch, device, sizes):
    """It takes as long for 32 pairs as for 128: the time of 32 would make the list a quarter of what a pass has time for."""
    course, _ = course_of(tiny_model, device)
    one = Runner([0.0], monkeypatch, each=0.05)
    course.enter("one", one)
    assert one.sizes == sizes
    course.race()
    assert one.sizes[len(sizes) :] == [400] * 2


def test_a_difference_without_a_number_is_valid_json(tiny_model, monkeypatch):
    course, report = course_of(tiny_model)
    course.enter("wrong", lambda texts: np.full((len(texts), 3), np.nan, dtype=np.float32))
    course.race()
    assert report.lines["wrong"]["max_difference"] is None
    json.dumps(report.lines, allow_nan=False)


def test_ids_that_are_ready_are_made_once_for_a_list(tiny_model, monkeypatch):
    made, own = [], throughput.list_pairs
    monkeypatch.setattr(throughput, "list_pairs", lambda texts, *rest: made.append(len(texts)) or own(texts, *rest))
    run, texts = throughput.ids_ready(tiny_model), [("One premise.", "A claim."), ("Two.", "A claim.")]
    first = run(texts)
    assert np.array_equal(first, run(texts)) and made == [2]
    run(list(texts[:1]))
    assert made == [2, 1], "another list"
    assert np.array_equal(first, throughput.ours(tiny_model)(texts))


@pytest.mark.parametrize(("device", "there"), [("cpu", False), ("cuda", True)])
def test_the_device_alone_is_seen_on_gpus(tiny_model, device, there):
    reader, names = tiny_model.variant(), []
    reader.device = torch.device(device)
    throughput.enter_steps(SimpleNamespace(enter=lambda name, *rest, **more: names.append(name)), reader, None, reader)
    assert ("  ids ready" in names) is there and "  transformers' attention" in names


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


def test_early_exit_cut_off_leaves_what_was_measured(tmp_path, rows, tiny_folder, monkeypatch):
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    out, passes, calls = tmp_path / "out.json", early_exit.passes, []

    def cut(*args):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return passes(*args)

    monkeypatch.setattr(early_exit, "passes", cut)
    with pytest.raises(KeyboardInterrupt):
        early_exit.main(["--data", str(rows), "--model", str(tiny_folder), "--device", "cpu", "--dtype", "fp32", "--passes", "2",
                         "--out", str(out)])  # fmt: skip
    figures = json.loads(out.read_text())
    assert [(line["name"], line["passes"]) for line in figures["timed"]] == [("exhaustive", 2), ("early exit", 1)]
    assert figures["finished"] is False and figures["runs"]["claims"] > 0


def test_early_exit_takes_a_shape(tmp_path, rows, monkeypatch):
    """Its folder is gone when the figures are written."""
    monkeypatch.setitem(timing.SHAPES, "tiny", (1, 64, 2, 96))
    out = tmp_path / "out.json"
    early_exit.main(["--data", str(rows), "--shape", "tiny", "--device", "cpu", "--dtype", "fp32", "--passes", "0",
                     "--out", str(out)])  # fmt: skip
    figures = json.loads(out.read_text())
    assert figures["finished"] and len(figures["machine"]["model_hash"]) == 16


# The script for GPUs ---------------------------------------------------------------------------------------------

a_shell_script = pytest.mark.skipif(os.name == "nt", reason="a shell script")
FILES = ["gpu-bench.json", "gpu-doctor.json", "gpu-early-exit.json", "gpu-files-cpu-cpu.json", "gpu-files-cpu.json"]


def gpu_script(tmp_path, python: str, *words: str, cwd: Path = ROOT, **places: str) -> subprocess.CompletedProcess:
    """The script with a stand-in for Python; whatever it leaves is under `tmp_path`."""
    stand_in = tmp_path / "python"
    stand_in.write_text(f"#!/bin/sh\n{python}\n")
    stand_in.chmod(0o755)
    (tmp_path / "tmp").mkdir(exist_ok=True)
    folders = {"OUT": str(tmp_path / "out"), "WHEELS": str(tmp_path / "wheels"), "TMPDIR": str(tmp_path / "tmp")}
    places = folders | {"PYTHON": str(stand_in), "DEVICE": "cpu", "SECONDS_EACH": "0.2", "PATIENCE": "20", "ROWS": "4",
                        "PEERS": "none", "LENGTHS": "64"} | places  # fmt: skip
    script = ["bash", str(ROOT / "benchmarks" / "gpu.sh"), *words]
    done = subprocess.run(script, env=os.environ | places, capture_output=True, text=True, cwd=cwd)
    assert not list((tmp_path / "tmp").iterdir()), "scratch is left behind"
    return done


# Steps do nothing; what the script itself asks of Python it gets.
IDLE = f'case "$*" in *nli_faith*|*benchmarks*) echo "$@" >> "$STEPS"; exit 0;; esac\nexec {sys.executable} "$@"'


@a_shell_script
def test_the_gpu_script_says_what_is_missing_before_the_first_step(tmp_path):
    done = gpu_script(tmp_path, f'exec {sys.executable} -S -E "$@"')
    assert done.returncode == 1 and not done.stdout
    assert "lacks torch, numpy, tokenizers, safetensors" in done.stderr and done.stderr.count("\n") == 1 and "nltk" in done.stderr
    broken = gpu_script(tmp_path, "exit 3")
    assert broken.returncode == 1 and "does not run; name a Python" in broken.stderr


def wheel(folder: Path, name: str) -> None:
    import zipfile

    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    files = {f"{name}/__init__.py": "", f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             f"{info}/RECORD": ""}  # fmt: skip
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        for path, text in files.items():
            file.writestr(path, text)


@a_shell_script
def test_the_gpu_script_takes_wheels_that_were_carried_along(tmp_path):
    padded = "only the padded path is measured"
    steps = {"STEPS": str(tmp_path / "steps")}
    without = gpu_script(tmp_path, IDLE, **steps)
    assert without.returncode == 0 and (padded in without.stdout) is (importlib.util.find_spec("disentangled_flash") is None)
    for name in ("disentangled_flash", "triton"):
        wheel(tmp_path / "wheels", name)
    done = gpu_script(tmp_path, IDLE, **steps)
    assert done.returncode == 0 and padded not in done.stdout, done.stdout + done.stderr
    (tmp_path / "wheels" / "broken-1.0-py3-none-any.whl").write_text("no zip")
    broken = gpu_script(tmp_path, IDLE, **steps)
    assert broken.returncode == 1 and "can't be installed" in broken.stderr


@a_shell_script
def test_the_gpu_script_reads_answers_from_where_it_was_called(tmp_path):
    (tmp_path / "mine.jsonl").write_text("{}\n")
    done = gpu_script(tmp_path, IDLE, "mine.jsonl", cwd=tmp_path, STEPS=str(tmp_path / "steps"))
    steps = (tmp_path / "steps").read_text().splitlines()
    assert done.returncode == 0 and sum(str(tmp_path / "mine.jsonl") in step for step in steps) == 3
    assert not any("timing.py" in step for step in steps), "no rows are made up"
    absent = gpu_script(tmp_path, IDLE, "absent.jsonl", cwd=tmp_path, STEPS=str(tmp_path / "steps"))
    assert absent.returncode == 1 and "absent.jsonl can't be read" in absent.stderr


@a_shell_script
def test_no_step_of_the_gpu_script_runs_past_its_time(tmp_path):
    slow = IDLE.replace("exit 0", "sleep 4; exit 0", 1)
    done = gpu_script(tmp_path, slow, STEPS=str(tmp_path / "steps"), PATIENCE="1", TOTAL="8")
    assert done.returncode == 1 and "parity LEFT OUT: the 8 s are over" in done.stdout
    assert len((tmp_path / "steps").read_text().splitlines()) == 1, "of the first step"


def test_the_limits_of_the_gpu_script_add_up_to_less_than_its_time():
    script = (ROOT / "benchmarks" / "gpu.sh").read_text()
    limits = {name: int(limit) for limit, name in re.findall(r'step (\d+) "?(\w+[^"$]*)', script)}
    assert 3 * limits.pop("throughput, ") + 2 * limits.pop("files, ") + sum(limits.values()) <= 580 < 600
    assert set(limits) == {"doctor ", "parity ", "made-up rows", "early exit"}


@pytest.mark.slow
@a_shell_script
def test_the_gpu_script_can_be_rehearsed(tmp_path):
    """Every step begins and ends well; the shapes base and large are too slow here, so that Python is a stand-in for them."""
    stand_in = f'case "$*" in *--shape*) exit 0;; esac\nexec {sys.executable} "$@"'
    done = gpu_script(tmp_path, stand_in, ROWS="1")
    assert "FAILED" not in done.stdout and done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*FILES, "gpu-throughput-xsmall.json"]
    assert json.loads((tmp_path / "out" / "gpu-doctor.json").read_text())["ok"] and "OUTSIDE" not in done.stdout
    assert json.loads((tmp_path / "out" / "gpu-bench.json").read_text())["parity"]["ok"]
