"""What agreement.py reports of one set: figures per task and reference, of answers and of claims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from answers import Answers, all_claims, shares_outside, span_columns
from contenders import OURS, contenders, with_all_verdicts
from measures import DRAWS, Bootstrap, auroc, spearman
from references import FEWEST, PEOPLE, detectors, labels

_ALL_VERDICTS = " (rows with all stored verdicts)"
WINDOW_BINS = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, None))


def against(answers: Answers, label: np.ndarray, reference: str, thresholds: np.ndarray, draws: int) -> dict | None:
    """Everyone's figures against one reference, on the rows that it labels; None where those are too few.

    Args:
        label: float64[n], see `references.labels`.
    """
    known = ~np.isnan(label)
    if known.sum() < FEWEST:
        return None
    part, faithful = answers.take(known), label[known] == 1
    bootstrap = Bootstrap(part.source, draws)
    table = []
    for one in contenders(part, thresholds[known], faithful, reference):
        figures = bootstrap.rates(one.said, faithful)
        if one.score is not None and len(np.unique(faithful)) == 2:
            figures["auroc"] = bootstrap.of(auroc, one.score, faithful)
        table.append({"name": one.name, "threshold": one.threshold, "figures": figures})
    return {"rows": len(part), "sources": bootstrap.sources, "unfaithful": int((~faithful).sum()), "contenders": table}


def aggregations(answers: Answers, label: np.ndarray, draws: int) -> dict[str, list[float]]:
    """AUROC of other ways to make one score of the supports of an answer's claims, on answers that were scored."""
    rows = ~np.isnan(label) & (answers.status == "scored")
    part, faithful = answers.take(rows), label[rows] == 1
    if len(np.unique(faithful)) < 2:
        return {}
    claims, owner = all_claims(part)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    count = np.diff(np.append(starts, len(owner)))
    ways = {
        "lowest support": part.support,
        "mean support": np.add.reduceat(claims.support, starts) / count,
        "product of supports": np.add.reduceat(np.log(np.maximum(claims.support, 1e-9)), starts),
        "share supported": part.faithfulness,
    }
    bootstrap = Bootstrap(part.source, draws)
    return {name: bootstrap.of(auroc, score, faithful) for name, score in ways.items()}


def claim_level(answers: Answers, draws: int) -> dict | None:
    """Whether unsupported claims are those that a human span touches; None where no claim is known to be right or wrong."""
    claims, owner = all_claims(answers)
    known = ~np.isnan(claims.right)
    if not known.any():
        return None
    right, supported, source = claims.right[known] == 1, claims.supported[known], answers.source[owner][known]
    bootstrap = Bootstrap(source, draws)
    found = {"claims": int(known.sum()), "wrong": int((~right).sum()), "figures": bootstrap.rates(supported, right)}
    if len(np.unique(right)) == 2:
        found["figures"]["auroc"] = bootstrap.of(auroc, claims.support[known], right)
    holder, caught, outside = span_columns(answers)
    if len(holder):
        marked = Bootstrap(answers.source[holder], draws)
        everything = np.ones(len(holder), dtype=bool)
        found["spans"] = len(holder)
        found["spans_caught"] = marked.share(caught, everything)
        found["spans_outside_claims"] = marked.share(outside, everything)
    found["windows"] = []
    for low, high in WINDOW_BINS:
        inside = (claims.windows[known] >= low) & (claims.windows[known] <= (high or np.inf))
        if (inside & supported).any():
            found["windows"].append({
                "windows": str(low) if low == high else f"{low}-{high}" if high else f"{low}+",
                "supported": int((inside & supported).sum()),
                "precision": bootstrap.share(right & supported & inside, supported & inside),
                "wrong": int((inside & ~right).sum()),
                "wrong_supported": bootstrap.share(supported & ~right & inside, ~right & inside),
            })  # fmt: skip
    found["reliability"] = reliability(claims.support[known], right)
    return found


def reliability(score: np.ndarray, good: np.ndarray, bins: int = 10) -> dict:
    """Mean score and share of good ones in bins of equal width, and the mean gap between the two (ECE)."""
    place = np.minimum((score * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    there = count > 0
    mean, share = (np.bincount(place, weights=v, minlength=bins)[there] / count[there] for v in (score, good))
    gap = float((count[there] * np.abs(mean - share)).sum() / max(1, len(score)))
    return {"n": count[there].tolist(), "score": mean.round(4).tolist(), "good": share.round(4).tolist(), "ece": round(gap, 4)}


def curves(answers: Answers, faithful: np.ndarray) -> dict[str, list[list[float]]]:
    """`roc` of nli-faith, of every stored score and of word overlap."""
    scores = {OURS: answers.support, "overlap": answers.overlap}
    for name, column in detectors(answers.records).items():
        if not np.isnan(column).any() and not np.isin(column, (0, 1)).all():
            scores[name] = column
    return {name: roc(score, faithful) for name, score in scores.items()}


def roc(score: np.ndarray, faithful: np.ndarray) -> list[list[float]]:
    """[share of the faithful called unfaithful, share of the unfaithful called so] at up to 101 thresholds."""
    cuts = np.unique(np.quantile(score, np.linspace(0, 1, 101)))
    points = [[float((score[side] < cut).mean()) for side in (faithful, ~faithful)] for cut in cuts]
    return [[round(x, 4) for x in point] for point in (*points, [1.0, 1.0])]


def measure_task(answers: Answers, thresholds: np.ndarray, draws: int) -> dict:
    """All figures of one task of one set."""
    found: dict = {"rows": len(answers), "sources": len(np.unique(answers.source)), "states": {}, "references": {}}
    for status in np.unique(answers.status):
        found["states"][str(status)] = int((answers.status == status).sum())
    every = labels(answers.records)
    for reference, label in every.items():
        if table := against(answers, label, reference, thresholds, draws):
            found["references"][reference] = table
    complete = with_all_verdicts(answers)
    for reference in [name for name in every if name.startswith(PEOPLE)]:
        label = np.where(complete, every[reference], np.nan)
        table = against(answers, label, reference, thresholds, draws)
        if table and table["rows"] < found["references"][reference]["rows"]:
            found["references"][reference + _ALL_VERDICTS] = table
    main = PEOPLE if PEOPLE in every else next(iter(every), None)
    if main is not None:
        known = ~np.isnan(every[main])
        support, faithful = answers.support[known], every[main][known] == 1
        found["main"] = main
        found["aggregations"] = aggregations(answers, every[main], draws)
        found["reliability"] = reliability(support, faithful)
        found["threshold"] = [round(float(x), 4) for x in (thresholds[known].min(), thresholds[known].max())]
        shown = main + _ALL_VERDICTS if main + _ALL_VERDICTS in found["references"] else main
        rows = known & complete if shown != main else known
        if shown in found["references"] and len(np.unique(every[main][rows])) == 2:
            found["roc"] = {"reference": shown, "curves": curves(answers.take(rows), every[main][rows] == 1)}
    outside = shares_outside(answers)
    known = ~np.isnan(outside)
    if known.any() and len(np.unique(outside[known])) > 1:
        bootstrap = Bootstrap(answers.source[known], draws)
        found["spearman"] = bootstrap.of(spearman, answers.faithfulness[known], outside[known])
    if claims := claim_level(answers, draws):
        found["claims"] = claims
    return found


def measure(answers: Mapping[str, Answers], thresholds: Mapping[str, np.ndarray], draws: int = DRAWS) -> dict:
    """set -> task -> `measure_task`; "all" stands for every task of a set with more than one.

    Args:
        thresholds: set -> float64[n], see `contenders.elsewhere`.
    """
    report = {}
    for name, one in answers.items():
        tasks = list(dict.fromkeys(one.task.tolist()))
        parts = {task: one.task == task for task in tasks}
        if len(tasks) > 1:
            parts = {"all": np.ones(len(one), dtype=bool)} | parts
        report[name] = {
            task: measure_task(one.take(rows), thresholds[name][rows], draws) for task, rows in parts.items()
        }
    return report
