"""Columns that are in memory already -> scores, window by window, by the names and checks of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from nli_faith.cells import make_row
from nli_faith.columns import check_contexts, find_columns
from nli_faith.options import FileOptions
from nli_faith.rows import WINDOW_ROWS, check_names
from nli_faith.types import AnswerScore

_CHECKED_ROWS = 256


def score_cells(
    scorer, names: Sequence[str], count: int, cells: Callable[[str], list], chosen: FileOptions, where: str,
    checked_chunks: int | None = None,
) -> list[AnswerScore]:  # fmt: skip
    """The score of every row, in order. A cell that can't be read gives a row of the status "error", as in a file.

    Args:
        scorer: a `Scorer`.
        names: of the columns; count: rows; cells: the values of the column of that name.
        chosen: names of columns to read instead of those that files are searched for.
        where: what holds the columns, for messages ("The frame").
        checked_chunks: chunks of a row that are looked at for links and ids in place of text; None for all.
    Raises:
        InputError: no answer or no contexts column, or a column that carries an output column's name.
    """
    columns = find_columns(names, chosen, where)
    check_names(names, where, "drop what an earlier run added")
    read = [[None] * count if name is None else cells(name) for name in (columns.answer, columns.contexts, columns.question)]
    rows = [make_row(position, *row) for position, row in enumerate(zip(*read, strict=True))]
    chunks = [chunk for row in rows[:_CHECKED_ROWS] for chunk in islice(row.chunks, checked_chunks)]
    check_contexts(chunks, columns.contexts, names, where, chosen=chosen.contexts is not None)
    scores: list[AnswerScore] = []
    for start in range(0, count, WINDOW_ROWS):
        scores.extend(scorer.score_window(rows[start : start + WINDOW_ROWS]).scores)
    return scores
