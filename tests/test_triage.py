"""Routes: a partition, within the budget, with the errors that the labels let expect."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import read_rows, write_rows
from prefilter_stubs import GivenScorer, given_rows, noisy, scored_file

from nli_faith.calibrate import calibrate
from nli_faith.calibrations import load_calibration
from nli_faith.cuts import Aim
from nli_faith.errors import InputError
from nli_faith.outputs import SCORE_NAMES
from nli_faith.scored import Scored, open_scored, read_scored
from nli_faith.triage import by_budget, by_miss, expected, threshold_of, uncertainty

ENDINGS = [".jsonl", ".csv", ".parquet", ".jsonl.gz", ".json"]
STATES = ("no_claims", "no_context", "empty_answer", "error")


def mixed(n: int = 60) -> list[dict]:
    """Rows of every state."""
    support, _ = noisy(n)
    return [{"status": STATES[i // 6 % 4]} if i % 6 == 5 else {"s": [s, 0.9]} for i, s in enumerate(support)]


def columns(support: list[float], status: list[str] | None = None) -> Scored:
    n = len(support)
    given = np.array(status or ["scored"] * n, dtype=object)
    numbers = np.array([s if state == "scored" else np.nan for s, state in zip(support, given, strict=True)])
    said = np.array([bool(s >= 0.5) if state == "scored" else None for s, state in zip(support, given, strict=True)], object)
    return Scored("row", given, numbers, said, np.arange(n), np.full(n, None, object))


def calibration(path, n: int = 400, seed: int = 3, unseen: int = 0):
    support, faithful = noisy(n, seed)
    answers = [{"s": [s]} for s in support] + [{"status": "no_claims"}] * unseen
    return calibrate([str(scored_file(path, given_rows(answers, [*faithful, *[False] * unseen])))], Aim("balanced"))


# Routes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_row_comes_back_once_and_in_order(run, folder, ending):
    rows = given_rows(mixed())
    scored_file(folder / f"a{ending}", rows)
    status, out, err = run("triage", f"a{ending}", "-o", f"t{ending}", "--budget", 0.3)
    assert status == 0 and f"Wrote t{ending}." in err and "can't be known without labels" in out
    before, after = read_rows(folder / f"a{ending}"), read_rows(folder / f"t{ending}")
    assert [{k: v for k, v in row.items() if k not in ("risk", "route")} for row in after] == before
    assert list(after[0])[-2:] == ["risk", "route"] and list(after[0])[-2 - len(SCORE_NAMES) : -2] == list(SCORE_NAMES)
    assert {row["route"] for row in after} == {"pass", "fail", "judge"}
    assert sum(row["route"] == "judge" for row in after) == 18 and "70.0 % of the judge calls are saved" in out
    for row in after:
        expect = {"no_claims": "pass", "no_context": "fail", "empty_answer": "fail", "error": "judge"}.get(row["status"])
        assert expect in (None, row["route"]) and 0 <= float(row["risk"]) <= 1
        if row["status"] == "scored":
            assert float(row["risk"]) == pytest.approx(1 - float(row["min_support"]))
    assert not [name for name in os.listdir() if name.endswith((".tmp", ".parts"))]


def test_columns_of_nested_nulls_survive_the_way_to_parquet(run, folder):
    rows = [row | {"notes": [{"a": 1, "b": None}] * (i % 3)} for i, row in enumerate(given_rows(mixed(300)))]
    scored_file(folder / "a.jsonl", rows)
    assert run("triage", "a.jsonl", "-o", "t.parquet", "--budget", 0.1)[0] == 0
    assert [row["notes"] for row in read_rows(folder / "t.parquet")] == [row["notes"] for row in rows]


def test_formats_agree_and_runs_repeat(run, folder):
    seen, texts = [], []
    for ending in ENDINGS[:3]:
        scored_file(folder / f"a{ending}", given_rows(mixed()))
        for out in ("t", "u"):
            assert run("triage", f"a{ending}", "-o", f"{out}{ending}", "--budget", 0.2, "--judge-out", "j.jsonl",
                       "--overwrite")[0] == 0  # fmt: skip
        assert (folder / f"t{ending}").read_bytes() == (folder / f"u{ending}").read_bytes()
        seen.append([(row["route"], round(float(row["risk"]), 9)) for row in read_rows(folder / f"t{ending}")])
        texts.append([json.loads(line) for line in open("j.jsonl")])
    assert seen[0] == seen[1] == seen[2] and texts[0] == texts[1] == texts[2]


def test_the_budget_is_kept_to_one_row_and_never_shrinks():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 100):
        scored = columns([float(s) for s in rng.choice([0.1, 0.5, 0.5, 0.9, 1.0], n)])
        before: set[int] = set()
        for budget in np.linspace(0, 1, 41):
            triage = by_budget(scored, 0.5, float(budget))
            judged = set(np.flatnonzero(triage.route == "judge"))
            assert budget * n - 1 < len(judged) <= budget * n + 1e-9 and before <= judged
            assert triage.count("pass") + triage.count("fail") + triage.count("judge") == n
            before = judged
    assert by_budget(columns([0.2] * 100), 0.5, 0.29).count("judge") == 29


def test_the_uncertain_rows_are_judged():
    support = [0.01, 0.3, 0.45, 0.55, 0.6, 0.99]
    triage = by_budget(columns(support), 0.5, 0.34)
    assert list(triage.route) == ["fail", "fail", "judge", "judge", "pass", "pass"]
    assert np.all(np.diff(uncertainty(np.array([0.5, 0.9, 0.99, 0.999, 1.0]), 0.5)) > 0)
    triage = by_budget(columns([0.1, 0.9, 0.5], ["error", "error", "scored"]), 0.5, 0.0)
    assert list(triage.route) == ["judge", "judge", "pass"]


def test_without_a_calibration_the_files_own_verdict_decides(run, folder):
    scored_file(folder / "a.jsonl", given_rows(mixed()))
    run("triage", "a.jsonl", "-o", "t.jsonl")
    for row in read_rows(folder / "t.jsonl"):
        if row["status"] == "scored":
            assert row["route"] == ("pass" if row["faithful"] else "fail")
    _, reader, level = open_scored("a.jsonl")
    scored = read_scored("a.jsonl", reader, level)
    scored.said[:] = [None if value is None else not value for value in scored.said]
    with pytest.raises(Exception, match="different thresholds"):
        threshold_of(scored, "a.jsonl")


# What is expected ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0.01, 0.02, 0.05, 0.2])
def test_the_miss_is_kept_on_the_labels_and_on_other_rows(folder, most):
    made = calibration(folder / "a.jsonl", 1000)
    support, faithful = noisy(4000, 9)
    scored = columns(support)
    triage = by_miss(scored, made, most)
    labels = expected(triage, made)["miss"]
    assert labels[0] <= most
    miss = float(np.mean((triage.route == "pass") & ~np.array(faithful)))
    assert miss <= most + 0.015 and labels[1] - 0.01 <= miss <= labels[2] + 0.01
    if most == 0.2:
        assert triage.count("judge") == 0


def test_no_smaller_share_keeps_the_miss(folder):
    made = calibration(folder / "a.jsonl")
    scored = columns(noisy(500, 5)[0])
    shares = [by_miss(scored, made, most).count("judge") for most in (0.0, 0.01, 0.03, 0.1, 1.0)]
    assert shares == sorted(shares, reverse=True) and shares[-1] == 0
    assert by_miss(scored, made, 0.0).count("pass") == 0
    triage = by_miss(scored, made, 0.03)
    curve, bad = np.array(made.curve["support"]), np.array(made.curve["unfaithful"])
    lower = max(mark for mark in curve if mark < triage.passes_from)
    assert (bad[curve >= triage.passes_from].sum() + 1) / 401 <= 0.03 < (bad[curve >= lower].sum() + 1) / 401


def test_a_budget_of_one_misses_nothing_and_of_none_what_the_threshold_misses(folder):
    made = calibration(folder / "a.jsonl")
    scored = columns(noisy(300, 5)[0])
    assert expected(by_budget(scored, made.threshold, 1.0), made)["miss"][0] == 0.0
    found = expected(by_budget(scored, made.threshold, 0.0), made)
    # That of the cross-fitted figures, where the threshold never saw the label.
    missed = (1 - made.figures["recall"][0]) * made.unfaithful
    assert found["miss"][0] == pytest.approx(missed / 400, abs=1e-5)
    right = made.figures["agreement"][0]
    assert found["false_alarm"][0] + found["miss"][0] == pytest.approx(1 - right, abs=1e-5)
    misses = [expected(by_budget(scored, made.threshold, share), made)["miss"][0] for share in np.linspace(0, 1, 11)]
    assert misses == sorted(misses, reverse=True)


def test_what_is_expected_is_not_flattered_by_the_choice_of_the_threshold(run, folder):
    """Of 60 labels that say nothing, the best threshold seems to part some; on other labels it parts none."""
    flat, fair, honest = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        support, faithful = rng.random(60), rng.random(60) < 0.5
        labels = scored_file(folder / f"{seed}.jsonl", given_rows([{"s": [s]} for s in support], faithful.tolist()))
        made = calibrate([str(labels)], Aim("agreement"))
        scored = columns(rng.random(400))
        triage = by_budget(scored, made.threshold, 0.0)
        told = expected(triage, made)
        honest.append(told["miss"][0] + told["false_alarm"][0])
        object.__setattr__(made, "margins", None)
        told = expected(triage, made)
        flat.append(told["miss"][0] + told["false_alarm"][0])
        fair.append(float(np.mean((triage.route == "pass") != (rng.random(400) < 0.5))))
    assert np.mean(flat) < np.mean(fair) - 0.04 and abs(np.mean(honest) - np.mean(fair)) < 0.04
    # A calibration of before has no more than that, and it is said.
    run("calibrate", labels.name, "-o", "c.json")
    stored = json.loads((folder / "c.json").read_text())
    for name in ("margins", "parts", "claim_rule"):
        stored.pop(name)
    (folder / "c.json").write_text(json.dumps(stored))
    status, out, err = run("triage", labels.name, "-o", "t.jsonl", "--calibration", "c.json")
    assert status == 0 and "Expected" in out and "c.json is of an earlier version" in err
    (folder / "bad.json").write_text(json.dumps(stored | {"margins": {"support": []}}))
    with pytest.raises(InputError, match="can't be"):
        load_calibration("bad.json")


def test_margins_of_a_budget_are_those_of_its_rows(folder):
    made = calibration(folder / "a.jsonl")
    support, faithful = noisy(4000, 11)
    for budget in (0.1, 0.3, 0.6):
        triage = by_budget(columns(support), made.threshold, budget)
        told = expected(triage, made)
        assert told["judged"][1] - 0.02 <= budget <= told["judged"][2] + 0.02
        miss = float(np.mean((triage.route == "pass") & ~np.array(faithful)))
        assert told["miss"][1] - 0.01 <= miss <= told["miss"][2] + 0.01


def test_near_ties_at_the_end_of_the_band(folder):
    # Both are as uncertain as a float32 can tell; the first of the file is judged, though its support is the higher one.
    near = float(np.float32(0.99999994))
    triage = by_budget(columns([1.0, near, 0.2, 0.1]), 1.0 - 2**-20, 0.25)
    assert list(triage.route) == ["judge", "pass", "fail", "fail"] and triage.passes_from == near
    triage = by_budget(columns([0.0, 1e-9, 0.9, 0.8]), 1e-6, 0.25)
    assert list(triage.route) == ["judge", "fail", "pass", "pass"] and triage.fails_below == np.nextafter(1e-9, 1)


def test_a_miss_that_no_label_can_show_is_refused(folder):
    made = calibration(folder / "a.jsonl", 60)
    silent = columns([0.9] * 20, ["scored"] * 19 + ["no_claims"])
    with pytest.raises(InputError, match=r"A share of 0.01 can't be promised: 0 of 60 .* 1 rows without .* 0\.0164 at best"):
        by_miss(silent, made, 0.01)
    assert expected(by_miss(silent, made, 0.0164), made)["miss"][0] == pytest.approx(1 / 61)
    # Where no such row passes, all that could is judged, and nothing is missed.
    triage = by_miss(columns([0.9] * 20), made, 0.01)
    assert triage.count("pass") == 0 and expected(triage, made)["miss"][0] == 0.0


def test_what_max_miss_expects_is_its_promise(folder):
    made = calibration(folder / "a.jsonl")
    triage = by_miss(columns(noisy(500, 5)[0]), made, 0.05)
    curve, bad = np.array(made.curve["support"]), np.array(made.curve["unfaithful"])
    value, low, high = expected(triage, made)["miss"]
    assert value == (bad[curve >= triage.passes_from].sum() + 1) / 401 <= 0.05 and low <= value <= high


def test_a_budget_that_errors_exceed_is_said(run, folder):
    scored_file(folder / "a.jsonl", given_rows([{"status": "error"}] * 5 + [{"s": [0.9]}] * 15))
    _, out, err = run("triage", "a.jsonl", "-o", "t.jsonl", "--budget", 0.1)
    assert "3 rows more than --budget 0.1 allows go to the judge, as they could not be scored." in err
    assert "allows" not in run("triage", "a.jsonl", "-o", "u.jsonl", "--budget", 0.25)[2]
    assert "allows" not in run("triage", "a.jsonl", "-o", "w.jsonl")[2]


def test_many_labels_are_stored_in_steps(folder):
    made = calibration(folder / "a.jsonl", 5000)
    assert len(made.curve["n"]) <= 2002 and sum(made.curve["n"]) == 5000
    assert made.curve["support"] == sorted(made.curve["support"])
    assert min(s for s in made.curve["support"] if s >= made.threshold) - made.threshold < 0.01
    assert len(made.margins["n"]) <= 2002 and sum(made.margins["n"]) == 5000
    assert min(margin for margin in made.margins["margin"] if margin >= 0) < 0.05


def test_answers_without_a_claim_count_as_misses(run, folder):
    calibration(folder / "a.jsonl", 400, unseen=20)
    assert run("calibrate", "a.jsonl", "-o", "c.json")[0] == 0
    status, _, err = run("triage", "a.jsonl", "-o", "t.jsonl", "--calibration", "c.json", "--max-miss", 0.02)
    assert status == 1 and "20 of 420 labels" in err and not (folder / "t.jsonl").exists()
    status, out, _ = run("triage", "a.jsonl", "-o", "t.jsonl", "--calibration", "c.json", "--max-miss", 0.06, "--json")
    told = json.loads(out)
    assert status == 0 and 20 / 420 <= told["expected"]["miss"][0] <= 0.06 and told["saved"] == 1 - told["judge"] / 420


def test_what_is_printed_with_a_calibration(run, folder):
    calibration(folder / "a.jsonl")
    run("calibrate", "a.jsonl", "-o", "c.json")
    status, out, _ = run("triage", "a.jsonl", "-o", "t.parquet", "--calibration", "c.json", "--budget", 0.25)
    assert status == 0 and "Expected of all rows, by 400 labels: unfaithful but passed" in out and "not like" not in out
    scored_file(folder / "b.jsonl", given_rows([{"s": [0.99]}] * 80 + [{"s": [0.1]}] * 20))
    _, out, _ = run("triage", "b.jsonl", "-o", "u.jsonl", "--calibration", "c.json", "--budget", 0.5)
    assert "the rows are not like the labelled ones" in out
    import pyarrow.parquet as pq

    footer = pq.read_schema("t.parquet").metadata
    assert json.loads(footer[b"nli_faith_triage"])["budget"] == 0.25


# Refusals --------------------------------------------------------------------------------------------------------


def test_refusals(run, folder):
    calibration(folder / "c.jsonl")
    run("calibrate", "c.jsonl", "-o", "c.json")
    rows = given_rows(mixed())
    scored_file(folder / "early.parquet", rows, GivenScorer(exhaustive=False))
    scored_file(folder / "hash.parquet", rows, GivenScorer(model_hash="bb22"))
    scored_file(folder / "window.csv", rows, GivenScorer(window=100))
    scored_file(folder / "answer.jsonl", rows, GivenScorer(granularity="answer"))
    scored_file(folder / "a.jsonl", rows)
    scored_file(folder / "strict.jsonl", rows, GivenScorer(strict_numbers=True))
    scored_file(folder / "joined.parquet", rows, GivenScorer(joined_evidence=3))
    scored_file(folder / "prefix.csv", rows, GivenScorer(prefix_pronouns=True))
    with_calibration = ["-o", "t.jsonl", "--calibration", "c.json"]
    cases = [
        (1, "another --strict-numbers: its labels were scored with off, strict.jsonl has on",
         ["strict.jsonl", *with_calibration]),
        (1, "another --joined-evidence: its labels were scored with off, joined.parquet has 3",
         ["joined.parquet", *with_calibration]),
        (1, "another --prefix-pronouns", ["prefix.csv", *with_calibration]),
        (1, "--early-exit", ["early.parquet", "-o", "t.jsonl"]),
        (1, "another model hash", ["hash.parquet", "-o", "t.jsonl", "--calibration", "c.json"]),
        (1, "another window", ["window.csv", "-o", "t.jsonl", "--calibration", "c.json"]),
        (1, "another granularity", ["answer.jsonl", "-o", "t.jsonl", "--calibration", "c.json"]),
        (2, "--calibration FILE", ["a.jsonl", "-o", "t.jsonl", "--max-miss", "0.02"]),
        (2, "not between 0 and 1", ["a.jsonl", "-o", "t.jsonl", "--budget", "30"]),
        (2, "not allowed with", ["a.jsonl", "-o", "t.jsonl", "--budget", "0.3", "--max-miss", "0.1"]),
        (1, "one of the inputs", ["a.jsonl", "-o", "a.jsonl"]),
        (1, "exists already", ["a.jsonl", "-o", "hash.parquet"]),
        (2, "no known ending", ["a.jsonl", "-o", "t.xlsx"]),
        (1, "no scored file", ["in-a.jsonl", "-o", "t.jsonl"]),
        (1, "does not exist", ["none.jsonl", "-o", "t.jsonl"]),
        (2, ".jsonl", ["a.jsonl", "-o", "t.jsonl", "--judge-out", "j.csv"]),
        (2, "same file", ["a.jsonl", "-o", "t.jsonl", "--judge-out", "t.jsonl"]),
    ]
    for wanted, word, words in cases:
        status, _, err = run("triage", *words)
        assert (status, word in err) == (wanted, True), (words, err)
    assert not (folder / "t.jsonl").exists()
    run("triage", "a.jsonl", "-o", "t.jsonl")
    assert "already has the columns risk, route" in run("triage", "t.jsonl", "-o", "u.jsonl")[2]
    assert run("triage", "t.jsonl", "-o", "u.jsonl", "--overwrite-columns")[0] == 0
    assert read_rows(folder / "u.jsonl") == read_rows(folder / "t.jsonl")


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_no_file_of_the_command_is_replaced_under_another_name(run, folder):
    calibration(folder / "c.jsonl")
    run("calibrate", "c.jsonl", "-o", "c.json")
    scored_file(folder / "a.jsonl", given_rows(mixed()))
    shutil.copy("c.json", "cal.jsonl")
    shutil.copy("a.jsonl.summary.json", "sum.jsonl")
    (folder / "x").mkdir()
    os.symlink(".", "link")
    before = {name: (folder / name).read_bytes() for name in os.listdir(folder) if (folder / name).is_file()}
    words = ["--calibration", "cal.jsonl", "--summary", "sum.jsonl", "--overwrite"]
    for judge, wanted, word in (("x/../t.jsonl", 2, "same file"), ("link/t.jsonl", 2, "same file"),
                                ("x/../a.jsonl", 1, "one of the inputs"), ("link/cal.jsonl", 1, "one of the inputs"),
                                ("link/sum.jsonl", 1, "one of the inputs")):  # fmt: skip
        status, _, err = run("triage", "a.jsonl", "-o", "t.jsonl", "--judge-out", judge, *words)
        assert (status, word in err) == (wanted, True), (judge, err)
    for out in ("link/cal.jsonl", "x/../sum.jsonl"):
        status, _, err = run("triage", "a.jsonl", "-o", out, *words)
        assert status == 1 and "one of the inputs" in err
    status, _, err = run("calibrate", "[c].jsonl", "-o", "link/sum.json", "--summary", "sum.jsonl")
    assert status == 0, err
    shutil.copy("c.jsonl", "z.scored.json")
    (folder / "z.scored.json").write_text(json.dumps(read_rows(folder / "c.jsonl")))
    shutil.copy("c.jsonl.summary.json", "z.scored.json.summary.json")
    status, _, err = run("calibrate", "z*.json", "-o", "link/z.scored.json", "--overwrite")
    assert status == 1 and "one of the inputs" in err
    for more in (["-o", "link/c.json"], ["--claims-out", "link/c.json"]):
        status, _, err = run("score", "in-a.jsonl", "--model", "fake", "--calibration", "c.json", "--overwrite", *more)
        assert status == 2 and "is the file of --calibration" in err
    assert {name: (folder / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("damage", [5, ["x"], {"a": 1}, [None], "[", "7"])
def test_damaged_claims_are_a_sentence(run, folder, ending, damage):
    scored_file(folder / "a.jsonl", given_rows(mixed()))
    rows = read_rows(folder / "a.jsonl")
    for row in rows if ending == ".parquet" else rows[2:3]:
        row["claims"] = damage
    write_rows(folder / f"b{ending}", rows)
    status, _, err = run("triage", f"b{ending}", "-o", "t.jsonl")
    assert status == 1 and f"b{ending}, row {0 if ending == '.parquet' else 2} (counted from 0): the column 'claims'" in err
    assert not (folder / "t.jsonl").exists()


def test_a_scored_file_by_a_glob(run, folder):
    scored_file(folder / "a.scored.jsonl", given_rows(mixed()))
    assert run("triage", "a.sc*.jsonl", "-o", "a.scored.routed.jsonl", "--budget", 0.1)[0] == 0
    (folder / "v.jsonl").write_text('{"row": 5, "faithful": true}\n')
    assert run("merge", "a.scored.r*.jsonl", "v.jsonl")[0] == 0
    assert (folder / "a.scored.routed.merged.jsonl").exists()


def test_help_loads_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys; from nli_faith.cli import main; [main([c, '--help']) for c in ('calibrate', 'triage', 'merge')];"
        "sys.exit(repr({'torch', 'pyarrow', 'numpy', 'matplotlib'} & set(sys.modules)) if "
        "{'torch', 'pyarrow', 'matplotlib'} & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
