"""Scored files with supports that a test chooses, made by the real writers and a scorer that reads them from the row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from file_stubs import write_rows

from nli_faith.files import score_file
from nli_faith.options import FileOptions
from nli_faith.types import AnswerScore, ClaimVerdict, Counts, Row, WindowResult

THRESHOLD = 0.5


class GivenScorer:
    """An answer is a JSON object: {"s": [support of each claim]}, or {"status": one of the other states}."""

    def __init__(
        self, model_hash: str = "aa11", window: int = 381, granularity: str = "sentence", exhaustive: bool = True,
        labels: list[str] | None = None, **options,
    ):  # fmt: skip
        self._fields = {"model": "given", "model_hash": model_hash, "window": window, "device": "cpu", "dtype": "fp32",
                        "labels": labels, "options": {"granularity": granularity} | options}  # fmt: skip
        self._exhaustive = exhaustive

    def identity(self) -> dict:
        return dict(self._fields)

    def score_window(self, rows: list[Row], watch=None) -> WindowResult:
        return WindowResult(tuple(self._score(row) for row in rows), Counts())

    def _score(self, row: Row) -> AnswerScore:
        given = json.loads(row.answer)
        status = given.get("status", "scored")
        if status != "scored":
            support = 0.0 if status == "no_context" else None
            claims = 1 if status == "no_context" else 0
            verdicts = (ClaimVerdict("None.", None, 0, 5, "claim", "unsupported", 0.0, exhaustive=True),) * claims
            return AnswerScore(None, False if claims else None, status, "broken" if status == "error" else None, 1, claims,
                               0, 0, claims, support, verdicts, row.id)  # fmt: skip
        verdicts = tuple(
            ClaimVerdict(f"Claim {i}.", None, 9 * i, 9 * i + 8, "claim", "supported" if s > 0.5 else "unsupported", s, s,
                         1 - s, 0.0, False, 0, "evidence", 0, 8, self._exhaustive or s <= 0.5)
            for i, s in enumerate(given["s"])
        )  # fmt: skip
        good, lowest = sum(v.verdict == "supported" for v in verdicts), min(given["s"])
        return AnswerScore(good / len(verdicts), lowest >= THRESHOLD, status, None, len(verdicts), len(verdicts), good, 0,
                           len(verdicts) - good, lowest, verdicts, row.id)  # fmt: skip


def given_rows(answers: list[dict], labels: list | None = None, label: str = "label") -> list[dict]:
    """Input rows for `GivenScorer`."""
    rows = [
        {"id": f"r{i}", "question": f"Why {i}?", "answer": json.dumps(answer), "contexts": [f"chunk {i}", ""]}
        for i, answer in enumerate(answers)
    ]
    if labels is not None:
        for row, value in zip(rows, labels, strict=True):
            row[label] = value
    return rows


def scored_file(path: Path, rows: list[dict], scorer: GivenScorer | None = None, **options) -> Path:
    """`rows` scored into `path`, whose ending is also that of the input."""
    source = write_rows(path.with_name(f"in-{path.name}"), rows)
    score_file(scorer or GivenScorer(), str(source), str(path), FileOptions(id="id", **options))
    return path


def noisy(n: int, seed: int = 0, unfaithful: float = 0.3) -> tuple[list[float], list[bool]]:
    """(supports as a float32 model would give them, labels): faithful rows tend to be high, and the two overlap."""
    rng = np.random.default_rng(seed)
    faithful = rng.random(n) >= unfaithful
    support = np.where(faithful, rng.beta(5, 2, n), rng.beta(2, 4, n)).astype(np.float32)
    return [float(value) for value in support], [bool(value) for value in faithful]
