"""Which pairs are read: all of them, or, with `--early-exit`, a claim's windows until one supports it.

Early exit takes the windows in the order of their overlap with the claim, in waves of 1, 2, 4, 8 ... A claim that no window supports is read against all of them, so the verdicts are those of the exhaustive run; only `support`
becomes a lower bound. Every wave is one full, sorted queue over all rows, never a loop per claim.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nli_faith.pairs import Pool, cross, overlap, table_of
from nli_faith.scores import Rule
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
    sides: Sequence[tuple[np.ndarray, np.ndarray]], premises: Pool, hypotheses: Pool, reader, rule: Rule, counts: Counts
) -> list[np.ndarray]:
    """float32[h, w, C] for each row, zeros where a pair was not read.

    Args:
        sides: per row (hypothesis numbers int[h], window numbers int[w]), none of them empty.
    """
    orders = [wave_order([hypotheses.ids[i] for i in own], [premises.ids[i] for i in windows]) for own, windows in sides]
    grids: list[np.ndarray | None] = [None] * len(sides)
    waiting = [np.arange(len(own)) for own, _ in sides]
    counts.pairs += sum(len(own) * len(windows) for own, windows in sides)
    known = _Known(reader, premises, hypotheses, counts)
    first, width = 0, 1
    while any(len(rows) for rows in waiting):
        asked = []
        for (own, windows), order, rows in zip(sides, orders, waiting):
            chosen = order[rows, first : first + width]
            asked.append((rows, chosen, np.repeat(own[rows], chosen.shape[1]), windows[chosen.reshape(-1)]))
        answers = known.read([a[2] for a in asked], [a[3] for a in asked])
        for i, ((rows, chosen, _, _), p) in enumerate(zip(asked, answers)):
            own, windows = sides[i]
            if grids[i] is None:
                grids[i] = np.zeros((len(own), len(windows), p.shape[-1]), dtype=np.float32)
            p = p.reshape(*chosen.shape, p.shape[-1])
            grids[i][rows[:, None], chosen] = p
            unsettled = ~rule.supports(p).any(axis=1)
            waiting[i] = rows[unsettled] if first + width < len(windows) else rows[:0]
        first, width = first + width, width * 2
    return grids


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
