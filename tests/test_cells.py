"""Cells: what counts as chunks, what is one text, what is an error of its row."""

from __future__ import annotations

import datetime
import json
import time
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.cells import CellError, make_row, read_answer, read_chunks, read_question, text_bytes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@pytest.mark.parametrize(
    ("cell", "chunks"),
    [
        (None, ()),
        (float("nan"), ()),
        (np.float32("nan"), ()),
        ([], ()),
        ("[]", ()),
        ("", ("",)),
        ("one plain text", ("one plain text",)),
        (["a", None, ""], ("a", "", "")),
        (["a", float("nan")], ("a", "")),
        (("a", "b"), ("a", "b")),
        (np.array(["a", "b"]), ("a", "b")),
        (np.array(["a", None], dtype=object), ("a", "")),
        (np.array([{"text": "a"}], dtype=object), ("a",)),
        ([{"text": "a", "id": 1}, {"content": "b"}, {"page_content": "c"}, "d"], ("a", "b", "c", "d")),
        ([{"text": None}], ("",)),
        ([{"text": None, "content": "b"}], ("b",)),
        ({"text": "a"}, ("a",)),
        ('["a", "b\\u00e9"]', ("a", "bé")),
        (' ["a", null] ', ("a", "")),
        ('["a", NaN]', ("a", "")),
        ('["line\nend"]', ("line\nend",)),
        ('[{"text": "a"}, {"content": "b", "n": 1}]', ("a", "b")),
        ("['a', \"it's\"]", ("a", "it's")),
        ("['a', None, nan]", ("a", "", "")),
        ("['nan, None']", ("nan, None",)),
        ("['a\\nb', 'c:\\dir']", ("a\nb", "c:\\dir")),
        ("[{'text': 'a', 'score': 0.5}]", ("a",)),
        ("['a, b' , 'S S']", ("a, b", "S S")),
        # Not lists of texts: one chunk, as it is.
        ("[1]", ("[1]",)),
        ("[1, 2]", ("[1, 2]",)),
        ('["a", 1]', ('["a", 1]',)),
        ('[["a"]]', ('[["a"]]',)),
        ('[{"name": "x"}]', ('[{"name": "x"}]',)),
        ('{"text": "a"}', ('{"text": "a"}',)),
        ("('a', 'b')", ("('a', 'b')",)),
        ("[see 'a' and 'b']", ("[see 'a' and 'b']",)),
        ("[__import__('os')]", ("[__import__('os')]",)),
        ("[" * 5000 + "]" * 5000, ("[" * 5000 + "]" * 5000,)),
        # Elements are never parsed.
        (['["a", "b"]', '{"text": "a"}'], ('["a", "b"]', '{"text": "a"}')),
    ],
)
def test_chunks(cell, chunks):
    assert read_chunks(cell) == chunks
    assert all(type(chunk) is str for chunk in read_chunks(cell))


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b']",
        "['a'\n 'b']",
        "['it is' \"it's\"]",
        "['a' None]",
        "['a', 'b' 'c']",
        "[{'text': 'a'} {'text': 'b'}]",
        "array(['a', 'b'], dtype=object)",
        str(np.array(["one", "two"], dtype=object)),
        str(np.array([{"text": "a"}, {"text": "b"}], dtype=object)),
    ],
)
def test_numpy_text_is_an_error_that_says_what_to_do(cell):
    with pytest.raises(CellError, match=r"numpy array .*map\(list\)"):
        read_chunks(cell)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (5, "a number"),
        (True, "a truth value"),
        (b"a", "type bytes"),
        (datetime.date(2026, 1, 1), "type date"),
        (["a", 5], "Element 1"),
        (["a", ["b"]], "Element 1"),
        ([b"a"], "type bytes"),
        (np.array([1.5, 2.5]), "a number"),
        ([{"name": "x"}], "'name'"),
        ({"title": ["x"]}, "'title'"),
        ([{"text": ["a"]}], "'text'"),
    ],
)
def test_unreadable_contexts(cell, words):
    with pytest.raises(CellError, match=words):
        read_chunks(cell)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("a", "a"),
        ("", ""),
        (None, None),
        (float("nan"), None),
        (15, "15"),
        (1.5, "1.5"),
        (np.int64(7), "7"),
        (Decimal("1.10"), "1.10"),
        (2**70, str(2**70)),
    ],
)
def test_answers(cell, text):
    assert read_answer(cell) == text


@pytest.mark.parametrize("cell", [True, np.bool_(True), ["a"], {"text": "a"}, b"a", datetime.date(2026, 1, 1)])
def test_unreadable_answers(cell):
    with pytest.raises(CellError, match="answer cell"):
        read_answer(cell)


def test_questions_that_are_no_text_are_no_question():
    assert read_question([{"role": "user", "content": "x"}]) is None
    assert read_question("why") == "why"


def test_pandas_missing_values():
    pandas = pytest.importorskip("pandas")
    assert read_chunks(pandas.NA) == () and read_answer(pandas.NaT) is None and read_question(pandas.NA) is None


def test_make_row_carries_the_error():
    row = make_row(3, "a", 5, id="k")
    assert (row.position, row.id, row.answer, row.chunks) == (3, "k", None, ()) and "a number (5)" in row.error
    assert "\\ud800 at character 1" in make_row(0, "a\ud800", "c").error
    assert "contexts cell" in make_row(0, "a", ["b", "\udc00"]).error
    assert make_row(0, "a", "b", "q").error is None


@given(st.lists(TEXTS, max_size=5))
@settings(max_examples=200, deadline=None)
def test_every_spelling_of_a_list_gives_the_same_chunks(texts):
    expected = tuple(texts)
    assert read_chunks(texts) == expected
    assert read_chunks(np.array(texts, dtype=object)) == expected
    assert read_chunks(json.dumps(texts)) == expected
    assert read_chunks(json.dumps(texts, ensure_ascii=False)) == expected
    assert read_chunks(repr(texts)) == expected
    assert read_chunks(repr([{"text": text} for text in texts])) == expected
    assert text_bytes(expected) == len("".join(texts).encode())


@given(st.lists(TEXTS, min_size=2, max_size=5))
@settings(max_examples=200, deadline=None)
def test_a_numpy_array_as_text_is_never_read_as_chunks(texts):
    with np.printoptions(threshold=100, linewidth=75), pytest.raises(CellError):
        read_chunks(str(np.array(texts, dtype=object)))


def test_fast_enough():
    cells = [["a chunk of ordinary length " * 20] * 10 for _ in range(2000)]
    literals = [repr(["a chunk of ordinary length " * 5] * 5) for _ in range(500)]
    start = time.perf_counter()
    for index, cell in enumerate(cells):
        make_row(index, "an answer", cell)
    for cell in literals:
        read_chunks(cell)
    assert time.perf_counter() - start < 1.0
