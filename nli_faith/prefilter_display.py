"""What calibrate, triage and merge say on stdout: a few lines for people, or one JSON object."""

from __future__ import annotations

import argparse

from nli_faith.display import show_json
from nli_faith.proportions import percent


def show_agreement(args: argparse.Namespace, error) -> None:
    if args.json:
        show_json({"n": error.n, "agreement": error.agreement, "threshold": None}, indent=None)
    else:
        print(f"agreement of nli-faith with the labels: {percent(error.agreement)}")


def show_calibration(args: argparse.Namespace, made) -> None:
    if args.json:
        told = {name: getattr(made, name) for name in ("level", "threshold", "aim", "n", "unfaithful", "figures", "parts")}
        show_json(told | {name: made.labels[name] for name in ("read_as", "warnings")}, indent=None)
        return
    what = "min_support" if made.level == "row" else "P(entailment)"
    print(f"threshold          {made.threshold:g} on {what}: below it, {'an answer' if made.level == 'row' else 'a claim'}"
          " is flagged")  # fmt: skip
    print(f"labels             {made.n}, {made.unfaithful} of them unfaithful")
    for name, figure in made.figures.items():
        print(f"{name.replace('_', ' '):<18} {percent(figure)}")
    print("Measured on labels that the threshold was not chosen on (five parts); 95 % intervals.")
    if made.parts["without"]:
        print(f"In {made.parts['without']} of the {made.parts['all']} parts no threshold was found, so nothing was flagged there.")
    for warning in made.labels["warnings"]:
        print(f"Warning: {warning}")


def show_triage(args: argparse.Namespace, triage, chances: dict | None, labels: int | None) -> None:
    rows = len(triage.route)
    counts = {route: triage.count(route) for route in ("pass", "fail", "judge")}
    saved = 1 - counts["judge"] / rows if rows else None
    if args.json:
        show_json({"rows": rows} | counts | {"saved": saved, "threshold": triage.threshold, "expected": chances}, indent=None)
        return
    print(f"rows    {rows:,}")
    for route, count in counts.items():
        print(f"  {route:<5} {count:,}  {100 * count / max(rows, 1):.1f} %")
    if saved is not None:
        print(f"{100 * saved:.1f} % of the judge calls are saved.")
    if chances is None:
        print("How many of these routes are wrong can't be known without labels: see nli-faith calibrate.")
        return
    at_most = "" if triage.misses is None else "at most "
    print(f"Expected of all rows, by {labels:,} labels: unfaithful but passed {at_most}{percent(chances['miss'])}, "
          f"faithful but failed {percent(chances['false_alarm'])}.")  # fmt: skip
    share, low, high = counts["judge"] / max(rows, 1), *chances["judged"][1:]
    if not low <= share <= high:
        print(f"Of the labelled rows {percent(chances['judged'])} would go to the judge, of these {100 * share:.1f} %: "
              "the rows are not like the labelled ones, so what is expected may not hold.")  # fmt: skip


def show_merged(args: argparse.Namespace, counts: dict) -> None:
    if args.json:
        show_json(counts, indent=None)
        return
    print(f"rows        {counts['rows']:,}, {counts['by_judge']:,} of them decided by the judge")
    print(f"faithful    {counts['faithful']:,}")
    print(f"unfaithful  {counts['unfaithful']:,}")
    if counts["missing"]:
        print(f"{counts['missing']:,} rows for the judge have no verdict: their final_faithful is null.")
    if counts["spare"]:
        print(f"{counts['spare']:,} verdicts are of rows that were passed or failed: kept in judge_faithful, not used.")
