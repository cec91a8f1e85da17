"""Scored files with labels -> a calibration: the threshold, how good it is, and on how many labels that rests."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence

import numpy as np

from nli_faith import __version__
from nli_faith.calibrations import Calibration, Run, said
from nli_faith.cuts import FEWEST_FLAGS, Aim, best_precision, best_threshold, margins, thresholds_of_others
from nli_faith.errors import InputError, UsageError
from nli_faith.figures import measure
from nli_faith.proportions import Figure, share
from nli_faith.scored import CLAIM_LEVEL, ROW, Scored, label_column, open_scored, read_scored
from nli_faith.scored_runs import read_run
from nli_faith.sources import Source
from nli_faith.targets import same_place

FEWEST, ENOUGH = 20, 50
_STEPS = 2000


class TooFewLabels(InputError):
    """Labels that are enough for a figure but not for a threshold.

    Attributes:
        agreement: share of labels that the file's own verdicts agree with, with its interval.
        n: those labels.
    """

    def __init__(self, message: str, agreement: Figure, n: int):
        super().__init__(message)
        self.agreement, self.n = agreement, n


def calibrate(
    paths: Sequence[str],
    aim: Aim,
    label: str | None = None,
    summary: str | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> Calibration:
    """The calibration that serves `aim` on the labels in `paths`, all of one level and scored by one run's rules.

    Raises:
        TooFewLabels: 20 to 49 labels that the threshold would decide. InputError: fewer, only one kind of label, mixed
            levels or runs, a file twice, or no threshold that reaches the target.
    """
    if aim.name == "target_precision" and not 0.0 < aim.value <= 1.0:
        raise UsageError(f"--target-precision {aim.value} is not above 0 and at most 1.")
    level, run, scored = _read_all(paths, label, summary)
    labelled = np.array([value is not None for value in scored.label], dtype=bool)
    decided = labelled & (scored.status == "scored") & ~np.isnan(scored.support)
    n = int(decided.sum())
    left_out = {"without_label": int((~labelled).sum()), "not_decided": int((labelled & ~decided).sum())}
    what = "answers" if level == ROW else "claims"
    for line in (*scored.read_as, *(f"Warning: {warning}" for warning in scored.warnings)):
        log(line)
    log(f"{n} labelled {what}; left out: {left_out['without_label']} without a label, "
        f"{left_out['not_decided']} that no threshold decides.")  # fmt: skip
    support, group = scored.support[decided], scored.group[decided]
    unfaithful = np.array([value is False for value in scored.label[decided]], dtype=bool)
    _check_count(n, what, unfaithful, scored.said[decided], group)
    threshold = best_threshold(support, unfaithful, aim)
    if threshold is None:
        raise _no_threshold(support, unfaithful, aim)
    others, found = thresholds_of_others(support, unfaithful, group, aim)
    figures = measure(support < others, unfaithful, group)
    return Calibration(
        level=level,
        threshold=threshold,
        aim={"name": aim.name, "value": aim.value},
        n=n,
        unfaithful=int(unfaithful.sum()),
        figures={name: figure and [round(value, 6) for value in figure] for name, figure in figures.items()},
        states=_states(scored, labelled) if level == ROW else {},
        curve=_curve("support", support, unfaithful, threshold),
        date=datetime.date.today().isoformat(),
        labels={"column": label or "by its name", "files": len(paths), "read_as": list(scored.read_as),
                "warnings": list(scored.warnings)},  # fmt: skip
        left_out=left_out,
        model=run.model,
        model_hash=run.model_hash,
        window=run.window,
        granularity=run.granularity,
        nli_faith=__version__,
        output_labels=run.labels,
        joined_evidence=run.joined_evidence,
        prefix_pronouns=run.prefix_pronouns,
        strict_numbers=run.strict_numbers,
        claim_rule=run.claim_rule,
        margins=_curve("margin", margins(support, others), unfaithful, 0.0) if level == ROW else None,
        parts={"all": len(found), "without": found.count(False)},
    )


def _read_all(paths: Sequence[str], label: str | None, summary: str | None) -> tuple[str, Run, Scored]:
    found: list[tuple[str, Run, Scored]] = []
    sources: list[Source] = []
    for path in paths:
        source, reader, level = open_scored(path)
        for other in sources:
            if same_place(source.path, other.path):
                raise InputError(f"{path} and {other.name} are one file, whose labels would count twice. Name it once.")
        sources.append(source)
        run = read_run(source, reader, summary)
        if found and level != found[0][0]:
            raise InputError(
                f"{path} holds labels of {_WHAT[level]} and {paths[0]} of {_WHAT[found[0][0]]}, which are never mixed. "
                "Calibrate them apart."
            )
        different = run.difference(found[0][1]) if found else None
        if different is not None:
            name, here, there = different
            raise InputError(
                f"{path} and {paths[0]} were scored by different runs: the {name} is {said(here)} in the one and "
                f"{said(there)} in the other. Score both the same way, or calibrate them apart."
            )
        found.append((level, run, read_scored(path, reader, level, label_column(path, reader, level, label))))
    level, run, first = found[0]
    if len(found) == 1:
        return level, run, first
    # Rows of different files are different rows.
    shifts = np.cumsum([0, *(int(one.group.max(initial=-1)) + 1 for _, _, one in found)])
    groups = [one.group + shift for (_, _, one), shift in zip(found, shifts, strict=False)]
    joined = [np.concatenate([getattr(one, name) for _, _, one in found]) for name in ("status", "support", "said")]
    labels = np.concatenate([one.label for _, _, one in found])
    told = [tuple(dict.fromkeys(line for _, _, one in found for line in getattr(one, name))) for name in ("read_as", "warnings")]
    return level, run, Scored(level, *joined, np.concatenate(groups), labels, *told)


_WHAT = {ROW: "answers", CLAIM_LEVEL: "claims"}


def _check_count(n: int, what: str, unfaithful: np.ndarray, said: np.ndarray, group: np.ndarray) -> None:
    if n < FEWEST:
        raise InputError(
            f"{n} labelled {what} say too little: even the agreement would be known to no better than about 20 points "
            f"either way. Label at least {FEWEST} for the agreement and {ENOUGH} for a threshold."
        )
    if n < ENOUGH:
        agrees = [(verdict is False) == bad for verdict, bad in zip(said, unfaithful, strict=True)]
        raise TooFewLabels(
            f"{n} labelled {what} are too few for a threshold that would hold, so no file was written. "
            f"Label at least {ENOUGH}.",
            share(np.array(agrees, dtype=bool), group),
            n,
        )
    if unfaithful.all() or not unfaithful.any():
        kind = "unfaithful" if unfaithful.all() else "faithful"
        raise InputError(f"All {n} labels say {kind}, so nothing tells where the threshold is. Label some of the other kind.")


def _no_threshold(support: np.ndarray, unfaithful: np.ndarray, aim: Aim) -> InputError:
    best = best_precision(support, unfaithful)
    # Rounded down, so that what is named can be asked for.
    most = f"none flags {FEWEST_FLAGS}" if best is None else f"the best reaches {math.floor(best * 1000) / 1000:g}"
    return InputError(
        f"No threshold flags with a precision of {aim.value:g} or more on these {len(support)} labels; {most}. "
        "Ask for less, or use --balanced or --max-f1."
    )


def _states(scored: Scored, labelled: np.ndarray) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for status, label in zip(scored.status[labelled], scored.label[labelled], strict=True):
        counts.setdefault(str(status), [0, 0])[label is False] += 1
    return counts


def _curve(name: str, numbers: np.ndarray, unfaithful: np.ndarray, cut: float) -> dict[str, list]:
    """Labels in steps of rising numbers: every distinct one, or about `_STEPS` steps when there are more.

    `name` holds the lowest of each step, and one step begins at the cut.
    """
    values, place = np.unique(numbers, return_inverse=True)
    counts, bad = np.bincount(place), np.bincount(place, weights=unfaithful).astype(int)
    first = np.arange(len(values))
    if len(values) > _STEPS:
        step = (np.cumsum(counts) - counts) * _STEPS // len(numbers)
        first = np.unique(2 * step + (values >= cut), return_index=True)[1]
    return {
        name: values[first].tolist(),
        "n": np.add.reduceat(counts, first).tolist(),
        "unfaithful": np.add.reduceat(bad, first).tolist(),
    }
