"""Charts of agreement.py: what is caught against false alarms, and what a support is worth."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

_COLOURS = {"nli-faith": "C0", "overlap": "0.6"}
_MARKS = "osD^vP*X"
_LEFT_OUT = ("always", "overlap", "length")


def draw_roc(report: dict, path: Path) -> None:
    """One panel a set with both kinds of labels: curves of scores, points of verdicts."""
    panels = _panels(report)
    figure, axes = _grid(len(panels))
    for axis, (title, found) in zip(axes, panels, strict=False):
        table = found["references"][found["roc"]["reference"]]
        for i, (name, points) in enumerate(found["roc"]["curves"].items()):
            x, y = zip(*points, strict=True)
            axis.plot(x, y, color=_COLOURS.get(name, f"C{i}"), linewidth=2 if name == "nli-faith" else 1.1, label=name)
        verdicts = [one for one in table["contenders"] if not one["name"].startswith(_LEFT_OUT)]
        for i, one in enumerate(verdicts):
            x, y = 1 - one["figures"]["spared"][0], one["figures"]["caught"][0]
            ours = one["name"].startswith("nli-faith")
            axis.plot(x, y, _MARKS[i % len(_MARKS)], color="C0" if ours else "C3", markersize=5,
                      label=f"{one['name']} ({one['threshold']})")  # fmt: skip
        axis.plot([0, 1], [0, 1], "--", color="0.8", linewidth=0.8)
        axis.set_title(f"{title}: {table['rows']} answers", fontsize=9)
        axis.legend(fontsize=5, loc="lower right")
    _save(figure, path, "faithful answers called unfaithful", "unfaithful answers caught")


def draw_reliability(report: dict, path: Path) -> None:
    """One panel a set: support against the share that people call right, of answers and of claims."""
    panels = _panels(report)
    figure, axes = _grid(len(panels))
    for axis, (title, found) in zip(axes, panels, strict=False):
        curves = {"answers, lowest support": found["reliability"]}
        if "claims" in found:
            curves["claims"] = found["claims"]["reliability"]
        for (name, curve), mark in zip(curves.items(), ("o-", "s--"), strict=False):
            axis.plot(curve["score"], curve["good"], mark, markersize=3, linewidth=1.2, label=f"{name} (gap {curve['ece']:.2f})")
        axis.plot([0, 1], [0, 1], "--", color="0.8", linewidth=0.8)
        axis.set_title(title, fontsize=9)
        axis.legend(fontsize=6)
    _save(figure, path, "support", "share that is right")


def _panels(report: dict) -> list[tuple[str, dict]]:
    """(set, its first task, which is "all" where there are several) where people or judges call some right and some wrong."""
    first = {name: next(iter(tasks.values())) for name, tasks in report["sets"].items()}
    return [(name, found) for name, found in first.items() if "roc" in found]


def _grid(count: int):
    across = min(4, max(1, count))
    down = max(1, -(-count // across))
    figure, axes = pyplot.subplots(down, across, figsize=(3.8 * across, 3.6 * down), squeeze=False, sharex=True, sharey=True)
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    for axis in axes.flat:
        axis.grid(alpha=0.25)
    return figure, list(axes.flat)


def _save(figure, path: Path, below: str, left: str) -> None:
    figure.supxlabel(below, fontsize=9)
    figure.supylabel(left, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=140)
    pyplot.close(figure)
