"""Labels -> thresholds: what is chosen, how sure it is, what is refused."""

from __future__ import annotations

import csv
import json
import os
import re

import numpy as np
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import write_rows
from prefilter_stubs import GivenScorer, given_rows, noisy, scored_file

from nli_faith.calibrate import calibrate
from nli_faith.calibrations import Run, load_calibration
from nli_faith.cuts import Aim, best_precision, best_threshold, between, margins, thresholds_of_others
from nli_faith.errors import InputError
from nli_faith.figures import measure
from nli_faith.labels import LabelReader, one_means
from nli_faith.proportions import f1, mean_of_two, share, wilson
from nli_faith.scored import open_scored
from nli_faith.scored_runs import read_run

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
    value, low, high = f1(40, 50, 60)
    assert low < value < high and value == pytest.approx(80 / 110)


def test_f1_has_a_width_at_its_ends():
    value, low, high = f1(30, 30, 30)
    assert (value, high) == (1.0, 1.0) and 0.9 < low < 0.96
    value, low, high = f1(0, 10, 20)
    assert (value, low) == (0.0, 0.0) and 0.1 < high < 0.3


def test_measure():
    flags, bad = np.array([1, 1, 0, 0, 0], bool), np.array([1, 0, 1, 0, 0], bool)
    figures = measure(flags, bad, np.arange(5))
    assert [round(figures[name][0], 3) for name in ("precision", "recall", "agreement")] == [0.5, 0.5, 0.6]
    assert measure(flags & False, bad, np.arange(5))["precision"] is None


def test_intervals_know_that_claims_of_one_answer_are_alike():
    rng = np.random.default_rng(1)
    bad, right = rng.random(40) < 0.4, rng.random(40) < 0.8
    flags, group = np.where(right, bad, ~bad), np.arange(40)
    alone = measure(flags, bad, group)
    # Every answer tells its one fact in ten claims: ten times the labels, and not a bit more known.
    many = [np.repeat(values, 10) for values in (flags, bad, group)]
    clustered, naive = measure(*many), measure(many[0], many[1], np.arange(400))
    for name, (value, low, high) in clustered.items():
        assert value == alone[name][0] and low <= value <= high
        width = alone[name][2] - alone[name][1]
        assert 0.6 * width < high - low < 1.4 * width, name
        assert naive[name][2] - naive[name][1] < 0.5 * width
    assert measure(*many) == clustered and share(many[0] == many[1], many[2]) == pytest.approx(clustered["agreement"])
    # Where all draws are alike, it stays as wide as that of single entries.
    assert share(np.ones(400, bool), many[2]) == wilson(400, 400)


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
        assert measure(support[:1000] < cut, ~faithful[:1000], np.arange(1000))["precision"][0] >= 0.8
        assert measure(support[1000:] < cut, ~faithful[1000:], np.arange(1000))["precision"][2] >= 0.8


def test_the_best_precision_can_be_asked_for():
    # Six equal supports, of which five are unfaithful and stand first: no threshold parts them.
    support = np.array([0.1] * 6 + [0.9] * 60)
    bad = np.array([True] * 5 + [False] * 61)
    assert best_precision(support, bad) == pytest.approx(5 / 6)
    assert best_threshold(support, bad, Aim("target_precision", 5 / 6)) is not None
    assert best_threshold(support, bad, Aim("target_precision", 0.84)) is None
    assert best_precision(np.ones(60), bad[:60]) is None


def test_the_threshold_of_others_never_saw_the_group():
    support, faithful = (np.array(values) for values in noisy(100))
    group = np.arange(100) // 2
    others, found = thresholds_of_others(support, ~faithful, group, BALANCED)
    assert found == [True] * 5 and (others[::2] == others[1::2]).all()
    for threshold in np.unique(others):
        own = others == threshold
        assert best_threshold(support[~own], ~faithful[~own], BALANCED) == threshold
    assert ((margins(support, others) < 0) == (support < others)).all()
    assert list(margins(np.array([0.0, 1.0, 1 - 2**-30, 0.5]), np.array([0.0, 1.0, 1.0, 0.5])) < 0) == [False, False, True, False]
    assert thresholds_of_others(support, ~faithful, np.zeros(100), BALANCED)[1] == [False]


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


GOOD = ("label", "gold", "faithful", "is_faithful", "human_faithful", "judge_faithful", "supported", "overall_supported",
        "adherence_score", "groundedness", "isConsistent", "entailed", "not_hallucinated", "no_hallucination",
        "hallucination_free", "error_free", "without_errors", "not_unsupported", "factually_correct")  # fmt: skip
FAULTS = ("hallucination", "HALLUCINATED", "isHallucinated", "unsupported_response_sentence_keys", "ungrounded", "unfaithful",
          "not_supported", "not_faithful", "not-grounded", "inconsistent", "contradicted", "has_errors", "n_errors",
          "unverifiable", "not_factually_consistent", "nonfactual", "incorrect")  # fmt: skip
UNCLEAR = ("labels", "my_label", "annotation", "score", "passage", "information", "supported_or_not", "faithful_vs_hallucinated",
           "not_sure", "no_of_errors", "ground_truth", "free")  # fmt: skip


@pytest.mark.parametrize(("columns", "meaning"), [(GOOD, True), (FAULTS, False), (UNCLEAR, None)])
def test_the_name_says_what_1_means(columns, meaning):
    for column in columns:
        assert one_means(column) is meaning, column
        reader = LabelReader(column, "in.csv")
        read = reader.read([1, "True", "yes", "0", False, "PASS", "unfaithful"], 3)
        assert read[5:] == [True, False]
        if meaning is None:
            with pytest.raises(InputError, match=rf"in.csv, row 3 .*'{column}' holds '1', which may mean .*PASS/FAIL"):
                reader.check()
        else:
            reader.check()
            assert read[:5] == [meaning] * 3 + [not meaning] * 2
            assert reader.read_as == f"1, true or yes in the column '{column}' was read as {'' if meaning else 'un'}faithful."
    assert LabelReader("label", "x").read_as is None


def test_the_way_of_reading_is_said_and_kept(run, folder):
    support, faithful = noisy(80)
    rows = given_rows([{"s": [s]} for s in support], [not good for good in faithful], "not_supported")
    scored_file(folder / "a.jsonl", rows)
    status, out, err = run("calibrate", "a.jsonl", "-o", "c.json", "--label", "not_supported", "--json")
    assert status == 0 and "1, true or yes in the column 'not_supported' was read as unfaithful." in err
    told = json.loads(out)
    assert told["read_as"] == load_calibration("c.json").labels["read_as"] and told["unfaithful"] == faithful.count(False)


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


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_file_is_never_counted_twice(run, folder):
    labelled(folder / "a.jsonl", 60)
    os.symlink("a.jsonl", "b.jsonl")
    for again in ("a.jsonl", "./a.jsonl", "b.jsonl"):
        status, _, err = run("calibrate", "a.jsonl", again, "-o", "c.json", "--summary", "a.jsonl.summary.json")
        assert status == 1 and "are one file, whose labels would count twice" in err and not (folder / "c.json").exists()


def test_labels_of_the_judge_alone_are_warned_of(run, folder):
    support, faithful = noisy(300)
    scored_file(folder / "a.jsonl", given_rows([{"s": [s]} for s in support]))
    run("triage", "a.jsonl", "-o", "t.jsonl", "--budget", 0.4, "--judge-out", "j.jsonl")
    sent = [json.loads(line)["row"] for line in open("j.jsonl")]
    write_rows(folder / "v.jsonl", [{"row": row, "verdict": faithful[row]} for row in sent])
    assert run("merge", "t.jsonl", "v.jsonl", "-o", "m.jsonl")[0] == 0
    words = ("calibrate", "m.jsonl", "--summary", "a.jsonl.summary.json", "-o", "c.json", "--overwrite")
    status, out, err = run(*words)
    assert status == 0 and "Warning: All labels are of rows that triage sent to the judge" in out and "hard ones" in err
    assert "sent to the judge" in load_calibration("c.json").labels["warnings"][0]
    assert "sent to the judge" in json.loads(run(*words, "--json")[1])["warnings"][0]
    # One label of another row is enough, and so is a file whose rows were all sent.
    rows = [json.loads(line) for line in open("m.jsonl")]
    other = next(row for row in rows if row["route"] != "judge")
    write_rows(folder / "m.jsonl", [row | ({"judge_faithful": True} if row is other else {}) for row in rows])
    assert "Warning" not in run(*words)[1]
    write_rows(folder / "m.jsonl", [row for row in rows if row["route"] == "judge"])
    assert "Warning" not in run(*words)[1]


def test_the_rule_for_claims_counts_where_it_moves_supports(folder):
    for name, options in (("plain", {}), ("strict", {"strict_numbers": True}), ("joined", {"joined_evidence": 2})):
        for threshold in (None, 0.6):
            for ending in (".jsonl", ".parquet"):
                labelled(folder / f"{name}-{threshold}{ending}", 60, scorer=GivenScorer(threshold=threshold, **options))
    assert json.loads((folder / "strict-0.6.jsonl.summary.json").read_text())["claim_rule"] == 0.6
    assert calibrate(["plain-None.jsonl", "plain-0.6.parquet"], BALANCED).n == 120
    for name in ("strict", "joined"):
        for one, other in ((".jsonl", ".parquet"), (".parquet", ".jsonl")):
            with pytest.raises(InputError, match="the rule for claims is 0.6 in the one and argmax in the other"):
                calibrate([f"{name}-None{one}", f"{name}-0.6{other}"], BALANCED)
    calibrate(["strict-0.6.jsonl"], BALANCED).save("c.json")
    made, fields = load_calibration("c.json"), {"granularity": "sentence", "strict_numbers": True}
    assert made.claim_rule == 0.6
    plain = {"model_hash": "aa11", "window": 381}
    made.check(Run.read(plain, fields | {"threshold": 0.6}))
    made.check(Run.read(plain, fields))  # a file that does not say
    with pytest.raises(InputError, match="another rule for claims: its labels were scored with 0.6, this run has argmax"):
        made.check(Run.read(plain, fields | {"threshold": None, "calibration": "c.json"}))
    with pytest.raises(InputError, match="this run has 0.7"):
        made.check(Run.read(plain, fields | {"threshold": None, "calibration": {"level": "claim", "threshold": 0.7}}))
    object.__setattr__(made, "level", "claim")  # it is the rule itself
    made.check(Run.read(plain, fields | {"threshold": None, "calibration": "c.json"}))


def test_a_summary_of_another_run_than_the_footer(run, folder):
    labelled(folder / "a.parquet", 60)
    labelled(folder / "b.jsonl", 60, scorer=GivenScorer(model_hash="bb"))
    labelled(folder / "c.parquet", 60, scorer=GivenScorer(strict_numbers=True))
    status, _, err = run("calibrate", "a.parquet", "-o", "c.json", "--summary", "b.jsonl.summary.json")
    assert status == 1 and "b.jsonl.summary.json is of another run than" in err
    assert "model hash is bb in it and aa11 in the footer" in err
    status, _, err = run("calibrate", "a.parquet", "-o", "c.json", "--summary", "c.parquet.summary.json")
    assert status == 1 and "--strict-numbers is on in it" in err
    assert run("calibrate", "a.parquet", "-o", "c.json", "--summary", "a.parquet.summary.json")[0] == 0
    source, reader, _ = open_scored("b.jsonl")
    assert read_run(source, reader, "a.parquet.summary.json").model_hash == "aa11"  # no footer: what is given counts


def test_parts_without_a_threshold_are_said(run, folder):
    # Six flags that may be had, five of them needed: the part that holds two of them leaves too few to the others.
    support = [0.01 * i for i in range(1, 7)] + [0.9 + 0.001 * i for i in range(54)]
    scored_file(folder / "a.jsonl", given_rows([{"s": [s]} for s in support], [s > 0.5 or None for s in support]))
    rows = [json.loads(line) for line in open("a.jsonl")]
    write_rows(folder / "a.jsonl", [row | {"label": row["min_support"] > 0.5} for row in rows])
    status, out, _ = run("calibrate", "a.jsonl", "-o", "c.json", "--target-precision", "1")
    made = load_calibration("c.json")
    assert status == 0 and made.parts["all"] == 5 and made.parts["without"] >= 1
    assert f"In {made.parts['without']} of the 5 parts no threshold was found" in out
    # Of five flags every part that holds one leaves too few, and the other parts flag nothing: a precision of nothing.
    write_rows(folder / "b.jsonl", [row | {"label": i >= 5} for i, row in enumerate(rows) if i != 5])
    status, out, _ = run("calibrate", "b.jsonl", "-o", "d.json", "--target-precision", "1", "--summary", "a.jsonl.summary.json")
    made = load_calibration("d.json")
    assert status == 0 and made.parts["without"] >= 2 and made.figures["precision"] is None
    assert "precision          -\n" in out and made.figures["recall"][0] == 0.0


def test_truth_in_any_spelling(run, folder):
    support, faithful = noisy(60)
    scored_file(folder / "a.csv", given_rows([{"s": [s]} for s in support], faithful), claims_out="claims.csv")
    rows = list(csv.DictReader(open("a.csv", newline="")))
    for good, bad in (("1", "0"), ("1.0", "0.0"), ("TRUE", "FALSE")):
        write_rows(folder / "b.csv", [row | {"faithful": good if row["faithful"] == "true" else bad} for row in rows])
        assert run("triage", "b.csv", "-o", "t.csv", "--overwrite")[0] == 0
        routes = [row["route"] for row in csv.DictReader(open("t.csv", newline=""))]
        assert routes == ["pass" if row["faithful"] == "true" else "fail" for row in rows]
    write_rows(folder / "b.csv", [row | {"faithful": "x" if i == 7 else row["faithful"]} for i, row in enumerate(rows)])
    status, _, err = run("triage", "b.csv", "-o", "u.csv")
    assert status == 1 and "b.csv, row 7 (counted from 0): 'faithful' holds 'x' and no truth value" in err
    write_rows(folder / "b.csv", [row | {"faithful": ""} for row in rows])
    status, _, err = run("triage", "b.csv", "-o", "u.csv")
    assert status == 1 and "none of its 60 scored rows has a verdict" in err and not (folder / "u.csv").exists()
    claims = list(csv.DictReader(open("claims.csv", newline="")))
    write_rows(folder / "c.csv", [row | {"label": 1, "exhaustive": 0 if i == 7 else 1} for i, row in enumerate(claims)])
    status, _, err = run("calibrate", "c.csv", "-o", "c.json", "--summary", "a.csv.summary.json")
    assert status == 1 and "c.csv, row 7 (counted from 0): exhaustive is false" in err


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
    err = refused("c.jsonl", [row | {"label": i % 2} for i, row in enumerate(rows)], "--target-precision", "0.99")
    reached = re.search(r"the best reaches (0\.\d+)\. Ask for less", err)[1]
    assert run("calibrate", "c.jsonl", "-o", "reached.json", "--target-precision", reached)[0] == 0
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
