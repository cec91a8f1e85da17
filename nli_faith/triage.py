"""Scored rows -> what becomes of each: passed, failed, or sent to a judge. Sees no files.

The decision is a threshold on `min_support`. Rows near it are the uncertain ones, and those go to the judge: as many as a
budget allows, or as few as keep the unfaithful rows that are passed below a share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nli_faith.calibrations import Calibration
from nli_faith.cuts import log_odds, margins
from nli_faith.errors import InputError
from nli_faith.proportions import Figure, wilson
from nli_faith.scored import Scored
from nli_faith.scored_cells import FAIL, JUDGE, PASS

# A row that was not scored needs no threshold: status -> (route, risk). Of an error nothing is known.
_SETTLED = {"no_claims": (PASS, 0.0), "no_context": (FAIL, 1.0), "empty_answer": (FAIL, 1.0), "error": (JUDGE, 0.5)}


@dataclass(frozen=True, slots=True)
class Triage:
    """What becomes of the rows.

    Attributes:
        route: object[n], "pass", "fail" or "judge"; risk: float64[n] in [0, 1].
        threshold: a row of at least this `min_support` passes, if it isn't judged.
        passes_from, fails_below: the same as marks on `min_support`, for rows that are not in the file; between them a
            row would be judged. Infinity when none would pass, 0 when none would fail.
        misses: labels that are unfaithful and pass, where the marks were chosen by their number; else None.
    """

    route: np.ndarray
    risk: np.ndarray
    threshold: float
    passes_from: float
    fails_below: float
    misses: int | None = None

    def count(self, route: str) -> int:
        return int((self.route == route).sum())


def threshold_of(scored: Scored, where: str) -> float:
    """The threshold behind the file's own `faithful`, as far as its rows show it: between its two kinds of rows.

    Raises:
        InputError: no single threshold gives these verdicts, or rows were scored and none has a verdict.
    """
    decided = scored.status == "scored"
    yes = scored.support[decided & (scored.said == True)]  # noqa: E712 (an array of objects)
    no = scored.support[decided & (scored.said == False)]  # noqa: E712
    if decided.any() and not len(yes) and not len(no):
        raise InputError(
            f"{where}: none of its {int(decided.sum())} scored rows has a verdict in the column 'faithful', so no threshold is "
            "known. Score it anew, or give a --calibration."
        )
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
    return np.abs(log_odds(support) - log_odds(np.array([threshold])))


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
        InputError: answers without a claim pass unseen, and the labels can't show that they alone keep the share.
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
            misses = unseen + count
            break
    else:
        passing = int((scored.status == "no_claims").sum())
        if passing and unseen + 1 > most * (total + 1) + 1e-9:
            least = math.ceil(1e4 * (unseen + 1) / (total + 1)) / 1e4
            raise InputError(
                f"A share of {most:g} can't be promised: {unseen} of {total} labels are of unfaithful answers without a claim, "
                f"and {passing} rows without a claim pass unseen here, for which so many labels show {least:g} at best. "
                "Allow that much with --max-miss, or label more rows."
            )
        mark, misses = math.inf, unseen if passing else None
    judged = scored.status == "error"
    judged |= (scored.status == "scored") & (scored.support >= calibration.threshold) & (scored.support < mark)
    return _route(scored, calibration.threshold, judged, (mark, calibration.threshold, misses))


def expected(triage: Triage, calibration: Calibration) -> dict[str, Figure]:
    """What the labels say of these routes, as shares of all rows with their intervals.

    Every label is held against the threshold of labels other than itself, and judged in the same log odds about it. (A
    calibration that was written without its margins has but one threshold: then the figures are those of the labels that
    it was chosen on, and flatter.) Of a miss that was asked for, the value is the promise of `by_miss`.

    "miss": unfaithful and passed; "false_alarm": faithful and failed; "judged": what would go to the judge of the labelled
    rows, which differs from what does when the rows are not like the labelled ones.
    """
    total = sum(map(sum, calibration.states.values()))
    curve, passes_from, fails_below = calibration.curve, triage.passes_from, triage.fails_below
    place = np.array(curve["support"])
    if calibration.margins is not None:
        curve = calibration.margins
        place = np.array(curve["margin"])
        high, low = margins(np.array([passes_from, fails_below]), triage.threshold)
        passes_from = high if passes_from < math.inf else math.inf
        fails_below = low if fails_below > 0.0 else -math.inf
    bad = np.array(curve["unfaithful"])
    good = np.array(curve["n"]) - bad
    passed = place >= passes_from
    failed = (place < fails_below) & ~passed
    states = {name: calibration.states.get(name, [0, 0]) for name in _SETTLED}
    settled = [states[name][0] for name in _SETTLED if _SETTLED[name][0] == FAIL]
    between = int((good + bad)[~passed & ~failed].sum())
    miss = wilson(int(bad[passed].sum()) + states["no_claims"][1], total)
    if triage.misses is not None:
        promised, (_, low, high) = (triage.misses + 1) / (total + 1), wilson(triage.misses, total)
        miss = promised, low, max(high, promised)
    return {
        "miss": miss,
        "false_alarm": wilson(int(good[failed].sum()) + sum(settled), total),
        "judged": wilson(between + sum(states["error"]), total),
    }


def _route(scored: Scored, threshold: float, judged: np.ndarray, marks: tuple | None = None) -> Triage:
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
        least = min(passed, default=math.inf)
        passes_from = least if least <= top or least == math.inf else math.nextafter(top, 2.0)
    if len(below):
        bottom = min(below)
        most = max(failed, default=-math.inf)
        fails_below = 0.0 if most == -math.inf else max(bottom, math.nextafter(most, 2.0))
    return float(passes_from), float(fails_below)

