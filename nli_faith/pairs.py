"""Claims x windows -> the table of distinct pairs, and how much of a claim's wording a window holds.

All functions take ids and indices, never text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nli_faith.types import PairTable


class Pool:
    """Distinct id sequences, numbered in the order they came."""

    def __init__(self) -> None:
        self.ids: list[np.ndarray] = []
        self._index: dict[bytes, int] = {}

    def add(self, ids: np.ndarray) -> int:
        """Number of this sequence; an equal one has the same number."""
        key = ids.tobytes()
        index = self._index.setdefault(key, len(self.ids))
        if index == len(self.ids):
            self.ids.append(ids)
        return index


@dataclass(frozen=True, slots=True)
class CrossPairs:
    """Every hypothesis of a row against every window of that row, for all rows.

    Attributes:
        table: the distinct pairs.
        slot: int64[N], the row of `table` for each of the N pairs; a row's pairs lie together, hypothesis by hypothesis.
        starts: int64[R+1], first pair of each row.
    """

    table: PairTable
    slot: np.ndarray
    starts: np.ndarray


def cross(rows: Sequence[tuple[np.ndarray, np.ndarray]], premises: Pool, hypotheses: Pool, specials: int) -> CrossPairs:
    """Pairs of each row's hypotheses with each of its windows.

    Args:
        rows: per row (hypothesis numbers int[h], window numbers int[w]); either may be empty.
        premises, hypotheses: the pools the numbers point into.
        specials: special tokens of one pair.
    """
    sizes = np.array([len(own) * len(windows) for own, windows in rows], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    hypothesis = np.concatenate([np.repeat(own, len(windows)) for own, windows in rows] or [[]]).astype(np.int64)
    premise = np.concatenate([np.tile(windows, len(own)) for own, windows in rows] or [[]]).astype(np.int64)
    key, slot = np.unique(premise * max(1, len(hypotheses.ids)) + hypothesis, return_inverse=True)
    p, h = np.divmod(key, max(1, len(hypotheses.ids)))
    return CrossPairs(table_of(p, h, premises, hypotheses, specials), slot.reshape(-1), starts)


def table_of(premise: np.ndarray, hypothesis: np.ndarray, premises: Pool, hypotheses: Pool, specials: int) -> PairTable:
    """The pair table of int[P] window numbers and int[P] hypothesis numbers."""
    premise_length = np.array([len(ids) for ids in premises.ids], dtype=np.int64)
    hypothesis_length = np.array([len(ids) for ids in hypotheses.ids], dtype=np.int64)
    length = premise_length[premise] + hypothesis_length[hypothesis] + specials
    return PairTable(premise.astype(np.int32), hypothesis.astype(np.int32), length.astype(np.int32))


def overlap(hypotheses: Sequence[np.ndarray], windows: Sequence[np.ndarray]) -> np.ndarray:
    """float64[h, w]: summed weight of a hypothesis' distinct ids that occur in a window.

    The weight of an id is log(1 + w / windows that hold it), the inverse document frequency over the row's own windows
    (Sparck Jones 1972), so that words which stand everywhere decide nothing. Rounded, so that windows which hold the same
    words are equal whatever else is in the product: the order of its sums depends on the shape.
    """
    vocabulary, where = np.unique(np.concatenate(hypotheses), return_inverse=True)
    has = np.zeros((len(hypotheses), len(vocabulary)), dtype=bool)
    row = np.repeat(np.arange(len(hypotheses)), [len(ids) for ids in hypotheses])
    has[row, where.reshape(-1)] = True
    held = np.zeros((len(windows), len(vocabulary)), dtype=bool)
    size = int(vocabulary[-1]) + 1
    for i, window in enumerate(windows):
        present = np.zeros(size, dtype=bool)
        present[window[window < size]] = True
        held[i] = present[vocabulary]
    weight = np.log1p(len(windows) / np.maximum(1, held.sum(axis=0)))
    return np.round((has * weight) @ held.T, 9)
