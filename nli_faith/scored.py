"""Files that `nli-faith score` wrote, read back: the states and supports of rows or claims, and people's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nli_faith.columns import lacks
from nli_faith.errors import InputError
from nli_faith.labels import CLAIM_LABELS, ROW_LABELS, LabelReader, pick_column
from nli_faith.readers import Reader, open_reader
from nli_faith.records import ArrowRecords, Records
from nli_faith.scored_cells import JUDGE, claims_of, number_of, position_of, truth_of
from nli_faith.sources import Source, find_sources
from nli_faith.types import CLAIM, STATUSES

ROW, CLAIM_LEVEL = "row", "claim"
_NEEDED = {ROW: ("status", "faithful", "min_support", "claims"),
           CLAIM_LEVEL: ("row", "unit", "kind", "verdict", "support", "chunk", "exhaustive")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    """The columns of a scored file that routes and thresholds are made from, one entry a row (or a claim).

    Attributes:
        level: "row" or "claim".
        status: object[n], one of `STATUSES`; at claim level "scored" where the model decided, else "".
        support: float64[n], `min_support` or the claim's `support`; NaN where there is none.
        said: object[n], the file's own verdict: True, False or None.
        group: int64[n], the row; claims of one answer share it.
        label: object[n], True for faithful, False, or None; all None when no labels were read.
        read_as, warnings: sentences on how the labels were read, and on what they can't tell.
    """

    level: str
    status: np.ndarray
    support: np.ndarray
    said: np.ndarray
    group: np.ndarray
    label: np.ndarray
    read_as: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.status)


def open_scored(path: str) -> tuple[Source, Reader, str]:
    """The one file at `path`, its reader and its level.

    Raises:
        InputError: several files, or one that `nli-faith score` did not write.
    """
    sources = find_sources([path], lambda line: None, scored=True)
    if len(sources) > 1:
        raise InputError(f"{path} is {len(sources)} files; this command reads one. Score them into one file with -o OUT.")
    reader = open_reader(sources)
    for level, needed in _NEEDED.items():
        if set(needed) <= set(reader.names):
            return sources[0], reader, level
    missing = [name for name in _NEEDED[ROW] if name not in reader.names]
    raise InputError(
        f"{path} is no scored file. {lacks('It', reader.named_by)} {', '.join(missing)}. Run `nli-faith score` on it first. "
        f"Its columns are: {', '.join(reader.names[:40])}."
    )


def read_scored(path: str, reader: Reader, level: str, label: str | None = None) -> Scored:
    """The columns of a whole file; nothing else of it is kept.

    Args:
        label: the column of labels, from `label_column`, or None to read none.
    Raises:
        InputError: `exhaustive` is false somewhere, a cell is damaged, or a label has an unknown spelling.
    """
    labels = None if label is None else LabelReader(label, path)
    columns: list[list] = [[], [], [], [], []]
    routes: list[object] = []
    start = 0
    for records, _ in reader.batches(0):
        _check_exhaustive(path, records, level, start)
        rows = _row_columns(records, start) if level == ROW else _claim_columns(records, path, start)
        found = [None] * len(records) if labels is None else labels.read(records.cells(label), start)
        support = [number_of(cell, path, start + i) for i, cell in enumerate(rows[1])]
        said = [truth_of(cell, "faithful", path, start + i) for i, cell in enumerate(rows[2])]
        for whole, values in zip(columns, (rows[0], support, said, rows[3], found), strict=True):
            whole.extend(values)
        if "route" in reader.names:
            routes.extend(records.cells("route"))
        start += len(records)
    if labels is not None:
        labels.check()
    read_as = (labels.read_as,) if labels is not None and labels.read_as is not None else ()
    kinds = (object, np.float64, object, np.int64, object)
    made = [_array(whole, kind) for whole, kind in zip(columns, kinds, strict=True)]
    scored = Scored(level, *made, read_as, _judged_only(routes, columns[4]))
    _check_states(path, scored)
    return scored


def _judged_only(routes: Sequence, labels: Sequence) -> tuple[str, ...]:
    """A warning when all labels are of rows that triage sent to the judge, and other rows have none."""
    labelled = {route for route, label in zip(routes, labels) if label is not None}
    if labelled != {JUDGE} or set(routes) == {JUDGE}:
        return ()
    return (
        "All labels are of rows that triage sent to the judge, which are the hard ones, so threshold and figures do not "
        "hold for all rows. Label some of the rows that passed or failed too.",
    )


def _array(values: Sequence, kind: type) -> np.ndarray:
    made = np.empty(len(values), dtype=kind)
    made[:] = values
    return made


def label_column(path: str, reader: Reader, level: str, label: str | None) -> str:
    """The column of the labels: `label`, or the first known name that is present.

    Raises:
        InputError: it is not there, or holds our own verdicts.
    """
    own = ("faithful", "faithfulness") if level == ROW else ("verdict",)
    if label in own:
        raise InputError(
            f"{path}: the column {label!r} is nli-faith's own verdict, no label. Give the labels another name before "
            "the file is scored, and name that with --label COLUMN."
        )
    known = ROW_LABELS if level == ROW else CLAIM_LABELS
    return pick_column(reader.names, label, known, "--label", path, reader.named_by)


def _row_columns(records: Records, start: int) -> tuple:
    """The columns of `Scored` up to `group`, not converted yet."""
    return *(records.cells(name) for name in ("status", "min_support", "faithful")), range(start, start + len(records))


def _claim_columns(records: Records, path: str, start: int) -> tuple:
    kinds, supports, verdicts, chunks, rows = (
        records.cells(name) for name in ("kind", "support", "verdict", "chunk", "row")
    )
    # Without a chunk nothing was read, so that no threshold decides.
    decided = [kind == CLAIM and chunk not in (None, "") for kind, chunk in zip(kinds, chunks, strict=True)]
    return (
        ["scored" if ours else "" for ours in decided],
        supports,
        [verdict == "supported" if ours else None for verdict, ours in zip(verdicts, decided, strict=True)],
        [position_of(cell, path, start + i) for i, cell in enumerate(rows)],
    )


def _check_exhaustive(path: str, records: Records, level: str, start: int) -> None:
    row = _first_early(path, records, level, start)
    if row is not None:
        raise InputError(
            f"{path}, row {start + row} (counted from 0): exhaustive is false, so its support is only a lower bound. "
            "Score the file again without --early-exit."
        )


def _first_early(path: str, records: Records, level: str, start: int) -> int | None:
    """The first row of the batch, which begins with row `start`, with a claim whose windows were not all read."""
    if level == CLAIM_LEVEL:
        cells = enumerate(records.cells("exhaustive"))
        return next((i for i, cell in cells if truth_of(cell, "exhaustive", path, start + i) is False), None)
    if isinstance(records, ArrowRecords) and _holds_claims(records.data["claims"].type):
        # Without making Python objects of all texts and evidence.
        column = records.data["claims"].combine_chunks()
        column = column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)
        early = pc.equal(pc.struct_field(pc.list_flatten(column), "exhaustive"), False)
        if not pc.any(early).as_py():
            return None
        return int(pc.filter(pc.list_parent_indices(column), early)[0].as_py())
    for i, cell in enumerate(records.cells("claims")):
        where = f"{path}, row {start + i} (counted from 0)"
        for claim in claims_of(cell, where):
            if truth_of(claim.get("exhaustive"), "exhaustive", path, start + i) is False:
                return i
    return None


def _holds_claims(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return False
    at = kind.value_type.get_field_index("exhaustive")
    return at >= 0 and pa.types.is_boolean(kind.value_type.field(at).type)


def _check_states(path: str, scored: Scored) -> None:
    if scored.level != ROW:
        for position, support in enumerate(scored.support):
            if support < 0.0 or support > 1.0:
                raise InputError(
                    f"{path}, row {position} (counted from 0): the support {support:g} is not between 0 and 1. Correct it."
                )
        return
    for position, (status, support) in enumerate(zip(scored.status, scored.support, strict=True)):
        if status not in STATUSES or (status == "scored" and not 0.0 <= support <= 1.0):
            raise InputError(
                f"{path}, row {position} (counted from 0): status {status!r} with min_support {support} is not what "
                "`nli-faith score` writes. Score the file again."
            )
