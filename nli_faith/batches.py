"""Pair table -> batches that respect a token budget, longest pairs first, every pair in exactly one batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nli_faith.tokens import Encoder
from nli_faith.types import PairTable, TokenBatch

MAX_PAIRS = 1024
STEP = 16


def padded_length(longest: int) -> int:
    """Columns of a batch: a multiple of 16, so that shapes repeat (CPU libraries compile a kernel for every new shape)."""
    return -(-longest // STEP) * STEP


def plan_batches(length: np.ndarray, budget: int) -> list[np.ndarray]:
    """Batches of pair numbers, int64[B] each: a partition of all pairs.

    Pairs are sorted by length, longest first (so that memory runs out in the first second or never), ties by number. A
    batch costs `padded_length(longest) * B` tokens, at most `budget`; a pair that is longer than the budget has a batch of its own.

    Args:
        length: int[P], tokens of each pair.
        budget: padded tokens of one batch.
    """
    order = np.argsort(-length.astype(np.int64), kind="stable")
    batches = []
    start = 0
    while start < len(order):
        fit = max(1, min(budget // padded_length(int(length[order[start]])), MAX_PAIRS))
        batches.append(order[start : start + fit])
        start += fit
    return batches


def compose(
    table: PairTable, chosen: np.ndarray, premises: Sequence[np.ndarray], hypotheses: Sequence[np.ndarray], encoder: Encoder
) -> TokenBatch:
    """The flat ids of the chosen pairs, in their order."""
    rows = [encoder.pair(premises[table.premise[i]], hypotheses[table.hypothesis[i]]) for i in chosen]
    starts = np.concatenate([[0], np.cumsum(table.length[chosen])]).astype(np.int32)
    return TokenBatch(np.concatenate(rows), starts, chosen.astype(np.int32))
