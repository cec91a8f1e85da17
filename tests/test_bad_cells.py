"""Cells of every kind, through the command line: scored or an error row that says why, and every row comes back."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import read_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.cells import CellError, make_row, read_answer, read_chunks

GOOD = {"answer": "The plan costs ten euros.", "contexts": ["The plan costs ten euros."]}
UNCLOSED = "[" + "\\'" * 100_000 + "]"

# (name, key, JSON of the cell, status, words of the error)
CELLS = [
    ("a number", "answer", "15", "scored", None),
    ("a fraction", "answer", "-1.50", "scored", None),
    ("a number beyond floats", "answer", "1e400", "scored", None),
    ("null", "answer", "null", "empty_answer", None),
    ("not a number", "answer", "NaN", "empty_answer", None),
    ("nothing", "answer", '""', "empty_answer", None),
    ("white space", "answer", '" \\n\\t\\u00a0\\u2003 "', "empty_answer", None),
    ("a truth value", "answer", "true", "error", "answer cell holds a truth value (True)"),
    ("a list", "answer", '["a"]', "error", "answer cell holds a value of type list"),
    ("an object", "answer", '{"text": "a"}', "error", "answer cell holds a value of type dict"),
    ("NUL", "answer", '"The plan\\u0000costs ten euros."', "scored", None),
    ("nothing but NUL", "answer", '"\\u0000"', "empty_answer", None),
    ("control characters", "answer", '"The \\u0001plan\\u001f costs \\u007f ten."', "scored", None),
    ("an escape sequence", "answer", '"The \\u001b[31mplan\\u001b[0m costs ten."', "scored", None),
    ("half of a surrogate pair", "answer", '"The plan\\ud800 costs."', "error", "\\ud800 at character 8"),
    ("the other half", "answer", '"\\udfff"', "error", "\\udfff at character 0"),
    ("halves in the wrong order", "answer", '"\\ude00\\ud83d"', "error", "surrogate pair"),
    ("a whole pair", "answer", '"The plan \\ud83d\\ude00 costs ten."', "scored", None),
    ("right-to-left marks", "answer", '"The \\u202eplan\\u202c costs\\u200f ten."', "scored", None),
    ("Arabic", "answer", '"\\u0643\\u0644\\u0641 \\u0639\\u0634\\u0631\\u0629."', "scored", None),
    ("zero-width characters", "answer", '"The\\u200b pl\\u200dan costs\\ufeff ten."', "scored", None),
    ("noncharacters", "answer", '"The plan\\uffff costs \\ufdd0 ten."', "scored", None),
    ("combining marks", "answer", json.dumps("The plan" + "\u0301" * 50 + " costs ten."), "scored", None),
    ("60,000 words", "answer", json.dumps("The plan costs ten euros. " * 12_000), "scored", None),
    ("one word of 100,000 letters", "answer", json.dumps("x" * 100_000), "error", "without a place to cut"),
    ("null", "contexts", "null", "no_context", None),
    ("an empty list", "contexts", "[]", "no_context", None),
    ("empty chunks", "contexts", '["", null, " "]', "no_context", None),
    ("one text", "contexts", '"The plan costs ten euros."', "scored", None),
    ("a number", "contexts", "5", "error", "contexts cell holds a number (5)"),
    ("a truth value", "contexts", "false", "error", "contexts cell holds a truth value (False)"),
    ("numbers", "contexts", '["a", 5]', "error", "Element 1 of the contexts cell holds a number (5)"),
    ("a list inside", "contexts", '["a", ["b"]]', "error", "Element 1 of the contexts cell holds a value of type list"),
    ("objects", "contexts", '[{"text": "a", "score": 1}, {"page_content": "b"}, {"content": null}]', "scored", None),
    ("one object", "contexts", '{"text": "a"}', "scored", None),
    ("objects without text", "contexts", '[{"title": "a", "url": "b"}]', "error", "it has 'title', 'url'"),
    ("an empty object", "contexts", "[{}]", "error", "no key at all"),
    ("a text that is a list", "contexts", '[{"text": ["a"]}]', "error", "dict without text"),
    ("half of a surrogate pair", "contexts", '["a", "\\ud800"]', "error", "contexts cell holds half of a surrogate pair"),
    ("NUL", "contexts", '["The plan\\u0000costs ten euros."]', "scored", None),
    ("1,500 chunks", "contexts", json.dumps(["The plan costs ten."] * 1500), "scored", None),
    ("JSON", "contexts", json.dumps('["a", "b"]'), "scored", None),
    ("a Python literal", "contexts", json.dumps("['a', None, \"b's\"]"), "scored", None),
    ("objects as a Python literal", "contexts", json.dumps("[{'text': 'a', 'n': 1}]"), "scored", None),
    ("a numpy array as text", "contexts", json.dumps("['one' 'two']"), "error", "numpy array written as text"),
    ("a numpy array as code", "contexts", json.dumps("array(['a'], dtype=object)"), "error", "numpy array written"),
    ("code", "contexts", json.dumps("[__import__('os').system('true')]"), "scored", None),
    ("quotes that are never closed", "contexts", json.dumps(UNCLOSED), "scored", None),
    ("brackets", "contexts", json.dumps("[" * 50_000 + "]" * 50_000), "scored", None),
    ("half of a surrogate pair", "question", '"\\ud800?"', "error", "question cell holds half of a surrogate pair"),
    ("a list of messages", "question", '[{"role": "user", "content": "a"}]', "scored", None),
    ("a number", "question", "5", "scored", None),
    ("an object", "question", "{}", "scored", None),
    ("half of a surrogate pair", "id", '"\\ud800"', "scored", None),
    ("an object", "id", '{"a": [1]}', "scored", None),
    ("a long text", "id", json.dumps("k" * 10_000), "scored", None),
    ("null", "id", "null", "scored", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """All `CELLS`, a good row before each, scored in one run: (lines of the input, lines of the output, claims, log)."""
    from nli_faith import Scorer
    from nli_faith.files import score_file
    from nli_faith.options import FileOptions

    folder = tmp_path_factory.mktemp("cells")
    lines = []
    for _, key, cell, *_ in CELLS:
        row = GOOD | {"question": "How much?", "id": "k"}
        row.pop(key)
        inside = json.dumps(row)[1:-1]
        lines += [json.dumps(GOOD | {"question": "How much?", "id": "k"}), f'{{"{key}": {cell}, {inside}}}']
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    log: list[str] = []
    claims = folder / "claims.jsonl"
    options = FileOptions(id="id", by="id", claims_out=str(claims))
    score_file(Scorer("fake"), str(folder / "in.jsonl"), options=options, log=log.append)
    assert sorted(path.name for path in folder.iterdir()) == [
        "claims.jsonl", "in.jsonl", "in.scored.jsonl", "in.scored.jsonl.summary.json",
    ]  # fmt: skip
    found = (folder / "in.scored.jsonl").read_text().split("\n")[:-1]
    return lines, found, [json.loads(line) for line in claims.read_text().split("\n")[:-1]], log


@pytest.mark.parametrize("number", range(len(CELLS)), ids=[f"{key} {name}" for name, key, *_ in CELLS])
def test_a_cell(scored, number):
    lines, found, claims, _ = scored
    *_, status, words = CELLS[number]
    assert len(found) == len(lines) == 2 * len(CELLS)
    for line, row in zip(lines[2 * number : 2 * number + 2], found[2 * number : 2 * number + 2], strict=True):
        assert row.startswith(line[:-1] + ", "), "the row comes back letter by letter"
    good, row = (json.loads(line) for line in found[2 * number : 2 * number + 2])
    assert good["status"] == "scored" and good["error"] is None
    assert row["status"] == status
    assert (words or "") in (row["error"] or "") and (row["error"] is None) == (status != "error")
    assert (row["faithfulness"] is None) == (status in ("error", "empty_answer"))
    assert sum(claim["row"] == 2 * number + 1 for claim in claims) == row["n_units"] == len(row["claims"])


def test_log_lines_stay_short(scored):
    *_, log = scored
    assert 0 < sum("can't be scored" in line for line in log) <= 4 and max(map(len, log)) < 1000


# Parquet ---------------------------------------------------------------------------------------------------------

DAY, NOON = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)
TYPES = [
    ("numbers", "answer", pa.array([15, None]), ["scored", "empty_answer"]),
    ("floats", "answer", pa.array([1.5, float("nan")]), ["scored", "empty_answer"]),
    ("decimals", "answer", pa.array([Decimal("1.10"), None]), ["scored", "empty_answer"]),
    ("truth values", "answer", pa.array([True, None]), ["error", "empty_answer"]),
    ("bytes", "answer", pa.array([b"a", b"\xff"]), ["error", "error"]),
    ("dates", "answer", pa.array([DAY, None]), ["error", "empty_answer"]),
    ("times", "answer", pa.array([NOON, None], pa.timestamp("ns", "UTC")), ["error", "empty_answer"]),
    ("dates that Python lacks", "answer", pa.array([2**30, 0], pa.int32()).cast(pa.date32()), ["error", "error"]),
    ("nothing", "answer", pa.nulls(2), ["empty_answer", "empty_answer"]),
    ("large text", "answer", pa.array(["It is so.", ""], pa.large_string()), ["scored", "empty_answer"]),
    ("a dictionary", "answer", pa.array(["It is so.", None]).dictionary_encode(), ["scored", "empty_answer"]),
    ("lists", "answer", pa.array([["It is so."], None]), ["error", "empty_answer"]),
    ("text", "contexts", pa.array(["c", None]), ["scored", "no_context"]),
    ("large lists", "contexts", pa.array([["c"], []], pa.large_list(pa.large_string())), ["scored", "no_context"]),
    ("lists of one size", "contexts", pa.array([["c"], [None]], pa.list_(pa.string(), 1)), ["scored", "no_context"]),
    ("lists of a dictionary", "contexts",
     pa.ListArray.from_arrays([0, 1, 1], pa.array(["c"]).dictionary_encode()), ["scored", "no_context"]),
    ("structs", "contexts", pa.array([[{"text": "c", "n": 1}], [{"text": None, "n": 2}]]), ["scored", "no_context"]),
    ("structs without text", "contexts", pa.array([[{"n": 1}], []]), ["error", "no_context"]),
    ("maps", "contexts", pa.array([[("text", "c")], []], pa.map_(pa.string(), pa.string())), ["error", "no_context"]),
    ("lists of bytes", "contexts", pa.array([[b"c"], []]), ["error", "no_context"]),
    ("numbers", "contexts", pa.array([5, 6]), ["error", "error"]),
    ("dates", "contexts", pa.array([DAY, None]), ["error", "no_context"]),
    ("structs with dates that Python lacks", "contexts",
     pa.ListArray.from_arrays([0, 1, 1], pa.StructArray.from_arrays(
         [pa.array(["c"]), pa.array([2**30], pa.int32()).cast(pa.date32())], ["text", "day"])), ["error", "no_context"]),
    ("nothing", "contexts", pa.nulls(2), ["no_context", "no_context"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "cells", "statuses"), TYPES, ids=[f"{case[1]} {case[0]}" for case in TYPES])
def test_a_parquet_type(run, folder, name, key, cells, statuses):
    other = {"answer": ["It is so."] * 2, "contexts": [["It is so."]] * 2}
    del other[key]
    table = pa.table({key: cells, **other})
    pq.write_table(table, "in.parquet")
    status, _, err = run("score", "in.parquet", "--model", "fake", "--id", key, "--claims-out", "c.jsonl")
    assert status == 0, err
    found = pq.read_table("in.scored.parquet")
    assert found.column("status").to_pylist() == statuses
    kept = found.select(table.column_names)
    assert kept.schema.types == table.schema.types
    assert kept.combine_chunks().to_string() == table.combine_chunks().cast(kept.schema).to_string()
    assert len(read_rows(folder / "c.jsonl")) == sum(found.column("n_units").to_pylist())


# What only Python can hand over ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "chunks"),
    [
        (np.array("one text"), ("one text",)),
        (np.array([["a"]])[0], ("a",)),
        (np.str_("one text"), ("one text",)),
        ([np.str_("a")], ("a",)),
        (Decimal("sNaN"), ()),
        (np.float16("nan"), ()),
    ],
)
def test_chunks_of_python(cell, chunks):
    assert read_chunks(cell) == chunks and all(type(chunk) is str for chunk in read_chunks(cell))


@pytest.mark.parametrize(
    "cell", [{"a"}, (item for item in "a"), object(), range(3), 1j, b"", 10**5000], ids=lambda cell: type(cell).__name__
)
def test_what_is_no_cell_is_an_error_row(cell):
    for answer, contexts in ((cell, ["c"]), ("a", cell)):
        row = make_row(0, answer, contexts)
        assert row.error and "cell holds" in row.error and len(row.error) < 500


def test_decimals_that_are_no_numbers_are_no_answer():
    assert read_answer(Decimal("sNaN")) is None and read_answer(Decimal("NaN")) is None


@given(st.text(alphabet="[]{}'\"\\,: \nSuNonea1", max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_text_is_chunks_or_an_error_that_says_why(text):
    for cell in (text, f"[{text}]", f"['{text}']"):
        try:
            chunks = read_chunks(cell)
        except CellError as error:
            assert "numpy array" in str(error)
        else:
            assert chunks and all(type(chunk) is str for chunk in chunks) or cell.strip() == "[]" or not chunks


@pytest.mark.parametrize("piece", ["\\'", "'", '"', "'\\", "['", "{'S':", "'a' ", "nan ", "None,", "\\x", "' '"])
def test_reading_takes_time_in_proportion_to_the_length(piece):
    """A cell of 200,000 characters; what is quadratic in it takes minutes."""
    begun = datetime.datetime.now()
    make_row(0, "a", "[" + piece * (200_000 // len(piece)) + "]")
    assert (datetime.datetime.now() - begun).total_seconds() < 20
