"""How fast pairs are scored: nli-faith beside its peers, on the identical list of pairs, in one run on one machine.

    python benchmarks/throughput.py --rows answers.jsonl --limit 60 --out benchmarks/results/NAME.json
    python benchmarks/throughput.py --lengths 128,256,384,512 --peers none
    python benchmarks/throughput.py --lengths 256 --shape large --device cuda

Rows are cut into our claims and windows first; every contender reads those pairs of texts, tokenising included. Peers
(`pip install 'nli-faith[bench]'`) as shipped and at their best: sentence-transformers' CrossEncoder (float32, batches of
32; half precision, several batch sizes), transformers' text-classification pipeline (one pair at a time; half precision in
batches) and the plain loop of model cards (the same two). Then each of our own steps is switched off. Contenders that are
slow read an even sample of the list. After a warm-up of each all take one pass in turn, then the next, so that a change of the
machine meets everybody; a figure is the median of the passes, with their spread, and the file of --out is written after each.
Nothing else should run on the machine: the load average stands beside every line, and a run beside other work is marked.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "scripts")]
from courses import Course, Work, spared  # noqa: E402
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
from nli_faith.speed import EagerNetwork, PairList, ceiling, list_pairs, peak_memory, read  # noqa: E402
from nli_faith.types import PairTable, Row  # noqa: E402

COLUMNS = ("name", "pairs", "answers_per_second", "pairs_per_second", "tokens_per_second", "percent_of_ceiling", "passes",
           "spread", "padding", "max_difference", "verdict_agreement", "load")  # fmt: skip


def work_of(rows: Sequence[Row], scorer: Scorer) -> Work:
    """The pairs of the rows as the scorer would read them; claims too long for the model are left out."""
    repeated = []
    for draft in scorer.read_window(rows, model=False).drafts:
        if draft.status == "scored":
            claims = [draft.units[i].hypothesis for k, i in enumerate(draft.claims) if len(draft.parts[k]) == 1]
            repeated += [(window.text, claim) for claim in claims for _, window in draft.windows]
    return Work(list(dict.fromkeys(repeated)), repeated, len(rows))


def ours(reader: NliModel, once: bool = True) -> Run:
    """Our own reading: texts tokenised once (or as often as they occur), sorted, under a budget."""
    return lambda texts: read(reader, list_pairs(texts, reader, once))


def ids_ready(reader: NliModel) -> Run:
    """Our own reading of a list that was tokenised when it first came, which is before the clock starts."""
    made: dict[int, tuple[Sequence[tuple[str, str]], PairList]] = {}

    def run(texts: Sequence[tuple[str, str]]) -> np.ndarray:
        if id(texts) not in made:
            made[id(texts)] = texts, list_pairs(texts, reader)  # the list is kept, so that no other gets its id
        return read(reader, made[id(texts)][1])

    return run


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


def enter_steps(course: Course, reader: NliModel, single: NliModel | None, eager: NliModel) -> None:
    """Our reading without each of its steps.

    Args:
        single: the same model in float32, None when `reader` is; eager: with transformers' attention.
    """
    first_only, padded = reader.reads_first_only, reader.variant()
    if reader.device.type == "cuda":  # how much of the time is the device's alone; a CPU does both anyway
        course.enter("  ids ready", ids_ready(reader), first_only)
    course.enter("  texts tokenised as often as they occur", ours(reader, once=False), first_only)
    course.enter("  not sorted, batches of 32", unsorted(reader), first_only)
    course.enter("  pairs read as often as they occur", ours(reader), first_only, repeated=True)
    if single is not None:
        course.enter("  float32", ours(single), single.reads_first_only)
    if reader.packing.startswith("yes"):
        course.enter("  padded", ours(padded), padded.reads_first_only)
    course.enter("  transformers' attention", ours(eager), eager.reads_first_only)


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
    others: dict[str, Run] = {}
    for name, make in ({} if args.peers == "none" else peers(folder, reader, args.peers)).items():
        with spared(name, reader.device, foreign=True):
            others[name] = make()
    for section, work in works.items():
        print(f"{section}: {len(work.texts):,} distinct pairs of {len(work.repeated):,}", flush=True)
        course = Course(report, section, work, plain, top, args)
        course.enter(f"nli-faith ({reader.dtype}, {reader.attention})", ours(reader), reader.reads_first_only)
        if args.steps:
            enter_steps(course, reader, single, eager)
        if section == "rows":
            for early in (False, True):
                course.enter_rows(rows, reader, early)
        for name, run in others.items():
            with spared(name, reader.device, foreign=True):
                course.enter(name, run)
        course.race()
    report.finish(peak_memory_mib=peak_memory(reader.device))
    mark = " (DISTURBED: other work ran)" if report.figures["disturbed"] else ""
    for section in works:
        print(f"\n{section}{mark}\n{text_table(report.figures[section], COLUMNS)}")


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
    parser.add_argument("--seconds", type=float, default=10.0, help="most that one pass of a contender takes")
    parser.add_argument("--passes", type=int, default=3, help="passes of every contender, in turn; the median counts")
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
