"""Flags and labels -> what a flag is worth: precision, recall, F1, balanced accuracy, agreement, with 95 % intervals."""

from __future__ import annotations

import numpy as np

from nli_faith.proportions import Figure, f1, mean_of_two, redrawn, widened, wilson


def measure(flags: np.ndarray, unfaithful: np.ndarray, group: np.ndarray) -> dict[str, Figure | None]:
    """name -> (value, low, high) for the flag "unfaithful"; None for the precision of a flag that never went up.

    Intervals are Wilson's, and never narrower than those of whole groups drawn anew where groups have several entries.

    Args:
        flags, unfaithful: bool[n]; group: int64[n], entries of one group (claims of one answer) are not independent.
    """
    table = np.stack([flags & unfaithful, flags & ~unfaithful, ~flags & unfaithful, ~flags & ~unfaithful], axis=1)
    caught, false, missed, spared = (int(count) for count in table.sum(axis=0))
    recall = wilson(caught, caught + missed)
    alone = {
        "precision": wilson(caught, caught + false) if caught + false else None,
        "recall": recall,
        "f1": f1(caught, caught + false, caught + missed),
        "balanced_accuracy": mean_of_two(recall, wilson(spared, spared + false)),
        "agreement": wilson(caught + spared, len(flags)),
    }
    drawn = redrawn(table, group)
    if drawn is None:
        return alone
    values = _values(*drawn.T)
    return {name: None if figure is None else widened(figure, values[name]) for name, figure in alone.items()}


def _values(caught: np.ndarray, false: np.ndarray, missed: np.ndarray, spared: np.ndarray) -> dict[str, np.ndarray]:
    """The same figures of many tables, float64[draws] each; NaN where nothing was there to be counted."""
    with np.errstate(invalid="ignore"):
        recall = caught / (caught + missed)
        return {
            "precision": caught / (caught + false),
            "recall": recall,
            "f1": 2 * caught / (2 * caught + false + missed),
            "balanced_accuracy": (recall + spared / (spared + false)) / 2,
            "agreement": (caught + spared) / (caught + false + missed + spared),
        }
