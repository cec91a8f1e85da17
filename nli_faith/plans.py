"""What a run would do, told without doing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nli_faith.columns import Columns
from nli_faith.options import FileOptions
from nli_faith.rows import RowReader
from nli_faith.targets import resolve
from nli_faith.types import Row


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do, for `--dry-run`.

    Attributes:
        inputs: names of the files; total: rows in all, when known.
        output: path; columns: what was taken, out of names; rows: the first three.
        output_bytes: a rough estimate of the size of the output, or None.
    """

    inputs: list[str]
    output: str
    columns: Columns
    names: list[str]
    rows: list[Row]
    total: int | None
    output_bytes: int | None


def plan(
    inputs: str | Sequence[str],
    out: str | None = None,
    options: FileOptions | None = None,
    *,
    log: Callable[[str], None] = lambda line: None,
) -> Plan:
    """What `score_file` would do with the same arguments; reads the first rows only, writes nothing."""
    options = options or FileOptions()
    sources, target, _ = resolve(inputs, out, options, log)
    reader = RowReader(sources, options, log)
    first = reader.first_rows(256)
    size = sum(source.size for source in sources)
    estimate = None
    if reader.total is not None and first and size:
        # A claim repeats a sentence of the answer and about 300 characters of evidence, and adds its numbers.
        answers = sum(len(row.answer or "") for row in first) / len(first)
        added = reader.total * (150 + answers + answers / 100 * 550)
        rows = max(1, reader.reader.total or 1)
        estimate = round(size * reader.total / rows + added * (0.35 if target.ending == ".parquet" else 1.0))
    return Plan(
        [source.name for source in sources],
        str(target.path),
        reader.columns,
        reader.names,
        first[:3],
        reader.total,
        estimate,
    )
