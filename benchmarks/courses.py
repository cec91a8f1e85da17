"""A course: contenders over one list of pairs, who take their passes in turn, and the lines of their figures."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import torch
from peers import Run
from timing import Report

from nli_faith import Scorer
from nli_faith.devices import free_memory, no_memory
from nli_faith.model import NliModel
from nli_faith.packed import said
from nli_faith.parity import agreement, difference, written
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


@contextmanager
def spared(name: str, device: torch.device, foreign: bool = False) -> Iterator[None]:
    """Who runs out of memory inside is left out with a line, and the others go on; `foreign` code is whatever goes wrong."""
    try:
        yield
        return
    except Exception as error:
        if not foreign and not no_memory(error):
            raise
        print(f"{name} is left out: {said(error)}", flush=True)
    free_memory(device)


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
        texts = self._for_a_pass(run, whole, WARM_UP)
        pairs = list_pairs(texts, self._reader)
        p = run(self._sample)
        near = {"max_difference": written(difference(p, self._reference)),
                "verdict_agreement": round(agreement(p, self._reference), 5)}  # fmt: skip

        def line(taken: list[float]) -> dict:
            found = {"pairs": len(texts)} | speed(taken, pairs, self._reader.checkpoint.config, self._top, first_only)
            if self._work.answers:
                found["answers_per_second"] = round(found["pairs_per_second"] * self._work.answers / len(whole), 3)
            return found | near

        self._contenders.append(Contender(name, lambda: run(texts), line))

    def _for_a_pass(self, run: Callable[[list], object], whole: Sequence, least: int) -> list:
        """As many of `whole` as a pass has time for, evenly spread; at least `least`. It warms `run` up."""
        few, cuda = even_sample(whole, least), self._reader.device.type == "cuda"
        run(few)
        taken = timed(lambda: run(few))
        while cuda and taken < self._seconds / 8 and len(few) < len(whole):  # a GPU takes as long for more, until it is full
            few = even_sample(whole, 4 * len(few))
            taken = timed(lambda: run(few))
        chosen = even_sample(whole, max(len(few), int(self._seconds * len(few) / taken)))
        if cuda:
            run(chosen)  # it has shapes of its own, for each of which kernels are chosen and memory is taken
        return chosen

    def enter_rows(self, rows: Sequence[Row], reader: NliModel, early: bool) -> None:
        """From rows to scores, with early exit or without."""
        scorer, counts = Scorer(early_exit=early).over(reader), Counts()
        chosen = self._for_a_pass(scorer.score_window, rows, 4)

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
            for one in list(self._contenders):
                with spared(one.name, self._reader.device):
                    one.taken.append(timed(one.run))
                    self._report.add(self._section, {"name": one.name} | one.line(one.taken))
                    continue
                self._contenders.remove(one)
