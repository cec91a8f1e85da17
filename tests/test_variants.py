"""The benchmark of options on made-up answers: paired differences, costs, and going on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from test_agreement import made, write

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import variants  # noqa: E402
from pair_store import PairStore  # noqa: E402
from variants import VARIANTS  # noqa: E402

from nli_faith import Scorer  # noqa: E402

SHARING = ["plain", "joined 2", "strict numbers"]


def test_every_variant_is_held_against_the_plain_run(tmp_path, capsys):
    data = write(tmp_path, {"one": made(30), "two": made(12, "other")})
    command = ["--data", str(data), "--out", str(tmp_path / "out"), "--model", "fake", "--store", str(tmp_path / "store")]
    command += ["--pairs", str(tmp_path / "pairs")]
    assert variants.main([*command, "--draws", "50"]) == 0
    report = json.loads((tmp_path / "out.json").read_text())["sets"]
    assert list(report) == ["one", "two"] and report["one"]["rows"] == 30
    found = report["one"]["variants"]
    assert list(found) == list(variants.VARIANTS)
    assert all(value == [0, 0, 0] for value in found["plain"]["differences"].values())
    for name, own in found.items():
        for key, (value, low, high) in own["differences"].items():
            assert low <= value <= high
            assert abs(own["figures"][key][0] - found["plain"]["figures"][key][0] - value) < 2e-4
        assert own["joined"] == 0 or "joined" in name
    assert found["joined 2"]["pairs"] > found["plain"]["pairs"] and found["joined 2"]["claims"] == found["plain"]["claims"]
    table = capsys.readouterr().out
    assert table.count("| joined 3 |") == 2 and (tmp_path / "out.md").read_text().partition("\n\n")[2] in table + "\n"


def test_finished_answers_are_not_read_again(tmp_path, monkeypatch):
    records = made(70)
    scorer = Scorer("fake", joined_evidence=2)
    whole = variants.read(scorer, "one", records, tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[: variants.ROWS_AT_ONCE]) + "\n")
    asked = []
    score_window = scorer.score_window
    monkeypatch.setattr(scorer, "score_window", lambda rows: asked.append(len(rows)) or score_window(rows))
    assert variants.read(scorer, "one", records, tmp_path) == whole and asked == [32, 6]
    assert variants.read(Scorer("fake", joined_evidence=3), "one", records, tmp_path) is not None
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_pair_that_variants_share_is_read_once_and_counted_for_each(tmp_path):
    records, plain, asked = made(40), Scorer("fake"), []
    reader = variants.Remembering(plain.reader)

    def count(table, *rest, read=plain.reader.probabilities):
        asked.append(len(table))
        return read(table, *rest)

    plain.reader.probabilities = count
    alone = {name: variants.read(Scorer("fake", **VARIANTS[name]), "one", records, tmp_path / "alone") for name in SHARING}
    shared = {name: variants.read(Scorer("fake", **VARIANTS[name]).over(reader), "one", records, tmp_path) for name in SHARING}
    assert shared == alone
    costs = {name: sum(row["cost"]["pairs_scored"] for row in rows if row["cost"]) for name, rows in alone.items()}
    assert sum(asked) < sum(costs.values()) and sum(asked) >= costs["plain"]


def test_pairs_that_agreement_has_stored_are_not_read_again(tmp_path):
    records, asked = made(40), []
    store = PairStore(tmp_path, "fake", probe=False)
    rows = store.rows("one", records)
    reader, fake = variants.Remembering(store.scorer.reader), store.scorer.reader
    reader.learn(store, rows, records)
    alone = variants.read(Scorer("fake"), "one", records, tmp_path / "alone")
    fake.probabilities = lambda table, *rest, read=fake.probabilities: asked.append(len(table)) or read(table, *rest)
    assert variants.read(Scorer("fake").over(reader), "one", records, tmp_path / "shared") == alone
    assert sum(asked) == 0 < sum(row["cost"]["pairs_scored"] for row in alone if row["cost"])
