"""Fit when a window supports a claim, and tell by cross-fitting whether that beats argmax. Needs stored pairs, no model.

    python scripts/fit_claim_rule.py --data DATA --model MODEL --store work/pairs [--card MODEL/card.json]

A claim's support is a maximum over windows, and the maximum over many is high by chance: false support grows with their
number. The rule that is fitted asks more of a window the more windows there are:

    a window supports a claim when  logit P(entailment) >= logit(threshold) + per_doubling * log2(n)

Adding an irrelevant chunk must never cost a claim its support, so n counts the windows of the window's own chunk only: a
pair is decided by what is known of that pair and its chunk, and a claim by whether any pair supports it, so that another
chunk can add support but take none away. `support` itself stays the plain maximum of P(entailment). With n = all windows
of the answer ("all windows" below, for comparison only) a new chunk would raise the bar for the old ones.

Threshold and slope are fitted to claims that people's marks call right or wrong, every set and either kind with the same
weight, in two ways: logistic (where a logistic regression on the score crosses one half) and isotonic (where an isotonic
one does, which is the cut of highest balanced accuracy). Cross-fitting: five parts by source document. A more complex
rule is taken only when the 95 % interval of its gain in balanced accuracy over the simpler one lies above zero, and it
does not make "every claim is supported" a worse verdict on answers.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

from claim_pairs import Pairs, gather  # noqa: E402
from contenders import FOLDS, folds  # noqa: E402
from measures import Bootstrap, cells, figure, rates  # noqa: E402
from nli_faith.errors import NliFaithError  # noqa: E402
from nli_faith.options import DEFAULT_MODEL  # noqa: E402
from nli_faith.disk import put  # noqa: E402
from pair_store import PairStore  # noqa: E402
from references import load  # noqa: E402

SETS = ("ragtruth_human", "wice")
SLOPES = np.arange(0, 4.01, 0.25)
ARGMAX = "argmax"
# name -> (what n counts: 0 nothing, 1 windows of the chunk, 2 of the answer; how the threshold is found)
CANDIDATES = {
    "threshold, logistic": (0, "logistic"),
    "threshold, isotonic": (0, "isotonic"),
    "windows of the chunk, logistic": (1, "logistic"),
    "windows of the chunk, isotonic": (1, "isotonic"),
    "all windows, logistic": (2, "logistic"),
    "all windows, isotonic": (2, "isotonic"),
}


def fit(pairs: Pairs, rows: np.ndarray, counted: int, way: str) -> tuple[float, float]:
    """(logit of the threshold, slope) that serves the claims at bool[k] `rows` best.

    Args:
        counted, way: see `CANDIDATES`.
    """
    rows = rows & ~np.isnan(pairs.right)
    right, of = pairs.right[rows] == 1, pairs.of[pairs.owner][rows]
    weight = np.zeros(len(right))
    for one in np.unique(of):
        for kind in (True, False):
            those = (of == one) & (right == kind)
            weight[those] = 1 / max(1, those.sum())
    slopes = SLOPES if counted else SLOPES[:1]
    made = [(_logistic if way == "logistic" else _isotonic)(z, right, weight) for z in pairs.scores(counted, slopes)[:, rows]]
    best = int(np.argmin([loss for _, loss in made]))  # the first of equals: the smallest slope
    return made[best][0], float(slopes[best])


def _logistic(z: np.ndarray, right: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """(score at which P(right) is one half, weighted log loss) of a logistic regression, by Newton's method."""
    x = np.stack([z, np.ones(len(z))], axis=1)
    w, total = np.zeros(2), weight.sum()
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (weight * (p - right)) / total + 1e-4 * w
        step = np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x / total + 1e-4 * np.eye(2), gradient)
        w -= np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    p = np.clip(1 / (1 + np.exp(-np.clip(x @ w, -30, 30))), 1e-9, 1 - 1e-9)
    loss = -(weight * np.where(right, np.log(p), np.log(1 - p))).sum() / total
    # Scores that tell nothing, or the contrary, give no threshold; P = 0.5 stands for it.
    return (float(-w[1] / w[0]) if w[0] > 1e-6 else 0.0), float(loss)


def _isotonic(z: np.ndarray, right: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """(cut with the least weighted error, that error): where the isotonic regression of `right` on z crosses one half."""
    values, place = np.unique(z, return_inverse=True)
    good, bad = (np.bincount(place, weights=weight * side, minlength=len(values)) for side in (right, ~right))
    # Error of "z >= cut": the good below it and the bad from it on.
    error = np.concatenate([[0], np.cumsum(good)]) + np.concatenate([np.cumsum(bad[::-1])[::-1], [0]])
    best = np.flatnonzero(error <= error.min() + 1e-12)
    i = int(best[len(best) // 2])
    # Where supporting nothing is best, the cut lies above all values.
    high = values[i] if i < len(values) else np.nextafter(values[-1], np.inf)
    low = values[i - 1] if 0 < i < len(values) else high
    return float((low + high) / 2), float(error[i] / weight.sum())


def cross_fitted(pairs: Pairs, counted: int, way: str) -> np.ndarray:
    """bool[k]: the verdict on each claim by a rule that was fitted on the claims of other sources."""
    fold = folds(pairs.source)[pairs.owner]
    said = pairs.supported.copy()
    for k in range(FOLDS):
        if (fold == k).any():
            cut, slope = fit(pairs, fold != k, counted, way)
            said[fold == k] = pairs.scores(counted, np.array([slope]))[0][fold == k] >= cut
    return said


class Judge:
    """Balanced accuracy of verdicts on claims, and on answers by "every claim is supported": the mean over the sets."""

    def __init__(self, pairs: Pairs, draws: int) -> None:
        self._pairs, self._parts = pairs, []
        for of in np.unique(pairs.of):
            claims = (pairs.of[pairs.owner] == of) & ~np.isnan(pairs.right)
            answers = (pairs.of == of) & ~np.isnan(pairs.faithful)
            sides = (claims, pairs.right, pairs.source[pairs.owner]), (answers, pairs.faithful, pairs.source)
            self._parts.append([(rows, truth[rows] == 1, Bootstrap(source[rows], draws)) for rows, truth, source in sides])

    def accuracy(self, said: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
        """(float64[sets], float64[sets, draws]) of bool[k] verdicts on claims; level 0 claims, 1 answers."""
        if level:
            strict = np.ones(len(self._pairs.source), dtype=bool)
            np.logical_and.at(strict, self._pairs.owner, said)
            said = strict
        tables = [(cells(said[rows], truth), bootstrap) for rows, truth, bootstrap in (part[level] for part in self._parts)]
        pick = "balanced_accuracy"
        return (np.array([rates(table.sum(axis=0))[pick] for table, _ in tables]),
                np.stack([rates(bootstrap.sums(table))[pick] for table, bootstrap in tables]))  # fmt: skip

    def gain(self, said: np.ndarray, over: np.ndarray, level: int) -> list[float]:
        """What `said` gains over `over`, with its interval: both on the same draws."""
        (a, drawn_a), (b, drawn_b) = self.accuracy(said, level), self.accuracy(over, level)
        return figure(float(np.mean(a - b)), (drawn_a - drawn_b).mean(axis=0))


def choose(pairs: Pairs, draws: int = 1000) -> tuple[str, dict]:
    """(name of the rule to ship, cross-fitted figures of every candidate)."""
    judge = Judge(pairs, draws)
    said = {ARGMAX: pairs.supported} | {name: cross_fitted(pairs, *how) for name, how in CANDIDATES.items()}
    chosen, report = ARGMAX, {}
    for name, verdict in said.items():
        report[name] = {
            "claims": judge.accuracy(verdict, 0)[0].round(4).tolist(),
            "answers": judge.accuracy(verdict, 1)[0].round(4).tolist(),
            "false_support": _false_support(pairs, verdict),
            "gain": judge.gain(verdict, said[ARGMAX], 0),
            "gain_answers": judge.gain(verdict, said[ARGMAX], 1),
        }
        lawful = name != ARGMAX and CANDIDATES[name][0] < 2
        if lawful and judge.gain(verdict, said[chosen], 0)[1] > 0 and judge.gain(verdict, said[chosen], 1)[0] >= 0:
            chosen = name
    return chosen, report


def _false_support(pairs: Pairs, said: np.ndarray) -> dict[str, list[float]]:
    """Windows of the answer -> [wrong claims, share of them that is supported]."""
    count = np.rint(2 ** pairs.doublings[1][pairs.part[pairs.claim]])
    found = {}
    for low, high in ((1, 2), (3, 5), (6, 10), (11, np.inf)):
        wrong = (count >= low) & (count <= high) & (pairs.right == 0)
        if wrong.any():
            name = f"{low}-{high}" if np.isfinite(high) else f"{low}+"
            found[name] = [int(wrong.sum()), round(float(said[wrong].mean()), 4)]
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with eval/<set>.dev.jsonl(.gz)")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--store", type=Path, default=Path("work/pairs"), help="pairs of agreement.py; what is missing is read")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="JSON of the figures")
    parser.add_argument("--card", type=Path, help="card.json to write the rule into, or to take it out of")
    args = parser.parse_args(argv)
    try:
        store = PairStore(args.store, args.model, args.dtype)
        records = {name: load(args.data, name) for name in args.sets}
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        pairs = gather([(found, store.rows(name, found, say)) for name, found in records.items()])
    except NliFaithError as error:
        print(error, file=sys.stderr)
        return 1
    chosen, report = choose(pairs, args.draws)
    print(f"balanced accuracy on claims of {', '.join(args.sets)}; gain over argmax; wrong claims supported, by windows")
    for name, found in report.items():
        shares = "  ".join(f"{windows}: {share:.3f}" for windows, (_, share) in found["false_support"].items())
        values = " ".join(f"{value:.4f}" for value in found["claims"])
        gain = "{:+.4f} [{:+.4f}, {:+.4f}]".format(*found["gain"])
        print(f"{name:<32} {values}   {gain}   answers {found['gain_answers'][0]:+.4f}   {shares}")
    rule = None
    if chosen != ARGMAX:
        cut, slope = fit(pairs, np.ones(len(pairs.right), dtype=bool), *CANDIDATES[chosen])
        rule = {"threshold": round(1 / (1 + float(np.exp(-cut))), 4), "per_doubling": slope}
    print(f"chosen: {chosen}" + (f", {rule}" if rule else ""))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps({"chosen": chosen, "rule": rule, "sets": args.sets, "rules": report}, indent=1) + "\n")
    if args.card:
        card = json.loads(args.card.read_text(encoding="utf-8"))
        card.pop("claim_rule", None)
        text = json.dumps(card | ({"claim_rule": rule} if rule else {}), indent=2) + "\n"
        put(args.card, lambda path: path.write_text(text, encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
