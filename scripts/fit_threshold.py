"""Choose the answer threshold of a model's card: the `min_support` from which an answer is called faithful.

    python scripts/fit_threshold.py work/pairs/HASH/rows.jsonl --sets ragtruth_human wice_oracle --card models/nli-faith-xsmall/card.json

The threshold maximises balanced accuracy over the rows of those sets. What it is worth is told by cross-fitting: five parts by
source document, each scored with the threshold of the other four. Rows are those of the rows.jsonl
that benchmarks/agreement.py leaves beside the pairs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from measures import cells, rates
from nli_faith import cuts
from training_data import fraction, read_jsonl

FOLDS = 5


def balanced_accuracy(said: np.ndarray, faithful: np.ndarray) -> float:
    """Mean of the shares of faithful and of unfaithful rows that are called so."""
    return float(rates(cells(said, faithful).sum(axis=0))["balanced_accuracy"])


def best_threshold(score: np.ndarray, faithful: np.ndarray) -> float:
    """The threshold in (0, 1] with the highest balanced accuracy.

    Raises:
        SystemExit: rows of one kind, or of one source, have none.
    """
    found = cuts.best_threshold(score, ~faithful, cuts.Aim("balanced"))
    if found is None:
        raise SystemExit("No threshold can be fitted: faithful and unfaithful rows of several sources are needed.")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--sets", nargs="+", default=["ragtruth_human"])
    parser.add_argument("--card", type=Path, help="card.json to write the threshold into")
    args = parser.parse_args()
    rows = [row for row in read_jsonl(args.rows) if row["set"] in args.sets and row["min_support"] is not None]
    score = np.array([row["min_support"] for row in rows])
    faithful = np.array([row["faithful"] for row in rows])
    fold = np.array([int(fraction(row["source"], "fold") * FOLDS) for row in rows])
    said = np.zeros(len(rows), dtype=bool)
    for k in range(FOLDS):
        said[fold == k] = score[fold == k] >= best_threshold(score[fold != k], faithful[fold != k])
    f1 = float(rates(cells(said, faithful).sum(axis=0))["f1_unfaithful"])
    threshold = best_threshold(score, faithful)
    print(f"{len(rows)} rows, threshold {threshold}")
    print(f"cross-fitted: balanced accuracy {balanced_accuracy(said, faithful):.4f}, F1 of the unfaithful class {f1:.4f}")
    tasks = np.array([f"{row['set']} {row['task']}" for row in rows])
    for task in np.unique(tasks):
        part = tasks == task
        print(f"  {task}: {balanced_accuracy(said[part], faithful[part]):.4f} ({part.sum()} rows)")
    if args.card:
        card = json.loads(args.card.read_text())
        args.card.write_text(json.dumps(card | {"answer_threshold": threshold}, indent=2) + "\n")


if __name__ == "__main__":
    main()
