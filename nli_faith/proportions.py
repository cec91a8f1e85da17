"""Intervals of what was counted: shares, balanced accuracy and F1. All are 95 % intervals, in pure numpy."""

from __future__ import annotations

import math

import numpy as np

_Z = 1.959963984540054  # the 97.5 % point of the normal distribution
_DRAWS = 2000

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


def f1(caught: int, flagged: int, wanted: int, whole: int) -> Figure:
    """F1 of a flag that went up `flagged` times, `caught` of them on the `wanted` rows, among `whole` rows.

    F1 is no share, so its interval is a bootstrap: the four cells of the table drawn anew, with a fixed seed.
    """
    cells = np.array([caught, flagged - caught, wanted - caught, whole - flagged - wanted + caught])
    value = _f1(cells[None])[0]
    if whole == 0:
        return 0.0, 0.0, 1.0
    low, high = np.percentile(_f1(np.random.default_rng(0).multinomial(whole, cells / whole, _DRAWS)), [2.5, 97.5])
    return float(value), float(min(low, value)), float(max(high, value))


def _f1(cells: np.ndarray) -> np.ndarray:
    below = 2 * cells[:, 0] + cells[:, 1] + cells[:, 2]
    return 2 * cells[:, 0] / np.maximum(below, 1)


def percent(figure: Figure) -> str:
    """For people: "81.2 % [76.0 %, 85.5 %]"."""
    return "{:.1f} % [{:.1f} %, {:.1f} %]".format(*(100 * value for value in figure))
