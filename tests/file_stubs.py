"""A scorer that needs no model, and small inputs in every format, for the tests of the file stages."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nli_faith.types import AnswerScore, ClaimVerdict, Counts, Row, WindowResult


class StubScorer:
    """Numbers from the lengths of the texts; one claim per sentence. `fail_after` windows it raises `failure`."""

    def __init__(self, fail_after: int | None = None, failure: BaseException | None = None, **identity):
        self.windows: list[list[int]] = []
        self.fail_after, self.failure = fail_after, failure or RuntimeError("stopped by the test")
        self._identity = {"model": "stub", "model_hash": "00", "dtype": "fp32", "device": "cpu", "kernel": "none"}
        self._identity |= identity

    def identity(self) -> dict:
        return dict(self._identity)

    def score_window(self, rows: list[Row], watch=None) -> WindowResult:
        if self.fail_after == len(self.windows):
            raise self.failure
        self.windows.append([row.position for row in rows])
        scores = tuple(_score(row) for row in rows)
        pairs = sum(len(score.claims) * len(row.chunks) for score, row in zip(scores, rows, strict=True))
        return WindowResult(scores, Counts(pairs=pairs, pairs_scored=pairs, tokens=3 * pairs, padded_tokens=4 * pairs))


def _score(row: Row) -> AnswerScore:
    if row.error is not None:
        return AnswerScore(None, None, "error", row.error, 0, 0, 0, None, 0, None, (), row.id)
    answer = row.answer or ""
    if not answer.strip():
        return AnswerScore(None, None, "empty_answer", None, 0, 0, 0, None, 0, None, (), row.id)
    claims, start = [], 0
    for text in answer.split("."):
        if text.strip():
            support = min(1.0, len("".join(row.chunks)) % 97 / 96 + 0.01)
            verdict = "supported" if row.chunks and len(text) % 3 else ("contradicted", "unsupported")[len(text) % 2]
            evidence = row.chunks[0][:300] if row.chunks else None
            claims.append(
                ClaimVerdict(text, None, start, start + len(text), "claim", verdict, support, support, 0.0, 1 - support,
                             False, 0 if row.chunks else None, evidence, 0, len(evidence or ""), True)
            )  # fmt: skip
        start += len(text) + 1
    counts = [
        sum(claim.verdict == verdict for claim in claims) for verdict in ("supported", "contradicted", "unsupported")
    ]
    if not claims:
        return AnswerScore(1.0, None, "no_claims", None, 1, 0, 0, 0, 0, None, (), row.id)
    status = "scored" if any(row.chunks) else "no_context"
    mean = counts[0] / len(claims)
    return AnswerScore(mean, mean == 1, status, None, len(claims), len(claims), *counts,
                       min(claim.support for claim in claims), tuple(claims), row.id)  # fmt: skip


def sample_rows(count: int) -> list[dict]:
    """Rows with every kind of cell that a file can bring: null, empty, refusals, many chunks, odd characters."""
    rows = []
    for i in range(count):
        contexts: object = [f"Chunk {i} says so. " * (1 + i % 7), "über 10 % 漢字\u2028 \U0001f600"][: i % 3]
        answer: object = f"Answer {i} is short. It has {'x' * (i % 11)} parts"
        if i % 10 == 3:
            answer = None
        if i % 10 == 5:
            contexts = None
        rows.append(
            {
                "id": f"{i:03d}",
                "question": f"Why {i}?",
                "answer": answer,
                "contexts": contexts,
                "n": i,
                "group": "ab"[i % 2],
            }
        )
    return rows


def write_rows(path: Path, rows: list[dict]) -> Path:
    """`rows` in the format of the ending of `path`."""
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=37)
        return path
    if name.endswith(".json"):
        text = json.dumps(rows, indent=1, ensure_ascii=False)
    elif ".jsonl" in name:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows
        )
        text = buffer.getvalue()
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read_rows(path: Path) -> list[dict]:
    """What stands in a file, as plain dicts; CSV cells are strings."""
    name = path.name
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    text = data.decode()
    if name.endswith(".json"):
        return json.loads(text)
    if ".jsonl" in name:
        return [json.loads(line) for line in text.split("\n") if line]
    csv.field_size_limit(1 << 26)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
