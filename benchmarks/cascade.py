"""How much of a judge's work nli-faith saves: the share of answers that is sent to the judge, against agreement with it.

    python benchmarks/cascade.py work/pairs/HASH/rows.jsonl --data DATA --out benchmarks/results/cascade
    (a table on stdout, cascade.json, and cascade.png with `pip install 'nli-faith[bench]'`)

ROWS is what benchmarks/agreement.py leaves beside its pairs: one line an answer with set, id, task, source, status, min_support and `faithful`,
the verdict of the judge (or the human). A cascade takes the judge's verdict for the rows it sends and its own for the
rest, so its agreement is 1 when everything is sent. Contenders, each with a score of its own:

    nli-faith   min_support
    chance      nli-faith's verdicts, rows for the judge drawn by lot: what sending the right ones is worth
    length      short answers first; overlap: the share of the answer's words that stand in the contexts
    hhem        the stored score of HHEM 2.1, for tasks of which every row has one

A contender's verdict is score >= threshold, and it sends the rows nearest the threshold first. Thresholds are chosen for
agreement on the other four of five parts by source document, so no row is judged by a threshold that saw its source.
Length, overlap and HHEM need the texts and stored scores: `--data DATA` with `DATA/eval/<set>.dev.jsonl(.gz)`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
from measures import Bootstrap  # noqa: E402
from training_data import find, fraction, read_jsonl  # noqa: E402

from nli_faith.cuts import Aim, best_threshold  # noqa: E402
from nli_faith.triage import uncertainty  # noqa: E402

SHARES = np.round(np.linspace(0, 1, 21), 2)
FOLDS = 5
TARGETS = (0.9, 0.95, 0.98)
HHEM = "hhem-2.1"
# A row whose state settles it: nli-faith sends it last.
SETTLED = {"no_claims": 1.0, "no_context": 0.0, "empty_answer": 0.0}


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return re.findall(r"\w+", text.lower())


def scores(rows: list[dict], texts: dict[str, dict]) -> dict[str, np.ndarray]:
    """Contender -> float64[n] in [0, 1], higher = more likely faithful; only those that every row has."""
    found = {"nli-faith": np.array([_own_score(row) for row in rows])}
    records = [texts.get(row["id"]) for row in rows]
    if records and all(records):
        answers = [words(record["response"]) for record in records]
        found["length"] = np.array([1 / (1 + len(answer) / 100) for answer in answers])
        found["overlap"] = np.array([_overlap(a, r["contexts"]) for a, r in zip(answers, records, strict=True)])
        stored = [(record.get("judges") or {}).get(HHEM) for record in records]
        if all(isinstance(value, (int, float)) for value in stored):
            found["hhem"] = np.array(stored, dtype=np.float64)
    return found


def _own_score(row: dict) -> float:
    return SETTLED.get(row.get("status", "scored"), 0.5) if row["min_support"] is None else float(row["min_support"])


def _overlap(answer: list[str], contexts: list[str]) -> float:
    kinds = set(answer)
    return len(kinds & set(words(" ".join(contexts)))) / len(kinds) if kinds else 0.0


def folds(rows: list[dict]) -> np.ndarray:
    """int64[n]: which of five parts the source document of each row belongs to."""
    return np.array([int(fraction(str(row["source"]), "cascade") * FOLDS) for row in rows])


def decide(score: np.ndarray, faithful: np.ndarray, fold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(bool[n] verdicts, float64[n] distance from the threshold), with the threshold of the other folds."""
    said, distance = np.ones(len(score), dtype=bool), np.zeros(len(score))
    for k in range(FOLDS):
        own, others = fold == k, fold != k
        threshold = best_threshold(score[others], ~faithful[others], Aim("agreement"))
        if threshold is None:  # all rows are of one source
            threshold = 0.5
        said[own] = score[own] >= threshold
        distance[own] = uncertainty(score[own], threshold)
    return said, distance


def curve(right: np.ndarray, order: np.ndarray) -> list[float]:
    """Agreement when the first rows of `order` go to the judge, for each of `SHARES`."""
    wrong = np.concatenate([np.cumsum(~right[order][::-1])[::-1], [0]])  # errors left behind the first k rows
    return [1 - wrong[int(share * len(right) + 1e-9)] / len(right) for share in SHARES]


def cascade(rows: list[dict], texts: dict[str, dict]) -> dict:
    """The curves of one task, and the share that each contender sends to reach each of `TARGETS`.

    `alone` is the agreement when none is sent, with an interval over source documents; `one_verdict_for_all` that of calling
    every answer what most are.
    """
    faithful = np.array([bool(row["faithful"]) for row in rows])
    fold = folds(rows)
    curves: dict[str, list[float]] = {}
    for name, score in scores(rows, texts).items():
        said, distance = decide(score, faithful, fold)
        right = said == faithful
        if name == "nli-faith":
            settled = np.array([row.get("status") in SETTLED for row in rows], dtype=bool)
            distance = np.where(settled, np.inf, distance)
            alone = Bootstrap(np.array([str(row["source"]) for row in rows])).share(right, np.ones_like(right))
            # By lot, a share of the errors is sent that is the share of all rows.
            curves["chance"] = [float(right.mean() + share * (1 - right.mean())) for share in SHARES]
        curves[name] = curve(right, np.argsort(distance, kind="stable"))
    return {
        "rows": len(rows),
        "unfaithful": int((~faithful).sum()),
        "alone": alone,
        "one_verdict_for_all": round(float(max(faithful.mean(), 1 - faithful.mean())), 4),
        "agreement": {name: [round(float(value), 4) for value in values] for name, values in curves.items()},
        "share_for": {name: {str(aim): share_for(values, aim) for aim in TARGETS} for name, values in curves.items()},
    }


def share_for(values: list[float], aim: float) -> float:
    """The smallest of `SHARES` from which the agreement is `aim` or more."""
    return float(next(share for share, value in zip(SHARES, values, strict=True) if value >= aim - 1e-12))


def measure(rows: list[dict], data: Path | None) -> dict[str, dict]:
    """"set task" -> `cascade`, and "set all" where there are several; without two kinds of verdicts it is left out."""
    report = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        texts = {} if data is None else {record["id"]: record for record in read_jsonl(find(data / "eval", f"{name}.dev"))}
        own = [row for row in rows if row["set"] == name and row.get("status") != "error"]
        tasks = list(dict.fromkeys(row["task"] for row in own))
        for task in [*tasks, "all"] if len(tasks) > 1 else tasks:
            part = [row for row in own if task in (row["task"], "all")]
            if len({bool(row["faithful"]) for row in part}) == 2:
                report[f"{name} {task}"] = cascade(part, texts)
    return report


def table(report: dict[str, dict]) -> str:
    """For people: agreement without a judge and at some shares, and the share that reaches 95 %."""
    shown = (0.0, 0.2, 0.3, 0.5)
    lines = [f"{'task':<34} {'contender':<10} " + " ".join(f"{f'{share:.0%}':>6}" for share in shown) + "  for 95 %"]
    for task, found in report.items():
        for name, values in found["agreement"].items():
            at = [values[int(np.flatnonzero(np.isclose(SHARES, share))[0])] for share in shown]
            cells = " ".join(f"{value:6.3f}" for value in at)
            lines.append(f"{task:<34} {name:<10} {cells}  {found['share_for'][name]['0.95']:>8.0%}")
    return "\n".join(lines)


def draw(report: dict[str, dict], path: Path) -> None:
    """One small chart a task: the share sent to the judge against agreement with it."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("The chart needs matplotlib. Run: pip install 'nli-faith[bench]', or leave it out with --no-chart.")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import PercentFormatter

    across = min(3, len(report))
    down = -(-len(report) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(4.2 * across, 3.4 * down), squeeze=False, sharex=True)
    styles = {"nli-faith": ("C0", "-", 2.2), "hhem": ("C1", "-", 1.4), "overlap": ("C2", "-", 1.2),
              "length": ("C4", "-", 1.2), "chance": ("0.6", "--", 1.2)}  # fmt: skip
    for axis, (task, found) in zip(axes.flat, report.items(), strict=False):
        for name, values in found["agreement"].items():
            colour, dash, width = styles[name]
            axis.plot(SHARES, values, dash, color=colour, linewidth=width, label=name)
        axis.set_title(f"{task} ({found['rows']:,} answers)", fontsize=9)
        axis.grid(alpha=0.25)
        axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for axis in axes.flat[len(report) :]:
        axis.set_visible(False)
    axes.flat[0].legend(fontsize=8, loc="lower right")
    figure.supxlabel("sent to the judge", fontsize=9)
    figure.supylabel("final verdict agrees with the judge", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=160)
    pyplot.close(figure)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, metavar="ROWS", help="the rows.jsonl of benchmarks/agreement.py")
    parser.add_argument("--data", type=Path, help="folder with eval/<set>.dev.jsonl(.gz), for the other contenders")
    parser.add_argument("--sets", nargs="+", help="only these sets")
    parser.add_argument("--out", type=Path, required=True, help="name of the .json and .png, without ending")
    parser.add_argument("--no-chart", action="store_true", help="write no .png, which needs matplotlib")
    args = parser.parse_args(argv)
    rows = [row for row in read_jsonl(args.rows) if not args.sets or row["set"] in args.sets]
    report = measure(rows, args.data)
    if not report:
        sys.exit(f"{args.rows} holds no task with faithful and unfaithful verdicts; nothing to draw.")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    stored = {"shares": SHARES.tolist(), "tasks": report}
    Path(f"{args.out}.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(table(report))
    if not args.no_chart:
        draw(report, Path(f"{args.out}.png"))


if __name__ == "__main__":
    main()
