"""What --early-exit saves on rows: pairs not read, answers/s gained, and whether verdicts stay.

    python benchmarks/early_exit.py --data answers.jsonl --limit 200 --out benchmarks/results/NAME.json

The rows are read once against all windows. The waves are then replayed over those probabilities by the product's own code,
so savings, verdicts and `faithful` are those of equal logits, free of rounding; pairs that are read only to settle
`faithful` are among those that count as read. "First window supports" is the hit rate of the order by
overlap, among supported claims with a choice of windows; beside it the order of the chunks as given, and chance. With
--passes both ways are also timed, and their verdicts compared: other batches round differently, so a verdict may change
where entailment wins or loses by less than spec 2.5 allows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from timing import SHAPES, Report, made_up_rows, rows_of, write_shape  # noqa: E402

from nli_faith import Scorer  # noqa: E402
from nli_faith.bench import text_table  # noqa: E402
from nli_faith.cells import make_row  # noqa: E402
from nli_faith.drafts import decide  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402
from nli_faith.model import NliModel  # noqa: E402
from nli_faith.options import ModelOptions  # noqa: E402
from nli_faith.parity import TOLERANCE  # noqa: E402
from nli_faith.drafts import WindowRead  # noqa: E402
from nli_faith.scores import Rule  # noqa: E402
from nli_faith.speed import passes  # noqa: E402
from nli_faith.types import AnswerScore, Counts, PairTable, Row  # noqa: E402
from nli_faith.waves import score_in_waves, wave_order  # noqa: E402

GROUPS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 10**9))  # windows of a row
COLUMNS = ("windows", "rows", "claims", "supported", "pairs", "share_read", "first_by_overlap", "first_as_given", "first_by_chance")


class Replay:
    """A reader that looks the probabilities of an exhaustive reading up, so that the waves cost nothing."""

    def __init__(self, encoder, read: WindowRead) -> None:
        self.encoder = encoder
        self._width = max(1, len(read.hypotheses.ids))
        keys, values = [], []
        for draft, grid in read.grids:
            keys.append((draft.premises[None, :] * self._width + draft.hypotheses[:, None]).reshape(-1))
            values.append(grid.reshape(-1, grid.shape[-1]))
        key, first = np.unique(np.concatenate(keys), return_index=True)
        self._keys, self._p = key, np.concatenate(values)[first]

    def probabilities(self, table: PairTable, premises: Sequence, hypotheses: Sequence, counts: Counts) -> np.ndarray:
        """float32[P, C]; see `model.Reader`. Raises KeyError for a pair that was not read."""
        key = table.premise.astype(np.int64) * self._width + table.hypothesis
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        if not np.array_equal(self._keys[place], key):
            raise KeyError("a pair that the exhaustive reading has not")
        counts.pairs_scored += len(table)
        counts.tokens += int(table.length.sum())
        return self._p[place]


@dataclass(slots=True)
class Tally:
    """Sums over the rows of one group; the three `first_` sums are over supported claims with several windows."""

    rows: int = 0
    claims: int = 0
    supported: int = 0
    pairs: int = 0
    read: int = 0
    choices: int = 0
    by_overlap: float = 0.0
    as_given: float = 0.0
    by_chance: float = 0.0
    changed: int = 0
    other_answers: int = 0

    def line(self, windows: str) -> dict:
        """The group as a line of the table."""
        return {
            "windows": windows, "rows": self.rows, "claims": self.claims, "supported": self.supported, "pairs": self.pairs,
            "share_read": _ratio(self.read, self.pairs), "first_by_overlap": _ratio(self.by_overlap, self.choices),
            "first_as_given": _ratio(self.as_given, self.choices), "first_by_chance": _ratio(self.by_chance, self.choices),
            "verdicts_changed": self.changed, "faithful_changed": self.other_answers,
        }  # fmt: skip


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def replay(read: WindowRead, encoder, rule: Rule, answer_threshold: float) -> tuple[list[dict], Counts]:
    """(a line for each group of rows and one for all, counts of the waves) of an exhaustive reading."""
    drafts, counts = [draft for draft, _ in read.grids], Counts()
    if not drafts:
        return [], counts
    sides = [(draft.hypotheses, draft.premises) for draft in drafts]
    grids = score_in_waves(sides, read.premises, read.hypotheses, Replay(encoder, read), rule, counts, answer_threshold)
    tallies = {group: Tally() for group in (*GROUPS, None)}
    for (draft, whole), grid in zip(read.grids, grids, strict=True):
        group = next(group for group in GROUPS if group[0] <= len(draft.windows) <= group[1])
        for tally in (tallies[group], tallies[None]):
            _count(tally, draft, whole, grid, read, rule, answer_threshold)
    names = {group: str(group[0]) if group[0] == group[1] else f"{group[0]}-{group[1]}" for group in GROUPS}
    names |= {GROUPS[-1]: f"{GROUPS[-1][0]} or more", None: "all"}
    return [tally.line(names[group]) for group, tally in tallies.items() if tally.rows], counts


def _count(
    tally: Tally, draft, whole: np.ndarray, grid: np.ndarray, read: WindowRead, rule: Rule, answer_threshold: float
) -> None:
    supports = rule.supports(whole)
    tally.rows += 1
    tally.claims += len(draft.claims)
    tally.pairs += supports.size
    tally.read += int(grid.any(axis=2).sum())
    before, after = (decide(draft, p, rule, read.hypotheses) for p in (whole, grid))
    tally.supported += sum(decision.verdict == "supported" for decision in before)
    tally.changed += sum(a.verdict != b.verdict for a, b in zip(before, after, strict=True))
    one, other = (min(decision.support for decision in own) >= answer_threshold for own in (before, after))
    tally.other_answers += one != other
    if supports.shape[1] > 1:
        order = wave_order([read.hypotheses.ids[i] for i in draft.hypotheses], [window.ids for _, window in draft.windows])
        held = supports.any(axis=1)
        tally.choices += int(held.sum())
        tally.by_overlap += float(np.take_along_axis(supports, order[:, :1], axis=1)[held].sum())
        tally.as_given += float(supports[held, 0].sum())
        tally.by_chance += float(supports[held].mean(axis=1).sum())


def compare(exhaustive: Sequence[AnswerScore], early: Sequence[AnswerScore]) -> dict:
    """How many verdicts differ between two real runs, and how clear the clearest of them was in the exhaustive one."""
    margins, claims = [], 0
    for a, b in zip(exhaustive, early, strict=True):
        for one, other in zip(a.claims, b.claims, strict=True):
            claims += one.verdict is not None
            if one.verdict != other.verdict:
                rest = [p for p in (one.p_neutral, one.p_contradiction) if p is not None] or [1 - one.p_entailment]
                margins.append(abs(one.p_entailment - max(rest)))
    return {"claims": claims, "verdicts_changed": len(margins), "largest_margin_of_a_change": round(max(margins, default=0.0), 4)}


def timed(report: Report, rows: Sequence[Row], reader: NliModel, threshold: float | None, seconds: float, most: int) -> None:
    """Both ways over the same rows, in turn, so that a disturbance meets both; figures are kept after every pass."""
    ways = {early: Scorer(early_exit=early, threshold=threshold).over(reader) for early in (False, True)}
    taken: dict[bool, list[float]] = {False: [], True: []}
    scores = {}
    for scorer in ways.values():
        scorer.score_window(rows[:4])
    for _ in range(most):
        for early, scorer in ways.items():
            taken[early] += passes(lambda early=early, scorer=scorer: scores.update({early: scorer.score_window(rows)}), seconds, 1)
            own, counts = median(taken[early]), scores[early].counts
            report.add("timed", {
                "name": "early exit" if early else "exhaustive", "passes": len(taken[early]), "seconds": round(own, 3),
                "answers_per_second": round(len(rows) / own, 3), "pairs_scored": counts.pairs_scored,
                "gain": round(median(taken[False]) / own, 3),
            })  # fmt: skip
        found = compare(scores[False].scores, scores[True].scores)
        report.put(runs=found | {"allowed_margin": 2 * TOLERANCE[reader.dtype]})
        if sum(map(sum, taken.values())) > seconds * most:
            break
    print(f"verdicts that differ between the two runs: {found}", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a file of answers with contexts; without it rows are made up")
    parser.add_argument("--limit", type=int, default=200, help="rows to take")
    parser.add_argument("--chunks", type=int, default=5, help="chunks of a made-up row")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--model", default="nli-faith-xsmall")
    what.add_argument("--shape", choices=SHAPES, help="a model of that shape with weights as before training")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--threshold", type=float, help="P(entailment) from which a window supports a claim (default: argmax)")
    parser.add_argument("--passes", type=int, default=3, help="timed runs of each way; 0 for the replay only")
    parser.add_argument("--seconds", type=float, default=120.0, help="stop timing after about passes x seconds")
    parser.add_argument("--out", type=Path, help="JSON to write")
    args = parser.parse_args(argv)
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        model = args.model if args.shape is None else str(write_shape(args.shape, Path(folder)))
        reader = NliModel(ModelOptions(model, device=args.device, dtype=args.dtype), probe=args.shape is None)
        report = Report(args.out, reader)  # reads the hash of the weights, while they are there
    if args.data:
        rows = rows_of(args.data, args.limit)
    else:
        made = made_up_rows(args.limit, reader, chunks=args.chunks)
        rows = [make_row(at, row["answer"], row["contexts"], None, row["id"]) for at, row in enumerate(made)]
    report.put(rows=len(rows), data="made up" if args.data is None else Path(args.data).name)
    scorer = Scorer(threshold=args.threshold).over(reader)
    read = scorer.read_window(rows)
    lines, counts = replay(read, reader.encoder, Rule(args.threshold), scorer.answer_threshold)
    for line in lines:
        report.add("replayed", line)
    report.put(distinct_pairs={"exhaustive": read.counts.pairs_scored, "early_exit": counts.pairs_scored})
    print(f"\n{text_table(lines, COLUMNS)}")
    print(f"distinct pairs read: {counts.pairs_scored:,} of {read.counts.pairs_scored:,}\n", flush=True)
    if args.passes:
        timed(report, rows, reader, args.threshold, args.seconds, args.passes)
    report.finish()


if __name__ == "__main__":
    main()
