"""Whose verdicts are compared: nli-faith, stored judges and detectors, and rules that need no model.

A threshold is never chosen on rows that it is reported on. "Elsewhere" is a threshold of the fitting sets, "own" one of
the labels at hand; both are chosen for balanced accuracy on four of five parts by source document and used on the fifth.
The part of a source is the same in every set, so a source that two sets share never sees a threshold of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from answers import Answers
from nli_faith.cuts import Aim, best_threshold
from references import DETECTOR_THRESHOLD, PEOPLE, detectors, labels
from training_data import fraction

FOLDS = 5
OURS, STRICT = "nli-faith", "nli-faith, strict"


@dataclass(frozen=True)
class Contender:
    """A verdict on every answer of a table.

    Attributes:
        name: who says it; threshold: where its threshold comes from, in words.
        said: bool[n], faithful; score: float64[n], the higher the likelier faithful, or None.
    """

    name: str
    threshold: str
    said: np.ndarray
    score: np.ndarray | None = None


def folds(sources: Sequence[str]) -> np.ndarray:
    """int64[n]: which of five parts each source document belongs to."""
    return np.array([int(fraction(str(source), "agreement") * FOLDS) for source in sources], dtype=np.int64)


def cross_fitted(
    fit_score: np.ndarray, fit_faithful: np.ndarray, fit_sources: np.ndarray, sources: np.ndarray
) -> np.ndarray:
    """float64[n]: for each row the threshold that serves balanced accuracy best on the fitting rows of the other folds.

    Args:
        fit_score: float64[m] in [0, 1]; fit_faithful: bool[m]; fit_sources: text[m]; sources: text[n].
    """
    fit_fold, fold = folds(fit_sources), folds(sources)
    found = np.full(len(sources), 0.5)
    for k in np.unique(fold):
        others = fit_fold != k
        if len(np.unique(fit_faithful[others])) == 2:
            found[fold == k] = best_threshold(fit_score[others], ~fit_faithful[others], Aim("balanced"))
    return found


def elsewhere(answers: Mapping[str, Answers], fit_sets: Sequence[str], card: float) -> tuple[dict[str, np.ndarray], str]:
    """(set -> float64[n] answer threshold of each row, where it comes from); the card's without any fitting set."""
    used = [name for name in fit_sets if name in answers and PEOPLE in labels(answers[name].records)]
    if not used:
        return {name: np.full(len(one), card) for name, one in answers.items()}, f"the model's card, {card:g}"
    scores, faithful, sources = [], [], []
    for name in used:
        label = labels(answers[name].records)[PEOPLE]
        rows = (answers[name].status == "scored") & ~np.isnan(label)
        scores.append(answers[name].support[rows])
        faithful.append(label[rows] == 1)
        sources.append(answers[name].source[rows])
    fit = [np.concatenate(column) for column in (scores, faithful, sources)]
    found = {name: cross_fitted(*fit, one.source) for name, one in answers.items()}
    return found, f"other sources of {' and '.join(used)}"


def contenders(answers: Answers, thresholds: np.ndarray, faithful: np.ndarray, reference: str) -> list[Contender]:
    """Everyone who has a verdict on all of `answers`, for a table against `reference`.

    Args:
        thresholds: float64[n], answer thresholds from elsewhere.
        faithful: bool[n], the reference's labels.
    """
    n, support = len(answers), answers.support

    def own(score: np.ndarray) -> np.ndarray:
        return score >= cross_fitted(score, faithful, answers.source, answers.source)

    found = [
        Contender(OURS, "elsewhere", support >= thresholds, support),
        Contender(OURS, "own", own(support), support),
        Contender(STRICT, "none", answers.strict, answers.faithfulness),
    ]
    for name, column in detectors(answers.records).items():
        if name == reference or np.isnan(column).any():
            continue
        if np.isin(column, (0, 1)).all():
            found.append(Contender(name, "its verdict", column == 1))
        else:
            found.append(Contender(name, f"{DETECTOR_THRESHOLD:g}", column >= DETECTOR_THRESHOLD, column))
            found.append(Contender(name, "own", own(column), column))
    simple = {"overlap": answers.overlap, "length": answers.length}
    found += [Contender(name, "own", own(score), score) for name, score in simple.items()]
    ones = np.ones(n, dtype=bool)
    return [*found, Contender("always faithful", "none", ones), Contender("always unfaithful", "none", ~ones)]


def with_all_verdicts(answers: Answers) -> np.ndarray:
    """bool[n]: every stored judge and detector has a verdict; all False where none is stored."""
    stored = [column for name, column in detectors(answers.records).items()]
    return ~np.isnan(np.stack(stored)).any(axis=0) if stored else np.zeros(len(answers), dtype=bool)
