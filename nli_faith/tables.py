"""Arrow record batches and tables with the columns of the file output behind their own, as Ray Data hands them out."""

from __future__ import annotations

import pyarrow as pa

from nli_faith.errors import InputError
from nli_faith.in_memory import score_cells
from nli_faith.options import FileOptions
from nli_faith.outputs import score_columns, score_fields
from nli_faith.records import ArrowRecords

_WHERE = "The batch"
_CHECKED_CHUNKS = 20


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
    records = ArrowRecords(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]))
    scores = score_cells(scorer, names, len(records), records.cells, chosen, _WHERE, _CHECKED_CHUNKS)
    added = scorer.score_options.claim_fields
    schema = pa.schema([*batch.schema, *score_fields(added)], batch.schema.metadata)
    make = pa.Table.from_arrays if isinstance(batch, pa.Table) else pa.RecordBatch.from_arrays
    return make([*batch.columns, *score_columns(scores, added)], schema=schema)
