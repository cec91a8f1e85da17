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
# Fields that stand behind those of `CLAIM_FIELDS` when an option asks for them; see `types.added_claim_fields`.
ADDED_FIELDS = {
    "joined": pa.field("joined", pa.list_(_COUNT)), "numeric_mismatch": pa.field("numeric_mismatch", _TRUTH),
    "negation_mismatch": pa.field("negation_mismatch", _TRUTH),
}  # fmt: skip
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


def claim_fields(added: Sequence[str] = ()) -> tuple[pa.Field, ...]:
    """Fields of a claim; `added` names those of `ADDED_FIELDS` that an option asks for."""
    return (*CLAIM_FIELDS, *(ADDED_FIELDS[name] for name in added))


def score_fields(added: Sequence[str] = ()) -> tuple[pa.Field, ...]:
    """The columns of an output, with the type of `claims` that `claim_fields` gives."""
    return (*SCORE_FIELDS[:-1], pa.field("claims", pa.list_(pa.struct(claim_fields(added)))))


def claim_file_names(added: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns of a file with one row a claim."""
    return (*CLAIM_FILE_NAMES, *added)


def score_columns(scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[pa.Array]:
    """One array per field of `score_fields(added)`, of exactly its type whatever is null."""
    columns = _arrays([_score_values(score) for score in scores], SCORE_FIELDS[:-1])
    claims = [claim for score in scores for claim in score.claims]
    ends = [0]
    for score in scores:
        ends.append(ends[-1] + len(score.claims))
    structs = pa.StructArray.from_arrays(_claim_arrays(claims, added), fields=list(claim_fields(added)))
    # from_arrays would name the item field after its own default; the type of the schema is the contract.
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs)
    return [*columns, lists.cast(score_fields(added)[-1].type)]


def score_objects(scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[str]:
    """Each score as the inside of a JSON object, without braces, in the order of `SCORE_FIELDS`."""
    texts = []
    for score in scores:
        fields = dict(zip(SCORE_NAMES, _score_values(score), strict=False))
        fields["claims"] = _claim_dicts(score, added)
        texts.append(to_json(fields)[1:-1])
    return texts


def score_cells(scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[list[str]]:
    """Each score as CSV cells in the order of `SCORE_FIELDS`; null is empty, claims are JSON text."""
    return [[*map(text_cell, _score_values(score)), to_json(_claim_dicts(score, added))] for score in scores]


def claim_rows(rows: Sequence[Row], scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[tuple]:
    """One tuple a unit, in the order of `claim_file_names(added)`; `row` is the position in the input."""
    values = attrgetter(*CLAIM_NAMES, *added)
    return [
        (row.position, row.id, unit, *values(claim))
        for row, score in zip(rows, scores, strict=True)
        for unit, claim in enumerate(score.claims)
    ]


def claim_table(
    rows: Sequence[Row], scores: Sequence[AnswerScore], ids: pa.Array | None, added: Sequence[str] = ()
) -> pa.Table:
    """`claim_rows` as a table.

    Args:
        ids: the id column of `rows` with its own type, or None to write ids as text.
    """
    counts = [len(score.claims) for score in scores]
    owner = [at for at, count in enumerate(counts) for _ in range(count)]
    if ids is None:
        ids = pa.array([None if row.id is None else _id_text(row.id) for row in rows], _TEXT)
    columns = [
        pa.array([rows[at].position for at in owner], pa.int64()),
        ids.take(pa.array(owner, pa.int64())),
        pa.array([unit for count in counts for unit in range(count)], _COUNT),
        *_claim_arrays([claim for score in scores for claim in score.claims], added),
    ]
    return pa.table(columns, schema=claim_schema(ids.type, added))


def claim_schema(id_type: pa.DataType, added: Sequence[str] = ()) -> pa.Schema:
    return pa.schema([("row", pa.int64()), ("id", id_type), ("unit", _COUNT), *claim_fields(added)])


def claim_objects(rows: Sequence[Row], scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[str]:
    """Each unit as the inside of a JSON object, without braces."""
    names = claim_file_names(added)
    return [to_json(dict(zip(names, row, strict=True)))[1:-1] for row in claim_rows(rows, scores, added)]


def claim_cells(rows: Sequence[Row], scores: Sequence[AnswerScore], added: Sequence[str] = ()) -> list[list[str]]:
    """Each unit as CSV cells."""
    return [[text_cell(at), _id_text(id), *map(text_cell, rest)] for at, id, *rest in claim_rows(rows, scores, added)]


def _claim_dicts(score: AnswerScore, added: Sequence[str]) -> list[dict]:
    names = (*CLAIM_NAMES, *added)
    values = attrgetter(*names)
    return [dict(zip(names, values(claim), strict=True)) for claim in score.claims]


def _claim_arrays(claims: Sequence[ClaimVerdict], added: Sequence[str]) -> list[pa.Array]:
    values = attrgetter(*CLAIM_NAMES, *added)
    return _arrays([values(claim) for claim in claims], claim_fields(added))


def _arrays(rows: Sequence[tuple], fields: Sequence[pa.Field]) -> list[pa.Array]:
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    return [pa.array(list(column), field.type) for column, field in zip(columns, fields, strict=True)]


def _id_text(value: object) -> str:
    """An id as text that every format holds: half of a surrogate pair, which JSON can spell, is written as its escape."""
    return text_cell(value).encode(errors="backslashreplace").decode()


def text_cell(value: object) -> str:
    """One value as CSV text; null is empty."""
    if isinstance(value, str):
        return value
    return "" if value is None else to_json(value)
