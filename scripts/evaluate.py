"""Measure a model on answers that people or judges labelled: answer level, with the product's own scorer and rules.

    python scripts/evaluate.py --data DATA --model MODEL --out work/eval.json [--sets ragtruth_human faithbench] [--rows 300]

Reads `DATA/eval/<set>.dev.jsonl(.gz)`: contexts, response and either `human.faithful` or one stored judge. The score of an
answer is `min_support`; balanced accuracy and F1 (of the unfaithful class) are given for the product's two verdicts, the
answer threshold of the model's card and the strict rule (every claim supported). Intervals: 95 %, bootstrap over sources.
The quick look at a model in training; the full report, beside judges and detectors, is benchmarks/agreement.py.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from measures import Bootstrap, auroc
from nli_faith import Scorer
from nli_faith.memory import keep_freed_memory
from training_data import find, fraction, read_jsonl

SETS = ("ragtruth_human", "faithbench", "wice_oracle", "aggrefact", "faithjudge")
JUDGE = {"faithjudge": "o3-mini-high"}


def load(data: Path, name: str, rows: int | None) -> list[dict]:
    """Labelled records with `faithful` set; with `rows`, a part of them that depends on their ids alone."""
    records = []
    for record in read_jsonl(find(data / "eval", f"{name}.dev")):
        judge = JUDGE.get(name)
        faithful = record["judges"].get(judge) if judge else record["human"]["faithful"]
        if faithful is not None:
            records.append(record | {"faithful": bool(faithful)})
    if rows is not None and rows < len(records):
        records = sorted(records, key=lambda record: fraction(record["id"], "evaluate"))[:rows]
    return records


def with_intervals(score, faithful, said, sources) -> dict[str, list[float]]:
    """name -> [figure, low, high]: AUROC of the score, balanced accuracy and F1 of each verdict in `said`."""
    bootstrap = Bootstrap(sources)
    out = {"auroc": bootstrap.of(auroc, score, faithful)}
    for name, verdict in said.items():
        rates = bootstrap.rates(verdict, faithful)
        out |= {f"{kind}_{name}": rates[kind] for kind in ("balanced_accuracy", "f1_unfaithful")}
    return out


def evaluate(scorer: Scorer, records: list[dict]) -> tuple[dict, list[dict]]:
    """(figures per task and over all, scored rows for later analysis)."""
    rows = ({"answer": r["response"], "contexts": r["contexts"], "question": r["question"]} for r in records)
    scores = list(scorer.score_rows(rows))
    kept = []
    for record, score in zip(records, scores):
        kept.append({
            "id": record["id"], "task": record["task"], "source": record["source_id"], "faithful": record["faithful"],
            "status": score.status, "min_support": score.min_support, "faithfulness": score.faithfulness,
            "said": score.faithful, "support": [c.support for c in score.claims if c.verdict],
            "verdicts": [c.verdict for c in score.claims if c.verdict],
            "places": [[c.start, c.end] for c in score.claims if c.verdict],
            "spans": [[s["start"], s["end"]] for s in record["human"]["spans"]],
        })  # fmt: skip
    out = {}
    for task in [None, *sorted({row["task"] for row in kept})]:
        part = [row for row in kept if task in (None, row["task"])]
        # An answer without a claim makes none that could be wrong.
        score = np.array([1.0 if row["min_support"] is None else row["min_support"] for row in part])
        faithful = np.array([row["faithful"] for row in part])
        said = {
            "card": np.array([row["said"] is not False for row in part]),
            "strict": np.array([row["faithfulness"] in (1.0, None) for row in part]),
        }
        sources = np.array([row["source"] for row in part])
        out[task or "all"] = {"rows": len(part), "unfaithful": int((~faithful).sum())} | with_intervals(score, faithful, said, sources)
    return out, kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="nli-faith-xsmall")
    parser.add_argument("--out", type=Path, required=True, help="JSON of the figures; scored rows go to <out>.rows.jsonl")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--rows", type=int, help="at most so many rows of each set")
    parser.add_argument("--dtype", default="auto")
    args = parser.parse_args()
    keep_freed_memory()
    scorer = Scorer(args.model, dtype=args.dtype)
    report: dict = {"model": args.model, "hash": scorer.identity()["model_hash"], "dtype": scorer.identity()["dtype"], "sets": {}}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{args.out}.rows.jsonl", "w") as rows:
        for name in args.sets:
            begun = time.perf_counter()
            records = load(args.data, name, args.rows)
            report["sets"][name], kept = evaluate(scorer, records)
            report["sets"][name]["seconds"] = round(time.perf_counter() - begun, 1)
            for row in kept:
                rows.write(json.dumps({"set": name} | row) + "\n")
            rows.flush()
            args.out.write_text(json.dumps(report, indent=1) + "\n")
            for task, line in report["sets"][name].items():
                if isinstance(line, dict):
                    print(name, task, json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
