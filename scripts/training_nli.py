"""First stage: short premises with their hypotheses, tokenised, repeated as `training_data.SOURCES` says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from nli_faith.tokens import Encoder
from train import Example
from training_data import SOURCES, Pair, fraction, load_nli, split_held_back

HELD_BACK = {"mnli_dev": 0.10}
DEV_PER_SET = 150


def tokenise(pairs: list[Pair], encoder: Encoder, max_length: int) -> list[Example]:
    """Pairs that fit `max_length`, as ids; each distinct text is encoded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.premise, pair.hypothesis)))
    ids: dict[str, np.ndarray] = dict(zip(texts, encoder.encode(texts)))
    made = [Example(ids[p.premise], ids[p.hypothesis], p.label, 1.0, p.dataset) for p in pairs]
    return [example for example in made if len(example) <= max_length]


def nli_examples(data: Path, encoder: Encoder, max_length: int) -> tuple[list[Example], list[Example]]:
    """(training examples with repeats, held-back examples: at most 150 of each set, 600 of MNLI)."""
    train, held = split_held_back(load_nli(data), HELD_BACK, 0.03)
    repeat = {source.file: source.repeat for source in SOURCES}
    repeated = []
    for pair in train:
        whole, rest = divmod(repeat[pair.dataset], 1.0)
        times = int(whole) + (fraction(pair.premise + pair.hypothesis, "repeat") < rest)
        repeated += [pair] * times
    taken: Counter[str] = Counter()
    dev = []
    for pair in held:
        taken[pair.dataset] += 1
        if taken[pair.dataset] <= (600 if pair.dataset == "mnli_dev" else DEV_PER_SET):
            dev.append(pair)
    return tokenise(repeated, encoder, max_length), tokenise(dev, encoder, max_length)
