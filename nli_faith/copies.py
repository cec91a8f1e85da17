"""A copy of a scored file with a few columns more: the input columns untouched and in order, in any format, at once whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa

from nli_faith.disk import make_folder, put
from nli_faith.errors import InputError
from nli_faith.formats import LineFormat, ParquetFormat, csv_line
from nli_faith.json_text import to_json
from nli_faith.outputs import ADDED_FIELDS, SCORE_FIELDS, score_fields, text_cell
from nli_faith.readers import JsonReader, Reader
from nli_faith.records import Records
from nli_faith.shards import open_parts
from nli_faith.targets import Target
from nli_faith.writers import all_names, arrow_schema

ROUTE_FIELDS = (pa.field("risk", pa.float64()), pa.field("route", pa.string()))
VERDICT_FIELDS = (
    pa.field("judge_faithful", pa.bool_()), pa.field("final_faithful", pa.bool_()), pa.field("final_source", pa.string()),
)  # fmt: skip
_KNOWN = {field.name: field for field in (*SCORE_FIELDS, *ROUTE_FIELDS)}
_BATCHES = 8  # of a reader, in one part


def check_new(reader: Reader, fields: Sequence[pa.Field], where: str, overwrite_columns: bool) -> None:
    """InputError when a column that is to be added is there already and may not be replaced."""
    there = [field.name for field in fields if field.name in set(all_names(reader))]
    if there and not overwrite_columns:
        raise InputError(
            f"{where} already has the column{'s' if len(there) > 1 else ''} {', '.join(there)}. "
            "Rename or drop what is there, or replace it with --overwrite-columns."
        )


def write_copy(
    reader: Reader,
    target: Target,
    fields: Sequence[pa.Field],
    values: Sequence[Sequence],
    metadata: dict[str, str],
    overwrite: bool,
    last: Callable[[], None] = lambda: None,
) -> None:
    """Write every row of `reader` with `values` behind its own columns; the output appears by one rename.

    Args:
        fields: the columns to add; an input column of such a name is left out.
        values: one sequence of Python values a field, with one entry a row.
        metadata: added to the footer of a parquet file.
        overwrite: take away unfinished work of another run.
        last: what else has to stand before the output does; called when nothing but the rename is left.
    Raises:
        InputError, ResumeError: the disk does not take it, or another process or unfinished work has its place.
    """
    make_folder(target.path.absolute().parent)
    writer = _Writer(reader, target.ending, fields, metadata)
    with open_parts(target.parts, {"copy": [field.name for field in fields]}, target.path, anew=overwrite) as parts:
        start = number = 0
        for number, records in enumerate(_parts(reader), 1):
            stop = start + len(records)
            added = [column[start:stop] for column in values]
            parts.write("data", number - 1, writer.format.ending, lambda path: writer.write(path, records, added))
            start = stop
        if any(len(column) != start for column in values):
            raise InputError(f"The input of {target.path} changed while it was read. Run the same command again.")

        def join(path: Path) -> None:
            writer.format.join([parts.path("data", i, writer.format.ending) for i in range(number)], path)
            last()

        put(target.path, join, parts.folder / f"joined{target.ending}")
        parts.remove()


def _parts(reader: Reader) -> Iterator[Records]:
    batches = (records for records, _ in reader.batches(0))
    while group := list(islice(batches, _BATCHES)):
        yield type(group[0]).join(group)


class _Writer:
    """Parts of the copy, in the format of the output."""

    def __init__(self, reader: Reader, ending: str, fields: Sequence[pa.Field], metadata: dict[str, str]):
        self._fields, self._names = fields, [field.name for field in fields]
        self.format: ParquetFormat | LineFormat
        if ending == ".parquet":
            schema = arrow_schema(reader)
            kept = [field for field in schema if field.name not in self._names]
            if isinstance(reader, JsonReader):
                # What we wrote has known types, which the rows at hand may not show (a score that is never null ...).
                kept = [_known(field) for field in kept]
            self._schema = pa.schema(kept, schema.metadata)
            self.format = ParquetFormat(pa.schema([*kept, *fields], {**(schema.metadata or {}), **metadata}))
        elif ending.startswith(".csv"):
            self._kept = [name for name in all_names(reader) if name not in self._names]
            self.format = LineFormat(ending, csv_line([*self._kept, *self._names]) + "\n")
        else:
            self.format = LineFormat(ending)

    def write(self, path: Path, records: Records, values: Sequence[Sequence]) -> None:
        if isinstance(self.format, ParquetFormat):
            table = records.table(self._schema)
            added = [pa.array(column, field.type) for column, field in zip(values, self._fields, strict=True)]
            self.format.write(path, pa.table([*table.columns, *added], schema=self.format.schema))
            return
        rows = zip(*values, strict=True)
        if self.format.ending == ".csv":
            before = records.csv_cells(self._kept)
            self.format.write(
                path, (csv_line([*row, *map(text_cell, new)]) for row, new in zip(before, rows, strict=True))
            )
        else:
            before = records.objects(self._names)
            new = (to_json(dict(zip(self._names, row, strict=True)))[1:-1] for row in rows)
            self.format.write(path, (f"{{{row}, {more}}}" if row else f"{{{more}}}" for row, more in zip(before, new)))


def _known(field: pa.Field) -> pa.Field:
    """The field with the type that we write, where it is one of ours; of the claims with what an option added."""
    if field.name != "claims" or not pa.types.is_list(field.type) or not pa.types.is_struct(field.type.value_type):
        return _KNOWN.get(field.name, field)
    names = {inner.name for inner in field.type.value_type}
    return score_fields([name for name in ADDED_FIELDS if name in names])[-1]
