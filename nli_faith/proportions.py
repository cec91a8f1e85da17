"""Intervals of what was counted, one by one or in groups: shares, means of two, F1. All are 95 % intervals, in numpy."""

from __future__ import annotations

import math

import numpy as np

_Z = 1.959963984540054  # the 97.5 % point of the normal distribution
_DRAWS = 1000

Figure = tuple[float, float, float]


def wilson(part: int, whole: int) -> Figure:
    """(share, low, high) of `part` among `whole`, by Wilson's score interval; (0, 0, 1) of nothing.

    With p = part/whole and z = 1.96: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), from E. B. Wilson, "Probable
    inference, the law of succession, and statistical inference", JASA 22 (1927). Unlike p ± z sqrt(p(1-p)/n) it stays
    inside [0, 1] and has a width when nothing, or everything, was counted.
    """
    if whole == 0:
        return 0.0, 0.0, 1.0
    share = part / whole
    shrink = 1 + _Z**2 / whole
    middle = (share + _Z**2 / (2 * whole)) / shrink
    half = _Z / shrink * math.sqrt(share * (1 - share) / whole + _Z**2 / (4 * whole**2))
    # At the ends the formula gives the share itself, but for the last bits of a float.
    return share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def mean_of_two(first: Figure, second: Figure) -> Figure:
    """The mean of two independent shares, such as balanced accuracy; their intervals joined as squares (Newcombe 1998)."""
    low = math.hypot(first[0] - first[1], second[0] - second[1]) / 2
    high = math.hypot(first[2] - first[0], second[2] - second[0]) / 2
    middle = (first[0] + second[0]) / 2
    return middle, max(0.0, middle - low), min(1.0, middle + high)


def f1(caught: int, flagged: int, wanted: int) -> Figure:
    """F1 of a flag that went up `flagged` times, `caught` of them on the `wanted` rows.

    With J = caught / (flagged or wanted), F1 = 2J / (1 + J), which rises with J: its interval is that of J, carried over.
    """
    value, low, high = (2 * share / (1 + share) for share in wilson(caught, flagged + wanted - caught))
    return value, low, high


def redrawn(counts: np.ndarray, group: np.ndarray) -> np.ndarray | None:
    """Sums of `counts` over draws of whole groups with replacement; None when every group has one entry only.

    Entries of one group (claims of one answer) are alike, so they are drawn together. The seed is fixed.

    Args:
        counts: [n, k], one row an entry; group: int64[n].
    Returns:
        float64[draws, k].
    """
    _, place = np.unique(group, return_inverse=True)
    groups = int(place.max()) + 1 if len(place) else 0
    if groups == len(place):
        return None
    sums = np.zeros((groups, counts.shape[1]))
    np.add.at(sums, place, counts)
    rng = np.random.default_rng(0)
    return np.array([np.bincount(rng.integers(groups, size=groups), minlength=groups) @ sums for _ in range(_DRAWS)])


def widened(figure: Figure, drawn: np.ndarray) -> Figure:
    """`figure` with an interval that also holds the middle 95 % of the draws (NaN is left out).

    Of few groups, or where every draw is 0 or 1, draws alone would promise more than is known.
    """
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return figure
    low, high = np.percentile(known, [2.5, 97.5])
    return figure[0], min(figure[1], float(low)), max(figure[2], float(high))


def share(part: np.ndarray, group: np.ndarray) -> Figure:
    """(share, low, high) of the true ones in bool[n] `part`, whose entries belong to the groups int64[n]."""
    figure = wilson(int(part.sum()), len(part))
    drawn = redrawn(np.stack([part, ~part], axis=1), group)
    return figure if drawn is None else widened(figure, drawn[:, 0] / drawn.sum(axis=1))


def percent(figure: Figure | None) -> str:
    """For people: "81.2 % [76.0 %, 85.5 %]", or "-" for a share of nothing."""
    return "-" if figure is None else "{:.1f} % [{:.1f} %, {:.1f} %]".format(*(100 * value for value in figure))
