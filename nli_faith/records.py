"""The input columns of some rows, carried as they were read, and their way into each output format.

Three carriers with the same methods: `ArrowRecords` (parquet, data sets), `JsonRecords` (the original text of every
object) and `CsvRecords` (every cell a string). None of them changes a value that goes back into its own format.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

import numpy as np
import pyarrow as pa

from nli_faith.errors import InputError
from nli_faith.json_text import inside, inside_without, members, plain_value, to_json


class ArrowRecords:
    """Rows of an Arrow table: types, dictionaries, metadata and column order stay."""

    def __init__(self, table: pa.Table, row_bytes: int | None = None):
        self.data = table
        # Of the batch as it was read, so that a slice of it, which is what a resumed run gets, has the same.
        self._row_bytes = table.nbytes // max(1, len(table)) if row_bytes is None else row_bytes

    def __len__(self) -> int:
        return self.data.num_rows

    def sizes(self) -> list[int]:
        """About how many bytes each row takes: the mean of its batch."""
        return [self._row_bytes] * len(self)

    def cells(self, name: str) -> list:
        """Python values of one column; bytes stand for what Python lacks, such as a text that is not UTF-8."""
        return [value for chunk in self.data[name].chunks for value in _python_values(chunk)]

    def slice(self, start: int, stop: int) -> ArrowRecords:
        return ArrowRecords(self.data.slice(start, stop - start), self._row_bytes)

    def take(self, indices: np.ndarray) -> ArrowRecords:
        # Slices, runs of neighbours at once: Arrow takes rows of no column of views, and slices every one.
        ends = np.flatnonzero(np.diff(indices) != 1) + 1
        runs = [run for run in np.split(np.asarray(indices), ends) if len(run)]
        pieces = [self.data.slice(int(run[0]), len(run)) for run in runs] or [self.data.slice(0, 0)]
        return ArrowRecords(pa.concat_tables(pieces), self._row_bytes)

    @staticmethod
    def join(pieces: Sequence[ArrowRecords]) -> ArrowRecords:
        # One chunk per column: what is written must not depend on the batches it was read in.
        return ArrowRecords(pa.concat_tables([piece.data for piece in pieces]).combine_chunks())

    def table(self, schema: pa.Schema) -> pa.Table:
        """The columns of `schema`, unchanged."""
        return self.data.select(schema.names)

    def objects(self, left_out: Collection[str]) -> list[str]:
        """Each row as the inside of a JSON object, without braces."""
        table = self.data.drop_columns([name for name in self.data.column_names if name in left_out])
        try:
            return [to_json(row)[1:-1] for row in table.to_pylist()]
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"A column can't be written as JSON: {error}. Write parquet: -o NAME.parquet.") from error

    def csv_cells(self, names: Sequence[str]) -> list[list[str]]:
        """Each row as strings in the order of `names`; null is empty, nested values are JSON text."""
        try:
            columns = [[_csv_cell(value) for value in self.data[name].to_pylist()] for name in names]
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"A column can't be written as CSV: {error}. Write parquet: -o NAME.parquet.") from error
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(len(self))]


class JsonRecords:
    """Rows of JSONL or of a JSON array: the text of each object, and what it says."""

    def __init__(self, texts: list[str], values: list[dict]):
        self.texts, self.values = texts, values

    def __len__(self) -> int:
        return len(self.texts)

    def sizes(self) -> list[int]:
        """Characters of each object."""
        return [len(text) for text in self.texts]

    def cells(self, name: str) -> list:
        return [value.get(name) for value in self.values]

    def slice(self, start: int, stop: int) -> JsonRecords:
        return JsonRecords(self.texts[start:stop], self.values[start:stop])

    def take(self, indices: np.ndarray) -> JsonRecords:
        return JsonRecords([self.texts[i] for i in indices], [self.values[i] for i in indices])

    @staticmethod
    def join(pieces: Sequence[JsonRecords]) -> JsonRecords:
        texts = [text for piece in pieces for text in piece.texts]
        return JsonRecords(texts, [value for piece in pieces for value in piece.values])

    def table(self, schema: pa.Schema) -> pa.Table:
        return to_table(self.values, schema)

    def objects(self, left_out: Collection[str]) -> list[str]:
        """The text between the braces as it was: key order, unknown keys and the spelling of numbers stay."""
        left_out = frozenset(left_out)
        return [
            inside(text) if left_out.isdisjoint(value) else inside_without(text, left_out)
            for text, value in zip(self.texts, self.values, strict=True)
        ]

    def csv_cells(self, names: Sequence[str]) -> list[list[str]]:
        rows = []
        for text, value in zip(self.texts, self.values, strict=True):
            raw = {key: text[start:end].strip() for key, _, start, end in members(text)}
            rows.append([_csv_text(value.get(name), raw.get(name, "")) for name in names])
        return rows


class CsvRecords:
    """Rows of a CSV file: every cell is the string that stands there."""

    def __init__(self, names: list[str], rows: list[list[str]]):
        self.names, self.rows = names, rows

    def __len__(self) -> int:
        return len(self.rows)

    def sizes(self) -> list[int]:
        """Characters of each row."""
        return [sum(map(len, row)) for row in self.rows]

    def cells(self, name: str) -> list:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def slice(self, start: int, stop: int) -> CsvRecords:
        return CsvRecords(self.names, self.rows[start:stop])

    def take(self, indices: np.ndarray) -> CsvRecords:
        return CsvRecords(self.names, [self.rows[i] for i in indices])

    @staticmethod
    def join(pieces: Sequence[CsvRecords]) -> CsvRecords:
        return CsvRecords(pieces[0].names, [row for piece in pieces for row in piece.rows])

    def table(self, schema: pa.Schema) -> pa.Table:
        return pa.table([pa.array(self.cells(name), pa.string()) for name in schema.names], schema=schema)

    def objects(self, left_out: Collection[str]) -> list[str]:
        kept = [(at, name) for at, name in enumerate(self.names) if name not in left_out]
        return [to_json({name: row[at] for at, name in kept})[1:-1] for row in self.rows]

    def csv_cells(self, names: Sequence[str]) -> list[list[str]]:
        kept = [self.names.index(name) for name in names]
        return [[row[at] for at in kept] for row in self.rows]


Records = TypeVar("Records", ArrowRecords, JsonRecords, CsvRecords)


def to_table(values: Sequence[dict], schema: pa.Schema) -> pa.Table:
    """JSON objects as a table of `schema`; a key that an object lacks is null."""
    columns = []
    for field in schema:
        try:
            columns.append(pa.array([value.get(field.name) for value in values], field.type))
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise InputError(
                f"The column {field.name!r} can't be written to parquet as {field.type}: {error}. "
                "Write JSONL, which keeps every value as it is: -o NAME.jsonl."
            ) from error
    return pa.table(columns, schema=schema) if columns else pa.table({})


def _csv_text(value: object, raw: str) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else raw


def _csv_cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value != value:
        return ""
    if isinstance(value, (datetime.date, datetime.time, Decimal, UUID, bytes)):
        return str(plain_value(value))
    return to_json(value)


def _python_values(chunk: pa.Array) -> list:
    try:
        return chunk.to_pylist()
    except (ValueError, OverflowError):
        return [_python_value(cell) for cell in chunk]


def _python_value(cell: pa.Scalar) -> object:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return b"text that is not UTF-8"
    except (ValueError, OverflowError):
        return f"a value of type {cell.type} that Python lacks".encode()
