"""Supports and labels -> the threshold that serves an aim. Sees no files.

A threshold t flags what lies below it: "unfaithful" is support < t. Only cuts between two neighbouring supports differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FEWEST_FLAGS = 5  # a precision that was counted on fewer is luck

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
    values, place = np.unique(support, return_inverse=True)
    flagged = np.concatenate([[0], np.cumsum(np.bincount(place))])
    caught = np.concatenate([[0], np.cumsum(np.bincount(place, weights=unfaithful))])
    worth = aim.worth(flagged, caught, len(support), int(unfaithful.sum()))
    low, high = np.concatenate([[0.0], values]), np.concatenate([values, [1.0]])
    worth = np.where(low < high, worth, -np.inf)  # nothing lies below 0 or above 1
    best = np.flatnonzero(worth >= worth.max() - 1e-12) if np.isfinite(worth.max()) else []
    if not len(best):
        return None
    middle = int(best[len(best) // 2])
    return between(float(low[middle]), float(high[middle]))


def between(low: float, high: float) -> float:
    """The shortest decimal t with low < t <= high, near the middle, that a float32 does not move out of there."""
    for digits in range(2, 12):
        value = round((low + high) / 2, digits)
        if low < value <= high and low < float(np.float32(value)) <= high:
            return value
    return high


def cross_fitted(support: np.ndarray, unfaithful: np.ndarray, group: np.ndarray, aim: Aim, folds: int = 5) -> np.ndarray:
    """bool[n]: what is flagged when every fifth of the groups is held against the threshold of the others.

    A threshold looks better on the labels that it was chosen on than on any other; this is what it is worth elsewhere.
    """
    _, place = np.unique(group, return_inverse=True)
    count = int(place.max()) + 1 if len(place) else 0
    fold = (np.random.default_rng(0).permutation(count) % folds)[place]
    flags = np.zeros(len(support), dtype=bool)
    for k in range(folds):
        own, others = fold == k, fold != k
        threshold = best_threshold(support[others], unfaithful[others], aim)
        if threshold is not None:
            flags[own] = support[own] < threshold
    return flags
