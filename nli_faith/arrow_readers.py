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
                            table.replace_schema_metadata(self.schema.metadata) if same else self._fit(table, source)
                        )
                        start, done = done, done + len(batch)
                        if done > skip:
                            yield ArrowRecords(table).slice(max(0, skip - start), len(table)), done / self.total

    def _fit(self, table: pa.Table, source: Source) -> pa.Table:
        try:
            return pa.table(
                [
                    table[field.name].cast(field.type) if field.name in table.column_names
                    else pa.nulls(len(table), field.type)
                    for field in self.schema
                ],
                schema=self.schema,
            )  # fmt: skip
        except pa.ArrowException as error:
            raise InputError(f"{source.name} does not fit the columns of the other files: {error}") from error


class DataSetReader:
    """One split of a Hugging Face data set, which `datasets` maps into memory."""

    def __init__(self, sources: Sequence[Source]):
        self._sets = [source.files.with_format("arrow") for source in sources]
        self.schema = _one_schema([data.features.arrow_schema for data in self._sets], sources)
        self.names = list(self.schema.names)
        self.total = sum(len(data) for data in self._sets)

    def empty(self) -> ArrowRecords:
        return ArrowRecords(self.schema.empty_table())

    def batches(self, skip: int) -> Iterator[tuple[ArrowRecords, float | None]]:
        done = 0
        for data in self._sets:
            first = min(max(0, skip - done), len(data))
            for start in range(first - first % BATCH_ROWS, len(data), BATCH_ROWS):
                stop = min(start + BATCH_ROWS, len(data))
                records = ArrowRecords(data[start:stop].cast(self.schema))
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


def _one_schema(schemas: Sequence[pa.Schema], sources: Sequence[Source]) -> pa.Schema:
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
    return unified.with_metadata(schemas[0].metadata)


def _with_wide_indices(schema: pa.Schema) -> pa.Schema:
    for at, field in enumerate(schema):
        if pa.types.is_dictionary(field.type):
            wide = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
            schema = schema.set(at, field.with_type(wide))
    return schema
