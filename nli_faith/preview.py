"""What `--dry-run` shows: claims and windows of the first rows, and an estimate of the time from a few real pairs."""

from __future__ import annotations

import time

TIMED_ROWS = 3


def preview(plan, scorer) -> dict:
    """JSON-able: columns, the first three rows as they would be read, rows in all, seconds and bytes to expect.

    Args:
        plan: a `plans.Plan`; scorer: a `Scorer`, which scores those rows once to measure its speed.
    """
    scorer.score_window(plan.rows[:1])  # the first batch pays for loading and warming up
    begun = time.perf_counter()
    result = scorer.score_window(plan.rows[:TIMED_ROWS])
    spent = time.perf_counter() - begun
    rate = result.counts.pairs / spent if result.counts.pairs else None
    rows = []
    for row, score in zip(plan.rows, result.scores):
        (windows,) = scorer.window_counts([row])
        rows.append(
            {
                "row": row.position,
                "error": score.error,
                "chunks": len(row.chunks),
                "windows": windows,
                "units": [{"text": unit.text, "hypothesis": unit.hypothesis, "kind": unit.kind} for unit in score.claims],
            }
        )
    seconds = None
    if rate and plan.total is not None and plan.rows:
        seconds = plan.total * result.counts.pairs / len(plan.rows[:TIMED_ROWS]) / rate
    return {
        "inputs": plan.inputs,
        "output": plan.output,
        "columns": {name: getattr(plan.columns, name) for name in ("answer", "contexts", "question", "id")},
        "first_rows": rows,
        "rows": plan.total,
        "pairs_per_second": rate,
        "seconds": seconds,
        "output_bytes": plan.output_bytes,
    }
