"""How fast pairs are scored: nli-faith beside its peers, on the identical list of pairs, in one run on one machine.

    python benchmarks/throughput.py --rows answers.jsonl --limit 60 --out benchmarks/results/NAME.json
    python benchmarks/throughput.py --lengths 128,256,384,512 --peers none
    python benchmarks/throughput.py --lengths 256 --shape large --device cuda

Rows are cut into our claims and windows first; every contender reads those pairs of texts, tokenising included. Peers
(`pip install 'nli-faith[bench]'`) as shipped and at their best: sentence-transformers' CrossEncoder (float32, batches of
32; half precision, several batch sizes), transformers' text-classification pipeline (one pair at a time; half precision in
batches) and the plain loop of model cards (the same two). Then each of our own steps is switched off. Peers that are slow
read an even sample of the list. Every figure is the median of several passes after a warm-up, and the file of --out is
written after each. Nothing else should run on the machine; the load average stands beside every line.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "scripts")]
from export_hf import export  # noqa: E402
from peers import Run, peers  # noqa: E402
from timing import SHAPES, Report, rows_of, write_shape  # noqa: E402

from nli_faith import Scorer  # noqa: E402
from nli_faith.bench import text_table  # noqa: E402
from nli_faith.devices import DTYPES  # noqa: E402
from nli_faith.made_up import made_up_pairs  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402
from nli_faith.model import NliModel  # noqa: E402
from nli_faith.options import ModelOptions  # noqa: E402
from nli_faith.parity import agreement, difference  # noqa: E402
from nli_faith.speed import EagerNetwork, PairList, ceiling, list_pairs, passes, peak_memory, read, speed  # noqa: E402
from nli_faith.types import Counts, PairTable, Row  # noqa: E402

WARM_UP = 32
COLUMNS = ("name", "pairs", "answers_per_second", "pairs_per_second", "tokens_per_second", "percent_of_ceiling", "padding",
           "max_difference", "verdict_agreement", "load")  # fmt: skip


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


def work_of(rows: Sequence[Row], scorer: Scorer) -> Work:
    """The pairs of the rows as the scorer would read them; claims too long for the model are left out."""
    repeated = []
    for draft in scorer.read_window(rows, model=False).drafts:
        if draft.status == "scored":
            claims = [draft.units[i].hypothesis for k, i in enumerate(draft.claims) if len(draft.parts[k]) == 1]
            repeated += [(window.text, claim) for claim in claims for _, window in draft.windows]
    return Work(list(dict.fromkeys(repeated)), repeated, len(rows))


def even_sample(texts: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """At most `count` of the texts, evenly spread over the list."""
    return [texts[i * len(texts) // count] for i in range(count)] if count < len(texts) else list(texts)


class Course:
    """Runs contenders over one work and keeps their lines."""

    def __init__(self, report: Report, section: str, work: Work, plain: NliModel, top: float, args: argparse.Namespace):
        self._report, self._section, self._work, self._reader, self._top = report, section, work, plain, top
        self._seconds, self._most = args.seconds, args.passes
        self._sample = even_sample(work.texts, args.parity)
        self._reference = read(plain, list_pairs(self._sample, plain))

    def enter(self, name: str, run: Run, repeated: bool = False) -> None:
        """Time one contender; `repeated` gives it every pair as often as it occurs."""
        texts = self._work.repeated if repeated else self._work.texts
        few = even_sample(texts, WARM_UP)
        run(few)
        begun = time.perf_counter()
        run(few)
        each = (time.perf_counter() - begun) / len(few)
        texts = even_sample(texts, max(len(few), int(self._seconds / each)))
        taken = passes(lambda: run(texts), self._seconds * self._most / 2, self._most)
        pairs = list_pairs(texts, self._reader)
        line = {"name": name, "pairs": len(texts)} | speed(taken, pairs, self._reader.checkpoint.config, self._top)
        if self._work.answers:
            whole = len(self._work.repeated if repeated else self._work.texts)
            line["answers_per_second"] = round(line["pairs_per_second"] * self._work.answers / whole, 3)
        p = run(self._sample)
        line["max_difference"] = round(difference(p, self._reference), 5)
        line["verdict_agreement"] = round(agreement(p, self._reference), 5)
        self._report.add(self._section, line)


def ours(reader: NliModel, once: bool = True) -> Run:
    """Our own reading: texts tokenised once (or as often as they occur), sorted, under a budget."""
    return lambda texts: read(reader, list_pairs(texts, reader, once))


def unsorted(reader: NliModel) -> Run:
    """Our own reading in the order of arrival, 32 pairs a batch, as most loops do it."""

    def run(texts: Sequence[tuple[str, str]]) -> np.ndarray:
        pairs, other, parts = list_pairs(texts, reader), reader.variant(padded=False), []
        for start in range(0, len(pairs), 32):
            columns = (pairs.table.premise, pairs.table.hypothesis, pairs.table.length)
            piece = PairTable(*(column[start : start + 32] for column in columns))
            other.budget = (int(piece.length.max()) + 16) * 32
            parts.append(read(other, PairList(pairs.texts, piece, pairs.premises, pairs.hypotheses)))
        return np.concatenate(parts)

    return run


def steps(course: Course, reader: NliModel, single: NliModel | None, eager: NliModel) -> None:
    """Our reading, and our reading without each of its steps.

    Args:
        single: the same model in float32, None when `reader` is; eager: with transformers' attention.
    """
    course.enter(f"nli-faith ({reader.dtype}, {reader.attention})", ours(reader))
    course.enter("  texts tokenised as often as they occur", ours(reader, once=False))
    course.enter("  not sorted, batches of 32", unsorted(reader))
    course.enter("  pairs read as often as they occur", ours(reader), repeated=True)
    if single is not None:
        course.enter("  float32", ours(single))
    if reader.packing.startswith("yes"):
        course.enter("  padded", ours(reader.variant()))
    course.enter("  transformers' attention", ours(eager))


def end_to_end(report: Report, section: str, rows: Sequence[Row], reader: NliModel, seconds: float, most: int) -> None:
    """Rows to scores, with and without early exit."""
    for early in (False, True):
        scorer = Scorer(early_exit=early).over(reader)
        scorer.score_window(rows[:4])
        results: list = []
        taken = passes(lambda scorer=scorer, results=results: results.append(scorer.score_window(rows)), seconds * most / 2, most)
        counts: Counts = results[-1].counts
        middle = sorted(taken)[len(taken) // 2]
        report.add(section, {
            "name": f"rows to scores{', --early-exit' if early else ''}", "pairs": counts.pairs_scored, "passes": len(taken),
            "seconds": round(middle, 3), "answers_per_second": round(len(rows) / middle, 3),
            "padding": round(1 - counts.tokens / max(1, counts.padded_tokens), 4),
        })  # fmt: skip


def with_transformers(reader: NliModel) -> tuple[NliModel, NliModel]:
    """The model in transformers' code: (float32, in the dtype of `reader`)."""
    network = EagerNetwork(reader.checkpoint).to(reader.device)
    plain = reader.variant(network=network, dtype="fp32")
    if reader.device.type != "cuda" or reader.dtype == "fp32":
        return plain, reader.variant(network=network)
    # "fp32" computes in the dtype of the weights, which are in half precision here, as people load them.
    return plain, reader.variant(network=copy.deepcopy(network).to(DTYPES[reader.dtype]), dtype="fp32")


def measure(args: argparse.Namespace, reader: NliModel, single: NliModel | None, folder: str) -> None:
    """All contenders over the rows, then over each length."""
    report = Report(args.out, reader)
    top = ceiling(reader.device, DTYPES[reader.dtype])
    report.put(ceiling_tflops=round(top / 1e12, 3))
    rows = rows_of(args.rows, args.limit) if args.rows else []
    works = {"rows": work_of(rows, Scorer().over(reader))} if rows else {}
    for length in args.lengths:
        count = args.pairs or max(64, (1_000_000 if reader.device.type == "cuda" else 30_000) // length)
        texts = made_up_pairs(length, count, reader)
        works[f"{length} tokens"] = Work(texts, texts, 0)
    plain, eager = with_transformers(reader)
    courses = {}
    for section, work in works.items():
        print(f"{section}: {len(work.texts):,} distinct pairs of {len(work.repeated):,}", flush=True)
        courses[section] = Course(report, section, work, plain, top, args)
        if args.steps:
            steps(courses[section], reader, single, eager)
        else:
            courses[section].enter(f"nli-faith ({reader.dtype}, {reader.attention})", ours(reader))
        if section == "rows":
            end_to_end(report, section, rows, reader, args.seconds, args.passes)
    if args.peers != "none":
        for name, make in peers(folder, reader, args.peers).items():
            run = make()
            for course in courses.values():
                course.enter(name, run)
    report.finish(peak_memory_mib=peak_memory(reader.device))
    for section in works:
        print(f"\n{section}\n{text_table(report.figures[section], COLUMNS)}")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--model", default="nli-faith-xsmall")
    what.add_argument("--shape", choices=SHAPES, help="a model of that shape with weights as before training, in place of --model")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", choices=("auto", *DTYPES))
    parser.add_argument("--rows", "--data", help="a file of answers with contexts (any input of `nli-faith score`)")
    parser.add_argument("--limit", type=int, default=60, help="rows to take of it")
    parser.add_argument("--lengths", type=lambda text: [int(part) for part in text.split(",")], default=[],
                        help="lengths of made-up pairs, for example 128,256,384,512")  # fmt: skip
    parser.add_argument("--pairs", type=int, help="made-up pairs of each length")
    parser.add_argument("--peers", choices=("none", "crossencoder", "all"), default="all")
    parser.add_argument("--steps", action=argparse.BooleanOptionalAction, default=True, help="switch our steps off one by one")
    parser.add_argument("--seconds", type=float, default=30.0, help="most that one pass of a contender takes")
    parser.add_argument("--passes", type=int, default=3, help="passes of a contender, of which the median counts")
    parser.add_argument("--parity", type=int, default=64, help="pairs that are compared with transformers' float32")
    parser.add_argument("--out", type=Path, help="JSON to write")
    args = parser.parse_args(argv)
    if not args.rows and not args.lengths:
        parser.error("give --rows, --lengths or both")
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        model = args.model if args.shape is None else str(write_shape(args.shape, Path(folder, "shape")))
        probe = args.shape is None
        reader = NliModel(ModelOptions(model, device=args.device, dtype=args.dtype), probe)
        single = None
        if args.steps and reader.dtype != "fp32":
            single = NliModel(ModelOptions(model, device=args.device, dtype="fp32"), probe)
        if args.peers != "none":
            export(Path(reader.checkpoint.folder), Path(folder, "peer"))
        measure(args, reader, single, str(Path(folder, "peer")))


if __name__ == "__main__":
    main()
