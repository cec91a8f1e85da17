"""DataFrames: the columns of the file output, the same numbers, and nothing of the caller's changed."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from file_stubs import StubScorer

from nli_faith import InputError, Scorer
from nli_faith.files import score_file
from nli_faith.frames import score_frame
from nli_faith.outputs import SCORE_NAMES


@pytest.fixture(scope="module")
def scorer():
    return Scorer("fake")


def frame():
    return pd.DataFrame(
        {
            "n": [1, 2, 3, 4],
            "Response": ["The sky is blue. It is wide.", None, "I could not find this in the documents.", "It rains."],
            "retrieved_contexts": [["The sky is blue."], ["A chunk."], np.array(["A chunk."]), float("nan")],
        },
        index=["a", "b", "c", "c"],
    )


def test_columns_index_and_states(scorer):
    before = frame()
    after = scorer.score_frame(before)
    assert list(after.columns) == [*before.columns, *SCORE_NAMES]
    assert list(after.index) == ["a", "b", "c", "c"]
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert list(before.columns) == list(frame().columns)
    assert list(after["status"]) == ["scored", "empty_answer", "no_claims", "no_context"]
    assert [len(claims) for claims in after["claims"]] == [2, 0, 1, 1]
    assert isinstance(after["claims"].iloc[0], list) and after["claims"].iloc[0][0]["text"] == "The sky is blue."


def test_the_same_as_the_file(scorer, tmp_path):
    rows = frame().reset_index(drop=True)
    rows["retrieved_contexts"] = [["The sky is blue."], ["A chunk."], ["A chunk."], None]
    rows.to_parquet(tmp_path / "rows.parquet")
    score_file(scorer, str(tmp_path / "rows.parquet"))
    written = pd.read_parquet(tmp_path / "rows.scored.parquet")
    scored = scorer.score_frame(rows)
    for name in SCORE_NAMES[:-1]:
        assert [None if pd.isna(value) else value for value in scored[name]] == [
            None if pd.isna(value) else value for value in written[name]
        ]
    assert [list(claims) for claims in written["claims"]] == list(scored["claims"])


def test_types_do_not_depend_on_what_is_missing(scorer):
    whole = scorer.score_frame(frame())
    some = scorer.score_frame(frame().iloc[:1])
    none = scorer.score_frame(frame().iloc[:0])
    assert list(whole.dtypes[list(SCORE_NAMES)]) == list(some.dtypes[list(SCORE_NAMES)])
    assert list(none.dtypes[list(SCORE_NAMES)]) == list(some.dtypes[list(SCORE_NAMES)])


def test_an_unreadable_cell_is_a_row_of_the_result(scorer):
    scored = scorer.score_frame(pd.DataFrame({"answer": ["It rains."], "contexts": [17.5]}))
    assert scored["status"].iloc[0] == "error" and "contexts cell" in scored["error"].iloc[0]
    assert np.isnan(scored["faithfulness"].iloc[0])


def test_long_frames_go_through_in_windows(monkeypatch):
    monkeypatch.setattr("nli_faith.in_memory.WINDOW_ROWS", 3)
    stub = StubScorer()
    scored = score_frame(stub, pd.DataFrame({"answer": ["One two."] * 7, "contexts": [["x"]] * 7}))
    assert stub.windows == [[0, 1, 2], [3, 4, 5], [6]] and len(scored) == 7


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"text": ["a"]}, "no column that is known to hold the answer"),
        ({"answer": ["a"]}, "no column that is known to hold the contexts"),
        ({"answer": ["a"], "contexts": [["b"]], "claims": [1]}, "already has the column claims"),
        ({"answer": ["a"], "Answer": ["b"], "contexts": [["b"]]}, "differ only by case"),
        ({"answer": ["It is."], "contexts": [["https://example.com/a"]]}, "looks like links"),
    ],
)
def test_what_is_refused(scorer, columns, said):
    with pytest.raises(InputError, match=said):
        scorer.score_frame(pd.DataFrame(columns))


def test_no_frame_and_no_pandas(scorer, monkeypatch):
    with pytest.raises(InputError, match="DataFrame, not list"):
        scorer.score_frame([{"answer": "a", "contexts": ["b"]}])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install 'nli-faith\\[pandas\\]'"):
        scorer.score_frame(None)


def test_columns_of_any_name_can_be_chosen(scorer):
    odd = frame().rename(columns={"Response": "reply", "retrieved_contexts": "found"}).assign(answer="")
    wanted = scorer.score_frame(frame())
    got = scorer.score_frame(odd, answer="reply", contexts="found")
    pd.testing.assert_series_equal(got["faithfulness"], wanted["faithfulness"])
    assert list(got.columns[:4]) == list(odd.columns)
