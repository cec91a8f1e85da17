"""Inputs -> windows: the unit of sorting, of memory, of determinism and of resume.

A window ends at a number of rows or of bytes, whichever comes first. Where it ends is a function of the input and of
the columns, limit and sample asked for; never of the machine, of time, or of where a run was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from nli_faith.arrow_readers import ParquetReader
from nli_faith.cells import make_row, text_bytes
from nli_faith.columns import Columns, check_contexts, find_columns
from nli_faith.errors import InputError
from nli_faith.options import FileOptions
from nli_faith.outputs import SCORE_NAMES
from nli_faith.readers import Reader, open_reader
from nli_faith.records import JsonRecords, Records
from nli_faith.sources import Source
from nli_faith.types import Row

WINDOW_ROWS = 512  # a quarter of an hour on two CPU cores, which is what an interruption costs at most
WINDOW_BYTES = 32 << 20  # of answers and chunks
_HELD_BYTES = 4  # times that many of all columns, for rows that carry images or other freight
_SCORE_NAMES = frozenset(SCORE_NAMES)


@dataclass(frozen=True, slots=True)
class Window:
    """Some rows in the order of the input.

    Attributes:
        rows: what is scored.
        records: their input columns, as they were read.
        end: the place in the input from which the next window is read.
        share: of the input that was read so far, in [0, 1], or None; for progress only.
    """

    rows: list[Row]
    records: Records
    end: int
    share: float | None


class RowReader:
    """The rows of `sources`, window by window.

    Attributes:
        columns: which column is what.
        names: all columns of the input, in order (for JSON: the keys of its first rows).
        total: rows that will be scored, or None when only reading would tell; an estimate with `sample`.
        reader: the format's own reader.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        options: FileOptions,
        log: Callable[[str], None] = lambda line: None,
        window_rows: int = WINDOW_ROWS,
        window_bytes: int = WINDOW_BYTES,
    ):
        self.reader: Reader = open_reader(sources)
        self.names = self.reader.names
        self._options, self._window_rows, self._window_bytes = options, window_rows, window_bytes
        where = sources[0].name if len(sources) == 1 else f"The input ({sources[0].name} and {len(sources) - 1} more)"
        self.columns: Columns = find_columns(self.names, options, where, self.reader.named_by)
        for name in (self.columns.answer, self.columns.contexts):
            if isinstance(self.reader, ParquetReader):
                self.reader.check_column(name)
        if not options.overwrite_columns:
            check_names(self.names, where)
        log(f"Columns taken: {self.columns}.")
        self._check_first_rows(where, log)
        self.total = _total(self.reader.total, options)

    def windows(self, start: int = 0, taken: int = 0) -> Iterator[Window]:
        """All windows from row `start` on, where a window must have ended after `taken` rows were taken."""
        pieces, rows, size, held, share = [], [], 0, 0, None
        limit = self._options.limit
        for first, records, share in self._picked(start):
            fresh = self._rows(first, records)
            begun = 0
            for at, (row, weight) in enumerate(zip(fresh, records.sizes(), strict=True)):
                if limit is not None and taken == limit:
                    break
                rows.append(row)
                taken += 1
                size += text_bytes((row.answer, *row.chunks))
                held += weight
                if (
                    len(rows) == self._window_rows or size >= self._window_bytes
                    or held >= _HELD_BYTES * self._window_bytes
                ):  # fmt: skip
                    pieces.append(records.slice(begun, at + 1))
                    yield Window(rows, type(records).join(pieces), row.position + 1, share)
                    pieces, rows, size, held, begun = [], [], 0, 0, at + 1
            else:
                at = len(fresh)
            if begun < at:
                pieces.append(records.slice(begun, at))
            if limit is not None and taken == limit:
                break
        if rows:
            yield Window(rows, type(pieces[0]).join(pieces), rows[-1].position + 1, share)

    def first_rows(self, count: int) -> list[Row]:
        """The first `count` rows of the input, whatever the limit and sample."""
        records, _ = next(self.reader.batches(0), (self.reader.empty(), None))
        return self._rows(range(count), records.slice(0, min(count, len(records))))

    def _picked(self, start: int) -> Iterator[tuple[Sequence[int], Records, float | None]]:
        """Batches with the positions of their rows, without the rows that the sample leaves out."""
        for records, share in self.reader.batches(start):
            positions: Sequence[int] = range(start, start + len(records))
            if isinstance(records, JsonRecords) and not self._options.overwrite_columns:
                _check_keys(start, records)
            start += len(records)
            if self._options.sample is not None:
                kept = np.flatnonzero(sampled(np.asarray(positions), self._options.sample, self._options.seed))
                if not len(kept):
                    continue
                records, positions = records.take(kept), [positions[at] for at in kept]
            yield positions, records, share

    def _rows(self, positions: Sequence[int], records: Records) -> list[Row]:
        empty = [None] * len(records)
        answers, contexts, questions, ids = (
            records.cells(name) if name is not None else empty
            for name in (self.columns.answer, self.columns.contexts, self.columns.question, self.columns.id)
        )
        rows = [make_row(*cells) for cells in zip(positions, answers, contexts, questions, ids, strict=False)]
        if isinstance(records, JsonRecords):
            for at, value in enumerate(records.values):
                for name in (self.columns.answer, self.columns.contexts):
                    if name not in value:
                        # Not the same as null: the object may keep its text under another name.
                        error = f"The object has no key {name!r}, which the first rows have; null means none."
                        rows[at] = Row(rows[at].position, None, (), None, rows[at].id, error)
        return rows

    def _check_first_rows(self, where: str, log: Callable[[str], None]) -> None:
        rows = self.first_rows(256)
        chunks = [chunk for row in rows for chunk in islice(row.chunks, 20)]
        warning = check_contexts(chunks, self.columns.contexts, self.names, where, self._options.contexts is not None)
        if warning:
            log(f"Warning: {warning}")


def check_names(names: Sequence[str], where: str, way_out: str = "replace with --overwrite-columns") -> None:
    """InputError when an input column would collide with a column that is written; `way_out` ends its advice."""
    taken = [name for name in names if name in SCORE_NAMES]
    if taken:
        raise InputError(
            f"{where} already has the column{'s' if len(taken) > 1 else ''} {', '.join(taken)}, "
            "which nli-faith writes. "
            f"Rename {'them' if len(taken) > 1 else 'it'}, or {way_out}. "
            f"Its columns are: {', '.join(names[:40])}."
        )


def _check_keys(start: int, records: JsonRecords) -> None:
    """`check_names` for objects further down, which may have other keys than the first ones."""
    for position, value in enumerate(records.values, start):
        if not _SCORE_NAMES.isdisjoint(value):
            check_names(list(value), f"Row {position} of the input (counted from 0)")


def sampled(positions: np.ndarray, share: float, seed: int) -> np.ndarray:
    """bool[n]: whether the rows at `positions` are in the sample; a hash of position and seed (SplitMix64)."""
    with np.errstate(over="ignore"):
        mixed = positions.astype(np.uint64) + np.uint64(1)
        for word in (np.uint64(seed % 2**64), np.uint64(0)):
            mixed = (mixed ^ word) + np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)) < np.uint64(int(share * 2**53))


def _total(rows: int | None, options: FileOptions) -> int | None:
    if rows is None:
        return None
    if options.sample is not None:
        rows = round(rows * options.sample)
    return rows if options.limit is None else min(rows, options.limit)
