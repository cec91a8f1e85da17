"""Arrow record batches and tables with the columns of the file output behind their own, as Ray Data hands them out."""

from __future__ import annotations

from itertools import islice

import pyarrow as pa

from nli_faith.cells import make_row
from nli_faith.columns import check_contexts, find_columns
from nli_faith.errors import InputError
from nli_faith.options import FileOptions
from nli_faith.outputs import score_columns, score_fields
from nli_faith.records import ArrowRecords
from nli_faith.rows import WINDOW_ROWS, check_names
from nli_faith.types import AnswerScore

_WHERE = "The batch"
_CHECKED_ROWS, _CHECKED_CHUNKS = 256, 20


def score_batch(
    scorer, batch: pa.RecordBatch | pa.Table, chosen: FileOptions = FileOptions()
) -> pa.RecordBatch | pa.Table:
    """`batch` with the output columns of `nli-faith score` behind its own; of the type that came in.

    Columns are found by the names that files are searched for. A cell that can't be read gives a row of the status
    "error", as in a file. Own columns, their types and the schema's metadata are kept.

    Args:
        scorer: a `Scorer`; chosen: names of columns to read instead.
    Raises:
        InputError: neither a record batch nor a table; no answer or no contexts column; a column that carries an output
            column's name.
    """
    if not isinstance(batch, (pa.RecordBatch, pa.Table)):
        raise InputError(
            f"score_batch takes a pyarrow RecordBatch or Table, not {type(batch).__name__}. "
            'With Ray Data give batch_format="pyarrow"; for dicts there is score_rows, for pandas score_frame.'
        )
    names = list(batch.schema.names)
    columns = find_columns(names, chosen, _WHERE)
    check_names(names, _WHERE)
    records = ArrowRecords(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]))
    cells = [
        [None] * len(records) if name is None else records.cells(name)
        for name in (columns.answer, columns.contexts, columns.question)
    ]
    rows = [make_row(position, *row) for position, row in enumerate(zip(*cells, strict=True))]
    chunks = [chunk for row in rows[:_CHECKED_ROWS] for chunk in islice(row.chunks, _CHECKED_CHUNKS)]
    check_contexts(chunks, columns.contexts, names, _WHERE, chosen=chosen.contexts is not None)
    scores: list[AnswerScore] = []
    for start in range(0, len(rows), WINDOW_ROWS):
        scores.extend(scorer.score_window(rows[start : start + WINDOW_ROWS]).scores)
    added = scorer.score_options.claim_fields
    schema = pa.schema([*batch.schema, *score_fields(added)], batch.schema.metadata)
    make = pa.Table.from_arrays if isinstance(batch, pa.Table) else pa.RecordBatch.from_arrays
    return make([*batch.columns, *score_columns(scores, added)], schema=schema)
