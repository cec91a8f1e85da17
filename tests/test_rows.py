"""Inputs -> windows: files found, columns chosen, rows untouched, windows that depend on the input only."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import sys
import types

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_stubs import StubScorer, sample_rows, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith import json_arrays
from nli_faith.columns import Columns, check_contexts, find_columns
from nli_faith.errors import InputError
from nli_faith.files import score_file
from nli_faith.options import FileOptions
from nli_faith.records import ArrowRecords
from nli_faith.rows import RowReader, sampled
from nli_faith.sources import find_sources, is_url, split_ending

ENDINGS = [".parquet", ".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz"]


def reader_of(path, log=lambda line: None, window_rows=2048, window_bytes=32 << 20, **options):
    sources = find_sources([str(path)], log)
    return RowReader(sources, FileOptions(**options), log, window_rows, window_bytes)


def rows_of(path, **options):
    return [row for window in reader_of(path, **options).windows() for row in window.rows]


# Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_row_comes_once_in_order(tmp_path, ending):
    rows = sample_rows(300)
    found = rows_of(write_rows(tmp_path / f"in{ending}", rows), window_rows=70, id="id")
    assert [row.position for row in found] == list(range(300))
    assert [row.id for row in found] == [row["id"] for row in rows]
    assert [row.question for row in found] == [row["question"] for row in rows]
    assert [row.chunks for row in found] == [
        # A null CSV cell and an empty text are the same cell.
        tuple(row["contexts"]) if row["contexts"] is not None else (("",) if ".csv" in ending else ())
        for row in rows
    ]
    assert [row.answer or None for row in found] == [row["answer"] for row in rows]


def test_folder_glob_and_several(tmp_path):
    lines = []
    (tmp_path / "in").mkdir()
    for name in ("b.jsonl", "a.jsonl", "c.scored.jsonl", "a.jsonl.summary.json", "notes.txt", ".hidden.jsonl"):
        write_rows(tmp_path / "in" / name, sample_rows(3)) if "json" in name else (tmp_path / "in" / name).write_text(
            "x"
        )
    (tmp_path / "in" / "d.jsonl.parts").mkdir()
    write_rows(tmp_path / "in" / "d.jsonl.parts" / "part-00000.jsonl", sample_rows(3))
    for name in (tmp_path / "in", tmp_path / "in" / "*.jsonl", f"{tmp_path}/in/"):
        found = find_sources([str(name)], lines.append)
        assert [source.path.rsplit("/", 1)[1] for source in found] == ["a.jsonl", "b.jsonl"]
    assert any("c.scored.jsonl" in line for line in lines) and any("d.jsonl.parts" in line for line in lines)
    two = [str(tmp_path / "in" / name) for name in ("b.jsonl", "a.jsonl")]
    assert [source.name for source in find_sources(two, lines.append)] == two
    # A scored file that is named by itself is meant.
    assert len(find_sources([str(tmp_path / "in" / "c.scored.jsonl")], lines.append)) == 1
    with pytest.raises(InputError, match="named twice"):
        find_sources([two[0], two[0]], lines.append)
    with pytest.raises(InputError, match="no known format.*parquet"):
        find_sources([str(tmp_path / "in" / "notes.txt")], lines.append)
    with pytest.raises(InputError, match="does not exist"):
        find_sources([str(tmp_path / "nothing")], lines.append)
    write_rows(tmp_path / "in" / "e.parquet", sample_rows(3))
    with pytest.raises(InputError, match="different formats"):
        find_sources([str(tmp_path / "in")], lines.append)


def test_only_names_below_the_given_folder_decide_what_is_skipped(tmp_path):
    folder = tmp_path / ".hidden" / "car.parts" / "in"
    (folder / "deep").mkdir(parents=True)
    write_rows(folder / "a.jsonl", sample_rows(3))
    write_rows(folder / "deep" / "b.jsonl", sample_rows(3))
    assert len(find_sources([str(folder / "*.jsonl")], print)) == 1
    assert len(find_sources([str(folder)], print)) == 2
    assert len(find_sources([f"{folder}/*/b.json[l]"], print)) == 1


def test_hidden_files_are_skipped_with_a_line_and_read_when_named(tmp_path):
    for name in ("_part.jsonl", ".spare.jsonl", "b.jsonl", "_SUCCESS"):
        (tmp_path / name).write_text("")
    lines = []
    assert len(find_sources([str(tmp_path)], lines.append)) == 1
    assert [name for name in ("_part.jsonl", ".spare.jsonl", "_SUCCESS") if any(f"{name}: names that begin" in line for line in lines)] == [
        "_part.jsonl", ".spare.jsonl",
    ]  # fmt: skip
    assert len(find_sources([str(tmp_path / "_*.jsonl")], print)) == len(find_sources([str(tmp_path / "_part.jsonl")], print)) == 1


def test_what_a_cloud_library_raises_is_one_sentence(monkeypatch):
    class NoCredentials(Exception):
        """As botocore's, which are no OSError."""

    class Cloud:
        def isfile(self, path):
            raise NoCredentials("Unable to locate credentials.\nAnd more.")

    monkeypatch.setattr("nli_faith.sources._file_system", lambda name: (Cloud(), "bucket/a.jsonl", False))
    with pytest.raises(InputError, match=r"s3://bucket/a.jsonl can't be listed: Unable to locate credentials. Check the name"):
        find_sources(["s3://bucket/a.jsonl"], print)


def test_scored_files_are_read_where_they_are_what_is_asked_for(tmp_path):
    for name in ("a.scored.jsonl", "b.scored.jsonl", "a.scored.jsonl.summary.json"):
        (tmp_path / name).write_text("{}")
    for name in ("*.scored.jsonl", ""):
        assert len(find_sources([str(tmp_path / name)], print, scored=True)) == 2
        with pytest.raises(InputError, match=r"Outputs of earlier runs and hidden files \([23] here\) are skipped"):
            find_sources([str(tmp_path / name)], print)


def test_a_file_whose_name_looks_like_a_glob(tmp_path):
    path = write_rows(tmp_path / "in[1].jsonl", sample_rows(3))
    assert len(rows_of(path)) == 3


def test_urls(tmp_path):
    memory = fsspec.filesystem("memory")
    for name in ("a.jsonl", "b.jsonl"):
        with memory.open(f"/rows/{name}", "wb") as file:
            file.write(write_rows(tmp_path / name, sample_rows(4)).read_bytes())
    with memory.open("/rows/p.parquet", "wb") as file:
        file.write(write_rows(tmp_path / "p.parquet", sample_rows(4)).read_bytes())
    assert len(rows_of("memory://rows/a.jsonl")) == 4
    assert len(rows_of("memory://rows/*.jsonl")) == 8
    assert len(rows_of("memory://rows/p.parquet")) == 4
    source = find_sources(["memory://rows/a.jsonl"], print)[0]
    assert source.identity()["size"] == (tmp_path / "a.jsonl").stat().st_size
    assert is_url("s3://a/b") and is_url("hf://a/b") and not is_url("C:\\a") and not is_url("/a/b")
    with pytest.raises(InputError, match="://"):
        find_sources(["nosuch://a/b.jsonl"], print)


def test_identity_sees_every_change(tmp_path):
    path = write_rows(tmp_path / "in.jsonl", sample_rows(5))
    before = find_sources([str(path)], print)[0].identity()
    path.write_bytes(path.read_bytes().replace(b"short", b"SHORT"))
    after = find_sources([str(path)], print)[0].identity()
    assert before["size"] == after["size"] and before["hash"] != after["hash"]
    assert split_ending("a.b.JSONL.GZ") == ("a.b", ".jsonl.gz") and split_ending(".csv") == (".csv", "")


def test_data_sets_of_the_hub(monkeypatch):
    class Split:
        """As much of datasets.Dataset as is used."""

        def __init__(self, table):
            self.table, self._fingerprint = table, "f1"
            self.features = types.SimpleNamespace(arrow_schema=table.schema)

        def with_format(self, kind):
            assert kind == "arrow"
            return self

        def __len__(self):
            return len(self.table)

        def __getitem__(self, rows):
            return self.table.slice(rows.start, rows.stop - rows.start)

    calls = []

    def load_dataset(path, config, split):
        calls.append((path, config, split))
        data = Split(pa.Table.from_pylist(sample_rows(300)))
        return data if split else {"train": data} | ({} if config is None else {"test": data})

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
    assert [row.position for row in rows_of("hf://user/set")] == list(range(300))
    assert len(rows_of("hf://user/set/easy:test")) == 300
    assert calls[0] == ("user/set", None, None) and calls[-1] == ("user/set", "easy", "test")
    with pytest.raises(InputError, match="splits train, test"):
        find_sources(["hf://user/set/easy"], print)
    windows = list(reader_of("hf://user/set", window_rows=100).windows(200, 200))
    assert [row.position for window in windows for row in window.rows] == list(range(200, 300))
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"nli-faith\[hf\]"):
        find_sources(["hf://user/set"], print)


# Damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.jsonl", b'{"answer": "a", "contexts": "c"}\n\n{"answer": \n', "line 3 is not valid JSON"),
        ("a.jsonl", b'{"answer": "a", "contexts": "c"}\n[1]\n', "line 2 is not a JSON object but a list"),
        ("a.jsonl", b'{"answer": "\xff", "contexts": "c"}\n', "line 1 is not UTF-8"),
        ("a.jsonl", b"\n\n", "holds no rows"),
        ("a.jsonl.gz", b"no gzip", "can't be read"),
        ("a.jsonl.gz", gzip.compress(b'{"answer": "a", "contexts": "c"}\n' * 99)[:-20], "can't be read to its end"),
        ("a.json", b'{"answer": ["a"], "contexts": ["c"]}', "object with the keys"),
        ("a.json", b'{"a": [{}], "b": [{}]}', "lists of objects under 'a', 'b'"),
        ("a.json", b'[{"answer": "a", "contexts": "c"}, 5]', "element 1 is not a JSON object"),
        ("a.json", b'[{"answer": "a", "contexts": "c"}', "element 0 is followed by ''"),
        ("a.json", b'[{"answer": "a", "contexts": "c"', "element 0 is not valid JSON"),
        ("a.json", b'"text"', "no JSON array"),
        ("a.json", b"[]", "holds no rows"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"answer;contexts\na;b\n", "not separated by commas"),
        ("a.csv", b"answer,contexts\na,b\nc\n", "line 3: 1 cells under a header of 2"),
        ("a.csv", b'answer,contexts\na,"b\nc\n', "double quotes"),
        ("a.csv", b"answer,contexts\na,\xff\n", "not UTF-8"),
        ("a.csv", b"answer,contexts,answer\na,b,c\n", "more than one column named 'answer'"),
        ("a.parquet", b"not parquet at all", "can't be read as parquet"),
    ],
)
def test_damage_is_one_sentence_with_the_file(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        rows_of(tmp_path / name)
    assert name in str(caught.value)


def test_bad_cells_are_error_rows(tmp_path):
    path = tmp_path / "in.jsonl"
    cells = ['"c"', "5", '["c", 5]', "null", '"\\ud800"', '["a"]']
    path.write_text("".join(f'{{"answer": "a", "contexts": {cell}}}\n' for cell in cells))
    rows = rows_of(path)
    assert [row.error is None for row in rows] == [True, False, False, True, False, True]
    table = pa.table({"answer": pa.array([b"\xff\xfe", b"fine"]).cast(pa.binary()), "contexts": [["c"], ["c"]]})
    bad = pa.StringArray.from_buffers(2, *table["answer"].chunk(0).buffers()[1:3])
    pq.write_table(pa.table({"answer": bad, "contexts": table["contexts"]}), tmp_path / "in.parquet")
    rows = rows_of(tmp_path / "in.parquet")
    assert rows[0].error and rows[1].answer == "fine"
    pq.write_table(pa.table({"answer": ["a"], "contexts": [datetime.date(2026, 1, 1)]}), tmp_path / "dates.parquet")
    assert "type date" in rows_of(tmp_path / "dates.parquet")[0].error


def test_an_object_without_the_key_is_an_error_row(tmp_path):
    (tmp_path / "in.jsonl").write_text(
        '{"answer": "a", "contexts": ["c"]}\n{"answer": "a", "documents": ["c"]}\n{"contexts": 5}'
    )
    rows = rows_of(tmp_path / "in.jsonl")
    assert rows[0].error is None and "no key 'contexts'" in rows[1].error and "no key 'answer'" in rows[2].error


def test_csv_cells_stay_strings(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes('\ufeffid,answer,contexts\r\n007,15,"[\'a\', ""b""]"\r\n\r\n1e3,"x\ny","say ""hi"""\r\n'.encode())
    rows = rows_of(path, id="id")
    assert [(row.id, row.answer, row.chunks) for row in rows] == [
        ("007", "15", ("a", "b")), ("1e3", "x\ny", ('say "hi"',)),
    ]  # fmt: skip


def test_json_shapes(tmp_path):
    rows = sample_rows(30)
    (tmp_path / "wrapped.json").write_text(json.dumps({"version": 1, "data": rows, "tags": ["x"]}))
    assert [row.question for row in rows_of(tmp_path / "wrapped.json")] == [row["question"] for row in rows]
    # An empty list is none, and numbers may be cut by what is read at once.
    around = {"version": 1.5, "tags": [], "nested": {"x": [{}]}, "words": ["a", 2], "data": rows, "n": 12}
    (tmp_path / "around.json").write_text(json.dumps(around, indent=1))
    with pytest.MonkeyPatch.context() as patch:
        for size in (1, 2, 3, 1 << 20):
            patch.setattr(json_arrays, "_CHUNK", size)
            assert [row.question for row in rows_of(tmp_path / "around.json")] == [row["question"] for row in rows]
    # Objects longer than what is read at once, and white space at every border of it.
    big = [{"answer": "a" * 700_000, "contexts": ["c"]} for _ in range(5)]
    (tmp_path / "big.json").write_text(" \n" * 600_000 + json.dumps(big).replace("}, ", "}" + " " * 400_000 + ",\n"))
    assert [len(row.answer) for row in rows_of(tmp_path / "big.json")] == [700_000] * 5


@pytest.mark.parametrize("around", ["[%s]", '{"version": 1, "data": [%s], "end": 2}'])
def test_json_is_streamed(around):
    stream = io.StringIO(around % ",".join(['{"a": "%s"}' % ("x" * 10_000)] * 1000))
    elements = json_arrays.json_elements(stream, "in.json")
    next(elements)
    assert stream.tell() <= 2 << 20
    assert sum(1 for _ in elements) == 999


DECIMAL = pa.decimal128(38, 2)


@pytest.mark.parametrize(
    ("exact", "floating"),
    [
        (DECIMAL, pa.float64()),
        (pa.list_(DECIMAL), pa.list_(pa.float32())),
        (pa.struct([("a", pa.list_(pa.struct([("b", DECIMAL)])))]), pa.struct([("a", pa.list_(pa.struct([("b", pa.float64())])))])),
        (pa.map_(pa.string(), DECIMAL), pa.map_(pa.string(), pa.float64())),
    ],
)
def test_decimals_never_become_floating_point(tmp_path, exact, floating):
    for names in ("ab", "ba"):
        for name, kind in zip(names, (exact, floating), strict=True):
            table = pa.table({"answer": ["a"], "contexts": [["c"]], "n": pa.nulls(1, kind)})
            pq.write_table(table, tmp_path / f"{name}.parquet")
        with pytest.raises(InputError, match=rf"{names[0]}.parquet has exact decimals in the column 'n'.*Score them apart"):
            reader_of(tmp_path)


def test_a_column_that_is_never_null_may_be_missing_elsewhere(tmp_path):
    inner = pa.struct([pa.field("a", pa.int64(), False)])
    schema = pa.schema([("answer", pa.string()), ("contexts", pa.list_(pa.string())), pa.field("x", pa.int64(), False),
                        pa.field("y", pa.list_(inner), False)])  # fmt: skip
    pq.write_table(pa.table([["a"], [["c"]], [1], [[{"a": 1}]]], schema=schema), tmp_path / "a.parquet")
    pq.write_table(pa.table({"answer": ["b"], "contexts": [["c"]], "y": [[{"b": 2}]]}), tmp_path / "b.parquet")
    out = tmp_path / "out" / "out.parquet"
    score_file(StubScorer(), str(tmp_path / "*.parquet"), str(out))
    assert [(row["x"], row["y"]) for row in pq.read_table(out).to_pylist()] == [
        (1, [{"a": 1, "b": None}]), (None, [{"a": None, "b": 2}]),
    ]  # fmt: skip
    (tmp_path / "b.parquet").unlink()
    assert not pq.read_schema(tmp_path / "a.parquet").field("x").nullable
    assert reader_of(tmp_path / "a.parquet").reader.schema.equals(schema)


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.binary_view(), pa.list_(pa.string_view())])
def test_rows_of_every_type_can_be_picked(kind):
    values = [["a"], None, ["ccc"] * 9, ["d"], ["e"]] if pa.types.is_list(kind) else ["a", None, "ccc" * 9, "d", "e"]
    records = ArrowRecords(pa.table({"x": pa.array(values, kind)}))
    wanted = records.data["x"].to_pylist()
    for picked in ([0], [1, 2, 4], [0, 1, 2, 3, 4], [4, 0, 2], []):
        assert records.take(np.array(picked, dtype=int)).cells("x") == [wanted[i] for i in picked]


def test_several_parquet_files_share_a_schema(tmp_path):
    pq.write_table(
        pa.table({"answer": ["a"], "contexts": [["c"]], "n": pa.array([1], pa.int32())}), tmp_path / "a.parquet"
    )
    pq.write_table(
        pa.table({"n": [2.5], "contexts": pa.array([None], pa.null()), "answer": ["b"], "new": ["x"]}),
        tmp_path / "b.parquet",
    )
    reader = reader_of(tmp_path)
    (window,) = reader.windows()
    assert reader.names == ["answer", "contexts", "n", "new"] and reader.total == 2
    assert window.records.data.to_pylist() == [
        {"answer": "a", "contexts": ["c"], "n": 1.0, "new": None},
        {"answer": "b", "contexts": None, "n": 2.5, "new": "x"},
    ]
    pq.write_table(pa.table({"answer": ["a"], "contexts": ["c"], "n": ["text"]}), tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"c.parquet has columns of other types"):
        reader_of(tmp_path)
    pq.write_table(pa.table({"answer": ["a"], "documents": [["c"]]}), tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"c.parquet has no column 'contexts'"):
        reader_of(tmp_path)


def test_several_csv_files_need_one_header(tmp_path):
    (tmp_path / "a.csv").write_text("answer,contexts\na,b\n")
    (tmp_path / "b.csv").write_text("answer,context\na,b\n")
    with pytest.raises(InputError, match=r"b.csv has other columns"):
        reader_of(tmp_path)


# Columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "options", "expected"),
    [
        (["question", "answer", "contexts"], {}, ("answer", "contexts", "question")),
        (
            ["user_input", "response", "retrieved_contexts", "reference"],
            {},
            ("response", "retrieved_contexts", "user_input"),
        ),
        (
            ["input", "actual_output", "context", "retrieval_context"],
            {},
            ("actual_output", "retrieval_context", "input"),
        ),
        (["input", "actualOutput", "retrieval-context"], {}, ("actualOutput", "retrieval-context", "input")),
        (["source", "candidate_text"], {}, ("candidate_text", "source", None)),
        (["Answer", "answer", "contexts"], {"answer": "Answer"}, ("Answer", "contexts", None)),
        (["foo", "bar", "baz"], {"answer": "foo", "contexts": "bar", "question": "baz"}, ("foo", "bar", "baz")),
        (["doc", "output", "response"], {}, ("response", "doc", None)),
        (["question", "answer", "contexts"], {"answer": "question"}, ("question", "contexts", None)),
    ],
)
def test_columns(names, options, expected):
    columns = find_columns(names, FileOptions(**options), "in.csv")
    assert (columns.answer, columns.contexts, columns.question) == expected


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["question", "contexts"], {}, "--answer COLUMN. Its columns are: question, contexts"),
        (["question", "answer"], {}, "--contexts COLUMN"),
        (["Answer", "answer", "contexts"], {}, "'Answer', 'answer' differ only by case or separators"),
        (["actual_output", "actualOutput", "contexts"], {}, "--answer COLUMN"),
        (["answer", "contexts", "Question", "question"], {}, "--question COLUMN"),
        (["answer", "contexts"], {"answer": "anwser"}, "Did you mean 'answer'"),
        (["answer", "contexts"], {"id": "key"}, "--id names"),
        (["answer", "contexts"], {"by": "model"}, "--by names"),
        (["text"], {"answer": "text", "contexts": "text"}, "both"),
        (["answer", "contexts", "answer"], {}, "more than one column"),
        ([], {}, "no columns"),
    ],
)
def test_columns_that_can_not_be_told(names, options, words):
    with pytest.raises(InputError) as caught:
        find_columns(names, FileOptions(**options), "in.csv")
    assert words in str(caught.value) and "in.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        (["https://example.org/a", "http://example.org/b c"[:20]], "links"),
        (["doc_1", "doc_2", "doc_3"], "ids"),
        (["3f2b8c1e-0000-4000-8000-000000000001"] * 4, "ids"),
        (["1", "2", "3", "4"], "ids"),
    ],
)
def test_contexts_that_are_no_text(chunks, words):
    with pytest.raises(InputError, match=rf"looks like {words}.*--contexts"):
        check_contexts(chunks, "sources", ["sources"], "in.csv", chosen=False)
    assert words in check_contexts(chunks, "sources", ["sources"], "in.csv", chosen=True)


@pytest.mark.parametrize(
    "chunks", [[], ["Paris"], ["Paris"] * 5, ["15"], ["See https://example.org/a for it."] * 3, ["漢字1"] * 5]
)
def test_contexts_that_are_text(chunks):
    assert check_contexts(chunks, "contexts", [], "in.csv", chosen=False) is None


@pytest.mark.parametrize("options", [{"id": "late"}, {"by": "late"}, {"answer": "late"}])
def test_a_key_that_comes_late_is_said_to_be_late(tmp_path, options):
    rows = [row | ({"late": "x"} if i >= 280 else {}) for i, row in enumerate(sample_rows(300))]
    with pytest.raises(InputError, match="its first 256 rows, whose keys are its columns, have no key 'late'"):
        reader_of(write_rows(tmp_path / "in.jsonl", rows), **options)
    rows = [row | {"late": rows[i].get("late")} for i, row in enumerate(rows)]
    assert reader_of(write_rows(tmp_path / "in.jsonl", rows), **options).names[-1] == "late"


def test_the_log_says_what_was_taken(tmp_path):
    lines = []
    reader_of(write_rows(tmp_path / "in.csv", sample_rows(3)), lines.append)
    assert lines == ["Columns taken: answer: answer, contexts: contexts, question: question."]
    assert str(Columns("a", "c")) == "answer: a, contexts: c"


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_that_would_collide(tmp_path, ending):
    path = write_rows(tmp_path / f"in{ending}", [{"answer": "a", "contexts": "c", "status": "x"}])
    with pytest.raises(InputError, match=r"column status.*--overwrite-columns"):
        reader_of(path)
    assert len(rows_of(path, overwrite_columns=True)) == 1


def test_a_collision_far_down_is_found(tmp_path):
    rows = [{"answer": "a", "contexts": "c"}] * 400 + [{"answer": "a", "contexts": "c", "error": "x"}]
    path = write_rows(tmp_path / "in.jsonl", rows)
    with pytest.raises(InputError, match="Row 400"):
        rows_of(path)


# Windows ---------------------------------------------------------------------------------------------------------


def ends(path, **options):
    return [(window.rows[0].position, window.end, len(window.rows)) for window in reader_of(path, **options).windows()]


@pytest.mark.parametrize("ending", ENDINGS)
def test_windows_depend_on_the_rows_only(tmp_path, ending):
    rows = sample_rows(400)
    expected = ends(write_rows(tmp_path / "in.jsonl", rows), window_rows=35, window_bytes=3000)
    assert {34, 35} < {size for *_, size in expected}, "bytes end some windows, rows end others"
    assert ends(write_rows(tmp_path / f"in{ending}", rows), window_rows=35, window_bytes=3000) == expected


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("options", [{}, {"limit": 150}, {"sample": 0.4, "seed": 3}, {"sample": 0.4, "limit": 60}])
def test_reading_goes_on_where_a_window_ended(tmp_path, ending, options):
    path = write_rows(tmp_path / f"in{ending}", sample_rows(300))
    windows = list(reader_of(path, window_rows=29, **options).windows())
    assert sum(len(window.rows) for window in windows) == len(rows_of(path, **options))
    taken = 0
    for done, window in enumerate(windows):
        taken += len(window.rows)
        rest = list(reader_of(path, window_rows=29, **options).windows(window.end, taken))
        assert [other.rows for other in rest] == [other.rows for other in windows[done + 1 :]]


def test_records_stay_with_their_rows(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(300))
    for options in ({}, {"sample": 0.3}, {"limit": 77}):
        for window in reader_of(path, window_rows=41, **options).windows():
            assert window.records.cells("n") == [row.position for row in window.rows]
            assert window.records.data["n"].num_chunks == 1


@given(st.integers(0, 2**63), st.floats(0.05, 1.0))
@settings(max_examples=50, deadline=None)
def test_the_sample_is_a_share_of_the_rows(seed, share):
    kept = sampled(np.arange(4000), share, seed)
    assert abs(kept.mean() - share) < 0.05
    assert np.array_equal(sampled(np.arange(1000, 2000), share, seed), kept[1000:2000])


def test_total(tmp_path):
    path = write_rows(tmp_path / "in.parquet", sample_rows(100))
    assert reader_of(path).total == 100
    assert reader_of(path, limit=7).total == 7
    assert reader_of(path, sample=0.5).total == 50
    assert reader_of(write_rows(tmp_path / "in.csv", sample_rows(9))).total is None
