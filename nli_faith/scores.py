"""Probabilities -> verdicts of claims -> score of the answer. Sees neither text nor torch.

Columns are always (entailment, neutral, contradiction), or (entailment, not entailment) for two-class models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
LIKELY_WINDOWS = 3


def softmax_rows(logits: np.ndarray) -> np.ndarray:
    """float32[P, C] probabilities of float32[P, C] logits."""
    shifted = logits.astype(np.float32) - logits.max(axis=-1, keepdims=True)
    exponent = np.exp(shifted, dtype=np.float32)
    return exponent / exponent.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """When a window supports a claim.

    Attributes:
        threshold: P(entailment) from which it does; None means that entailment must be the most probable class.
    """

    threshold: float | None = None

    def supports(self, p: np.ndarray) -> np.ndarray:
        """bool[...] for float32[..., C]. Equal probabilities are not a win."""
        if self.threshold is not None:
            return p[..., ENTAILMENT] >= np.float32(self.threshold)
        return p[..., ENTAILMENT] > p[..., 1:].max(axis=-1)


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of one hypothesis.

    Attributes:
        verdict: "supported", "contradicted" or "unsupported".
        support: max P(entailment) over the scored windows.
        window: position of the deciding pair among the row's windows.
        p: float32[C] of that pair.
        conflict: supported by one chunk and contradicted by another; None for two-class models and when not `exhaustive`.
        exhaustive: every window was read.
        joined: chunks whose windows were read as one text, when that decided; `window` is the best of them then.
    """

    verdict: str
    support: float
    window: int
    p: np.ndarray
    conflict: bool | None
    exhaustive: bool = True
    joined: tuple[int, ...] | None = None


def judge(p: np.ndarray, chunk: np.ndarray, rule: Rule, overlap: Callable[[], np.ndarray]) -> list[Decision]:
    """Verdicts of the h hypotheses of one row against its w windows.

    Args:
        p: float32[h, w, C], windows in the order of the chunks; all zero where a pair was not read.
        chunk: int[w], chunk of each window.
        overlap: gives float64[h, w] (see `pairs.overlap`); called at most once, and only when a contradiction wins somewhere.
    """
    supports = rule.supports(p)
    three = p.shape[-1] == 3
    contradicts = np.zeros_like(supports)
    if three:
        contradicts = (p[..., CONTRADICTION] > p[..., :CONTRADICTION].max(axis=-1)) & ~supports
    if contradicts.any():
        # A contradiction counts where the claim's words are: unrelated text "contradicts" by chance too often.
        order = np.argsort(-overlap(), axis=-1, kind="stable")[:, :LIKELY_WINDOWS]
        likely = np.zeros_like(contradicts)
        np.put_along_axis(likely, order, True, axis=-1)
        contradicts &= likely
    entailed = p[..., ENTAILMENT]
    best = entailed.argmax(axis=1)  # argmax takes the first of equals: the lowest chunk, then window
    supporting = np.where(supports, entailed, -1.0).argmax(axis=1)
    contradicting = np.where(contradicts, p[..., -1], -1.0).argmax(axis=1)
    supported, contradicted = supports.any(axis=1).tolist(), contradicts.any(axis=1).tolist()
    support = entailed.max(axis=1).tolist()
    exhaustive = p.any(axis=2).all(axis=1).tolist()
    decisions = []
    for i in range(len(p)):
        conflict: bool | None = False
        if supported[i]:
            verdict, window = "supported", int(supporting[i])
            conflict = contradicted[i] and bool(np.any(contradicts[i] & ~np.isin(chunk, chunk[supports[i]])))
        elif contradicted[i]:
            verdict, window = "contradicted", int(contradicting[i])
        else:
            verdict, window = "unsupported", int(best[i])
        known = three and exhaustive[i]
        decisions.append(Decision(verdict, support[i], window, p[i, window], conflict if known else None, exhaustive[i]))
    return decisions


def join_parts(parts: Sequence[Decision]) -> Decision:
    """One verdict for a claim that was too long for the model and was read in parts: supported when every part is."""
    contradicted = [part for part in parts if part.verdict == "contradicted"]
    weakest = min(parts, key=lambda part: part.support)
    if contradicted:
        worst = max(contradicted, key=lambda part: part.p[CONTRADICTION])
        exhaustive = all(part.exhaustive for part in parts)
        return Decision("contradicted", weakest.support, worst.window, worst.p, False if exhaustive else None, exhaustive)
    unsupported = [part for part in parts if part.verdict == "unsupported"]
    weakest = min(unsupported, key=lambda part: part.support) if unsupported else weakest
    conflicts = [part.conflict for part in parts]
    conflict = None if None in conflicts else weakest.verdict == "supported" and any(conflicts)
    support = min(part.support for part in parts)
    exhaustive = all(part.exhaustive for part in parts)
    return Decision(weakest.verdict, support, weakest.window, weakest.p, conflict, exhaustive)
