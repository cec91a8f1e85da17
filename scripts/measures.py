"""Figures of verdicts and scores against labels, with 95 % intervals by a bootstrap over source documents.

Answers to one source are alike, so sources are drawn, not rows. A draw is a weight for each row, and every figure is made
from weights, so that a thousand draws are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nli_faith.proportions import wilson

DRAWS = 1000

Figure = list[float]  # value, low, high


def cells(said: np.ndarray, faithful: np.ndarray) -> np.ndarray:
    """float64[n, 4], one 1 a row: said and is faithful, said only, is only, neither."""
    place = np.where(said, np.where(faithful, 0, 1), np.where(faithful, 2, 3))
    return np.eye(4)[place]


def rates(table: np.ndarray) -> dict[str, np.ndarray]:
    """Figures of float64[..., 4] summed `cells`, each float64[...]; NaN where a kind of label is missing.

    `caught` is the share of the unfaithful called so, `spared` that of the faithful, `balanced_accuracy` their mean;
    `precision_unfaithful` is the share of those called unfaithful that are.
    """
    both, said_only, is_only, neither = np.moveaxis(np.asarray(table, dtype=np.float64), -1, 0)
    n = both + said_only + is_only + neither
    with np.errstate(invalid="ignore", divide="ignore"):
        spared, caught = both / (both + is_only), neither / (neither + said_only)
        f1_unfaithful = 2 * neither / (2 * neither + said_only + is_only)
        f1_faithful = 2 * both / (2 * both + said_only + is_only)
        agreement = (both + neither) / n
        chance = ((both + said_only) * (both + is_only) + (neither + is_only) * (neither + said_only)) / n**2
        return {
            "balanced_accuracy": (spared + caught) / 2,
            "f1_macro": (f1_faithful + f1_unfaithful) / 2,
            "f1_unfaithful": f1_unfaithful,
            "kappa": np.where(np.isnan(spared + caught), np.nan, (agreement - chance) / (1 - chance)),
            "agreement": agreement,
            "caught": caught,
            "spared": spared,
            "precision_unfaithful": neither / (neither + is_only),
        }


def auroc(score: np.ndarray, faithful: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Area under the ROC curve of `score` for `faithful` (Mann-Whitney, ties count half), for each row of weights.

    Args:
        score: float64[n]; faithful: bool[n]; weights: float64[draws, n], None for one draw of ones.
    """
    weights = np.ones((1, len(score))) if weights is None else weights
    _, place = np.unique(score, return_inverse=True)
    positive, negative = (_by_value(place, weights * side) for side in (faithful, ~faithful))
    below = np.cumsum(negative, axis=1) - negative
    with np.errstate(invalid="ignore"):
        return ((below + negative / 2) * positive).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1))


def spearman(first: np.ndarray, second: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Rank correlation of float64[n] with float64[n], ties at their mean rank, for each row of weights."""
    weights = np.ones((1, len(first))) if weights is None else weights
    total = weights.sum(axis=1, keepdims=True)
    ranks = []
    for values in (first, second):
        _, place = np.unique(values, return_inverse=True)
        grouped = _by_value(place, weights)
        rank = (np.cumsum(grouped, axis=1) - grouped / 2)[:, place]
        with np.errstate(invalid="ignore"):
            ranks.append(rank - (rank * weights).sum(axis=1, keepdims=True) / total)
    x, y = ranks
    with np.errstate(invalid="ignore"):
        return (weights * x * y).sum(axis=1) / np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))


def _by_value(place: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[draws, v]: weights summed over the rows of each distinct value, values in rising order."""
    if not len(place):
        return np.zeros((len(weights), 0))
    order = np.argsort(place, kind="stable")
    return np.add.reduceat(weights[:, order], np.flatnonzero(np.diff(place[order], prepend=-1)), axis=1)


class Bootstrap:
    """Draws of the sources of some rows, the same for every figure that is made of these rows."""

    def __init__(self, sources: np.ndarray, draws: int = DRAWS, seed: int = 0) -> None:
        """sources: the source document of each row, any sortable values."""
        names, self._place = np.unique(sources, return_inverse=True)
        self.sources = len(names)
        share = np.full(self.sources, 1 / max(1, self.sources))
        self._drawn = np.random.default_rng(seed).multinomial(self.sources, share, draws).astype(np.float64)

    @property
    def weights(self) -> np.ndarray:
        """float64[draws, n]: how often each row was drawn."""
        return self._drawn[:, self._place]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """float64[draws, k] sums over the drawn rows of float64[n, k]."""
        grouped = np.zeros((self.sources, values.shape[1]))
        np.add.at(grouped, self._place, values)
        return self._drawn @ grouped

    def rates(self, said: np.ndarray, faithful: np.ndarray) -> dict[str, Figure]:
        """`rates` of a verdict, each with its interval."""
        table = cells(said, faithful)
        whole, drawn = rates(table.sum(axis=0)), rates(self.sums(table))
        return {name: figure(whole[name], drawn[name]) for name in whole}

    def share(self, part: np.ndarray, whole: np.ndarray) -> Figure:
        """The sum of bool[n] `part` in that of bool[n] `whole`.

        At 0 and 1 every draw is alike, so there the interval is Wilson's over the sources.
        """
        table = np.stack([part & whole, whole], axis=1).astype(np.float64)
        drawn = self.sums(table)
        with np.errstate(invalid="ignore"):
            value = np.divide(*table.sum(axis=0))
            found = figure(value, drawn[:, 0] / drawn[:, 1])
        if value in (0, 1):
            sources = len(np.unique(self._place[whole]))
            found[1:] = [round(bound, 4) for bound in wilson(int(value) * sources, sources)[1:]]
        return found

    def of(self, measure: Callable[..., np.ndarray], *columns: np.ndarray) -> Figure:
        """`auroc` or `spearman` of two columns."""
        return figure(measure(*columns)[0], measure(*columns, self.weights))


def figure(value: float, drawn: np.ndarray) -> Figure:
    """[value, low, high] with the 95 % of the draws that lie in the middle; NaN draws (a kind of label was not drawn) are left out."""
    known = drawn[~np.isnan(drawn)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) and not np.isnan(value) else (np.nan, np.nan)
    return [round(float(x), 4) for x in (value, low, high)]
