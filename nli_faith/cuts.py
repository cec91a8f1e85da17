"""Supports and labels -> the threshold that serves an aim. Sees no files.

A threshold t flags what lies below it: "unfaithful" is support < t. Only cuts between two neighbouring supports differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FEWEST_FLAGS = 5  # a precision that was counted on fewer is luck
_LEAST = 2.0**-24  # what is nearer to 0 or 1 is rounding of float32

# (flagged, caught, n, unfaithful) -> what a cut is worth; -inf where it is not allowed. The first two are int[cuts].
Worth = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a threshold is chosen for.

    Attributes:
        name: "target_precision", "max_f1", "balanced" or "agreement".
        value: the precision that is wanted, in (0, 1]; None for the others.
    """

    name: str = "balanced"
    value: float | None = None

    def worth(self, flagged: np.ndarray, caught: np.ndarray, n: int, unfaithful: int) -> np.ndarray:
        """float64[cuts]; the highest is the best."""
        if self.name == "target_precision":
            # The flag that catches most among those that are right often enough.
            right = (caught >= self.value * flagged - 1e-9) & (flagged >= FEWEST_FLAGS)
            return np.where(right, caught - flagged / (n + 1), -np.inf)
        if self.name == "max_f1":
            return 2 * caught / np.maximum(flagged + unfaithful, 1)
        right = n - unfaithful - (flagged - caught)
        if self.name == "agreement":
            return (caught + right) / n
        return (caught / max(1, unfaithful) + right / max(1, n - unfaithful)) / 2


def best_threshold(support: np.ndarray, unfaithful: np.ndarray, aim: Aim) -> float | None:
    """The threshold in (0, 1] that serves `aim` best, the middle one of equals; None when no cut does.

    Args:
        support: float64[n] in [0, 1]; unfaithful: bool[n].
    """
    if not len(support):
        return None
    low, high, flagged, caught = _cuts(support, unfaithful)
    worth = aim.worth(flagged, caught, len(support), int(unfaithful.sum()))
    worth = np.where(low < high, worth, -np.inf)  # nothing lies below 0 or above 1
    best = np.flatnonzero(worth >= worth.max() - 1e-12) if np.isfinite(worth.max()) else []
    if not len(best):
        return None
    middle = int(best[len(best) // 2])
    return between(float(low[middle]), float(high[middle]))


def best_precision(support: np.ndarray, unfaithful: np.ndarray) -> float | None:
    """The highest precision of a threshold that flags `FEWEST_FLAGS` or more; None when none does."""
    low, high, flagged, caught = _cuts(support, unfaithful)
    allowed = (low < high) & (flagged >= FEWEST_FLAGS)
    return float((caught[allowed] / flagged[allowed]).max()) if allowed.any() else None


def _cuts(support: np.ndarray, unfaithful: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, flagged, caught) of every cut: the supports it lies between, and what lies below it."""
    values, place = np.unique(support, return_inverse=True)
    flagged = np.concatenate([[0], np.cumsum(np.bincount(place))])
    caught = np.concatenate([[0], np.cumsum(np.bincount(place, weights=unfaithful))])
    return np.concatenate([[0.0], values]), np.concatenate([values, [1.0]]), flagged, caught


def between(low: float, high: float) -> float:
    """The shortest decimal t with low < t <= high, near the middle, that a float32 does not move out of there."""
    for digits in range(2, 12):
        value = round((low + high) / 2, digits)
        if low < value <= high and low < float(np.float32(value)) <= high:
            return value
    return high


def thresholds_of_others(
    support: np.ndarray, unfaithful: np.ndarray, group: np.ndarray, aim: Aim, folds: int = 5
) -> tuple[np.ndarray, list[bool]]:
    """For every label the threshold of the other four fifths of the groups, and for every fifth whether there was one.

    A threshold looks better on the labels that it was chosen on than on any other; this is what it is worth elsewhere.

    Returns:
        float64[n], 0 where the others have no threshold, so that nothing is flagged; bool of each part that holds labels.
    """
    _, place = np.unique(group, return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    fold = (np.random.default_rng(0).permutation(count) % folds)[place]
    thresholds, found = np.zeros(len(support)), []
    for k in range(min(folds, count)):
        own, others = fold == k, fold != k
        threshold = best_threshold(support[others], unfaithful[others], aim)
        found.append(threshold is not None)
        thresholds[own] = threshold or 0.0
    return thresholds, found


def log_odds(p: np.ndarray) -> np.ndarray:
    """float64[n], finite also for 0 and 1: models crowd their probabilities there."""
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.log(p) - np.log1p(-p)


def margins(support: np.ndarray, threshold: np.ndarray | float) -> np.ndarray:
    """float64[n]: log odds of `support` above those of `threshold`; negative for what is flagged, and for nothing else."""
    gap = log_odds(support) - log_odds(np.asarray(threshold, dtype=np.float64))
    return np.where(support < threshold, np.minimum(gap, -_LEAST), np.maximum(gap, 0.0))
