"""What timing needs: lists of pairs, FLOPs, the ceiling of the machine, passes, and the plain network to compare with.

FLOPs of a pair of L tokens in a whole layer: L (8 h^2 + 4 h f) + 4 L^2 h + 4 L R h, a multiply-add counted as 2, R the
position vectors that L tokens can use. The packed kernel and transformers compute all layers so. Our own networks compute
the last one for the first token only: keys and values of all tokens, 4 L h^2, and one row of the rest, 4 h^2 + 4 h f +
8 L h. Figures count what the contender at hand computes of that, so its share of the ceiling is of work that was done;
padding and unused positions do not count, for nobody needs them. The ceiling is a matrix product in the same number format,
measured in the same run.
"""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from nli_faith import __version__
from nli_faith.deberta import log_buckets
from nli_faith.errors import ModelError
from nli_faith.identity import package_version
from nli_faith.networks import load_state, masked_logits
from nli_faith.types import Counts, PairTable

_PACKAGES = ("torch", "triton", "transformers", "sentence-transformers", "tokenizers", "disentangled-flash")


@dataclass(frozen=True, slots=True)
class PairList:
    """Pairs that every contender reads, as texts and as ids.

    Attributes:
        texts: (premise, hypothesis), each pair once.
        table, premises, hypotheses: the same as `NliModel.probabilities` takes them.
    """

    texts: list[tuple[str, str]]
    table: PairTable
    premises: list[np.ndarray]
    hypotheses: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def tokens(self) -> int:
        """Tokens of all pairs, special ones included, padding not."""
        return int(self.table.length.sum())


def list_pairs(texts: Sequence[tuple[str, str]], reader, once: bool = True) -> PairList:
    """The pairs with their ids; each distinct text is encoded once, or with `once` off as often as it occurs."""
    wrap = reader.card.template.hypothesis
    sides = []
    for side in ([premise for premise, _ in texts], [wrap.replace("{}", hypothesis) for _, hypothesis in texts]):
        distinct = list(dict.fromkeys(side)) if once else side
        ids = reader.encoder.encode(distinct)
        place = {text: number for number, text in enumerate(distinct)}
        sides.append((ids, np.array([place[text] for text in side], dtype=np.int32)))
    (premises, premise), (hypotheses, hypothesis) = sides
    sizes = [np.array([len(ids) for ids in own], dtype=np.int32) for own in (premises, hypotheses)]
    length = sizes[0][premise] + sizes[1][hypothesis] + reader.encoder.specials
    return PairList(list(texts), PairTable(premise, hypothesis, length.astype(np.int32)), premises, hypotheses)


def read(reader, pairs: PairList, counts: Counts | None = None) -> np.ndarray:
    """float32[P, C], the probabilities of all pairs."""
    return reader.probabilities(pairs.table, pairs.premises, pairs.hypotheses, Counts() if counts is None else counts)


def flops(lengths: np.ndarray, config: dict, first_only: bool = False) -> float:
    """FLOPs of pairs of these lengths, int[P].

    Args:
        config: as in `config.json`.
        first_only: the last layer is computed for the first token only; see `NliModel.reads_first_only`.
    """
    layers, h, f = config["num_hidden_layers"], config["hidden_size"], config["intermediate_size"]
    n, positions = lengths.astype(np.float64), _positions(lengths, config)
    whole = n * (8 * h * h + 4 * h * f) + 4 * n * n * h + 4 * n * positions * h
    last = 4 * n * h * h + 4 * h * h + 4 * h * f + 4 * n * h + 4 * n * h * (positions > 0) if first_only else whole
    return float(((layers - 1) * whole + last).sum())


def _positions(lengths: np.ndarray, config: dict) -> np.ndarray:
    """Position vectors that sequences of these lengths use; 0 for networks without relative positions."""
    buckets = config.get("position_buckets", -1)
    if buckets <= 0 or not config.get("relative_attention"):
        return np.zeros(len(lengths))
    longest = config.get("max_relative_positions", -1)
    longest = longest if longest > 0 else config.get("max_position_embeddings", 512)
    bucket = log_buckets(torch.from_numpy(lengths.astype(np.int64) - 1), buckets, longest).numpy()
    return 2.0 * np.minimum(bucket, buckets - 1) + 1


def ceiling(device: torch.device, dtype: torch.dtype, seconds: float = 0.5) -> float:
    """FLOP/s of a matrix product on this device, measured for at least so many seconds."""
    size = 8192 if device.type == "cuda" else 2048
    a = torch.randn(size, size, device=device).to(dtype)
    _products(a, 2)  # the clock starts when the device is done with these
    rounds, begun = 0, time.perf_counter()
    while (taken := time.perf_counter() - begun) < seconds or not rounds:
        rounds += _products(a, 5)
    return rounds * 2 * size**3 / taken


def _products(a: torch.Tensor, rounds: int) -> int:
    for _ in range(rounds):
        b = a @ a
    b.flatten()[0].item()  # waits for the device
    return rounds


def passes(run: Callable[[], object], seconds: float, most: int = 5) -> list[float]:
    """Seconds of each call of `run`, from 1 to `most` of them, until `seconds` are spent. Warm up before."""
    taken: list[float] = []
    while not taken or (len(taken) < most and sum(taken) + median(taken) <= seconds):
        begun = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begun)
    return taken


def speed(taken: Sequence[float], pairs: PairList, config: dict, top: float, first_only: bool = False) -> dict:
    """What passes over `pairs` come to, by their median.

    Args:
        top: the ceiling in FLOP/s; config, first_only: see `flops`.
    """
    middle = median(taken)
    achieved = flops(pairs.table.length, config, first_only) / middle
    return {
        "seconds": round(middle, 4),
        "passes": len(taken),
        "spread": round((max(taken) - min(taken)) / middle, 3),
        "pairs_per_second": round(len(pairs) / middle, 2),
        "tokens_per_second": round(pairs.tokens / middle),
        "tflops": round(achieved / 1e12, 4),
        "percent_of_ceiling": round(100 * achieved / top, 1),
    }


class EagerNetwork(torch.nn.Module):
    """The weights of a checkpoint in transformers' own code, float32, behind the call of `DebertaClassifier`."""

    def __init__(self, checkpoint) -> None:
        super().__init__()
        from transformers import AutoConfig, AutoModelForSequenceClassification

        self.net = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(**checkpoint.config)).eval()
        missing = self.net.load_state_dict(load_state(checkpoint), strict=False).missing_keys
        if missing:
            raise ModelError(f"The weights of {checkpoint.name} lack {missing[0]}, so there is nothing to compare with.")

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        return masked_logits(self.net, ids, lengths)


def machine(reader) -> dict:
    """What ran, on what; without the time of day, which the caller may add."""
    device = reader.device
    return {
        "nli_faith": __version__,
        "model": reader.checkpoint.name,
        "model_hash": reader.checkpoint.hash,
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "dtype": reader.dtype,
        "attention": reader.attention,
        "packing": reader.packing,
        "budget": reader.budget,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "versions": {name: package_version(name) for name in _PACKAGES},
    }


def load() -> float | None:
    """Mean number of processes that wanted a core in the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def disturbed(before: float | None, after: float | None, device: torch.device) -> bool:
    """Whether so much else ran that figures say little: a quarter of the cores, beyond what the measurement itself makes.

    Args:
        before, after: load averages, the second with the measurement on `device` in it; None where there is none.
    """
    own, other = torch.get_num_threads() if device.type == "cpu" else 1, 0.25 * (os.cpu_count() or 1)
    return (before or 0.0) > other or (after or 0.0) > own + other


def peak_memory(device: torch.device) -> dict:
    """Highest use so far in MiB: `process` on the host, `device` on a GPU or None."""
    on_device = torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else None
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if platform.system() == "Darwin" else 2**10)
    return {"process": round(host), "device": None if on_device is None else round(on_device)}
