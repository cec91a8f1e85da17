"""Scored rows -> what becomes of each: passed, failed, or sent to a judge. Sees no files.

The decision is a threshold on `min_support`. Rows near it are the uncertain ones, and those go to the judge: as many as a
budget allows, or as few as keep the unfaithful rows that are passed below a share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nli_faith.calibrations import Calibration
from nli_faith.errors import InputError
from nli_faith.proportions import Figure, wilson
from nli_faith.scored import Scored

PASS, FAIL, JUDGE = "pass", "fail", "judge"
# A row that was not scored needs no threshold: status -> (route, risk). Of an error nothing is known.
_SETTLED = {"no_claims": (PASS, 0.0), "no_context": (FAIL, 1.0), "empty_answer": (FAIL, 1.0), "error": (JUDGE, 0.5)}
_LEAST = 2.0**-24  # what is nearer to 0 or 1 is rounding of float32


@dataclass(frozen=True, slots=True)
class Triage:
    """What becomes of the rows.

    Attributes:
        route: object[n], "pass", "fail" or "judge"; risk: float64[n] in [0, 1].
        threshold: a row of at least this `min_support` passes, if it isn't judged.
        passes_from, fails_below: the same as marks on `min_support`, for rows that are not in the file; between them a
            row would be judged. Infinity when none would pass, 0 when none would fail.
    """

    route: np.ndarray
    risk: np.ndarray
    threshold: float
    passes_from: float
    fails_below: float

    def count(self, route: str) -> int:
        return int((self.route == route).sum())


def threshold_of(scored: Scored, where: str) -> float:
    """The threshold behind the file's own `faithful`, as far as its rows show it: between its two kinds of rows.

    Raises:
        InputError: no single threshold gives these verdicts.
    """
    decided = scored.status == "scored"
    yes = scored.support[decided & (scored.said == True)]  # noqa: E712 (an array of objects)
    no = scored.support[decided & (scored.said == False)]  # noqa: E712
    low, high = max(no, default=0.0), min(yes, default=math.inf)
    if low >= high and len(no) and len(yes):
        raise InputError(
            f"{where}: a row of min_support {low:g} is not faithful and one of {high:g} is, so its rows were scored "
            "with different thresholds. Score it anew, or give a --calibration."
        )
    if not len(yes):
        return math.nextafter(low, 2.0)
    return (low + high) / 2 if len(no) else float(high)


def uncertainty(support: np.ndarray, threshold: float) -> np.ndarray:
    """float64[n]: distance from the threshold in log odds, as models crowd their probabilities at 0 and 1."""
    return np.abs(_logit(support) - _logit(np.array([threshold])))


def by_budget(scored: Scored, threshold: float, budget: float) -> Triage:
    """Send the share `budget` of all rows to the judge: errors first, then the scored rows nearest the threshold.

    A larger budget sends the same rows and more. Errors are sent even when they are more than the budget.
    """
    judged = scored.status == "error"
    room = max(0, math.floor(budget * len(scored) + 1e-9) - int(judged.sum()))
    candidates = np.flatnonzero(scored.status == "scored")
    # Stable, so that equally uncertain rows go in the order of the file.
    nearest = np.argsort(uncertainty(scored.support[candidates], threshold), kind="stable")[:room]
    judged[candidates[nearest]] = True
    return _route(scored, threshold, judged)


def by_miss(scored: Scored, calibration: Calibration, most: float) -> Triage:
    """Send as few rows to the judge as keep the expected share of unfaithful rows that are passed at most `most`.

    Rows from the threshold up to a higher mark are judged; the mark is the lowest with (misses + 1) / (n + 1) <= most on
    the n labels. For rows drawn like the labels the expected share is then at most `most`, whatever the model: conformal
    risk control (Angelopoulos et al. 2022, arXiv 2208.02814). What lies below the threshold fails, which misses nothing.

    Raises:
        InputError: unfaithful answers without a claim, which are passed unseen, are more than that by themselves.
    """
    total = sum(map(sum, calibration.states.values()))
    unseen = calibration.states.get("no_claims", [0, 0])[1]
    curve = np.array(calibration.curve["support"])
    bad = np.array(calibration.curve["unfaithful"])
    above = np.cumsum(bad[::-1])[::-1]  # unfaithful labels of at least this support
    marks = [(calibration.threshold, int(bad[curve >= calibration.threshold].sum()))]
    marks += [(float(mark), int(count)) for mark, count in zip(curve, above, strict=True) if mark > marks[0][0]]
    for mark, count in marks:
        if unseen + count + 1 <= most * (total + 1) + 1e-9:
            break
    else:
        if unseen and unseen + 1 > most * (total + 1):
            raise InputError(
                f"{unseen} of {total} labels are of unfaithful answers in which nli-faith finds no claim; they are passed, "
                f"so that the share can't be kept at {most:g}. Allow more with --max-miss, or label more rows."
            )
        mark = math.inf
    judged = scored.status == "error"
    judged |= (scored.status == "scored") & (scored.support >= calibration.threshold) & (scored.support < mark)
    return _route(scored, calibration.threshold, judged, (mark, calibration.threshold))


def expected(triage: Triage, calibration: Calibration) -> dict[str, Figure]:
    """What the labels say of these routes, as shares of all rows with their intervals.

    "miss": unfaithful and passed; "false_alarm": faithful and failed; "judged": what would go to the judge of the labelled
    rows, which differs from what does when the rows are not like the labelled ones.
    """
    total = sum(map(sum, calibration.states.values()))
    support = np.array(calibration.curve["support"])
    bad = np.array(calibration.curve["unfaithful"])
    good = np.array(calibration.curve["n"]) - bad
    passed = support >= triage.passes_from
    failed = (support < triage.fails_below) & ~passed
    states = {name: calibration.states.get(name, [0, 0]) for name in _SETTLED}
    settled = [states[name][0] for name in _SETTLED if _SETTLED[name][0] == FAIL]
    between = int((good + bad)[~passed & ~failed].sum())
    return {
        "miss": wilson(int(bad[passed].sum()) + states["no_claims"][1], total),
        "false_alarm": wilson(int(good[failed].sum()) + sum(settled), total),
        "judged": wilson(between + sum(states["error"]), total),
    }


def _route(scored: Scored, threshold: float, judged: np.ndarray, marks: tuple[float, float] | None = None) -> Triage:
    decided = scored.status == "scored"
    route = np.where(scored.support >= threshold, PASS, FAIL).astype(object)
    risk = 1.0 - np.where(decided, scored.support, 0.0)
    for status, (way, known) in _SETTLED.items():
        rows = scored.status == status
        route[rows], risk[rows] = way, known
    route[judged] = JUDGE
    return Triage(route, risk, threshold, *(marks or _marks(scored.support[decided], route[decided], threshold)))


def _marks(support: np.ndarray, route: np.ndarray, threshold: float) -> tuple[float, float]:
    """`passes_from` and `fails_below` of a budget. Where equal rows were parted, the side that admits more errors."""
    judged, passed, failed = (support[route == way] for way in (JUDGE, PASS, FAIL))
    above, below = judged[judged >= threshold], judged[judged < threshold]
    passes_from = fails_below = threshold
    if len(above):
        top = max(above)
        passes_from = math.inf if not len(passed) else top if min(passed) <= top else math.nextafter(top, 2.0)
    if len(below):
        bottom = min(below)
        fails_below = 0.0 if not len(failed) else math.nextafter(bottom, 2.0) if max(failed) >= bottom else bottom
    return float(passes_from), float(fails_below)


def _logit(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.log(p) - np.log1p(-p)
