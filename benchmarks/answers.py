"""The answers of one set as columns, decided by the product's own rules from stored pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

import cascade
from nli_faith.scores import Rule
from read_rows import ReadRow
from references import claims_right, main_label, share_outside, spans


@dataclass(frozen=True)
class Answers:
    """Columns with one entry an answer; answers that can't be scored are left out.

    Attributes:
        records: as stored in the set; task, source, status: text.
        support: float64[n], `min_support`; of answers without a pair the number that settles them (1 without a claim, 0
            without a context).
        faithfulness: float64[n], likewise.
        overlap, length: float64[n], the scores of two rules without a model, see cascade.py.
        claims: one entry of `Claims` an answer.
    """

    records: np.ndarray
    task: np.ndarray
    source: np.ndarray
    status: np.ndarray
    support: np.ndarray
    faithfulness: np.ndarray
    overlap: np.ndarray
    length: np.ndarray
    claims: np.ndarray

    def __len__(self) -> int:
        return len(self.support)

    def take(self, rows: np.ndarray) -> Answers:
        """Those at bool[n] or int[k] `rows`."""
        return Answers(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def strict(self) -> np.ndarray:
        """bool[n]: every claim is supported."""
        return self.faithfulness == 1.0


@dataclass(frozen=True)
class Claims:
    """The decided claims of one answer, or of several.

    Attributes:
        support: float64[k]; supported: bool[k]; verdict: text.
        right: float64[k], see `references.claims_right`; windows: int64[k], windows that the claim was held against.
        place: int64[k, 2], characters of the answer.
    """

    support: np.ndarray
    supported: np.ndarray
    verdict: np.ndarray
    right: np.ndarray
    windows: np.ndarray
    place: np.ndarray


def columns(records: Sequence[dict], rows: Sequence[ReadRow], rule: Rule) -> Answers:
    """The answers of a set under a rule for claims; `rows` are those of `records`, in the same order."""
    kept = [(record, row) for record, row in zip(records, rows, strict=True) if row.status != "error"]
    claims = [_claims(record, row, rule) for record, row in kept]
    settled = [cascade.SETTLED.get(row.status) for _, row in kept]
    support = [c.support.min() if s is None else s for c, s in zip(claims, settled, strict=True)]
    faithfulness = [c.supported.mean() if s is None else s for c, s in zip(claims, settled, strict=True)]
    as_rows = [{"id": i, "min_support": None} for i in range(len(kept))]
    simple = cascade.scores(as_rows, {i: record for i, (record, _) in enumerate(kept)})
    return Answers(
        _objects([record for record, _ in kept]),
        np.array([str(record.get("task") or "all") for record, _ in kept]),
        np.array([str(record["source_id"]) for record, _ in kept]),
        np.array([row.status for _, row in kept]),
        np.array(support, dtype=np.float64),
        np.array(faithfulness, dtype=np.float64),
        simple.get("overlap", np.zeros(0)),
        simple.get("length", np.zeros(0)),
        _objects(claims),
    )


def _claims(record: dict, row: ReadRow, rule: Rule) -> Claims:
    decisions = row.decisions(rule)
    places = [(row.start[i], row.end[i]) for i in row.claims] if decisions else []
    verdicts = np.array([decision.verdict for decision in decisions], dtype=object)
    return Claims(
        np.array([decision.support for decision in decisions], dtype=np.float64),
        verdicts == "supported",
        verdicts,
        np.array(claims_right(record, places), dtype=np.float64),
        np.full(len(decisions), len(row.chunk)),
        np.array(places, dtype=np.int64).reshape(-1, 2),
    )


def _objects(values: Sequence) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def all_claims(answers: Answers) -> tuple[Claims, np.ndarray]:
    """(the claims of all answers in one, int64[k] which answer each is of)."""
    empty = Claims(np.zeros(0), np.zeros(0, bool), np.zeros(0, object), np.zeros(0), np.zeros(0, int), np.zeros((0, 2), int))
    joined = [np.concatenate([getattr(c, field.name) for c in (empty, *answers.claims)]) for field in fields(Claims)]
    return Claims(*joined), np.repeat(np.arange(len(answers)), [len(c.support) for c in answers.claims])


def span_columns(answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(int64[s] answer of each marked span, bool[s] an unsupported claim touches it, bool[s] no claim touches it)."""
    owner, caught, outside = [], [], []
    for i, (record, claims) in enumerate(zip(answers.records, answers.claims, strict=True)):
        for start, end in spans(record) or []:
            touching = (claims.place[:, 0] < end) & (start < claims.place[:, 1])
            owner.append(i)
            caught.append(bool((touching & ~claims.supported).any()))
            outside.append(not touching.any())
    return np.array(owner, dtype=np.int64), np.array(caught, dtype=bool), np.array(outside, dtype=bool)


def shares_outside(answers: Answers) -> np.ndarray:
    """float64[n], see `references.share_outside`."""
    return np.array([share_outside(record) for record in answers.records], dtype=np.float64)


def plain_rows(name: str, answers: Answers) -> list[dict]:
    """One dict an answer that has a label, as cascade.py and scripts/fit_threshold.py read them."""
    rows = []
    for i, record in enumerate(answers.records):
        label, claims = main_label(record), answers.claims[i]
        if label is None:
            continue
        scored = answers.status[i] == "scored"
        rows.append({
            "set": name, "id": record["id"], "task": answers.task[i], "source": answers.source[i], "faithful": label,
            "status": answers.status[i], "min_support": float(answers.support[i]) if scored else None,
            "faithfulness": float(answers.faithfulness[i]), "support": claims.support.tolist(),
            "verdicts": claims.verdict.tolist(), "places": claims.place.tolist(), "spans": spans(record) or [],
        })  # fmt: skip
    return rows
