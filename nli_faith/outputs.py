"""Answer scores -> the columns that are added to a file: as Arrow, as JSON, as CSV cells, and one row a claim."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import pyarrow as pa

from nli_faith.json_text import to_json
from nli_faith.types import AnswerScore, ClaimVerdict, Row

_TEXT, _NUMBER, _COUNT, _TRUTH = pa.string(), pa.float64(), pa.int32(), pa.bool_()

CLAIM_FIELDS = (
    pa.field("text", _TEXT), pa.field("hypothesis", _TEXT), pa.field("start", _COUNT), pa.field("end", _COUNT),
    pa.field("kind", _TEXT), pa.field("verdict", _TEXT), pa.field("support", _NUMBER),
    pa.field("p_entailment", _NUMBER), pa.field("p_neutral", _NUMBER), pa.field("p_contradiction", _NUMBER),
    pa.field("conflict", _TRUTH), pa.field("chunk", _COUNT), pa.field("evidence", _TEXT),
    pa.field("evidence_start", _COUNT), pa.field("evidence_end", _COUNT), pa.field("exhaustive", _TRUTH),
)  # fmt: skip
SCORE_FIELDS = (
    pa.field("faithfulness", _NUMBER), pa.field("faithful", _TRUTH), pa.field("status", _TEXT),
    pa.field("error", _TEXT), pa.field("n_units", _COUNT), pa.field("n_claims", _COUNT),
    pa.field("n_supported", _COUNT), pa.field("n_contradicted", _COUNT), pa.field("n_unsupported", _COUNT),
    pa.field("min_support", _NUMBER), pa.field("claims", pa.list_(pa.struct(CLAIM_FIELDS))),
)  # fmt: skip
SCORE_NAMES = tuple(field.name for field in SCORE_FIELDS)
CLAIM_NAMES = tuple(field.name for field in CLAIM_FIELDS)
CLAIM_FILE_NAMES = ("row", "id", "unit", *CLAIM_NAMES)

_score_values = attrgetter(*SCORE_NAMES[:-1])
_claim_values = attrgetter(*CLAIM_NAMES)


def score_columns(scores: Sequence[AnswerScore]) -> list[pa.Array]:
    """One array per field of `SCORE_FIELDS`, of exactly its type whatever is null."""
    columns = _arrays([_score_values(score) for score in scores], SCORE_FIELDS[:-1])
    claims = [claim for score in scores for claim in score.claims]
    ends = [0]
    for score in scores:
        ends.append(ends[-1] + len(score.claims))
    structs = pa.StructArray.from_arrays(_claim_arrays(claims), fields=list(CLAIM_FIELDS))
    # from_arrays would name the item field after its own default; the type of the schema is the contract.
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs)
    return [*columns, lists.cast(SCORE_FIELDS[-1].type)]


def score_objects(scores: Sequence[AnswerScore]) -> list[str]:
    """Each score as the inside of a JSON object, without braces, in the order of `SCORE_FIELDS`."""
    texts = []
    for score in scores:
        fields = dict(zip(SCORE_NAMES, _score_values(score), strict=False))
        fields["claims"] = _claim_dicts(score)
        texts.append(to_json(fields)[1:-1])
    return texts


def score_cells(scores: Sequence[AnswerScore]) -> list[list[str]]:
    """Each score as CSV cells in the order of `SCORE_FIELDS`; null is empty, claims are JSON text."""
    return [[*map(text_cell, _score_values(score)), to_json(_claim_dicts(score))] for score in scores]


def claim_rows(rows: Sequence[Row], scores: Sequence[AnswerScore]) -> list[tuple]:
    """One tuple a unit, in the order of `CLAIM_FILE_NAMES`; `row` is the position in the input."""
    return [
        (row.position, row.id, unit, *_claim_values(claim))
        for row, score in zip(rows, scores, strict=True)
        for unit, claim in enumerate(score.claims)
    ]


def claim_table(rows: Sequence[Row], scores: Sequence[AnswerScore], ids: pa.Array | None) -> pa.Table:
    """`claim_rows` as a table.

    Args:
        ids: the id column of `rows` with its own type, or None to write ids as text.
    """
    counts = [len(score.claims) for score in scores]
    owner = [at for at, count in enumerate(counts) for _ in range(count)]
    if ids is None:
        ids = pa.array([None if row.id is None else text_cell(row.id) for row in rows], _TEXT)
    columns = [
        pa.array([rows[at].position for at in owner], pa.int64()),
        ids.take(pa.array(owner, pa.int64())),
        pa.array([unit for count in counts for unit in range(count)], _COUNT),
        *_claim_arrays([claim for score in scores for claim in score.claims]),
    ]
    return pa.table(columns, schema=claim_schema(ids.type))


def claim_schema(id_type: pa.DataType) -> pa.Schema:
    return pa.schema([("row", pa.int64()), ("id", id_type), ("unit", _COUNT), *CLAIM_FIELDS])


def claim_objects(rows: Sequence[Row], scores: Sequence[AnswerScore]) -> list[str]:
    """Each unit as the inside of a JSON object, without braces."""
    return [to_json(dict(zip(CLAIM_FILE_NAMES, row, strict=True)))[1:-1] for row in claim_rows(rows, scores)]


def claim_cells(rows: Sequence[Row], scores: Sequence[AnswerScore]) -> list[list[str]]:
    """Each unit as CSV cells."""
    return [list(map(text_cell, row)) for row in claim_rows(rows, scores)]


def _claim_dicts(score: AnswerScore) -> list[dict]:
    return [dict(zip(CLAIM_NAMES, _claim_values(claim), strict=True)) for claim in score.claims]


def _claim_arrays(claims: Sequence[ClaimVerdict]) -> list[pa.Array]:
    return _arrays([_claim_values(claim) for claim in claims], CLAIM_FIELDS)


def _arrays(rows: Sequence[tuple], fields: Sequence[pa.Field]) -> list[pa.Array]:
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    return [pa.array(list(column), field.type) for column, field in zip(columns, fields, strict=True)]


def text_cell(value: object) -> str:
    """One value as CSV text; null is empty."""
    if isinstance(value, str):
        return value
    return "" if value is None else to_json(value)
