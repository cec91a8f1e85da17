"""Texts that show at load whether a model reads as it should, and how far two ways to run it may differ."""

from __future__ import annotations

import math

import numpy as np

# Obvious to any NLI model, so that a wrong label order or a broken file shows at load: (premise, hypothesis, class).
PROBE = (
    ("The cat sleeps on the red sofa.", "The cat sleeps on the red sofa.", 0),
    ("Anna bought three apples and two pears at the market.", "Anna bought apples at the market.", 0),
    ("The shop opens at nine in the morning and closes at six.", "The shop closes at six.", 0),
    ("The cat sleeps on the red sofa.", "The cat does not sleep on the sofa.", 2),
    ("The shop is open every day.", "The shop is never open.", 2),
    ("The cat sleeps on the red sofa.", "The central bank raised its interest rate.", 1),
)
# Largest change of a probability, and the margin from which a verdict may not change, by number format.
TOLERANCE = {"fp32": 1e-3, "bf16": 1e-2, "fp16": 1e-2}
_TOKENS = 12  # of the longest sentence in PROBE


def mixed_pairs(max_length: int, count: int) -> list[tuple[str, str]]:
    """`count` (premise, hypothesis) pairs, from one sentence up to premises of nearly `max_length` tokens."""
    premises = [premise for premise, *_ in PROBE]
    pairs = []
    for number in range(count):
        sentences = 1 + number * max_length // (count * _TOKENS)
        text = " ".join(premises[(number + at) % len(premises)] for at in range(sentences))
        pairs.append((text, PROBE[number % len(PROBE)][1]))
    return pairs


def difference(p: np.ndarray, reference: np.ndarray) -> float:
    """Largest absolute difference of a probability; infinite where one is no number."""
    change = np.abs(p.astype(np.float64) - reference.astype(np.float64))
    return float(np.nan_to_num(change, nan=np.inf).max(initial=0.0))


def written(change: float) -> float | None:
    """A difference for a JSON file; None for one that is infinite, which JSON has no word for."""
    return round(change, 6) if math.isfinite(change) else None


def agreement(p: np.ndarray, reference: np.ndarray) -> float:
    """Share of pairs with the same winner."""
    return float((p.argmax(axis=1) == reference.argmax(axis=1)).mean()) if len(p) else 1.0


def fault(p: np.ndarray, reference: np.ndarray, dtype: str) -> str | None:
    """What is wrong with probabilities in `dtype` beside those in float32, or None when they are within the tolerance."""
    change, limit = difference(p, reference), TOLERANCE[dtype]
    if not change <= limit:
        return f"a probability differs by {change:.4f} from float32, more than {limit}"
    best = np.sort(reference, axis=1)
    clear = best[:, -1] - best[:, -2] > 2 * limit
    if agreement(p[clear], reference[clear]) < 1.0:
        return "a verdict differs from float32"
    return None


def probed(p: np.ndarray) -> tuple[int, bool]:
    """(how many pairs of PROBE are right, whether that is enough: all entailed ones and two of the others).

    Args:
        p: float32[6, C] in the order of PROBE; of two columns the second stands for both other classes.
    """
    wanted = np.array([label for *_, label in PROBE])
    right = p.argmax(axis=1) == (wanted if p.shape[1] == 3 else (wanted > 0))
    return int(right.sum()), bool(right[wanted == 0].all() and right[wanted > 0].sum() >= 2)
