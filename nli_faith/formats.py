"""Part files and their join, format by format. A joined file is a function of its parts only: no time, no machine."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from nli_faith.errors import InputError
from nli_faith.sources import ENDINGS

# Bounds of a row group, so that readers of the output need little memory too.
GROUP_ROWS = 16_384
GROUP_BYTES = 32 << 20


class ParquetFormat:
    """Tables of one schema."""

    ending = ".parquet"

    def __init__(self, schema: pa.Schema):
        self.schema = schema
        try:
            stream = pa.BufferOutputStream()
            with pq.ParquetWriter(stream, schema, compression="zstd"):
                pass
            pq.read_schema(pa.BufferReader(stream.getvalue()))  # what is nested too deeply can be written, never read
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"A column can't be written to parquet: {error}. Write JSONL, which keeps every value: -o NAME.jsonl."
            ) from error

    def write(self, path: Path, table: pa.Table) -> None:
        with pq.ParquetWriter(path, self.schema, compression="zstd") as writer:
            writer.write_table(_fit(table, self.schema), row_group_size=GROUP_ROWS)

    def join(self, parts: Sequence[Path], target: Path) -> None:
        with pq.ParquetWriter(target, self.schema, compression="zstd") as writer:
            waiting: list[pa.Table] = []
            for part in parts:
                with _readable(part) as file:
                    for group in range(file.num_row_groups):
                        table = _fit(file.read_row_group(group), self.schema)
                        if (
                            sum(map(len, waiting)) + len(table) > GROUP_ROWS
                            or _bytes(waiting) + table.nbytes > GROUP_BYTES
                        ):
                            _write_group(writer, waiting)
                            waiting = []
                        waiting.append(table)
            _write_group(writer, waiting)


class LineFormat:
    """JSONL, a JSON array of lines, or CSV. Parts are plain text; `gzipped` and the brackets are added by the join.

    Args:
        ending: of the joined file, one of `ENDINGS` but ".parquet".
        header: the first CSV line, which every part repeats; "" for JSON.
    """

    def __init__(self, ending: str, header: str = ""):
        self.format, self.gzipped = ENDINGS[ending]
        self.ending = ".csv" if self.format == "csv" else ".jsonl"
        self._header = header.encode()

    def write(self, path: Path, lines: Iterable[str]) -> None:
        with open(path, "wb") as file:
            file.write(self._header)
            for line in lines:
                try:
                    data = line.encode()
                except UnicodeEncodeError as error:
                    if self.ending == ".csv":
                        raise InputError(
                            f"A text holds half of a surrogate pair, which CSV can't hold: {error.object[:60]!a}. "
                            "Write JSONL from JSONL, or correct the text."
                        ) from error
                    data = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", line).encode()
                file.write(data)
                file.write(b"\n")

    def join(self, parts: Sequence[Path], target: Path) -> None:
        with open(target, "wb") as raw:
            if self.gzipped:
                # No name and no time inside, so that equal parts give equal bytes.
                with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
                    self._join(parts, file)
            else:
                self._join(parts, raw)

    def _join(self, parts: Sequence[Path], file: BinaryIO) -> None:
        if self.format == "json":
            _join_array(parts, file)
            return
        file.write(self._header)
        for part in parts:
            with open(part, "rb") as piece:
                piece.seek(len(self._header))
                shutil.copyfileobj(piece, file, 1 << 20)


def csv_line(cells: Sequence[str]) -> str:
    """One CSV record without its line end. A lone carriage return is quoted too, which the csv module does not do."""
    return ",".join([f'"{cell.replace(_QUOTE, _TWO)}"' if _SPECIAL.search(cell) else cell for cell in cells])


_QUOTE, _TWO = '"', '""'
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPECIAL = re.compile(r'[",\r\n]')


def _join_array(parts: Sequence[Path], file: BinaryIO) -> None:
    between = b"[\n"
    for part in parts:
        with open(part, "rb") as piece:
            for line in piece:
                file.write(between + line.rstrip(b"\n"))
                between = b",\n"
    file.write(b"\n]\n" if between == b",\n" else b"[]\n")


@contextmanager
def _readable(part: Path) -> Iterator[pq.ParquetFile]:
    """A part that is open, or InputError when the disk damaged it."""
    try:
        with pq.ParquetFile(part) as file:
            yield file
    except pa.ArrowInvalid as error:
        raise InputError(
            f"The part {part} is damaged: {error}. Remove it, then run the same command again: its rows are scored anew."
        ) from error


def _write_group(writer: pq.ParquetWriter, tables: list[pa.Table]) -> None:
    if tables:
        table = pa.concat_tables(tables).unify_dictionaries()
        writer.write_table(table, row_group_size=GROUP_ROWS)


def _fit(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table under exactly `schema`; reading may have widened the index type of a dictionary."""
    if table.schema.equals(schema, check_metadata=True):
        return table
    # Column by column: a cast that only renames the items of a list breaks lists of structs with a field of nulls.
    columns = zip(table.columns, schema, strict=True)
    return pa.table([column if column.type == field.type else column.cast(field.type) for column, field in columns], schema)


def _bytes(tables: Iterable[pa.Table]) -> int:
    return sum(table.nbytes for table in tables)
