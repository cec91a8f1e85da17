"""What is not scored comes back as it was: types, order, metadata, spelling."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_stubs import StubScorer, read_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.files import score_file
from nli_faith.options import FileOptions
from nli_faith.outputs import SCORE_NAMES

DAY, MOMENT = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12, 30, 15, 123456)
COLUMNS = {
    "bool": pa.array([True, None, False]),
    "int8": pa.array([-128, None, 127], pa.int8()),
    "uint64": pa.array([0, None, 2**64 - 1], pa.uint64()),
    "float16": pa.array([1.5, None, -0.0], pa.float16()),
    "float32": pa.array([0.1, None, float("inf")], pa.float32()),
    "decimal128": pa.array([Decimal("1.10"), None, Decimal("-99999999999.99")], pa.decimal128(13, 2)),
    "decimal256": pa.array([Decimal(10) ** 70, None, Decimal(-1)], pa.decimal256(76, 0)),
    "date32": pa.array([DAY, None, datetime.date(1, 1, 1)], pa.date32()),
    "date out of range": pa.array([2**30, None, -(2**30)], pa.int32()).cast(pa.date32()),
    "time64": pa.array([1, None, 86_399_999_999_999], pa.time64("ns")),
    "timestamp": pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "Europe/Berlin")),
    "timestamp ns": pa.array([1, None, -1], pa.timestamp("ns")),
    "duration": pa.array([1, None, -1], pa.duration("ns")),
    "binary": pa.array([b"\x00\xff", None, b""]),
    "fixed binary": pa.array([b"abc", None, b"\x00\x01\x02"], pa.binary(3)),
    "large binary": pa.array([b"x", None, b""], pa.large_binary()),
    "large string": pa.array(["007", None, ""], pa.large_string()),
    "dictionary": pa.array(["x", None, "y"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int16())),
    "large list": pa.array([["a", None], None, []], pa.large_list(pa.string())),
    "fixed list": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": 1, "b": [{"c": "x"}]}, None, {"a": None, "b": []}]),
    "deep": pa.array([[[[["x"]]]], None, []]),
    "null": pa.nulls(3),
}
ROWS = {"answer": pa.array(["It is so."] * 3), "contexts": pa.array([["It is so."]] * 3)}


def score(path, out=None, **more):
    score_file(StubScorer(), str(path), None if out is None else str(out), **more)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """(input, its columns in the output) of a file with every type, metadata of fields and of the schema."""
    folder = tmp_path_factory.mktemp("types")
    table = pa.table({"int8": COLUMNS["int8"], **ROWS, **COLUMNS})
    fields = [field.with_metadata({"of": field.name}) for field in table.schema]
    table = table.cast(pa.schema(fields, {"made by": "someone", "pandas": "{}"}))
    pq.write_table(table, folder / "in.parquet", store_schema=True)
    score(folder / "in.parquet", window_rows=2)
    return pq.read_table(folder / "in.parquet"), pq.read_table(folder / "in.scored.parquet")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_parquet_column_stays(kept, name):
    given, found = kept
    assert found.schema.field(name).equals(given.schema.field(name), check_metadata=True)
    assert found.schema.field(name).type.equals(COLUMNS[name].type, check_metadata=False)
    assert found.column(name).combine_chunks().to_string() == given.column(name).combine_chunks().to_string()


def test_parquet_keeps_order_and_metadata(kept):
    given, found = kept
    assert found.column_names == [*given.column_names, *SCORE_NAMES]
    assert {key: found.schema.metadata[key] for key in given.schema.metadata} == given.schema.metadata


def test_what_json_and_csv_say_of_parquet_types(tmp_path):
    spelled = {
        "bool": ("true", True), "uint64": (str(2**64 - 1), 2**64 - 1), "decimal128": ("-99999999999.99",) * 2,
        "decimal256": ("-1", "-1"), "date32": ("0001-01-01",) * 2, "large string": ("", ""), "dictionary": ("y", "y"),
        "timestamp": ("2026-01-01T13:30:15.123456+01:00",) * 2, "binary": ("AP8=",) * 2, "null": ("", None),
        "list": ("[]", []), "map": ("[]", []), "struct": ('{"a": null, "b": []}', {"a": None, "b": []}),
        "fixed list": ("[3.0, 4.0]", [3.0, 4.0]),
    }  # fmt: skip
    first = ("bool", "binary")  # the other rows tell more of these
    table = pa.table({**ROWS, **{name: COLUMNS[name] for name in spelled}})
    pq.write_table(table, tmp_path / "in.parquet")
    for column, ending in enumerate((".csv", ".jsonl")):
        score(tmp_path / "in.parquet", tmp_path / f"out{ending}")
        found = read_rows(tmp_path / f"out{ending}")
        for name, expected in spelled.items():
            assert found[0 if name in first else 2][name] == expected[column], name
            assert found[1][name] == ("" if column == 0 else None)


CELLS = ["007", "1e5", "1.0", "TRUE", "null", "NaN", "None", "-0", "0x1F", "2026-01-01", " x ", "", "=1+1", "1,5", '"', "\t"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_csv_cells_stay_strings(tmp_path, ending):
    with open(tmp_path / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "answer", "contexts", "007"], *([cell, "a", "c", cell] for cell in CELLS)])
    score(tmp_path / "in.csv", tmp_path / f"out{ending}")
    found = read_rows(tmp_path / f"out{ending}")
    assert [row["id"] for row in found] == [row["007"] for row in found] == CELLS
    assert list(found[0])[:4] == ["id", "answer", "contexts", "007"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_csv_cell_stays(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("csv")
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([["x", "answer", "contexts"], *([cell, "a", "c"] for cell in cells)])
    (folder / "in.csv").write_bytes(buffer.getvalue().encode())
    score(folder / "in.csv")
    assert [row["x"] for row in read_rows(folder / "in.scored.csv")] == cells


OBJECTS = [
    '{"answer": "a", "contexts": ["c"], "z": 1.0, "a": 1e2, "n": -0, "big": 123456789012345678901234567890}',
    '{"unknown": {"b": 1, "a": [1.50, true, null]}, "contexts": "c", "answer": "\\u00e9\\/"}',
    '{"answer":"a","contexts":[],"answer2":"x","":0,"\\u0000":"\\ud83d"}',
    '{ "contexts" : null , "answer" : "a" , "new key" : NaN }',
    '{"answer": "a", "answer": "b", "contexts": [], "x": 1, "x": 2}',
]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json"])
def test_json_objects_stay_letter_by_letter(tmp_path, ending):
    (tmp_path / "in.jsonl").write_text("\n".join(OBJECTS) + "\n")
    score(tmp_path / "in.jsonl", tmp_path / f"out{ending}")
    text = (tmp_path / f"out{ending}").read_bytes()
    if ending.endswith(".gz"):
        import gzip

        text = gzip.decompress(text)
    lines = [line for line in text.decode().split("\n") if line.startswith("{")]
    for line, given in zip(lines, OBJECTS, strict=True):
        assert line.startswith("{" + given[1:-1].strip() + ', "faithfulness": ')


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_halves_of_surrogate_pairs_in_ids_are_written_as_escapes(tmp_path, ending):
    (tmp_path / "in.jsonl").write_text('{"answer": "a", "contexts": ["c"], "key": "x\\udc00"}\n')
    options = FileOptions(id="key", claims_out=str(tmp_path / f"claims{ending}"))
    score(tmp_path / "in.jsonl", options=options)
    assert [row["id"] for row in read_rows(tmp_path / f"claims{ending}")] == ["x\\udc00"]


def test_halves_of_surrogate_pairs_get_through_json(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"answer": "a", "contexts": ["c"], "key": "x\\udc00", "g": "\\ud800"}\n')
    options = FileOptions(id="key", by="g", claims_out=str(tmp_path / "claims.jsonl"))
    score(tmp_path / "in.jsonl", options=options)
    assert [row["id"] for row in read_rows(tmp_path / "claims.jsonl")] == ["x\udc00"]
    assert read_rows(tmp_path / "in.scored.jsonl")[0]["key"] == "x\udc00"
    summary = json.loads((tmp_path / "in.scored.jsonl.summary.json").read_text())
    assert list(summary["by"]["groups"]) == ["\ud800"]


@pytest.mark.parametrize("opening", ["[", '{"a": '])
@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_what_is_nested_as_deeply_as_may_be_read_can_be_written(tmp_path, opening, ending):
    value = opening * 499 + "1" + {"[": "]"}.get(opening, "}") * 499
    (tmp_path / "in.jsonl").write_text(f'{{"x": {value}, "answer": "a", "contexts": ["c"]}}\n')
    options = FileOptions(id="x", by="x", drop_contexts=True, claims_out=str(tmp_path / "claims.jsonl"))
    score(tmp_path / "in.jsonl", tmp_path / f"out{ending}", options=options)
    (row,) = read_rows(tmp_path / f"out{ending}")
    assert (row["x"] if ending == ".csv" else json.dumps(row["x"])) == value
