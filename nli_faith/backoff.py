"""Pairs through a network in batches within its budget, in smaller ones from when memory runs out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch import Tensor

from nli_faith.batches import compose, plan_batches
from nli_faith.devices import free_memory, no_memory
from nli_faith.errors import DeviceError
from nli_faith.types import Counts, PairTable, TokenBatch

Texts = tuple[PairTable, Sequence[np.ndarray], Sequence[np.ndarray]]  # with the ids of premises and hypotheses


def in_batches(
    model, pairs: np.ndarray, texts: Texts, dtype: str, counts: Counts, share: int = 1
) -> Iterator[tuple[np.ndarray, TokenBatch, Tensor]]:
    """(numbers of pairs, their batch, logits on the device), until all `pairs` are read, longest first.

    Args:
        model: a `model.NliModel`, whose budget is halved for good whenever memory runs out.
        pairs: int[N], rows of the table.
        share: batches hold the budget divided by it.
    Raises:
        DeviceError: no memory for a single pair.
    """
    table, premises, hypotheses = texts
    waiting = _plan(model, pairs, table, share)
    while waiting:
        chosen = waiting.pop()
        batch = compose(table, chosen, premises, hypotheses, model.encoder)
        result = _try(model, batch, dtype)
        if result is not None:
            yield chosen, batch, result
            continue
        counts.out_of_memory += 1
        if len(chosen) == 1:
            raise DeviceError(
                f"{model.device} has no memory for a single pair of {int(table.length[chosen[0]])} tokens. "
                "Use a smaller model or --device cpu."
            )
        model.budget = max(1, model.budget // 2)
        waiting = _plan(model, np.sort(np.concatenate([chosen, *waiting])), table, share)


def _plan(model, pairs: np.ndarray, table: PairTable, share: int) -> list[np.ndarray]:
    """Batches of the pairs, the first to be read at the end."""
    return [pairs[part] for part in plan_batches(table.length[pairs], max(1, model.budget // share))[::-1]]


def _try(model, batch: TokenBatch, dtype: str) -> Tensor | None:
    """Logits of a batch, or None when memory ran out."""
    try:
        return model.forward(batch, dtype)
    except RuntimeError as error:
        if not no_memory(error):
            raise
    # Here the exception is gone, which held the frames that hold the memory.
    free_memory(model.device)
    return None
