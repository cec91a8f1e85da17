"""Which pairs are read: all of them, or, with `--early-exit`, a claim's windows until one supports it.

Early exit takes the windows in the order of their overlap with the claim, in waves of 1, 2, 4, 8 ... A claim that no window
supports is read against all of them, so the verdicts are those of the exhaustive run; `support` becomes a lower bound. Where
that bound leaves open whether the row is faithful, the supported claims below the answer threshold are read on, so that
`faithful` is that of the exhaustive run too. Every wave is one full, sorted queue over all rows, never a loop per claim.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nli_faith.pairs import Pool, cross, overlap, table_of
from nli_faith.scores import ENTAILMENT, Rule
from nli_faith.types import Counts


def score_all(
    sides: Sequence[tuple[np.ndarray, np.ndarray]], premises: Pool, hypotheses: Pool, reader, counts: Counts
) -> list[np.ndarray]:
    """float32[h, w, C] for each row: every hypothesis against every window. Arguments as in `score_in_waves`."""
    pairs = cross(sides, premises, hypotheses, reader.encoder.specials)
    counts.pairs += len(pairs.slot)
    p = reader.probabilities(pairs.table, premises.ids, hypotheses.ids, counts)
    return [
        p[pairs.slot[start:stop]].reshape(len(own), len(windows), p.shape[-1])
        for (own, windows), start, stop in zip(sides, pairs.starts, pairs.starts[1:])
    ]


def wave_order(hypotheses: Sequence[np.ndarray], windows: Sequence[np.ndarray]) -> np.ndarray:
    """int64[h, w]: windows of each hypothesis, best overlap first, ties in the order of the chunks."""
    return np.argsort(-overlap(hypotheses, windows), axis=1, kind="stable")


def score_in_waves(
    sides: Sequence[tuple[np.ndarray, np.ndarray]], premises: Pool, hypotheses: Pool, reader, rule: Rule, counts: Counts,
    answer_threshold: float, second_look: bool = False,
) -> list[np.ndarray]:  # fmt: skip
    """float32[h, w, C] for each row, zeros where a pair was not read.

    Args:
        sides: per row (hypothesis numbers int[h], window numbers int[w]), none of them empty.
        answer_threshold: support from which on a claim does not stand against `faithful`.
        second_look: what no window supports may be supported later, by several as one text.
    """
    if not sides:
        return []
    counts.pairs += sum(len(own) * len(windows) for own, windows in sides)
    known = _Known(reader, premises, hypotheses, counts)
    rows = []
    for own, windows in sides:
        order = wave_order([hypotheses.ids[i] for i in own], [premises.ids[i] for i in windows])
        rows.append(_Reading(own, windows, order, rule, answer_threshold, second_look))
    open_rows = rows
    while open_rows:
        asked = [row.next_pairs() for row in open_rows]
        for row, p in zip(open_rows, known.read([pair[0] for pair in asked], [pair[1] for pair in asked])):
            row.take(p)
        open_rows = [row for row in open_rows if row.due.any()]
    return [row.grid for row in rows]


class _Reading:
    """One row in the waves.

    Attributes:
        grid: float32[h, w, C], what is known; due: bool[h, w], the pairs of the next wave.
    """

    def __init__(
        self, own: np.ndarray, windows: np.ndarray, order: np.ndarray, rule: Rule, answer_threshold: float, second_look: bool
    ) -> None:
        self._own, self._windows, self._place = own, windows, np.argsort(order, axis=1)
        self._rule, self._threshold, self._second_look = rule, answer_threshold, second_look
        self._read = np.zeros(len(own), dtype=np.int64)  # windows of each hypothesis, the first ones of its order
        self.grid: np.ndarray | None = None
        self.due = self._place == 0

    def next_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(hypothesis numbers, window numbers) of what is due."""
        hypothesis, window = np.nonzero(self.due)
        return self._own[hypothesis], self._windows[window]

    def take(self, p: np.ndarray) -> None:
        """float32[n, C] of the pairs that were due; finds those of the next wave."""
        if self.grid is None:
            self.grid = np.zeros((*self.due.shape, p.shape[-1]), dtype=np.float32)
        self.grid[self.due] = p
        self._read += self.due.sum(axis=1)
        # As many as were read and one more: 1, 2, 4, 8 ...
        self.due = self._open()[:, None] & (self._place >= self._read[:, None]) & (self._place <= 2 * self._read[:, None])

    def _open(self) -> np.ndarray:
        """bool[h], the hypotheses that have to be read on."""
        whole = self._read == len(self._windows)
        supported = self._rule.supports(self.grid).any(axis=1)
        unsettled = ~supported & ~whole
        if unsettled.any():
            return unsettled
        # Compared as `drafts.finish` does, in double precision.
        low = self.grid[..., ENTAILMENT].max(axis=1).astype(np.float64) < self._threshold
        lost = low & whole & (supported | (not self._second_look))
        return np.zeros_like(low) if lost.any() else low & ~whole


class _Known:
    """Probabilities of the pairs read so far, so that a pair which comes back in a later wave is not read again."""

    def __init__(self, reader, premises: Pool, hypotheses: Pool, counts: Counts) -> None:
        self._reader, self._premises, self._hypotheses, self._counts = reader, premises, hypotheses, counts
        self._keys = np.zeros(0, dtype=np.int64)
        self._p: np.ndarray | None = None

    def read(self, hypotheses: Sequence[np.ndarray], windows: Sequence[np.ndarray]) -> list[np.ndarray]:
        """float32[n, C] for each row's n pairs."""
        width = max(1, len(self._hypotheses.ids))
        key = np.concatenate(windows).astype(np.int64) * width + np.concatenate(hypotheses).astype(np.int64)
        fresh = np.setdiff1d(key, self._keys)
        premise, hypothesis = np.divmod(fresh, width)
        table = table_of(premise, hypothesis, self._premises, self._hypotheses, self._reader.encoder.specials)
        p = self._reader.probabilities(table, self._premises.ids, self._hypotheses.ids, self._counts)
        keys = np.concatenate([self._keys, fresh])
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._p = (p if self._p is None else np.concatenate([self._p, p]))[order]
        found = self._p[np.searchsorted(self._keys, key)]
        return np.split(found, np.cumsum([len(part) for part in windows])[:-1])
