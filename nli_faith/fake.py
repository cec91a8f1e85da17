"""A reader without weights: everything around the network can be run and tested with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nli_faith.checkpoints import Card
from nli_faith.scores import softmax_rows
from nli_faith.tokens import Encoder
from nli_faith.types import Counts, PairTable


class FakeModel:
    """Length-based probabilities, for dry runs and for tests of everything around the network; needs no weights.

    A pair is entailed when the lengths of premise and hypothesis are both even or both odd: deterministic, cheap, and
    every verdict occurs.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.card = Card()
        self.classes = 3

    def probabilities(
        self, table: PairTable, premises: Sequence[np.ndarray], hypotheses: Sequence[np.ndarray], counts: Counts
    ) -> np.ndarray:
        """See `model.Reader`."""
        p = np.array([len(premises[i]) for i in table.premise], dtype=np.int64)
        h = np.array([len(hypotheses[i]) for i in table.hypothesis], dtype=np.int64)
        strength = 1.0 + (p * 31 + h * 17) % 13 / 6.5
        winner = (p + h) % 2 + ((p + h) % 6 == 1)
        logits = np.zeros((len(table), 3), dtype=np.float32)
        logits[np.arange(len(table)), winner] = strength
        counts.read(len(table))
        total = int(table.length.sum())
        counts.tokens += total
        counts.padded_tokens += total
        return softmax_rows(logits)
