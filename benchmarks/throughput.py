"""How fast pairs are scored: nli-faith beside its peers, on the identical list of pairs, in one run on one machine.

    python benchmarks/throughput.py --rows answers.jsonl --limit 60 --out benchmarks/results/NAME.json
    python benchmarks/throughput.py --synthetic 128,256,384,512 --peers none

Rows are cut into our claims and windows first; every contender reads those pairs. Peers (`pip install 'nli-faith[bench]'`):
sentence-transformers' CrossEncoder as shipped (float32, batches of 32) and at its best (bf16 on CPU, fp16 on CUDA, the best of
several batch sizes), transformers' text-classification pipeline, and the plain loop of model cards. Then our own steps are
switched off one by one. Nothing else should run on the machine.

FLOPs of a pair of L tokens: layers x (L (8 h^2 + 4 h f) + 4 L^2 h + 4 L R h), multiply-add = 2, R = 2 L - 1 position
vectors. The ceiling is a matrix product in the same dtype, measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
from export_hf import export  # noqa: E402

from nli_faith import Scorer, __version__  # noqa: E402
from nli_faith.checkpoints import open_checkpoint  # noqa: E402
from nli_faith.drafts import draft_row, read_texts, short_questions  # noqa: E402
from nli_faith.identity import package_version  # noqa: E402
from nli_faith.memory import keep_freed_memory  # noqa: E402
from nli_faith.model import NliModel  # noqa: E402
from nli_faith.pairs import Pool, cross  # noqa: E402
from nli_faith.rows import RowReader  # noqa: E402
from nli_faith.options import FileOptions, ModelOptions  # noqa: E402
from nli_faith.sources import find_sources  # noqa: E402
from nli_faith.types import Counts, PairTable  # noqa: E402

BATCH_SIZES = (8, 32, 128)


@dataclass(frozen=True, slots=True)
class Work:
    """The pairs that everybody reads: ids for us, texts for the peers; `answers` is 0 for synthetic pairs."""

    table: PairTable
    premises: list[np.ndarray]
    hypotheses: list[np.ndarray]
    texts: list[tuple[str, str]]
    all_pairs: int
    answers: int


def pairs_of_rows(path: str, limit: int, reader: NliModel) -> tuple[Work, list]:
    """The distinct pairs of the first `limit` rows, and the rows."""
    source = RowReader(find_sources([path], print), FileOptions(limit=limit), print)
    rows = source.first_rows(limit)
    counts, premises, hypotheses = Counts(), Pool(), Pool()
    short = short_questions(rows, reader)
    drafts = [draft_row(row, "sentence", short, counts) for row in rows]
    read_texts(drafts, reader, premises, hypotheses)
    ready = [draft for draft in drafts if draft.status == "scored"]
    pairs = cross([(d.hypotheses, d.premises) for d in ready], premises, hypotheses, reader.encoder.specials)
    window = {int(n): w.text for d in ready for n, (_, w) in zip(d.premises, d.windows)}
    claim = {d.parts[k][0]: d.units[i].hypothesis for d in ready for k, i in enumerate(d.claims)}
    keep = np.array([int(h) in claim for h in pairs.table.hypothesis])
    table = PairTable(pairs.table.premise[keep], pairs.table.hypothesis[keep], pairs.table.length[keep])
    texts = [(window[int(p)], claim[int(h)]) for p, h in zip(table.premise, table.hypothesis)]
    return Work(table, premises.ids, hypotheses.ids, texts, len(pairs.slot), len(rows)), rows


def synthetic(length: int, count: int, reader: NliModel) -> Work:
    """Pairs of `length` tokens each, of random pieces; claims of 24 tokens."""
    rng = np.random.default_rng(length)
    claim = 24
    premises = [rng.integers(1000, reader.encoder.size - 1, length - claim - 3).astype(np.int32) for _ in range(count)]
    hypotheses = [rng.integers(1000, reader.encoder.size - 1, claim).astype(np.int32) for _ in range(count)]
    index = np.arange(count, dtype=np.int32)
    return Work(PairTable(index, index, np.full(count, length, np.int32)), premises, hypotheses, [], count, 0)


def flops(lengths: np.ndarray, config: dict) -> float:
    """Multiply-adds of all pairs, counted as 2."""
    layers, h, f = config["num_hidden_layers"], config["hidden_size"], config["intermediate_size"]
    n = lengths.astype(np.float64)
    return float(layers * (n * (8 * h * h + 4 * h * f) + 4 * n * n * h + 4 * n * (2 * n - 1) * h).sum())


def ceiling(device: torch.device, dtype: torch.dtype) -> float:
    """FLOP/s of a matrix product on this device."""
    size = 8192 if device.type == "cuda" else 2048
    a = torch.randn(size, size, device=device, dtype=dtype)
    for _ in range(3):
        a @ a
    rounds, begun = 5, time.perf_counter()
    for _ in range(rounds):
        b = a @ a
    b.flatten()[0].item()  # wait for the device
    return rounds * 2 * size**3 / (time.perf_counter() - begun)


def timed(name: str, work: Work, run: Callable[[], np.ndarray], reference: np.ndarray | None, config: dict, top: float) -> dict:
    """One line of the table: `run` twice, the second one timed."""
    run()
    begun = time.perf_counter()
    p = run()
    seconds = time.perf_counter() - begun
    line = {
        "name": name, "seconds": round(seconds, 3), "pairs_per_second": round(len(work.table) / seconds, 2),
        "tokens_per_second": round(int(work.table.length.sum()) / seconds),
        "tflops": round(flops(work.table.length, config) / seconds / 1e12, 4),
        "percent_of_ceiling": round(100 * flops(work.table.length, config) / seconds / top, 1),
    }  # fmt: skip
    if work.answers:
        line["answers_per_second"] = round(work.answers / seconds, 3)
    if reference is not None:
        line["max_difference"] = float(f"{np.abs(p - reference).max():.5f}")
        line["verdict_agreement"] = round(float((p.argmax(1) == reference.argmax(1)).mean()), 5)
    print(json.dumps(line), flush=True)
    return line


def ours(reader: NliModel, work: Work, dtype: str | None = None, sort: bool = True) -> np.ndarray:
    """Our probabilities, with the dtype or the length order switched off."""
    own, budget = reader.dtype, reader.budget
    reader.dtype = dtype or own
    try:
        if sort:
            return reader.probabilities(work.table, work.premises, work.hypotheses, Counts())
        parts = []
        for start in range(0, len(work.table), 32):  # arrival order, batches of 32
            piece = PairTable(*(column[start : start + 32] for column in (work.table.premise, work.table.hypothesis, work.table.length)))
            reader.budget = int(piece.length.max()) * 32
            parts.append(reader.probabilities(piece, work.premises, work.hypotheses, Counts()))
        return np.concatenate(parts)
    finally:
        reader.dtype, reader.budget = own, budget


def eager(network, reader: NliModel, work: Work, dtype: torch.dtype) -> np.ndarray:
    """Our tokens and batches through transformers' own eager attention."""
    own = reader._network
    half, reader._half = reader._half, None
    reader._network = lambda ids, lengths: network(
        input_ids=ids,
        attention_mask=torch.ones_like(ids) if lengths is None else (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long(),
    ).logits
    try:
        return ours(reader, work)
    finally:
        reader._network, reader._half = own, half


def peers(folder: str, work: Work, device: torch.device, order: list[int], names: str) -> dict[str, Callable[[], np.ndarray]]:
    """name -> run of each peer, probabilities in our column order."""
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    half = torch.float16 if device.type == "cuda" else torch.bfloat16
    runs: dict[str, Callable[[], np.ndarray]] = {}

    def cross_encoder(dtype: torch.dtype, size: int) -> Callable[[], np.ndarray]:
        model = CrossEncoder(folder, max_length=512, device=str(device), model_kwargs={"dtype": dtype})
        return lambda: model.predict(work.texts, batch_size=size, apply_softmax=True, show_progress_bar=False)[:, order]

    runs["CrossEncoder.predict as shipped (fp32, batch 32)"] = cross_encoder(torch.float32, 32)
    for size in BATCH_SIZES:
        runs[f"CrossEncoder.predict {str(half)[6:]}, batch {size}"] = cross_encoder(half, size)
    if names == "all":
        tokenizer = AutoTokenizer.from_pretrained(folder)
        network = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
        pipe = pipeline("text-classification", model=network, tokenizer=tokenizer, device=device, top_k=None)

        def by_pipeline() -> np.ndarray:
            inputs = [{"text": premise, "text_pair": claim} for premise, claim in work.texts]
            names = [network.config.id2label[i] for i in order]
            return np.array([[{s["label"]: s["score"] for s in line}[n] for n in names] for line in pipe(inputs, truncation=True, batch_size=8)])

        def by_loop() -> np.ndarray:
            rows = []
            for premise, claim in work.texts:
                encoded = tokenizer(premise, claim, truncation=True, return_tensors="pt").to(device)
                with torch.no_grad():
                    rows.append(torch.softmax(network(**encoded).logits[0], -1).cpu().numpy())
            return np.array(rows)[:, order]

        runs["transformers pipeline (fp32, batch 8)"] = by_pipeline
        runs["plain loop of model cards (fp32)"] = by_loop
    return runs


def measure_rows(args: argparse.Namespace, reader: NliModel) -> dict:
    """Contenders and our own steps on real rows."""
    work, rows = pairs_of_rows(args.rows, args.limit, reader)
    config = reader.checkpoint.config
    top = ceiling(reader.device, torch.float16 if reader.device.type == "cuda" else torch.bfloat16)
    print(f"{work.answers} answers, {work.all_pairs} pairs, {len(work.table)} distinct, mean {work.table.length.mean():.0f} tokens")
    reference = ours(reader, work, "fp32")
    lines = [timed(f"nli-faith ({reader.dtype})", work, lambda: ours(reader, work), reference, config, top)]
    lines.append(timed("nli-faith, fp32", work, lambda: ours(reader, work, "fp32"), reference, config, top))
    lines.append(timed("nli-faith, not sorted (batches of 32)", work, lambda: ours(reader, work, sort=False), reference, config, top))
    with tempfile.TemporaryDirectory() as folder:
        export(Path(open_checkpoint(args.model).folder), Path(folder))
        from transformers import AutoModelForSequenceClassification

        network = AutoModelForSequenceClassification.from_pretrained(folder).to(reader.device).eval()
        lines.append(timed("nli-faith, transformers' attention", work, lambda: eager(network, reader, work, torch.float32), reference, config, top))
        if args.peers != "none":
            for name, run in peers(folder, work, reader.device, list(reader.checkpoint.labels.order), args.peers).items():
                lines.append(timed(name, work, run, reference, config, top))
    for early in (False, True):
        scorer = Scorer(args.model, early_exit=early)
        scorer._reader = reader
        scorer.score_window(rows[:4])
        begun = time.perf_counter()
        result = scorer.score_window(rows)
        seconds = time.perf_counter() - begun
        name = f"end to end{', --early-exit' if early else ''}"
        counts = result.counts
        lines.append({"name": name, "seconds": round(seconds, 3), "answers_per_second": round(len(rows) / seconds, 3),
                      "pairs_scored": counts.pairs_scored, "pairs": counts.pairs,
                      "padding": round(1 - counts.tokens / counts.padded_tokens, 4)})  # fmt: skip
        print(json.dumps(lines[-1]), flush=True)
    return {"rows": len(rows), "pairs": len(work.table), "mean_tokens": float(work.table.length.mean()), "ceiling_tflops": round(top / 1e12, 3), "lines": lines}


def measure_lengths(args: argparse.Namespace, reader: NliModel) -> list[dict]:
    """Our pairs/s by length."""
    top = ceiling(reader.device, torch.float16 if reader.device.type == "cuda" else torch.bfloat16)
    lines = []
    for length in (int(part) for part in args.synthetic.split(",")):
        count = args.pairs or max(16, 1_000_000 // length if reader.device.type == "cuda" else 20_000 // length)
        work = synthetic(length, count, reader)
        reference = ours(reader, work, "fp32")
        lines.append(timed(f"{length} tokens", work, lambda work=work: ours(reader, work), reference, reader.checkpoint.config, top))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="nli-faith-xsmall")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rows", help="a file of answers with contexts (any input of `nli-faith score`)")
    parser.add_argument("--limit", type=int, default=60, help="rows to take of it")
    parser.add_argument("--synthetic", help="lengths of made-up pairs, for example 128,256,384,512")
    parser.add_argument("--pairs", type=int, help="made-up pairs of each length")
    parser.add_argument("--peers", choices=("none", "crossencoder", "all"), default="all")
    parser.add_argument("--out", type=Path, help="JSON to write")
    args = parser.parse_args()
    keep_freed_memory()
    reader = NliModel(ModelOptions(args.model, device=args.device))
    report = {
        "nli_faith": __version__, "model": args.model, "hash": reader.checkpoint.hash, "device": str(reader.device),
        "dtype": reader.dtype, "attention": reader.attention, "threads": torch.get_num_threads(),
        "processor": platform.processor() or platform.machine(), "capability": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name() if reader.device.type == "cuda" else None,
        "versions": {name: package_version(name) for name in ("torch", "transformers", "sentence-transformers", "tokenizers")},
        "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip
    if args.rows:
        report["real_rows"] = measure_rows(args, reader)
    if args.synthetic:
        report["synthetic"] = measure_lengths(args, reader)
    report["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
