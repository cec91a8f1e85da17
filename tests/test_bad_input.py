"""Files that can't be read as rows: one sentence on stderr, the right exit status, nothing written, nothing lost."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401

LINE = b'{"answer": "a", "contexts": ["c"]}\n'
ROWS = [{"answer": f"Answer {i}.", "contexts": ["A chunk."]} for i in range(9)]


def jsonl(*rows: dict) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def csv_bytes(header: list[str], *rows: list[str], delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows([header, *rows])
    return buffer.getvalue().encode(encoding)


def parquet(table: pa.Table | dict | None = None, **options) -> bytes:
    stream = pa.BufferOutputStream()
    table = pa.Table.from_pylist(ROWS) if table is None else table
    pq.write_table(pa.table(table) if isinstance(table, dict) else table, stream, **options)
    return stream.getvalue().to_pybytes()


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("sheet.xml", "<x/>")
    return stream.getvalue()


def damaged(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def deep(depth: int) -> bytes:
    return b'{"answer": "a", "contexts": ["c"], "x": ' + b"[" * depth + b"]" * depth + b"}\n"


A_C = ["answer", "contexts"]
GOOD = parquet()
# (name, file name, bytes, words of the sentence, words of the command)
FILES = [
    # Empty.
    ("empty parquet", "in.parquet", b"", "can't be read as parquet", ()),
    ("empty jsonl", "in.jsonl", b"", "holds no rows", ()),
    ("empty json", "in.json", b"", "no JSON array", ()),
    ("empty csv", "in.csv", b"", "is empty; expected a header", ()),
    ("empty bytes as gz", "in.jsonl.gz", b"", "holds no rows", ()),
    ("gz of nothing", "in.csv.gz", gzip.compress(b""), "is empty; expected a header", ()),
    ("only white space", "in.jsonl", b" \n\r\n\t\n", "holds no rows", ()),
    ("only a byte order mark", "in.csv", b"\xef\xbb\xbf", "is empty; expected a header", ()),
    ("json without elements", "in.json", b" [ ] ", "holds no rows", ()),
    ("json object around no list", "in.json", b'{"data": {}}', "an object with the keys 'data'", ()),
    # Truncated.
    ("truncated parquet", "in.parquet", GOOD[:-50], "can't be read as parquet", ()),
    ("half a parquet", "in.parquet", GOOD[: len(GOOD) // 2], "can't be read as parquet", ()),
    ("truncated gz", "in.jsonl.gz", gzip.compress(LINE * 99)[:-20], "can't be read to its end", ()),
    ("truncated csv gz", "in.csv.gz", gzip.compress(csv_bytes(A_C, *[["a", "c"]] * 99))[:-9], "to its end", ()),
    ("truncated jsonl", "in.jsonl", (LINE * 3)[:-9], "line 3 is not valid JSON", ()),
    ("truncated json", "in.json", b"[" + LINE.strip() + b", ", "element 1 is not a JSON object, or the file ends", ()),
    ("truncated csv in quotes", "in.csv", b'answer,contexts\na,"c', "Check the double quotes", ()),
    # Broken.
    ("parquet with a broken footer", "in.parquet", damaged(GOOD, len(GOOD) - 90, b"\xff" * 40), "as parquet", ()),
    ("parquet with a broken page", "in.parquet", damaged(GOOD, 4, b"\xff" * 30), "can't be read as parquet", ()),
    ("gz with a broken body", "in.jsonl.gz", damaged(gzip.compress(LINE * 999), 14, b"\0" * 9), "to its end", ()),
    ("rubbish after gz", "in.jsonl.gz", gzip.compress(LINE) + b"rubbish", "can't be read to its end", ()),
    ("a bad line", "in.jsonl", LINE * 7 + b"{oops}\n" + LINE, "line 8 is not valid JSON", ()),
    ("two objects on a line", "in.jsonl", LINE.strip() + LINE, "line 1 is not valid JSON: Extra data", ()),
    ("a line that is a list", "in.jsonl", LINE + b'["a", "c"]\n', "line 2 is not a JSON object but a list", ()),
    ("a line that is null", "in.jsonl", LINE + b"null\n", "line 2 is not a JSON object", ()),
    ("a Python dict", "in.jsonl", b"{'answer': 'a', 'contexts': ['c']}\n", "line 1 is not valid JSON", ()),
    ("nested too deeply", "in.jsonl", LINE + deep(100_000), "line 2 is not valid JSON", ()),
    ("json nested too deeply", "in.json", b"[" + deep(100_000) + b"]", "element 0 is nested too deeply", ()),
    ("nested too deeply to be written", "in.jsonl", LINE + deep(600), "line 2 is nested more than 500 levels", ()),
    ("json nested too deeply to be written", "in.json", b"[" + deep(600) + b"]", "element 0 is nested more than 500", ()),
    ("carriage returns for line ends", "in.jsonl", LINE.replace(b"\n", b"\r") * 2, "line 1 is not valid JSON", ()),
    ("json with a number", "in.json", b"[" + LINE.strip() + b", 5]", "element 1 is not a JSON object", ()),
    ("json without a comma", "in.json", b"[" + LINE + LINE + b"]", "element 0 is followed by '{'", ()),
    ("json with two lists", "in.json", b'{"a": [{}], "b": [{}]}', "lists of objects under 'a', 'b'", ()),
    ("two arrays", "in.json", b"[" + LINE + b"]\n[" + LINE + b"]", "in.json goes on after its array, with '[{", ()),
    ("words after an array", "in.json", b"[" + LINE + b"] x", "goes on after its array, with 'x'", ()),
    ("words after an object", "in.json", b'{"a": [' + LINE + b"]} x", "goes on after its object, with 'x'", ()),
    ("a key twice", "in.json", b'{"a": [' + LINE + b'], "a": [' + LINE + LINE + b"]}", "has the key 'a' twice", ()),
    ("an object that ends early", "in.json", b'{"a": [' + LINE + b']', "'' follows the value of 'a'", ()),
    ("an object without a colon", "in.json", b'{"a" [' + LINE + b']}', "no colon follows the key 'a'", ()),
    ("an object with a comma too many", "in.json", b'{"a": [' + LINE + b'],}', "no key stands after the value of 'a'", ()),
    ("a second list far down", "in.json", b'{"a": [' + b",".join([LINE.strip()] * 300) + b'], "b": [{}]}',
     "lists of objects under 'a', 'b'", ()),
    ("one object", "in.json", LINE, "is an object with the keys 'answer', 'contexts'", ()),
    ("columns of json", "in.json", b'{"answer": {"0": "a"}, "contexts": {"0": "c"}}', 'orient="records"', ()),
    ("a quote inside a quoted cell", "in.csv", b'answer,contexts\n"a"b,c\n', "line 2: ',' expected after", ()),
    ("a quote that is never closed", "in.csv", b'answer,contexts\na,c\na,"c\na,c\n', "Check the double quotes", ()),
    ("too many cells", "in.csv", b"answer,contexts\na,c\na,b,c\n", "line 3: 3 cells under a header of 2", ()),
    ("too few cells", "in.csv", b"answer,contexts\na,c\na\n", "line 3: 1 cells under a header of 2", ()),
    ("semicolons", "in.csv", csv_bytes(A_C, ["a", "c"], delimiter=";"), "not separated by commas", ()),
    ("tabs", "in.csv", csv_bytes(A_C, ["a", "c"], delimiter="\t"), "not separated by commas", ()),
    ("pipes", "in.csv", csv_bytes(A_C, ["a", "c"], delimiter="|"), "not separated by commas", ()),
    # Other encodings.
    ("Latin-1 csv", "in.csv", csv_bytes(A_C, ["caf\xe9", "c"], encoding="latin-1"), "not UTF-8", ()),
    ("Latin-1 header", "in.csv", csv_bytes([*A_C, "caf\xe9"], ["a", "c", "d"], encoding="latin-1"), "not UTF-8", ()),
    ("Latin-1 jsonl", "in.jsonl", LINE + b'{"answer": "caf\xe9", "contexts": []}', "line 2 is not UTF-8", ()),
    ("Latin-1 json", "in.json", b'[{"answer": "caf\xe9", "contexts": []}]', "is not UTF-8", ()),
    ("UTF-16 csv", "in.csv", csv_bytes(A_C, ["a", "c"], encoding="utf-16"), "UTF-16", ()),
    ("UTF-16 jsonl", "in.jsonl", LINE.decode().encode("utf-16"), "UTF-16", ()),
    ("UTF-16 json", "in.json", f"[{LINE.decode()}]".encode("utf-16"), "UTF-16", ()),
    ("encoded surrogates", "in.jsonl", b'{"answer": "\xed\xa0\x80", "contexts": []}\n', "line 1 is not UTF-8", ()),
    # Mislabelled.
    ("jsonl as parquet", "in.parquet", LINE * 9, "can't be read as parquet", ()),
    ("csv as parquet", "in.parquet", csv_bytes(A_C, ["a", "c"]), "can't be read as parquet", ()),
    ("parquet as jsonl", "in.jsonl", GOOD, "is a parquet file", ()),
    ("parquet as csv", "in.csv", GOOD, "is a parquet file", ()),
    ("parquet as json", "in.json", GOOD, "is a parquet file", ()),
    ("gz as jsonl", "in.jsonl", gzip.compress(LINE), "is compressed with gzip", ()),
    ("gz as csv", "in.csv", gzip.compress(csv_bytes(A_C, ["a", "c"])), "is compressed with gzip", ()),
    ("gz as json", "in.json", gzip.compress(b"[]"), "is compressed with gzip", ()),
    ("plain as gz", "in.jsonl.gz", LINE, "can't be read", ()),
    ("a spreadsheet as csv", "in.csv", zipped(), "is a zip archive or a spreadsheet", ()),
    ("csv as jsonl", "in.jsonl", csv_bytes(A_C, ["a", "c"]), "line 1 is not valid JSON", ()),
    ("csv as json", "in.json", csv_bytes(A_C, ["a", "c"]), "is no JSON array", ()),
    ("jsonl as csv", "in.csv", LINE * 2, "no column that is known to hold the answer", ()),
    ("jsonl as json", "in.json", LINE * 2, "rename it to .jsonl", ()),
    ("json as jsonl", "in.jsonl", json.dumps(ROWS, indent=1).encode(), "line 1 is not valid JSON", ()),
    ("json on one line as jsonl", "in.jsonl", json.dumps(ROWS).encode(), "not a JSON object but a list", ()),
    ("html", "in.csv", b"<!DOCTYPE html>\n<html></html>\n", "no column that is known to hold the answer", ()),
    ("another format", "in.xlsx", zipped(), "is of no known format", ()),
    ("no ending", "in", LINE, "is of no known format", ()),
    # Columns.
    ("no answers", "in.jsonl", b'{"text": "a", "contexts": ["c"]}\n', "Name it with --answer COLUMN", ()),
    ("no contexts", "in.csv", csv_bytes(["answer", "text"], ["a", "c"]), "Name it with --contexts COLUMN", ()),
    ("two kinds of answers", "in.jsonl", b'{"Answer": "a", "answer": "b", "contexts": []}\n', "differ only by case", ()),
    ("a column twice", "in.csv", csv_bytes([*A_C, "answer"], ["a", "c", "b"]), "more than one column named", ()),
    ("a nameless column twice", "in.csv", csv_bytes([*A_C, "", ""], ["a", "c", "", ""]), "named ''", ()),
    ("a parquet column twice", "in.parquet",
     parquet(pa.Table.from_arrays([pa.array(["a"])] * 2 + [pa.array(["c"])], ["answer", "answer", "contexts"])),
     "more than one column named 'answer'", ()),
    ("no columns", "in.parquet", parquet(pa.table({})), "It has no columns", ()),
    ("no rows and no columns", "in.jsonl", b"{}\n", "It has no columns", ()),
    ("a name of the output", "in.parquet", parquet({"answer": ["a"], "contexts": ["c"], "status": ["x"]}),
     "already has the column status", ()),
    ("names of the output", "in.csv", csv_bytes([*A_C, "error", "claims"], ["a", "c", "x", "y"]),
     "already has the columns error, claims", ()),
    ("a name of the output far down", "in.jsonl", LINE * 300 + b'{"answer": "a", "contexts": [], "claims": 1}\n',
     "Row 300 of the input (counted from 0) already has the column claims", ()),
    ("contexts of links", "in.jsonl", b'{"answer": "a", "contexts": ["https://example.org/a"]}\n', "looks like links", ()),
    ("contexts of ids", "in.csv", csv_bytes(A_C, *[["a", f"doc_{i}"] for i in range(9)]), "looks like ids", ()),
    ("a flag that names nothing", "in.jsonl", LINE, "Did you mean 'answer'", ("--answer", "anwser")),
    ("a group that is not there", "in.jsonl", LINE, "which --by names", ("--by", "model")),
    ("an id that is not there", "in.jsonl", LINE, "which --id names", ("--id", "key")),
    ("one column in two roles", "in.jsonl", LINE, "can't be both", ("--answer", "contexts", "--contexts", "contexts")),
    # Values that the format of the output lacks.
    ("mixed types", "in.jsonl", LINE + b'{"answer": "a", "contexts": [], "n": 1}\n{"answer": "a", "n": "x"}\n',
     "'n' has no single parquet type", ("-o", "out.parquet")),
    ("numbers and truth values", "in.jsonl", b'{"answer": "a", "contexts": [], "n": 1.5}\n{"n": true}\n',
     "it mixes numbers and truth values", ("-o", "out.parquet")),
    ("nested numbers and truth values", "in.jsonl", b'{"answer": "a", "contexts": [], "n": [1.5, true]}\n',
     "it mixes numbers and truth values", ("-o", "out.parquet")),
    ("mixed types far apart", "in.jsonl",
     jsonl(*[{"answer": "a", "contexts": [], "n": 1}] * 600, {"answer": "a", "contexts": [], "n": [1]}),
     "has no single parquet type", ("-o", "out.parquet")),
    ("a number too long", "in.jsonl", b'{"answer": "a", "contexts": [], "n": 123456789012345678901234567890}\n',
     "has no single parquet type", ("-o", "out.parquet")),
    ("a number of 5,000 digits", "in.jsonl", b'{"answer": "a", "contexts": [], "n": ' + b"1" * 5000 + b"}\n",
     "line 1 is not valid JSON", ()),
    ("half a surrogate pair for parquet", "in.jsonl", b'{"answer": "a", "contexts": [], "n": "\\ud800"}\n',
     "'n' has no single parquet type", ("-o", "out.parquet")),
    ("half a surrogate pair as a name", "in.jsonl", b'{"answer": "a", "contexts": [], "\\ud800": 1}\n',
     "no single parquet type", ("-o", "out.parquet")),
    ("half a surrogate pair for csv", "in.jsonl", b'{"answer": "a", "contexts": [], "n": "\\ud800"}\n',
     "half of a surrogate pair", ("-o", "out.csv")),
    ("an empty object for parquet", "in.jsonl", b'{"answer": "a", "contexts": [], "n": {}}\n',
     "can't be written to parquet", ("-o", "out.parquet")),
    ("lists as deep as readers go", "in.jsonl", deep(490), "too deeply nested", ("-o", "out.parquet")),
    ("objects as deep as readers go", "in.jsonl",
     b'{"answer": "a", "contexts": [], "x": ' + b'{"a": ' * 490 + b"1" + b"}" * 490 + b"}\n",
     "no single parquet type", ("-o", "out.parquet")),
    ("dates that Python lacks", "in.parquet",
     parquet({"answer": ["a"], "contexts": ["c"], "d": pa.array([2**30], pa.int32()).cast(pa.date32())}),
     "can't be written as JSON", ("-o", "out.jsonl")),
]  # fmt: skip


def one_sentence(err: str) -> str:
    """The last line of stderr, which is the only one that speaks of an error; log lines may stand before it."""
    lines = err.splitlines()
    assert [line.startswith("nli-faith: ") for line in lines[:-1]].count(True) == 0, err
    assert lines[-1].startswith("nli-faith: ") and len(lines[-1]) < 1500, err
    return lines[-1]


@pytest.mark.parametrize(("name", "file", "data", "words", "more"), FILES, ids=[case[0] for case in FILES])
def test_a_file_that_is_refused(run, folder, name, file, data, words, more):
    (folder / file).write_bytes(data)
    status, out, err = run("score", file, "--model", "fake", *more)
    assert words in one_sentence(err)
    assert status == 1 and out == ""
    assert os.listdir(folder) == [file] and (folder / file).read_bytes() == data
