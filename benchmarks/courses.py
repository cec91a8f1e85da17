"""A course: contenders over one list of pairs, who take their passes in turn, and the lines of their figures."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from peers import Run
from timing import Report

from nli_faith import Scorer
from nli_faith.model import NliModel
from nli_faith.parity import agreement, difference
from nli_faith.speed import list_pairs, read, speed
from nli_faith.types import Counts, Row

WARM_UP = 32


@dataclass(frozen=True, slots=True)
class Work:
    """What everybody reads.

    Attributes:
        texts: the distinct pairs; repeated: those of all rows, each as often as it occurs.
        answers: rows they come from, 0 for made-up pairs.
    """

    texts: list[tuple[str, str]]
    repeated: list[tuple[str, str]]
    answers: int


def even_sample(texts: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """At most `count` of the texts, evenly spread over the list."""
    return [texts[i * len(texts) // count] for i in range(count)] if count < len(texts) else list(texts)


def timed(run: Callable[[], object]) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


@dataclass(slots=True)
class Contender:
    """Somebody who is timed.

    Attributes:
        run: one pass; line: its figures, out of the seconds of all passes so far; taken: these seconds.
    """

    name: str
    run: Callable[[], object]
    line: Callable[[list[float]], dict]
    taken: list[float] = field(default_factory=list)


class Course:
    """Runs contenders over one work, in turn, and keeps their lines."""

    def __init__(self, report: Report, section: str, work: Work, plain: NliModel, top: float, args: argparse.Namespace):
        self._report, self._section, self._work, self._reader, self._top = report, section, work, plain, top
        self._seconds, self._most = args.seconds, args.passes
        self._sample = even_sample(work.texts, args.parity)
        self._reference = read(plain, list_pairs(self._sample, plain))
        self._contenders: list[Contender] = []

    def enter(self, name: str, run: Run, first_only: bool = False, repeated: bool = False) -> None:
        """Warm up a contender and see how near its probabilities are.

        Args:
            first_only: see `speed.flops`; repeated: it reads every pair as often as it occurs.
        """
        whole = self._work.repeated if repeated else self._work.texts
        few = even_sample(whole, WARM_UP)
        run(few)
        each = timed(lambda: run(few)) / len(few)
        texts = even_sample(whole, max(len(few), int(self._seconds / each)))
        pairs = list_pairs(texts, self._reader)
        p = run(self._sample)
        near = {"max_difference": round(difference(p, self._reference), 5),
                "verdict_agreement": round(agreement(p, self._reference), 5)}  # fmt: skip

        def line(taken: list[float]) -> dict:
            found = {"pairs": len(texts)} | speed(taken, pairs, self._reader.checkpoint.config, self._top, first_only)
            if self._work.answers:
                found["answers_per_second"] = round(found["pairs_per_second"] * self._work.answers / len(whole), 3)
            return found | near

        self._contenders.append(Contender(name, lambda: run(texts), line))

    def enter_rows(self, rows: Sequence[Row], reader: NliModel, early: bool) -> None:
        """From rows to scores, with early exit or without."""
        scorer, counts = Scorer(early_exit=early).over(reader), Counts()
        few = even_sample(rows, 4)
        each = timed(lambda: scorer.score_window(few)) / len(few)
        chosen = even_sample(rows, max(len(few), int(self._seconds / each)))

        def run() -> None:
            nonlocal counts
            counts = scorer.score_window(chosen).counts

        def line(taken: list[float]) -> dict:
            middle = median(taken)
            return {
                "pairs": counts.pairs_scored, "seconds": round(middle, 3), "passes": len(taken),
                "spread": round((max(taken) - min(taken)) / middle, 3), "answers_per_second": round(len(chosen) / middle, 3),
                "padding": round(1 - counts.tokens / max(1, counts.padded_tokens), 4),
            }  # fmt: skip

        self._contenders.append(Contender(f"rows to scores{', --early-exit' if early else ''}", run, line))

    def race(self) -> None:
        """One pass of everybody, then the next."""
        for _ in range(max(1, self._most)):
            for one in self._contenders:
                one.taken.append(timed(one.run))
                self._report.add(self._section, {"name": one.name} | one.line(one.taken))
