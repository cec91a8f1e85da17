"""Parquet files and Hugging Face data sets -> batches of Arrow records, never a whole file or row group at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from nli_faith.errors import InputError
from nli_faith.records import ArrowRecords
from nli_faith.sources import Source

BATCH_ROWS = 256
BATCH_BYTES = 16 << 20  # of rows that are so large that 256 of them would not do; at least one row


class ParquetReader:
    """Parquet files, row group by row group; several files get the schema that holds all of theirs."""

    named_by = None

    def __init__(self, sources: Sequence[Source]):
        self._sources = sources
        self._groups: list[list[int]] = []
        schemas = []
        for source in sources:
            with _parquet(source) as file:
                schemas.append(file.schema_arrow)
                footer = file.metadata
                groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
                self._groups.append([(group.num_rows, _batch_rows(group)) for group in groups])
        self._file_names = [schema.names for schema in schemas]
        self.schema = _one_schema(schemas, sources)
        self._same = [schema.equals(self.schema) for schema in schemas]
        self.names = list(self.schema.names)
        self.total = sum(rows for groups in self._groups for rows, _ in groups)

    def check_column(self, name: str) -> None:
        """InputError when one of several files lacks a column that is read; other columns may be missing."""
        for source, names in zip(self._sources, self._file_names, strict=True):
            if name not in names:
                raise InputError(f"{source.name} has no column {name!r}, which other files have. Score it apart.")

    def empty(self) -> ArrowRecords:
        return ArrowRecords(self.schema.empty_table())

    def batches(self, skip: int) -> Iterator[tuple[ArrowRecords, float | None]]:
        done = 0
        for source, groups, same in zip(self._sources, self._groups, self._same, strict=True):
            in_file = sum(rows for rows, _ in groups)
            if done + in_file <= skip:
                done += in_file
                continue
            with _parquet(source) as file:
                for group, (rows, at_once) in enumerate(groups):
                    if done + rows <= skip:
                        done += rows
                        continue
                    for batch in file.iter_batches(at_once, row_groups=[group]):
                        table = pa.Table.from_batches([batch])
                        table = (
                            table.replace_schema_metadata(self.schema.metadata)
                            if same
                            else _fit(table, self.schema, source)
                        )
                        start, done = done, done + len(batch)
                        if done > skip:
                            yield ArrowRecords(table).slice(max(0, skip - start), len(table)), done / self.total


class DataSetReader:
    """Splits of Hugging Face data sets, which `datasets` maps into memory."""

    named_by = None

    def __init__(self, sources: Sequence[Source]):
        self._sources = sources
        self._sets = [source.files.with_format("arrow") for source in sources]
        self.schema = _one_schema([data.features.arrow_schema for data in self._sets], sources)
        self.names = list(self.schema.names)
        self.total = sum(len(data) for data in self._sets)

    def empty(self) -> ArrowRecords:
        return ArrowRecords(self.schema.empty_table())

    def batches(self, skip: int) -> Iterator[tuple[ArrowRecords, float | None]]:
        done = 0
        for data, source in zip(self._sets, self._sources, strict=True):
            first = min(max(0, skip - done), len(data))
            for start in range(first - first % BATCH_ROWS, len(data), BATCH_ROWS):
                stop = min(start + BATCH_ROWS, len(data))
                records = ArrowRecords(_fit(data[start:stop], self.schema, source))
                yield records.slice(max(0, first - start), len(records)), (done + stop) / self.total
            done += len(data)


def _batch_rows(group: pq.RowGroupMetaData) -> int:
    """Rows to read at once of a row group; a function of the file only."""
    return max(1, min(BATCH_ROWS, BATCH_BYTES * group.num_rows // max(1, group.total_byte_size)))


@contextmanager
def _parquet(source: Source) -> Iterator[pq.ParquetFile]:
    handle = source.path if source.local else source.open()
    try:
        # Without pre_buffer a row group is read page by page, so that its size does not matter for memory.
        with pq.ParquetFile(handle, pre_buffer=False, buffer_size=1 << 20) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name} can't be read as parquet: {error}. Check or write the file again.") from error
    finally:
        if not source.local:
            handle.close()


def _fit(table: pa.Table, schema: pa.Schema, source: Source) -> pa.Table:
    """The table under exactly `schema`; a column that it lacks is null."""
    try:
        return pa.table(
            [
                table[field.name].cast(field.type) if field.name in table.column_names
                else pa.nulls(len(table), field.type)
                for field in schema
            ],
            schema=schema,
        )  # fmt: skip
    except pa.ArrowException as error:
        raise InputError(f"{source.name} does not fit the columns of the other files: {error}. Score them apart.") from error


def _one_schema(schemas: Sequence[pa.Schema], sources: Sequence[Source]) -> pa.Schema:
    """The schema that holds the values of all: a column may be null when it may be so, or is missing, in one of them.

    Raises:
        InputError: no type holds the values of one column, or it would hold fewer digits of them.
    """
    if len(sources) > 1:
        # The categories of all files together may be more than an index type of one byte can count.
        schemas = [_with_wide_indices(schema) for schema in schemas]
    unified = schemas[0]
    for schema, source in zip(schemas[1:], sources[1:], strict=True):
        if schema.equals(unified):
            continue
        try:
            unified = pa.unify_schemas([unified, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise InputError(
                f"{source.name} has columns of other types than the files before it: {error}. Score them apart."
            ) from error
    if all(schema.equals(unified) for schema in schemas):
        return unified.with_metadata(schemas[0].metadata)
    for schema, source in zip(schemas, sources, strict=True):
        for field in schema:
            if _rounds(field.type, unified.field(field.name).type):
                raise InputError(
                    f"{source.name} has exact decimals in the column {field.name!r}, and another file has floating-point "
                    "numbers, which would round them. Score them apart."
                )
    given = [pa.struct(list(schema)) for schema in schemas]
    whole = _nullable(pa.field("", pa.struct(list(unified)), False), [pa.field("", kind, False) for kind in given])
    return pa.schema(list(whole.type), metadata=schemas[0].metadata)


def _rounds(kind: pa.DataType, unified: pa.DataType) -> bool:
    """Whether a decimal of `kind` is a floating-point number in `unified`, at any depth."""
    if pa.types.is_decimal(kind):
        return pa.types.is_floating(unified)
    there, inner = _inner_fields(kind), _inner_fields(unified)
    return any(_rounds(field.type, inner[name].type) for name, field in there.items() if name in inner)


def _nullable(field: pa.Field, given: Sequence[pa.Field | None]) -> pa.Field:
    """`field`, which may be null when one of the `given`, which became it, may be or is missing; fields of structs too."""
    kind = field.type
    if pa.types.is_struct(kind):
        inner = [_inner_fields(one.type) for one in given if one is not None and pa.types.is_struct(one.type)]
        kind = pa.struct([_nullable(child, [fields.get(child.name) for fields in inner]) for child in kind])
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        lists = [one.type.value_field for one in given if one is not None and type(one.type) is type(kind)]
        kind = make(_nullable(kind.value_field, lists))
    return field.with_type(kind).with_nullable(field.nullable or any(one is None or one.nullable for one in given))


def _inner_fields(kind: pa.DataType) -> dict[str, pa.Field]:
    """The fields of a struct by name, the values of a list, map or dictionary by their place."""
    if pa.types.is_dictionary(kind):
        return {"0": pa.field("values", kind.value_type)}
    fields = [kind.field(i) for i in range(kind.num_fields)]
    return {field.name if pa.types.is_struct(kind) else str(i): field for i, field in enumerate(fields)}


def _with_wide_indices(schema: pa.Schema) -> pa.Schema:
    for at, field in enumerate(schema):
        if pa.types.is_dictionary(field.type):
            wide = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
            schema = schema.set(at, field.with_type(wide))
    return schema
