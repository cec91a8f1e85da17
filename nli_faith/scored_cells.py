"""Cells of scored files, which people edit: a support, a position, a truth value, the list of claims."""

from __future__ import annotations

import json

from nli_faith.errors import InputError

PASS, FAIL, JUDGE = "pass", "fail", "judge"  # what a cell of the column `route` holds
_TRUTHS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False, "": None}


def claims_of(cell: object, where: str) -> list[dict]:
    """The claims of one row, as dicts, from a cell of any format.

    Raises:
        InputError: it is no list of objects.
    """
    if isinstance(cell, str):
        try:
            cell = json.loads(cell) if cell else []
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: the column 'claims' is not valid JSON ({error}). Score the file again.") from None
    cell = [] if cell is None else cell
    if not isinstance(cell, list) or not all(isinstance(claim, dict) for claim in cell):
        raise InputError(
            f"{where}: the column 'claims' holds {str(cell)[:60]!r} and no list of claims. Score the file again."
        )
    return cell


def number_of(cell: object, path: str, position: int) -> float:
    """A support as it stands in parquet, JSON or CSV; NaN where there is none."""
    if cell is None or cell == "":
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{path}, row {position} (counted from 0): the support {str(cell)[:60]!r} is no number. Correct it."
        ) from None


def position_of(cell: object, path: str, position: int) -> int:
    """The cell of a column `row`: the place of an answer in its file, also as 3.0 or as text."""
    try:
        if isinstance(cell, bool) or not 0 <= (number := float(cell)) == int(number) < 2**53:
            raise ValueError(cell)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{path}, row {position} (counted from 0): its column 'row' holds {str(cell)[:60]!r} and not the position of an "
            "answer. Correct it, or write the file again with --claims-out."
        ) from None
    return int(number)


def truth_of(cell: object, name: str, path: str, position: int) -> bool | None:
    """A truth value as it stands in parquet, JSON or CSV, also as a number; None where there is none.

    Raises:
        InputError: anything else, which is never taken for "no value".
    """
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    text = str(cell).strip().lower()
    if text not in _TRUTHS:
        raise InputError(
            f"{path}, row {position} (counted from 0): {name!r} holds {str(cell)[:60]!r} and no truth value. "
            "Write true or false, or score the file again."
        )
    return _TRUTHS[text]
