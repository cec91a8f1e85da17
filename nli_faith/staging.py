"""Batches on their way to a device: padded, where the network needs that, and on CUDA sent through pinned buffers, so that a
copy never waits for the device.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from nli_faith.batches import padded_length
from nli_faith.types import TokenBatch

BUFFERS = 8


class Staging:
    """A ring of pinned buffers, each taken again when the copy out of it is done; plain copies where there is no CUDA.

    A copy from ordinary memory makes the host wait for all work that the device still has.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._ring = [_Buffer(device) for _ in range(BUFFERS)] if device.type == "cuda" else []
        self._next = 0

    def send(self, tensor: Tensor) -> Tensor:
        """`tensor`, which is on the host, on the device; same shape and dtype."""
        if not self._ring:
            return tensor.to(self._device)
        buffer = self._ring[self._next]
        self._next = (self._next + 1) % len(self._ring)
        return buffer.send(tensor)


class _Buffer:
    """Pinned bytes, and the event that tells when the copy out of them is done."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._bytes = torch.empty(0, dtype=torch.uint8)
        self._copied = torch.cuda.Event()

    def send(self, tensor: Tensor) -> Tensor:
        self._copied.synchronize()
        if self._bytes.numel() < tensor.nbytes:
            self._bytes = torch.empty(tensor.nbytes, dtype=torch.uint8, pin_memory=True)
        pinned = self._bytes[: tensor.nbytes].view(tensor.dtype).view(tensor.shape)
        pinned.copy_(tensor)
        sent = pinned.to(self._device, non_blocking=True)
        self._copied.record(torch.cuda.current_stream(self._device))
        return sent


def pad(batch: TokenBatch) -> tuple[Tensor, Tensor | None]:
    """(int64 `[B, L]` right-padded with 0, int64 `[B]` lengths, or None when all are equally long)."""
    length = np.diff(batch.starts)
    ids = np.zeros((len(length), padded_length(batch.longest)), dtype=np.int64)
    mask = np.arange(ids.shape[1]) < length[:, None]
    ids[mask] = batch.token_ids
    return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(length.astype(np.int64))
