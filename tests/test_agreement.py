"""The agreement benchmark on made-up answers and tiny models: what is stored, whose labels count, and what is reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
for folder in ("scripts", "benchmarks"):
    sys.path.insert(0, str(ROOT / folder))

import agreement  # noqa: E402
import agreement_figures as figures  # noqa: E402
import answers as answer_columns  # noqa: E402
import contenders  # noqa: E402
import pair_store  # noqa: E402
import references  # noqa: E402
from answers import columns  # noqa: E402
from pair_store import PairStore  # noqa: E402

from nli_faith import Scorer  # noqa: E402
from nli_faith.errors import InputError  # noqa: E402
from nli_faith.scores import Rule  # noqa: E402

TEXTS = (
    "The hotel has 40 rooms. Breakfast is served until ten.",
    "Hello! I could not find this in the documents.",
    "The museum opens at nine. It closes on Mondays. Entry is free for children.",
    "",
    "The train leaves at 8.15 from platform 4.",
)


def made(n: int = 40, task: str = "qa", **more) -> list[dict]:
    """Records of 8 sources; every third answer is unfaithful, with a span over its first claim."""
    records = []
    for i in range(n):
        text = f"{TEXTS[i % len(TEXTS)]} Number {i} is here." if TEXTS[i % len(TEXTS)] else ""
        faithful = i % 3 != 0
        span = [] if faithful else [{"start": 0, "end": 5, "text": text[:5], "label": "made up"}]
        records.append({
            "id": f"{task}/{i}", "source_id": f"s{i % 8}", "task": task, "question": None, "response": text,
            "contexts": [f"Text {i % 8}. The hotel has 40 rooms and a garden.", "", "The museum opens at nine."][: 1 + i % 3],
            "human": {"faithful": faithful, "label": "x", "spans": span}, "judges": {},
        } | more)  # fmt: skip
    return records


def write(folder: Path, sets: dict[str, list[dict]]) -> Path:
    (folder / "eval").mkdir(parents=True)
    for name, records in sets.items():
        (folder / "eval" / f"{name}.dev.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def read(tmp_path: Path, records: list[dict], model: str = "fake") -> list:
    return PairStore(tmp_path / "pairs", model, probe=False).rows("made", records)


# What is stored


@pytest.mark.parametrize("folder", ["tiny_folder", "two_class_folder"])
def test_stored_pairs_give_the_verdicts_of_the_product(folder, request, tmp_path):
    model = str(request.getfixturevalue(folder))
    long = "The report names " + ", ".join(f"town {i} with {i + 3} schools" for i in range(30)) + "."
    records = [*made(5), made(1)[0] | {"id": "long", "response": long}]
    read(tmp_path, records, model)
    rows = read(tmp_path, records, model)
    assert max(row.parts.max(initial=0) for row in rows) > 1  # the long claim was read in parts
    for threshold in (None, 0.3):
        scorer = Scorer(model, threshold=threshold, probe=False)
        scores = list(scorer.score_rows({"answer": r["response"], "contexts": r["contexts"]} for r in records))
        for row, score in zip(rows, scores, strict=True):
            assert row.status == score.status
            claims = [claim for claim in score.claims if claim.verdict]
            decisions = row.decisions(Rule(threshold))
            assert [d.verdict for d in decisions] == [c.verdict for c in claims]
            assert [d.support for d in decisions] == pytest.approx([c.support for c in claims], abs=1e-3)
            assert [d.conflict for d in decisions] == [c.conflict for c in claims]
            assert [(row.start[i], row.end[i]) for i in row.claims if claims] == [(c.start, c.end) for c in claims]


def test_a_second_run_needs_no_model(tmp_path, monkeypatch):
    records = made(20)
    first = read(tmp_path, records)
    monkeypatch.setattr(Scorer, "read_window", lambda *_: pytest.fail("read again"))
    again = read(tmp_path, records)
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.p, other.p) and np.array_equal(one.overlap, other.overlap)
        assert (one.id, one.kind, one.hypothesis, one.parts.tolist()) == (other.id, other.kind, other.hypothesis, other.parts.tolist())
    assert [row.id for row in read(tmp_path, records[::-2])] == [record["id"] for record in records[::-2]]


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_store, "ROWS_A_PART", 8)
    asked, whole = [], Scorer.read_window

    def stops(self, rows, model=True):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(len(rows))
        return whole(self, rows, model)

    monkeypatch.setattr(Scorer, "read_window", stops)
    with pytest.raises(KeyboardInterrupt):
        read(tmp_path, made(30))
    asked.clear()
    monkeypatch.setattr(Scorer, "read_window", lambda self, rows, model=True: asked.append(len(rows)) or whole(self, rows, model))
    assert len(read(tmp_path, made(30))) == 30
    assert asked == [8, 6]


def test_other_texts_are_read_again_and_other_options_lie_elsewhere(tmp_path):
    records = made(10)
    store = PairStore(tmp_path / "pairs", "fake")
    before = store.rows("made", records)
    changed = [records[0] | {"response": "Something else is said here."}, *records[1:]]
    after = store.rows("made", changed)
    assert after[0].hypothesis == ["Something else is said here."] and before[0].hypothesis != after[0].hypothesis
    assert store.rows("made", records)[0].hypothesis == before[0].hypothesis
    assert PairStore(tmp_path / "pairs", "fake", granularity="answer").folder != store.folder
    with pytest.raises(InputError, match="same id"):
        store.rows("made", [records[0], records[0]])


def test_after_a_change_of_the_code_only_what_is_read_otherwise_is_read_again(tmp_path, monkeypatch):
    records = made(20)
    read(tmp_path, records)
    folder = tmp_path / "pairs"
    asked, whole = [], Scorer.read_window

    def other_splitter(self, rows, model=True):
        # What a change of the splitter does to one answer.
        rows = [row if row.id != "qa/2" else type(row)(0, "The zoo is closed.", row.chunks, None, row.id) for row in rows]
        if model:
            asked.extend(row.id for row in rows)
        return whole(self, rows, model)

    monkeypatch.setattr(pair_store, "code_digest", lambda: "other")
    monkeypatch.setattr(Scorer, "read_window", other_splitter)
    lines: list[str] = []
    rows = PairStore(folder, "fake").rows("made", records, lines.append)
    assert asked == ["qa/2"] and "19 of 20" in lines[0]
    assert rows[2].hypothesis == ["The zoo is closed."]
    assert len(PairStore(folder, "fake").rows("made", records)) == 20
    assert asked == ["qa/2"]  # now all of it is of this code


# Whose labels count


def test_faithbench_has_two_schemes():
    human = {"faithful": False, "label": "worst=Unwanted;best=Benign",
             "spans": [{"start": 0, "end": 3, "label": "Unwanted.Intrinsic"}, {"start": 5, "end": 9, "label": "Benign"}]}  # fmt: skip
    records = [made(1)[0] | {"human": human}] * references.FEWEST
    found = references.labels(records)
    assert set(found[references.PEOPLE]) == {0.0} and set(found[references.BEST]) == {1.0}
    assert references.spans(records[0]) == [(0, 3)]
    assert references.share_outside(records[0]) == pytest.approx(1 - 3 / len(records[0]["response"]))


@pytest.mark.parametrize(
    ("human", "right"),
    [
        ({"faithful": True, "spans": []}, [1, 1]),
        ({"faithful": False, "spans": [{"start": 12, "end": 14, "label": "x"}]}, [1, 0]),
        ({"faithful": False, "spans": []}, [np.nan, np.nan]),
        ({"faithful": None, "spans": []}, [np.nan, np.nan]),
    ],
)
def test_a_claim_is_right_when_no_span_touches_it(human, right):
    record = {"human": human, "response": "x" * 20}
    assert np.array_equal(references.claims_right(record, [(0, 10), (10, 20)]), right, equal_nan=True)


def test_the_only_claim_of_an_unfaithful_answer_is_wrong():
    assert references.claims_right({"human": {"faithful": False, "spans": []}, "response": "x"}, [(0, 1)]) == [0.0]


def test_a_slice_keeps_the_shares_and_is_the_same_every_time(tmp_path):
    data = write(tmp_path, {"made": [*made(60), *made(30, "summary")]})
    part = references.load(data, "made", 30)
    assert part == references.load(data, "made", 30) and len(part) == 30
    assert sum(record["task"] == "qa" for record in part) == 20
    assert sum(not record["human"]["faithful"] for record in part) == pytest.approx(10, abs=1)
    assert references.sets_in(data) == ["made"] and len(references.load(data, "made", 1000)) == 90


# Thresholds and rivals


def test_no_threshold_saw_the_source_that_it_is_used_on():
    rng = np.random.default_rng(0)
    sources = np.array([f"s{i % 30}" for i in range(300)])
    score = rng.random(300).round(3)
    faithful = rng.random(300) < score
    before = contenders.cross_fitted(score, faithful, sources, sources)
    for source in ("s0", "s13", "s29"):
        own = sources == source
        after = contenders.cross_fitted(np.where(own, rng.random(300), score), faithful ^ own, sources, sources)
        assert np.array_equal(before[own], after[own])
        others = contenders.folds(sources) != contenders.folds([source])
        after = contenders.cross_fitted(score, faithful ^ others, sources, sources)
        assert not np.array_equal(before[own], after[own])  # it did see the others


def test_thresholds_come_from_elsewhere_or_from_the_card(tmp_path):
    rows = {name: columns(records, read(tmp_path / name, records), Rule())
            for name, records in {"a": made(40), "b": made(40, "b")}.items()}  # fmt: skip
    found, where = contenders.elsewhere(rows, ["a", "gone"], 0.7)
    assert where == "other sources of a" and set(found) == {"a", "b"}
    assert np.array_equal(found["a"], found["b"])  # the same sources, so the same folds
    found, where = contenders.elsewhere(rows, ["gone"], 0.7)
    assert set(found["a"]) == {0.7} and "card" in where


def test_everyone_is_judged_on_the_same_rows(tmp_path):
    judged = [{"gpt-4o": i % 2 == 0, "hhem-2.1": 0.1 * (i % 10), "seldom": True if i < 5 else None} for i in range(60)]
    records = [record | {"judges": judges} for record, judges in zip(made(60), judged, strict=True)]
    records[7]["judges"]["hhem-2.1"] = None
    one = columns(records, read(tmp_path, records), Rule())
    found = figures.measure_task(one, np.full(60, 0.5), draws=50)
    names = {ref: [(c["name"], c["threshold"]) for c in table["contenders"]] for ref, table in found["references"].items()}
    assert set(names) == {"people", "people (rows with all stored verdicts)", "gpt-4o"}
    assert ("gpt-4o", "its verdict") in names["people"] and ("hhem-2.1", "0.5") not in names["people"]
    both = names["people (rows with all stored verdicts)"]
    assert {("hhem-2.1", "0.5"), ("hhem-2.1", "own"), ("gpt-4o", "its verdict")} <= set(both)
    assert found["references"]["people (rows with all stored verdicts)"]["rows"] == 59
    assert all(name != "gpt-4o" for name, _ in names["gpt-4o"])
    ours = {("nli-faith", "elsewhere"), ("nli-faith", "own"), ("nli-faith, strict", "none")}
    simple = {("overlap", "own"), ("length", "own"), ("always faithful", "none"), ("always unfaithful", "none")}
    assert all(ours | simple <= set(table) for table in names.values())
    assert found["roc"]["reference"] == "people (rows with all stored verdicts)" and "hhem-2.1" in found["roc"]["curves"]


# Figures


def claims(support, right, windows, place):
    support = np.array(support)
    verdict = np.where(support > 0.5, "supported", "unsupported").astype(object)
    return answer_columns.Claims(support, support > 0.5, verdict, np.array(right, float), np.array(windows), np.array(place))


def test_claims_are_held_against_spans():
    records = made(3)[:2]
    records[0] |= {"response": "x" * 40, "human": {"faithful": False, "spans": [{"start": 12, "end": 15, "label": "a"},
                                                                              {"start": 33, "end": 35, "label": "a"}]}}  # fmt: skip
    held = [
        claims([0.9, 0.2, 0.1], [1, 0, 1], [2, 2, 2], [(0, 10), (10, 20), (20, 30)]),
        claims([0.8], [0], [9], [(0, 10)]),
    ]
    one = answer_columns.Answers(
        np.array(records, dtype=object), np.array(["qa"] * 2), np.array(["a", "b"]), np.array(["scored"] * 2),
        np.array([0.1, 0.8]), np.array([1 / 3, 1.0]), np.zeros(2), np.zeros(2), np.array(held, dtype=object),
    )  # fmt: skip
    found = figures.claim_level(one, draws=20)
    assert (found["claims"], found["wrong"], found["spans"]) == (4, 2, 2)
    assert found["figures"]["precision_unfaithful"][0] == 0.5 and found["figures"]["caught"][0] == 0.5
    assert found["spans_caught"][0] == 0.5 and found["spans_outside_claims"][0] == 0.5
    by_windows = {row["windows"]: row for row in found["windows"]}
    assert by_windows["2"]["precision"][0] == 1.0 and by_windows["2"]["wrong_supported"][0] == 0.0
    assert by_windows["9-16"]["precision"][0] == 0.0 and by_windows["9-16"]["wrong_supported"][0] == 1.0


def test_reliability_counts_every_row_once():
    rng = np.random.default_rng(1)
    score = np.append(rng.random(500), [0.0, 1.0])
    found = figures.reliability(score, rng.random(502) < score)
    assert sum(found["n"]) == 502 and found["ece"] < 0.1
    assert figures.reliability(np.array([0.9, 0.9]), np.array([False, False]))["ece"] == pytest.approx(0.9)


def test_a_roc_curve_goes_from_corner_to_corner():
    points = figures.roc(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    assert points[0] == [0, 0] and points[-1] == [1, 1] and [0, 1] in points
    assert points == sorted(points)


# The command


def test_the_report(tmp_path, capsys, monkeypatch):
    judges = {"gpt-4o": True, "hhem-2.1": 0.7}
    sets = {"faithbench": made(30, judges=judges), "wice": made(30, "claim"), "faithjudge": made(
        30, "summary", human={"faithful": None, "label": "none", "spans": []}, judges={"o3-mini-high": True})}  # fmt: skip
    for record in sets["faithjudge"][::4]:
        record["judges"] = {"o3-mini-high": False}
    data, out = write(tmp_path / "data", sets), tmp_path / "out" / "agreement"
    words = ["--data", str(data), "--model", "fake", "--store", str(tmp_path / "pairs"), "--out", str(out), "--draws", "40"]
    assert agreement.main([*words, "--no-charts"]) == 0
    printed = capsys.readouterr().out
    stored = json.loads(out.with_suffix(".json").read_text())
    assert list(stored["sets"]) == ["faithbench", "faithjudge", "wice"] and stored["elsewhere"] == "other sources of wice"
    assert stored["sets"]["faithjudge"]["summary"]["main"] == "o3-mini-high" and "o3-mini-high" in printed
    text = out.with_suffix(".md").read_text()
    assert "only answers on which such detectors disagreed" in text and "## wice" in text and "nan" not in text
    rows = [json.loads(line) for line in next((tmp_path / "pairs").glob("*/rows.jsonl")).read_text().splitlines()]
    assert len(rows) == 90 and {row["set"] for row in rows} == set(sets)
    before = out.with_suffix(".json").read_bytes()
    monkeypatch.setattr(Scorer, "read_window", lambda *_: pytest.fail("read again"))
    assert agreement.main([*words, "--no-charts"]) == 0
    assert out.with_suffix(".json").read_bytes() == before
    capsys.readouterr()
    assert agreement.main([*words, "--no-charts", "--sets", "wice", "--threshold", "0.9"]) == 0
    assert json.loads(out.with_suffix(".json").read_text())["claim_rule"] == 0.9


def test_charts(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    data = write(tmp_path / "data", {"faithbench": made(30, judges={"gpt-4o": True, "hhem-2.1": 0.7})})
    out = tmp_path / "a"
    words = ["--data", str(data), "--model", "fake", "--store", str(tmp_path / "pairs"), "--out", str(out), "--draws", "20"]
    assert agreement.main(words) == 0
    for name in ("roc", "reliability", "cascade"):
        assert (tmp_path / f"a-{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_a_wrong_set_or_folder_is_told_in_a_sentence(tmp_path, capsys):
    data = write(tmp_path / "data", {"made": made(30)})
    words = ["--out", str(tmp_path / "a"), "--model", "fake", "--store", str(tmp_path / "pairs"), "--no-charts"]
    assert agreement.main(["--data", str(data), "--sets", "mode", *words]) == 2
    assert "holds no set 'mode'; it holds made." in capsys.readouterr().err
    assert agreement.main(["--data", str(tmp_path / "gone"), *words]) == 2
    assert "--data names the folder above eval/" in capsys.readouterr().err
    assert agreement.main(["--data", str(data), *words, "--model", str(tmp_path)]) == 1
    assert "config.json" in capsys.readouterr().err


def test_an_answer_that_cannot_be_scored_is_counted(tmp_path, capsys):
    records = made(30)
    records[4]["contexts"] = [5]
    data, out = write(tmp_path / "data", {"made": records}), tmp_path / "a"
    words = ["--data", str(data), "--model", "fake", "--store", str(tmp_path / "pairs"), "--out", str(out), "--no-charts"]
    assert agreement.main(words) == 0
    assert json.loads(out.with_suffix(".json").read_text())["errors"] == {"made": 1}
    assert "1 answers could not be scored" in out.with_suffix(".md").read_text()
