"""Labels -> thresholds: what is chosen, how sure it is, what is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import write_rows
from prefilter_stubs import GivenScorer, given_rows, noisy, scored_file

from nli_faith.calibrate import calibrate, measure
from nli_faith.calibrations import Run, load_calibration
from nli_faith.cuts import Aim, best_threshold, between
from nli_faith.errors import InputError
from nli_faith.labels import LabelReader
from nli_faith.proportions import f1, mean_of_two, wilson

BALANCED = Aim("balanced")


def labelled(path, n: int = 200, seed: int = 0, **options):
    support, faithful = noisy(n, seed)
    return scored_file(path, given_rows([{"s": [s]} for s in support], faithful), **options)


# Statistics ------------------------------------------------------------------------------------------------------


def test_wilson_is_the_published_formula():
    share, low, high = wilson(81, 263)  # Newcombe 1998, table I
    assert (round(share, 4), round(low, 4), round(high, 4)) == (0.308, 0.2553, 0.3662)
    assert [round(value, 4) for value in wilson(0, 20)] == [0.0, 0.0, 0.1611]
    assert wilson(20, 20)[2] == 1.0 and wilson(0, 0) == (0.0, 0.0, 1.0)


def test_intervals_hold_their_value_and_shrink():
    for n in (20, 200, 2000):
        p, low, high = wilson(n // 4, n)
        assert low <= p <= high
    assert wilson(500, 2000)[2] - wilson(500, 2000)[1] < wilson(5, 20)[2] - wilson(5, 20)[1]
    value, low, high = mean_of_two(wilson(8, 10), wilson(90, 100))
    assert low < value < high and value == pytest.approx(0.85)
    value, low, high = f1(40, 50, 60, 300)
    assert low < value < high and value == pytest.approx(80 / 110) and f1(40, 50, 60, 300) == (value, low, high)


def test_measure():
    flags, bad = np.array([1, 1, 0, 0, 0], bool), np.array([1, 0, 1, 0, 0], bool)
    figures = measure(flags, bad)
    assert [round(figures[name][0], 3) for name in ("precision", "recall", "agreement")] == [0.5, 0.5, 0.6]


# Thresholds ------------------------------------------------------------------------------------------------------


def test_the_threshold_of_separable_data_lies_in_the_gap():
    support = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    bad = support < 0.5
    for aim in (BALANCED, Aim("max_f1"), Aim("agreement")):
        assert 0.3 < best_threshold(support, bad, aim) <= 0.7
    # Too few flags to count a precision on; enough of them when every row is there ten times.
    assert best_threshold(support, bad, Aim("target_precision", 0.9)) is None
    assert 0.3 < best_threshold(np.repeat(support, 10), np.repeat(bad, 10), Aim("target_precision", 0.99)) <= 0.7


@pytest.mark.parametrize("low, high", [(0.0, 1e-7), (0.1, 0.2), (float(np.float32(0.9)), 0.9000001), (0.99999994, 1.0)])
def test_a_threshold_parts_its_neighbours_also_as_a_float32(low, high):
    cut = between(low, high)
    assert low < cut <= high and not np.float32(low) >= np.float32(cut) and np.float32(high) >= np.float32(cut)


def test_no_better_cut_exists():
    support, faithful = noisy(120)
    support, bad = np.array(support), ~np.array(faithful)

    def worth(cut: float) -> float:
        flags = support < cut
        return (flags[bad].mean() + (~flags)[~bad].mean()) / 2

    found = best_threshold(support, bad, BALANCED)
    assert worth(found) == pytest.approx(max(worth(cut) for cut in support))


def test_a_target_precision_is_reached_on_the_other_half():
    for seed in range(5):
        support, faithful = (np.array(values) for values in noisy(2000, seed))
        cut = best_threshold(support[:1000], ~faithful[:1000], Aim("target_precision", 0.8))
        assert measure(support[:1000] < cut, ~faithful[:1000])["precision"][0] >= 0.8
        assert measure(support[1000:] < cut, ~faithful[1000:])["precision"][2] >= 0.8


# Labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "yes", "no"),
    [
        ("label", [True, 1, 1.0, "1", "true", "True", "PASS", "faithful", "Supported", "consistent", np.bool_(True)],
         [False, 0, "0", "false", "FAIL", "unfaithful", "unsupported", "not supported", "hallucinated", "inconsistent"]),
        ("adherence_score", [True, "True", 1.0], [False, "False", 0.0]),
        ("hallucination_labels", ["[]", [], np.array([])], ['[{"start": 1, "text": "x"}]', [{"start": 1}], "[{'a': 1}]"]),
        ("hallucination_labels_processed", [{"evident_conflict": 0, "baseless_info": 0}, '{"baseless_info": 0}'],
         [{"evident_conflict": 0, "baseless_info": 2}]),
        ("hallucination", ["no", 0, False, "faithful"], ["yes", 1, 3, True, "hallucinated"]),
        ("labels", [[]], [[{"start": 0}]]),
    ],
)  # fmt: skip
def test_spellings(column, yes, no):
    reader = LabelReader(column, "x")
    assert reader.read(yes, 0) == [True] * len(yes) and reader.read(no, 0) == [False] * len(no)
    assert reader.read([None, "", float("nan"), "null"], 0) == [None] * 4
    reader.check()


def test_unknown_spellings_are_listed():
    reader = LabelReader("label", "in.jsonl")
    reader.read(["PASS", "perhaps", 0.37, [], "perhaps", 2], 10)
    with pytest.raises(InputError, match=r"'perhaps' \(2 rows, first 11\).*0\.37.*PASS/FAIL"):
        reader.check()


# The file --------------------------------------------------------------------------------------------------------


def test_the_stored_file(run, folder):
    labelled(folder / "a.jsonl")
    status, out, err = run("calibrate", "a.jsonl", "-o", "c.json", "--target-precision", 0.8)
    assert status == 0 and "threshold" in out and "precision" in out and "Wrote c.json." in err
    made = load_calibration("c.json")
    assert made.level == "row" and made.n == 200 and 0 < made.threshold < 1 and made.aim["value"] == 0.8
    assert (made.model_hash, made.window, made.granularity) == ("aa11", 381, "sentence")
    assert sum(made.curve["n"]) == 200 and sum(made.curve["unfaithful"]) == made.unfaithful
    assert made.states == {"scored": [200 - made.unfaithful, made.unfaithful]}
    assert len(made.date) == 10 and "a.jsonl" not in json.dumps(made.identity())
    assert run("calibrate", "a.jsonl", "-o", "c.json")[0] == 1  # exists
    status, out, _ = run("calibrate", "a.jsonl", "-o", "c.json", "--overwrite", "--max-f1", "--json")
    assert status == 0 and json.loads(out)["figures"]["f1"][0] > 0.5


def test_every_format_gives_the_same_calibration(folder):
    made = [calibrate([str(labelled(folder / f"a{ending}"))], BALANCED) for ending in (".jsonl", ".csv", ".parquet")]
    assert made[0] == made[1] == made[2]


def test_claims_are_a_level_of_their_own(run, folder):
    support, faithful = noisy(120)
    rows = given_rows([{"s": support[i : i + 2]} for i in range(0, 120, 2)], [True] * 60)
    scored_file(folder / "a.jsonl", rows, claims_out="claims.jsonl")
    lines = [json.loads(line) | {"label": good} for line, good in zip(open("claims.jsonl"), faithful, strict=True)]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    status, _, err = run("calibrate", "labelled.jsonl", "-o", "c.json")
    assert status == 1 and "--summary" in err
    words = ("--summary", "a.jsonl.summary.json", "-o", "c.json")
    status, out, _ = run("calibrate", "labelled.jsonl", *words)
    assert status == 0 and "P(entailment)" in out and load_calibration("c.json").level == "claim"
    status, _, err = run("calibrate", "labelled.jsonl", "a.jsonl", *words, "--overwrite")
    assert status == 1 and "never mixed" in err
    status, _, err = run("triage", "a.jsonl", "-o", "t.jsonl", "--calibration", "c.json")
    assert status == 1 and "calibration of claims" in err


def test_several_files_are_one_set(folder):
    paths = [str(labelled(folder / f"{seed}.jsonl", 60, seed)) for seed in (1, 2)]
    assert calibrate(paths, BALANCED).n == 120
    labelled(folder / "3.jsonl", 60, scorer=GivenScorer(model_hash="bb"))
    with pytest.raises(InputError, match="different runs: the model hash is bb in the one and aa11 in the other"):
        calibrate([paths[0], "3.jsonl"], BALANCED)


@pytest.mark.parametrize(
    ("option", "said"),
    [({"strict_numbers": True}, "--strict-numbers is on in the one and off in the other"),
     ({"joined_evidence": 3}, "--joined-evidence is 3 in the one and off in the other"),
     ({"prefix_pronouns": True}, "--prefix-pronouns is on"),
     ({"labels": ["b", "a"]}, "order of labels is b,a in the one and a,b in the other")],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_files_of_other_options_are_no_set(folder, ending, option, said):
    labelled(folder / f"1{ending}", 60, scorer=GivenScorer(labels=["a", "b"]))
    labelled(folder / f"2{ending}", 60, scorer=GivenScorer(**({"labels": ["a", "b"]} | option)))
    with pytest.raises(InputError, match=said):
        calibrate([f"1{ending}", f"2{ending}"], BALANCED)
    made = calibrate([f"2{ending}"], BALANCED)
    assert made.run.difference(Run.read({"model_hash": "aa11", "window": 381, "labels": ["a", "b"]}, {"granularity": "sentence"}))
    made.save("c.json")
    assert load_calibration("c.json") == made


def test_a_calibration_of_before_means_the_defaults(folder):
    labelled(folder / "a.jsonl", 60)
    calibrate(["a.jsonl"], BALANCED).save("c.json")
    stored = json.loads((folder / "c.json").read_text())
    for name in ("output_labels", "joined_evidence", "prefix_pronouns", "strict_numbers"):
        stored.pop(name)
    (folder / "c.json").write_text(json.dumps(stored))
    made = load_calibration("c.json")
    plain = {"model_hash": "aa11", "window": 381, "labels": ["a", "b"]}
    made.check(Run.read(plain, {"granularity": "sentence"}))
    with pytest.raises(InputError, match="another --strict-numbers: its labels were scored with off, this run has on"):
        made.check(Run.read(plain, {"granularity": "sentence", "strict_numbers": True}))
    with pytest.raises(InputError, match=r"off, Folder/A.jsonl has on"):
        made.check(Run.read(plain, {"granularity": "sentence", "strict_numbers": True}), "Folder/A.jsonl")
    for name, value in (("threshold", 2), ("level", "x"), ("curve", {}), ("curve", []), ("states", {"scored": 3}),
                        ("curve", stored["curve"] | {"n": []}), ("curve", stored["curve"] | {"n": "x"})):  # fmt: skip
        (folder / "bad.json").write_text(json.dumps(stored | {name: value}))
        with pytest.raises(InputError, match="bad.json holds level .* which can't be. Make it anew"):
            load_calibration("bad.json")
    # And so does a summary.
    summary = json.loads((folder / "a.jsonl.summary.json").read_text())
    for name in ("labels", "joined_evidence", "prefix_pronouns", "strict_numbers"):
        summary.pop(name)
    (folder / "a.jsonl.summary.json").write_text(json.dumps(summary))
    assert calibrate(["a.jsonl"], BALANCED) == made


@pytest.mark.parametrize("row", [None, "x", -1, 1.5, True, [1], {}, 1e300, ""])
@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_a_damaged_row_of_a_claim_is_a_sentence(folder, row, ending):
    scored_file(folder / "a.jsonl", given_rows([{"s": [0.1, 0.9]}] * 60), claims_out="claims.jsonl")
    lines = [json.loads(line) | {"label": True} for line in open("claims.jsonl")]
    if ending == ".csv":
        lines = [line | {"row": f"{line['row']}.0"} for line in lines]
        write_rows(folder / "good.csv", lines)
        with pytest.raises(InputError, match="All 120 labels say faithful"):
            calibrate(["good.csv"], BALANCED, summary="a.jsonl.summary.json")
    lines[7]["row"] = row
    write_rows(folder / f"b{ending}", lines)
    with pytest.raises(InputError, match=rf"b{ending}, row 7 \(counted from 0\): its column 'row' holds .* Correct it"):
        calibrate([f"b{ending}"], BALANCED, summary="a.jsonl.summary.json")
    lines[7] |= {"row": 3, "support": 1.5}
    write_rows(folder / f"b{ending}", lines)
    with pytest.raises(InputError, match=r"row 7 .*support 1.5 is not between 0 and 1"):
        calibrate([f"b{ending}"], BALANCED, summary="a.jsonl.summary.json")


@pytest.mark.parametrize(("n", "word"), [(0, "say too little"), (19, "say too little"), (20, "no file"), (49, "no file")])
def test_too_few_labels(run, folder, n, word):
    support, faithful = noisy(60)
    labels = [*faithful[:n], *[None] * (60 - n)]
    scored_file(folder / "a.jsonl", given_rows([{"s": [s]} for s in support], labels))
    status, out, err = run("calibrate", "a.jsonl", "-o", "c.json")
    assert status == 1 and word in err and not (folder / "c.json").exists()
    assert ("agreement" in out) == (n >= 20)


def test_what_no_threshold_decides_is_left_out(folder):
    support, faithful = noisy(60)
    answers = [{"s": [s]} for s in support] + [{"status": s} for s in ("no_claims", "no_context", "error", "empty_answer")]
    made = calibrate([str(scored_file(folder / "a.csv", given_rows(answers, [*faithful, False, False, True, True])))], BALANCED)
    assert made.n == 60 and made.left_out == {"without_label": 0, "not_decided": 4}
    assert made.states["no_claims"] == [0, 1] and made.states["error"] == [1, 0]


def test_refusals(run, folder):
    support, faithful = noisy(60)
    rows = given_rows([{"s": [s]} for s in support], faithful)

    def refused(name: str, made: list[dict], *words: str, scorer: GivenScorer | None = None) -> str:
        scored_file(folder / name, made, scorer)
        status, _, err = run("calibrate", name, "-o", "c.json", *words)
        assert status == 1 and err.count("nli-faith:") == 1 and not (folder / "c.json").exists()
        return err

    for ending in ("jsonl", "csv", "parquet"):
        err = refused(f"early.{ending}", rows, scorer=GivenScorer(exhaustive=False))
        first = next(i for i, s in enumerate(support) if s > 0.5)
        assert f"row {first} " in err and "--early-exit" in err
    assert "All 60 labels say faithful" in refused("b.jsonl", [row | {"label": 1} for row in rows])
    assert "Ask for less" in refused("c.jsonl", [row | {"label": i % 2} for i, row in enumerate(rows)],
                                     "--target-precision", "0.99")  # fmt: skip
    assert "'maybe' (60 rows" in refused("d.jsonl", [row | {"label": "maybe"} for row in rows])
    assert "has no column of labels (label, " in refused("e.jsonl", given_rows([{"s": [0.5]}] * 60))
    assert "our own" not in refused("f.jsonl", rows, "--label", "gold") and "no column 'x', which --label names" in refused("g.jsonl", rows, "--label", "x")
    assert "own verdict" in refused("h.jsonl", rows, "--label", "faithful")
    assert run("calibrate", "in-a.jsonl", "-o", "c.json")[0] == 1
    assert "no scored file" in run("calibrate", "in-b.jsonl", "-o", "c.json")[2]
    assert run("calibrate", "b.jsonl", "-o", "c.txt")[0] == 2
    assert run("calibrate", "b.jsonl", "-o", "c.json", "--target-precision", "1.5")[0] == 2


# Scoring with it -------------------------------------------------------------------------------------------------


def stored(folder, **changes) -> str:
    labelled(folder / "a.jsonl", 60)
    made = calibrate(["a.jsonl"], BALANCED)
    fields = {"model_hash": "fake", "window": None} | changes
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    made.save("c.json")
    return "c.json"


@pytest.fixture
def window(fake):
    return fake.window_size


ANSWER = "The cat sleeps. It is on a sofa. Dogs bark loudly at night."
CHUNKS = ["The cat sleeps on the red sofa.", "Dogs are loud.", "Night is dark."]


def test_a_row_calibration_moves_only_the_answer_verdict(folder, window):
    from nli_faith import Scorer

    plain = Scorer("fake").score(ANSWER, CHUNKS)
    for threshold in (plain.min_support, plain.min_support + 1e-6):
        path = stored(folder, window=window, threshold=threshold)
        score = Scorer("fake", calibration=path).score(ANSWER, CHUNKS)
        assert score.faithful == (threshold == plain.min_support)
        assert score.claims == plain.claims and score.faithfulness == plain.faithfulness
        os.remove("a.jsonl")


@pytest.mark.parametrize("early", [False, True])
def test_a_claim_calibration_replaces_argmax_everywhere(folder, window, early):
    from nli_faith import Scorer

    path = stored(folder, window=window, threshold=0.6, level="claim")
    ours = Scorer("fake", calibration=path, early_exit=early).score(ANSWER, CHUNKS)
    assert ours == Scorer("fake", threshold=0.6, early_exit=early).score(ANSWER, CHUNKS)
    assert [claim.verdict == "supported" for claim in ours.claims] == [claim.support >= 0.6 for claim in ours.claims]


def test_score_with_a_calibration(run, folder, window):
    path = stored(folder, window=window)
    rows = [{"answer": ANSWER, "contexts": CHUNKS}]
    (folder / "in.jsonl").write_text(json.dumps(rows[0]) + "\n")
    assert run("score", "in.jsonl", "-o", "out.parquet", "--model", "fake", "--calibration", path)[0] == 0
    import pyarrow.parquet as pq

    footer = json.loads(pq.read_schema("out.parquet").metadata[b"nli_faith"])
    assert footer["scorer"]["options"]["calibration"] == load_calibration(path).identity()
    assert footer["scorer"]["answer_threshold"] == load_calibration(path).threshold
    from nli_faith import Scorer

    # A run that was interrupted goes on with the same calibration only, wherever it lies.
    same, other = Scorer("fake", calibration=path).identity(), Scorer("fake").identity()
    assert same == footer["scorer"] and same["options"]["calibration"]["hash"] and other["options"]["calibration"] is None
    for changes, word in (({"strict_numbers": True}, "--strict-numbers"), ({"joined_evidence": 2}, "--joined-evidence"),
                          ({"prefix_pronouns": True}, "--prefix-pronouns"), ({"model_hash": "bb"}, "model hash"), ({"window": 100}, "window"), ({"granularity": "answer"}, "gran")):
        os.remove("a.jsonl")
        stored(folder, **({"window": window} | changes))
        status, _, err = run("score", "in.jsonl", "-o", "new.jsonl", "--model", "fake", "--calibration", path)
        assert status == 1 and word in err and not (folder / "new.jsonl").exists()
    os.remove("a.jsonl")
    stored(folder, level="claim", window=window)
    assert run("check", "--answer", "A b.", "--context", "c", "--model", "fake", "--calibration", path, "--threshold", 0.5)[0] == 2
    for text in ("{}", "[", '{"format": "other"}'):
        (folder / "c.json").write_text(text)
        assert run("check", "--answer", "A b.", "--context", "c", "--model", "fake", "--calibration", "c.json")[0] == 1
    assert run("check", "--answer", "A b.", "--context", "c", "--model", "fake", "--calibration", "none.json")[0] == 1
