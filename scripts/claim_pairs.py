"""Stored pairs as columns for rules of claims: the best pair of every hypothesis with every chunk. Used by fit_claim_rule.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

from answers import all_claims, columns  # noqa: E402
from nli_faith.scores import ENTAILMENT, Rule  # noqa: E402
from read_rows import ReadRow  # noqa: E402
from references import PEOPLE, labels  # noqa: E402


@dataclass(frozen=True)
class Pairs:
    """The scored answers of some sets.

    Attributes:
        logit: float64[e] of the best P(entailment) of each hypothesis in each chunk, hypothesis by hypothesis.
        doublings: float64[2, e], log2 of the windows of the chunk, and of the answer.
        part: int64[h], first entry of each hypothesis; claim: int64[k], first hypothesis of each claim.
        owner: int64[k], answer of each claim; right: float64[k], NaN where nobody knows; supported: bool[k], by argmax.
        faithful: float64[n], people's label of each answer, NaN unknown; source: text[n]; of: int64[n], which set.
    """

    logit: np.ndarray
    doublings: np.ndarray
    part: np.ndarray
    claim: np.ndarray
    owner: np.ndarray
    right: np.ndarray
    supported: np.ndarray
    faithful: np.ndarray
    source: np.ndarray
    of: np.ndarray

    def scores(self, counted: int, slopes: np.ndarray) -> np.ndarray:
        """float64[slopes, k]: for each claim the logit that a rule compares with that of its threshold.

        Args:
            counted: what raises the bar: 0 nothing, 1 the windows of the chunk, 2 those of the answer.
            slopes: float64, what each doubling of their number takes off the logit.
        """
        bar = slopes[:, None] * (self.doublings[counted - 1] if counted else np.zeros(len(self.logit)))
        best = np.maximum.reduceat(self.logit - bar, self.part, axis=1)
        return np.minimum.reduceat(best, self.claim, axis=1)


def gather(sets: Sequence[tuple[list[dict], list[ReadRow]]]) -> Pairs:
    """The scored answers of (records, the same as they were read) of some sets."""
    entries, part, claim, found = [], [], [], []
    size = hypotheses = 0
    for records, rows in sets:
        kept = [(record, row) for record, row in zip(records, rows, strict=True) if row.status == "scored"]
        found.append(columns([record for record, _ in kept], [row for _, row in kept], Rule()))
        for _, row in kept:
            # The windows of a chunk lie together.
            chunks, first, count = np.unique(row.chunk, return_index=True, return_counts=True)
            best = np.maximum.reduceat(row.p[..., ENTAILMENT], first, axis=1)
            every = np.log2([*count, len(row.chunk)])
            entries.append(np.stack([best.reshape(-1), np.tile(every[:-1], len(best)), np.full(best.size, every[-1])]))
            part.append(size + len(chunks) * np.arange(len(best)))
            claim.append(hypotheses + np.cumsum([0, *row.parts[:-1]]))
            size, hypotheses = size + best.size, hypotheses + len(best)
    p, *doublings = np.concatenate(entries, axis=1)
    p = np.clip(p, 1e-6, 1 - 1e-6)
    each = [all_claims(answers) for answers in found]
    shifts = np.cumsum([0, *map(len, found)])
    unknown = [np.full(len(answers), np.nan) for answers in found]
    return Pairs(
        np.log(p / (1 - p)), np.array(doublings), np.concatenate(part), np.concatenate(claim),
        np.concatenate([owner + shift for (_, owner), shift in zip(each, shifts, strict=False)]),
        np.concatenate([one.right for one, _ in each]), np.concatenate([one.supported for one, _ in each]),
        np.concatenate([labels(a.records).get(PEOPLE, none) for a, none in zip(found, unknown, strict=True)]),
        np.concatenate([answers.source for answers in found]),
        np.repeat(np.arange(len(found)), [len(answers) for answers in found]),
    )  # fmt: skip
