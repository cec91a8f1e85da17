"""Few cells of many megabytes, and many rows with one that is different far down."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import StubScorer, read_rows, write_rows

from nli_faith.errors import InputError
from nli_faith.files import score_file
from nli_faith.rows import RowReader
from nli_faith.options import FileOptions
from nli_faith.sources import find_sources

FACT = "The plan costs ten euros. "
ROWS = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".csv"])
def test_chunks_of_10_megabytes(run, folder, ending):
    rows = [{"answer": FACT, "contexts": [FACT]}] * 3 + [{"answer": FACT, "contexts": [FACT * 400_000]}]
    write_rows(folder / f"in{ending}", rows)
    status, _, err = run("score", f"in{ending}", "--model", "fake")
    assert status == 0, err
    found = read_rows(folder / f"in.scored{ending}")
    assert [row["status"] for row in found] == ["scored"] * 4
    assert len(found[3]["contexts"]) >= 1 and FACT * 400_000 in json.dumps(found[3]["contexts"])


@pytest.mark.slow
def test_an_answer_of_a_megabyte(run, folder):
    write_rows(folder / "in.jsonl", [{"answer": FACT * 40_000, "contexts": [FACT]}])
    assert run("score", "in.jsonl", "--model", "fake", "--claims-out", "c.jsonl")[0] == 0
    (row,) = read_rows(folder / "in.scored.jsonl")
    assert row["status"] == "scored" and row["n_claims"] == 40_000 == len(read_rows(folder / "c.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_a_new_key_at_row_100_000(folder, ending):
    line = json.dumps({"answer": "a", "contexts": ["c"]}) + "\n"
    last = {"answer": "a", "new": {"deep": [1.5]}, "contexts": ["c"]}
    (folder / "in.jsonl").write_text(line * ROWS + json.dumps(last) + "\n")
    score_file(StubScorer(), "in.jsonl", f"out{ending}")
    if ending == ".parquet":
        table = pq.read_table(folder / "out.parquet")
        assert table.num_rows == ROWS + 1 and table.column("new").null_count == ROWS
        assert table.column("new")[ROWS].as_py() == {"deep": [1.5]}
    elif ending == ".csv":
        with open(folder / "out.csv", newline="") as file:
            found = list(csv.DictReader(file))
        assert len(found) == ROWS + 1 and found[-1]["new"] == '{"deep": [1.5]}' and found[0]["new"] == ""
    else:
        with open(folder / "out.jsonl") as file:
            lines = file.readlines()
        assert len(lines) == ROWS + 1 and lines[-1].startswith(json.dumps(last)[:-1])


@pytest.mark.slow
def test_a_quote_that_is_never_closed_does_not_read_a_file_into_memory(folder):
    with open(folder / "in.csv", "w") as file:
        file.write('answer,contexts\na,"c\n')
        for _ in range(90):
            file.write("a,c\n" * 250_000)
    with pytest.raises(InputError, match="field larger than field limit .*double quotes"):
        score_file(StubScorer(), "in.csv", "out.csv")
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_rows_with_freight_end_a_window(folder):
    """Images and the like are not scored, but they are held: windows end by their bytes too."""
    rows = [{"answer": "a", "contexts": ["c"], "image": "x" * 10_000} for _ in range(40)]
    for ending in (".jsonl", ".csv", ".parquet"):
        write_rows(folder / f"in{ending}", rows)
        reader = RowReader(find_sources([f"in{ending}"], print), FileOptions(), window_bytes=25_000)
        windows = list(reader.windows())
        assert [len(window.rows) for window in windows] == [10, 10, 10, 10], ending
        (rest,) = reader.windows(windows[2].end, 30)
        assert [row.position for row in rest.rows] == list(range(30, 40))


def test_large_rows_are_read_few_at_a_time(folder, monkeypatch):
    from nli_faith import arrow_readers, readers

    monkeypatch.setattr(arrow_readers, "BATCH_BYTES", 100_000)
    monkeypatch.setattr(readers, "BATCH_BYTES", 100_000)
    rows = [{"answer": "a", "contexts": ["c"], "image": f"{i}" + "xy" * 10_000} for i in range(30)]
    for ending in (".jsonl", ".csv", ".parquet"):
        write_rows(folder / f"in{ending}", rows)
        reader = RowReader(find_sources([f"in{ending}"], print), FileOptions())
        sizes = [len(records) for records, _ in reader.reader.batches(0)]
        assert sum(sizes) == 30 and max(sizes) <= 10, ending
        kept = [cell[:2] for records, _ in reader.reader.batches(7) for cell in records.cells("image")]
        assert kept == [row["image"][:2] for row in rows[7:]]
