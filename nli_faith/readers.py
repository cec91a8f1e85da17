"""Sources -> batches of records, format by format. A file is never loaded whole.

Every reader has `names` (the columns), `named_by` (the rows whose keys they are, or None when they are all columns),
`schema` (Arrow, or None), `total` (rows, or None when only reading would tell), `empty()` and `batches(skip)`, which
yields (records, share of the input read so far or None) from row `skip` on.
"""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from nli_faith.arrow_readers import BATCH_BYTES, BATCH_ROWS, DataSetReader, ParquetReader
from nli_faith.errors import InputError
from nli_faith.json_arrays import check_wrapped, json_elements
from nli_faith.json_text import DEEPEST, too_deep
from nli_faith.records import CsvRecords, JsonRecords
from nli_faith.sources import Source

# A longer CSV cell is an opening quote that was never closed.
LONGEST_CSV_CELL = 64 << 20


class NoRows(InputError):
    """A file of text in which there is nothing at all, which may be what its reader expects."""


class JsonReader:
    """JSONL line by line, or the objects of a JSON array; `names` are the keys of the first `named_by` rows, in order."""

    def __init__(self, sources: Sequence[Source]):
        self._sources, self.schema, self.total = sources, None, None
        batches = self.batches(0)
        first, _ = next(batches, (JsonRecords([], []), None))
        if not len(first):
            raise NoRows(f"{_names(sources)} holds no rows, so there is nothing to score.")
        self.names = list(dict.fromkeys(key for value in first.values for key in value))
        self.named_by = None if next(batches, None) is None else len(first)
        for source in sources if sources[0].format == "json" else ():
            with _reading(source), source.open() as raw:
                check_wrapped(_json_text(source, raw), source.name)

    def empty(self) -> JsonRecords:
        return JsonRecords([], [])

    def batches(self, skip: int) -> Iterator[tuple[JsonRecords, float | None]]:
        return _batches(self._sources, _json_objects, skip, lambda pair: len(pair[0]), _json_records)


class CsvReader:
    """CSV with a header; every cell is a string. Several files must have the same header."""

    def __init__(self, sources: Sequence[Source]):
        self._sources, self.schema, self.total, self.named_by = sources, None, None, None
        headers = [_csv_header(source) for source in sources]
        self.names = headers[0]
        for source, header in zip(sources, headers, strict=True):
            if header != self.names:
                raise InputError(
                    f"{source.name} has other columns ({', '.join(header)}) than {sources[0].name} "
                    f"({', '.join(self.names)}). Score them apart."
                )

    def empty(self) -> CsvRecords:
        return CsvRecords(self.names, [])

    def batches(self, skip: int) -> Iterator[tuple[CsvRecords, float | None]]:
        pack = lambda rows: CsvRecords(self.names, rows)  # noqa: E731
        return _batches(self._sources, _csv_rows, skip, lambda row: sum(map(len, row)), pack)


READERS = {"parquet": ParquetReader, "hf": DataSetReader, "jsonl": JsonReader, "json": JsonReader, "csv": CsvReader}
Reader = ParquetReader | DataSetReader | JsonReader | CsvReader


def open_reader(sources: Sequence[Source]) -> Reader:
    """The reader of `sources`, which are all of one format."""
    return READERS[sources[0].format](sources)


def _batches(sources: Sequence[Source], rows_of, skip: int, size_of, pack) -> Iterator:
    sizes = [source.size for source in sources]
    done = 0
    for number, source in enumerate(sources):
        with _reading(source), source.open() as raw:
            rows = rows_of(source, raw)
            skipped = sum(1 for _ in islice(rows, skip))
            skip -= skipped
            for batch in _grouped(rows, size_of):
                # A text wrapper closes what is below it when the last row is out.
                read = sizes[number] if raw.closed else raw.tell()
                yield pack(batch), (done + read) / sum(sizes) if all(sizes) else None
        done += sizes[number]


def _grouped(rows: Iterator, size_of: Callable) -> Iterator[list]:
    """Lists of at most `BATCH_ROWS` rows, or of as many as have `BATCH_BYTES` characters."""
    batch, size = [], 0
    for row in rows:
        batch.append(row)
        size += size_of(row)
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _json_objects(source: Source, raw: io.IOBase) -> Iterator[tuple[str, dict]]:
    if source.format == "json":
        yield from json_elements(_json_text(source, raw), source.name)
        return
    for number, line in enumerate(source.text_bytes(raw), 1):
        where = f"{source.name}, line {number}"
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if not text:
                continue
            value = json.loads(text)
        except UnicodeDecodeError as error:
            raise InputError(f"{where} is not UTF-8 ({error.reason}). Convert the file to UTF-8.") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where} is not valid JSON: {error}. Correct or remove the line.") from error
        if too_deep(text, value):
            raise InputError(f"{where} is nested more than {DEEPEST} levels deep. Correct or remove the line.")
        if not isinstance(value, dict):
            raise InputError(f"{where} is not a JSON object but a {type(value).__name__}. Write one object a line.")
        yield text, value


def _json_text(source: Source, raw: io.IOBase) -> io.TextIOWrapper:
    return io.TextIOWrapper(source.text_bytes(raw), encoding="utf-8-sig")


def _json_records(pairs: list[tuple[str, dict]]) -> JsonRecords:
    texts, values = zip(*pairs, strict=True)
    return JsonRecords(list(texts), list(values))


def _csv_header(source: Source) -> list[str]:
    with _reading(source), source.open() as raw:
        header = next(_csv_lines(source, raw), (1, []))[1]
    if not header:
        raise NoRows(f"{source.name} is empty; expected a header line with the names of the columns.")
    if len(header) == 1 and any(sign in header[0] for sign in ";\t|"):
        raise InputError(
            f"{source.name} has one column, {header[0]!r}: its cells are not separated by commas. Save it with commas."
        )
    return header


def _csv_rows(source: Source, raw: io.IOBase) -> Iterator[list[str]]:
    lines = _csv_lines(source, raw)
    _, header = next(lines)
    for line, row in lines:
        if len(row) != len(header):
            raise InputError(
                f"{source.name}, line {line}: {len(row)} cells under a header of {len(header)}. "
                "Put cells that hold commas or line ends into double quotes."
            )
        yield row


def _csv_lines(source: Source, raw: io.IOBase) -> Iterator[tuple[int, list[str]]]:
    # The limit of the csv module is one per process, and its default of 128 KiB is less than a cell of contexts.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CSV_CELL))
    rows = csv.reader(io.TextIOWrapper(source.text_bytes(raw), encoding="utf-8-sig", newline=""), strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise InputError(
                f"{source.name}, line {rows.line_num}: {error}. Check the double quotes before it."
            ) from error
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source.name} is not UTF-8 after line {rows.line_num} ({error.reason}). Convert it to UTF-8."
            ) from error
        if row is None:
            return
        if row:
            yield rows.line_num, row


@contextmanager
def _reading(source: Source) -> Iterator[None]:
    """Damage below the format (a cut gzip file, a lost connection) as an error that names the file."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source.name} can't be read to its end: {error}. Check or fetch the file again.") from error


def _names(sources: Sequence[Source]) -> str:
    return sources[0].name if len(sources) == 1 else f"The input ({len(sources)} files, first {sources[0].name})"
