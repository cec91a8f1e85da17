"""What goes into an output file: the input columns and the score columns, or one row a claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from nli_faith import outputs
from nli_faith.columns import Columns
from nli_faith.errors import InputError
from nli_faith.formats import LineFormat, ParquetFormat, csv_line
from nli_faith.options import FileOptions
from nli_faith.readers import CsvReader, JsonReader, Reader
from nli_faith.records import ArrowRecords
from nli_faith.rows import Window
from nli_faith.types import AnswerScore

_METADATA_KEY = b"nli_faith"


class ScoreWriter:
    """The scored copy of the input.

    Args:
        ending: of the output, one of `sources.ENDINGS`.
        metadata: JSON text for the footer of a parquet file.
        added: fields of the claims that an option asks for; see `types.added_claim_fields`.
    """

    def __init__(
        self, ending: str, reader: Reader, columns: Columns, options: FileOptions, metadata: str, added: Sequence[str] = ()
    ):
        self._added = added
        left_out = {columns.contexts} if options.drop_contexts else set()
        self._left_out = left_out | (set(outputs.SCORE_NAMES) if options.overwrite_columns else set())
        self.format: ParquetFormat | LineFormat
        if ending == ".parquet":
            schema = _without(arrow_schema(reader), self._left_out)
            self._schema = schema
            fields = [*schema, *outputs.score_fields(added)]
            self.format = ParquetFormat(
                pa.schema(fields, {**(schema.metadata or {}), _METADATA_KEY: metadata.encode()})
            )
        elif ending.startswith(".csv"):
            self._names = [name for name in all_names(reader) if name not in self._left_out]
            self.format = LineFormat(ending, csv_line([*self._names, *outputs.SCORE_NAMES]) + "\n")
        else:
            self.format = LineFormat(ending)

    def write(self, path: Path, window: Window, scores: Sequence[AnswerScore]) -> None:
        records = window.records
        if isinstance(self.format, ParquetFormat):
            table = records.table(self._schema)
            self.format.write(
                path, pa.table([*table.columns, *outputs.score_columns(scores, self._added)], schema=self.format.schema)
            )
        elif self.format.ending == ".csv":
            before, after = records.csv_cells(self._names), outputs.score_cells(scores, self._added)
            self.format.write(path, (csv_line([*row, *score]) for row, score in zip(before, after, strict=True)))
        else:
            texts = zip(records.objects(self._left_out), outputs.score_objects(scores, self._added), strict=True)
            self.format.write(path, (f"{{{row}, {score}}}" if row else f"{{{score}}}" for row, score in texts))


class ClaimWriter:
    """One row a unit of an answer: position and id of its row, index of the unit, and all fields of the claim."""

    def __init__(self, ending: str, reader: Reader, columns: Columns, metadata: str, added: Sequence[str] = ()):
        self._added = added
        self._id = columns.id if columns.id is not None and reader.schema is not None else None
        self.format: ParquetFormat | LineFormat
        if ending == ".parquet":
            id_type = pa.string() if self._id is None else reader.schema.field(self._id).type
            schema = outputs.claim_schema(id_type, added)
            self.format = ParquetFormat(schema.with_metadata({_METADATA_KEY: metadata.encode()}))
        else:
            header = csv_line(outputs.claim_file_names(added)) + "\n" if ending.startswith(".csv") else ""
            self.format = LineFormat(ending, header)

    def write(self, path: Path, window: Window, scores: Sequence[AnswerScore]) -> None:
        if isinstance(self.format, ParquetFormat):
            ids = None
            if self._id is not None and isinstance(window.records, ArrowRecords):
                ids = pa.concat_arrays(window.records.data[self._id].chunks) if len(window.rows) else None
            self.format.write(path, outputs.claim_table(window.rows, scores, ids, self._added))
        elif self.format.ending == ".csv":
            self.format.write(path, map(csv_line, outputs.claim_cells(window.rows, scores, self._added)))
        else:
            texts = outputs.claim_objects(window.rows, scores, self._added)
            self.format.write(path, (f"{{{text}}}" for text in texts))


def arrow_schema(reader: Reader) -> pa.Schema:
    """The types of all input columns in a parquet file: the input's own, strings for CSV, inferred for JSON."""
    if reader.schema is not None:
        return reader.schema
    if isinstance(reader, CsvReader):
        return pa.schema([(name, pa.string()) for name in reader.names])
    return _inferred_schema(reader)


def all_names(reader: Reader) -> list[str]:
    """All columns; for JSON a first pass over the input, as an object further down may have a key of its own."""
    if not isinstance(reader, JsonReader):
        return reader.names
    return list(dict.fromkeys(key for records, _ in reader.batches(0) for value in records.values for key in value))


def _inferred_schema(reader: JsonReader) -> pa.Schema:
    """The parquet schema that holds every JSON value, found in a first pass: the first rows promise nothing."""
    schema = pa.schema([])
    position = 0
    for records, _ in reader.batches(0):
        names = dict.fromkeys(key for value in records.values for key in value)
        fields = []
        for name in names:
            cells = [value.get(name) for value in records.values]
            try:
                field = pa.field(name, pa.array(cells).type)
                if _mixes_truth(field.type, cells):
                    raise pa.ArrowInvalid("it mixes numbers and truth values")  # which Arrow turns into 1.0
            except (pa.ArrowException, OverflowError, UnicodeEncodeError, RecursionError) as error:
                raise _no_type(name, position, len(records), error) from error
            fields.append(field)
        try:
            schema = pa.unify_schemas([schema, pa.schema(fields)], promote_options="permissive")
        except pa.ArrowException as error:
            raise _no_type(None, position, len(records), error) from error
        position += len(records)
    return schema


def _mixes_truth(kind: pa.DataType, cells: Sequence) -> bool:
    """Whether a truth value stands among the numbers of a column of type `kind`, at any depth."""
    if pa.types.is_floating(kind):
        return any(cell is True or cell is False for cell in cells)
    there = [cell for cell in cells if cell is not None]
    if pa.types.is_list(kind):
        return _mixes_truth(kind.value_type, [item for cell in there for item in cell])
    if pa.types.is_struct(kind):
        return any(_mixes_truth(field.type, [cell.get(field.name) for cell in there]) for field in kind)
    return False


def _no_type(name: str | None, position: int, count: int, error: Exception) -> InputError:
    column = "A column" if name is None else f"The column {name!r}"
    return InputError(
        f"{column} has no single parquet type: {error} (rows {position} to {position + count - 1}, counted from 0). "
        "Write JSONL, which keeps every value as it is: -o NAME.jsonl."
    )


def _without(schema: pa.Schema, names: set[str]) -> pa.Schema:
    return pa.schema([field for field in schema if field.name not in names], schema.metadata)
