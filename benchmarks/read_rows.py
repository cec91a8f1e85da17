"""One answer as the model read it, and a table of such answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nli_faith.drafts import Draft, WindowRead
from nli_faith.pairs import Pool, overlap
from nli_faith.scores import Decision, Rule, join_parts, judge
from nli_faith.types import CLAIM

SCHEMA = pa.schema([
    ("id", pa.string()), ("text", pa.string()), ("seen", pa.string()), ("status", pa.string()), ("error", pa.string()),
    ("start", pa.list_(pa.int32())), ("end", pa.list_(pa.int32())), ("kind", pa.list_(pa.string())),
    ("hypothesis", pa.list_(pa.string())), ("parts", pa.list_(pa.int32())), ("chunk", pa.list_(pa.int32())),
    ("p", pa.list_(pa.float32())), ("overlap", pa.list_(pa.float64())),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadRow:
    """One answer as the model read it.

    Attributes:
        id: of the record; text: digest of its texts; seen: digest of the units and ids that the model was shown.
        status, error: as in `AnswerScore`.
        start, end, kind, hypothesis: of every unit, in code points of the answer.
        parts: int32[claims], hypotheses that each claim was read in; h in all.
        chunk: int32[w], the chunk of each window.
        p: float32[h, w, C] probabilities; overlap: float64[h, w], see `pairs.overlap`. Both are empty unless scored.
    """

    id: str
    text: str
    seen: str
    status: str
    error: str | None
    start: list[int]
    end: list[int]
    kind: list[str]
    hypothesis: list[str]
    parts: np.ndarray
    chunk: np.ndarray
    p: np.ndarray
    overlap: np.ndarray

    @property
    def claims(self) -> list[int]:
        """Positions of the units that count."""
        return [i for i, kind in enumerate(self.kind) if kind == CLAIM]

    def decisions(self, rule: Rule) -> list[Decision]:
        """What the product decides of each claim under `rule`; none unless scored."""
        if self.status != "scored":
            return []
        each = iter(judge(self.p, self.chunk, rule, lambda: self.overlap))
        joined = [[next(each) for _ in range(count)] for count in self.parts]
        return [parts[0] if len(parts) == 1 else join_parts(parts) for parts in joined]


def read_rows(read: WindowRead, records: Sequence[dict]) -> list[ReadRow]:
    """The rows of one window; `records` are those that it was made of."""
    grids = {id(draft): grid for draft, grid in read.grids}
    rows = []
    for draft, record in zip(read.drafts, records, strict=True):
        grid, words = grids.get(id(draft), np.zeros((0, 0, 3), dtype=np.float32)), np.zeros((0, 0))
        if draft.status == "scored":
            words = overlap([read.hypotheses.ids[i] for i in draft.hypotheses], [window.ids for _, window in draft.windows])
        rows.append(ReadRow(
            record["id"], text_digest(record), seen_digest(draft, read.premises, read.hypotheses), draft.status, draft.error,
            [unit.start for unit in draft.units], [unit.end for unit in draft.units],
            [unit.kind for unit in draft.units], [unit.hypothesis for unit in draft.units],
            np.array([len(parts) for parts in draft.parts], dtype=np.int32),
            np.array([chunk for chunk, _ in draft.windows], dtype=np.int32), grid, words,
        ))  # fmt: skip
    return rows


def text_digest(record: dict) -> str:
    """Digest of the texts of a record."""
    texts = json.dumps([record["response"], record["contexts"], record.get("question")])
    return hashlib.blake2b(texts.encode(), digest_size=12).hexdigest()


def seen_digest(draft: Draft, premises: Pool, hypotheses: Pool) -> str:
    """Digest of all that the probabilities of a row depend on beside the model, and of the places of its claims."""
    units = [[unit.start, unit.end, unit.kind, unit.hypothesis] for unit in draft.units]
    shape = [draft.status, units, [len(parts) for parts in draft.parts], [chunk for chunk, _ in draft.windows]]
    digest = hashlib.blake2b(json.dumps(shape).encode(), digest_size=12)
    windows = [] if draft.premises is None else draft.premises
    for ids in [*(hypotheses.ids[i] for i in draft.hypotheses), *(premises.ids[i] for i in windows)]:
        digest.update(b"|" + ids.tobytes())
    return digest.hexdigest()


def to_table(rows: Sequence[ReadRow]) -> pa.Table:
    """A table of `SCHEMA`."""
    columns = {name: [getattr(row, name) for row in rows] for name in SCHEMA.names}
    columns |= {name: [values.reshape(-1) for values in columns[name]] for name in ("p", "overlap")}
    return pa.table(columns, schema=SCHEMA)


def from_table(table: pa.Table) -> list[ReadRow]:
    """What `to_table` was given."""
    rows = []
    for values in table.to_pylist():
        parts, chunk = (np.array(values[name], dtype=np.int32) for name in ("parts", "chunk"))
        shape = (int(parts.sum()), len(chunk)) if values["status"] == "scored" else (0, 0)
        classes = len(values["p"]) // max(1, shape[0] * shape[1]) or 3
        p = np.array(values["p"], dtype=np.float32).reshape(*shape, classes)
        words = np.array(values["overlap"], dtype=np.float64).reshape(shape)
        rows.append(ReadRow(**values | {"parts": parts, "chunk": chunk, "p": p, "overlap": words}))
    return rows
