"""The cascade benchmark on made-up rows: its curves, its contenders, what it writes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from prefilter_stubs import noisy

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def cascade():
    spec = importlib.util.spec_from_file_location("cascade", ROOT / "benchmarks" / "cascade.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def made_rows(n: int = 300, name: str = "made", task: str = "qa") -> list[dict]:
    support, faithful = noisy(n)
    rows = [
        {"set": name, "id": f"{name}/{i}", "task": task, "source": f"s{i // 3}", "faithful": good, "status": "scored",
         "min_support": s}
        for i, (s, good) in enumerate(zip(support, faithful, strict=True))
    ]  # fmt: skip
    rows[0] |= {"status": "no_claims", "min_support": None}
    return rows


def write_data(folder: Path, rows: list[dict], hhem: bool = True) -> Path:
    (folder / "eval").mkdir(parents=True)
    for name in {row["set"] for row in rows}:
        with open(folder / "eval" / f"{name}.dev.jsonl", "w") as file:
            for i, row in enumerate(row for row in rows if row["set"] == name):
                record = {"id": row["id"], "response": "blue sky " * (1 + i % 5), "contexts": ["the sky", "is green"],
                          "judges": {"hhem-2.1": 0.9 if row["faithful"] else 0.2} if hhem else {}}  # fmt: skip
                file.write(json.dumps(record) + "\n")
    return folder


def test_curves_end_in_full_agreement_and_beat_chance(cascade):
    found = cascade.cascade(made_rows(), {})
    assert set(found["agreement"]) == {"nli-faith", "chance"}
    for values in found["agreement"].values():
        assert len(values) == len(cascade.SHARES) and values[-1] == 1.0 and values == sorted(values)
        assert values[0] == found["alone"][0]
    ours, chance = (np.array(found["agreement"][name]) for name in ("nli-faith", "chance"))
    assert np.all(ours[1:-1] > chance[1:-1] - 0.01) and ours[6] > chance[6] + 0.02
    assert found["share_for"]["nli-faith"]["0.95"] < found["share_for"]["chance"]["0.95"]


def test_a_curve_counts_the_errors_that_are_left(cascade):
    right = np.array([True, False, True, False, True, True, True, True, True, True])
    values = cascade.curve(right, np.array([1, 3, 0, 2, 4, 5, 6, 7, 8, 9]))
    at = dict(zip(cascade.SHARES.tolist(), values, strict=True))
    assert (at[0.0], at[0.1], at[0.2], at[1.0]) == (0.8, 0.9, 1.0, 1.0) and at[0.15] == 0.9


def test_thresholds_see_no_row_of_their_own_source(cascade):
    rows = made_rows()
    fold = cascade.folds(rows)
    assert len(set(fold)) == 5
    assert all(len({fold[i] for i in range(len(rows)) if rows[i]["source"] == s}) == 1 for s in ("s0", "s7"))
    score = np.array([0.9, 0.8, 0.2, 0.1])
    faithful = np.array([True, True, False, False])
    said, _ = cascade.decide(score, faithful, np.array([0, 1, 2, 3]))
    assert said.tolist() == faithful.tolist()
    changed = faithful.copy()
    changed[0] = False
    assert cascade.decide(score, changed, np.array([0, 1, 2, 3]))[0][0] == said[0]


def test_contenders_come_from_the_texts(cascade, tmp_path):
    rows = made_rows(60)
    report = cascade.measure(rows, write_data(tmp_path / "a", rows))["made qa"]
    assert set(report["agreement"]) == {"nli-faith", "chance", "length", "overlap", "hhem"}
    assert report["agreement"]["hhem"][0] == 1.0
    report = cascade.measure(rows, write_data(tmp_path / "b", rows, hhem=False))["made qa"]
    assert "hhem" not in report["agreement"]
    assert cascade._overlap(["a", "b", "a"], ["B c"]) == 0.5


def test_table_and_json(cascade, tmp_path, capsys):
    rows = [*made_rows(60), *made_rows(60, "other", "summary"), made_rows(1, "one", "qa")[0]]
    path = tmp_path / "x.rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cascade.main([str(path), "--out", str(tmp_path / "out" / "c"), "--no-chart"])
    out = capsys.readouterr().out
    assert "made qa" in out and "other summary" in out and "for 95 %" in out
    stored = json.loads((tmp_path / "out" / "c.json").read_text())
    assert set(stored["tasks"]) == {"made qa", "other summary"}  # one verdict alone draws nothing
    with pytest.raises(SystemExit, match="nothing to draw"):
        cascade.main([str(path), "--sets", "one", "--out", str(tmp_path / "d"), "--no-chart"])


def test_the_chart(cascade, tmp_path):
    pytest.importorskip("matplotlib")
    cascade.draw(cascade.measure([*made_rows(60), *made_rows(60, "other")], None), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"
