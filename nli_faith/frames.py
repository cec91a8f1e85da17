"""A pandas DataFrame with the columns of the file output behind its own. Imports pandas only when it is called."""

from __future__ import annotations

from collections.abc import Sequence

from nli_faith.errors import InputError
from nli_faith.in_memory import score_cells
from nli_faith.options import FileOptions
from nli_faith.outputs import SCORE_NAMES
from nli_faith.types import AnswerScore

_WHERE = "The frame"
# Types that hold a missing value, so that a column's type never depends on whether one is missing.
_TYPES = {"faithfulness": "float64", "faithful": "boolean", "status": "object", "error": "object", "n_units": "int32",
          "n_claims": "int32", "n_supported": "int32", "n_contradicted": "Int32", "n_unsupported": "int32",
          "min_support": "float64", "claims": "object"}  # fmt: skip


def score_frame(scorer, frame, chosen: FileOptions = FileOptions()):
    """A copy of `frame` with the output columns of `nli-faith score` behind its own; index and own columns are kept.

    Columns are found by the names that files are searched for. `claims` holds one list of dicts a row. A cell that can't
    be read gives a row of the status "error", as in a file.

    Args:
        scorer: a `Scorer`; frame: a pandas DataFrame, which is not changed.
        chosen: names of columns to read instead.
    Raises:
        InputError: pandas is missing, `frame` is no DataFrame, it has no answer or no contexts column, or one of its
            columns carries an output column's name.
    """
    pandas = _pandas()
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(
            f"score_frame takes a pandas DataFrame, not {type(frame).__name__}. For dicts there is score_rows."
        )
    names = [str(name) for name in frame.columns]
    scores = score_cells(
        scorer, names, len(frame), lambda name: frame.iloc[:, names.index(name)].tolist(), chosen, _WHERE
    )
    result = frame.copy()
    for name in SCORE_NAMES:
        result[name] = pandas.Series(_cells(scores, name), index=frame.index, dtype=_TYPES[name])
    return result


def _cells(scores: Sequence[AnswerScore], name: str) -> list:
    if name == "claims":
        return [score.to_dict()["claims"] for score in scores]
    return [getattr(score, name) for score in scores]


def _pandas():
    try:
        import pandas
    except ImportError:
        raise InputError(
            "score_frame needs the package 'pandas', which is not installed. Run: pip install 'nli-faith[pandas]'"
        ) from None
    return pandas
