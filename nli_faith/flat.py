"""The network of `deberta.py` over sequences laid end to end: no padding, no mask, no table made twice. For CPUs.

    ids [T] -> word vectors -> layers (attention per run of equally long sequences, the rest over all T) -> logits [B, C]

The linear layers see one flat `[T, hidden]` matrix. Attention takes sequences of one length at a time, so that its scores
stay in the cache and nothing is masked. Position tables are projected once, for the longest length seen, and sliced. The
last layer is computed for the first token of each sequence, the only one that the head reads.
The arithmetic is that of `deberta.SelfAttention` on a single unpadded sequence; residuals and LayerNorms are float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nli_faith.deberta import DebertaClassifier, Layer, skew_rows

_STEP = 64  # position tables grow by so many tokens


class _Linear:
    """`x @ weight.T + bias` in one dtype; in bf16 through oneDNN with the weight laid out for it, where torch has that."""

    def __init__(self, weight: Tensor, bias: Tensor, dtype: torch.dtype, activation: str = "none") -> None:
        self.weight, self.bias, self.activation = weight.to(dtype), bias.to(dtype), activation
        self.packed = _pack(self.weight) if dtype == torch.bfloat16 else None

    def __call__(self, x: Tensor) -> Tensor:
        if self.packed is not None:
            return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, self.activation, [], "none")
        out = F.linear(x, self.weight, self.bias)
        return F.gelu(out) if self.activation == "gelu" else out


def _pack(weight: Tensor) -> Tensor | None:
    """The weight in oneDNN's own layout, or None where this build of torch lacks the two operators or refuses them."""
    try:
        packed = _reorder(weight)
        torch.ops.mkldnn._linear_pointwise(weight.new_zeros(1, weight.shape[1]), packed, None, "gelu", [], "none")
    except (AttributeError, RuntimeError):
        return None
    return packed


def _reorder(weight: Tensor) -> Tensor:
    # The number of rows is a hint: batches have about as many tokens.
    return torch.ops.mkldnn._reorder_linear_weight(weight, 4096)


@dataclass(frozen=True, slots=True)
class _Run:
    """`n` sequences of `length` tokens, one behind the other: rows `[start, end)` of the flat matrix, from sequence `first`."""

    length: int
    n: int
    start: int
    first: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.n


def _runs(lengths: list[int]) -> list[_Run]:
    runs: list[_Run] = []
    start = first = 0
    for length, same in groupby(lengths):
        runs.append(_Run(length, len(list(same)), start, first))
        start, first = runs[-1].end, first + runs[-1].n
    return runs


@dataclass(frozen=True, slots=True)
class _Table:
    """The projected position vectors of one layer.

    Attributes:
        keys, queries: `[H, d, 2 longest - 1]` in the order of the distance q - k, falling for keys, rising for queries.
    """

    keys: Tensor
    queries: Tensor

    @property
    def middle(self) -> int:
        """`longest`, the columns up to and with distance 0."""
        return (self.keys.shape[-1] + 1) // 2

    def around(self, length: int) -> tuple[Tensor, Tensor]:
        """(keys, queries), each `[H, d, 2 length - 1]`, of all distances in a sequence."""
        columns = slice(self.middle - length, self.middle + length - 1)
        return self.keys[..., columns], self.queries[..., columns]

    def ahead(self, length: int) -> tuple[Tensor, Tensor]:
        """(keys, queries), each `[H, d, length]`, of the distances 0, -1, ... 1 - length."""
        return self.keys[..., self.middle - 1 :][..., :length], self.queries[..., self.middle - length : self.middle].flip(-1)


class _FlatLayer:
    """One layer, its weights in the dtype of the products."""

    def __init__(self, layer: Layer, dtype: torch.dtype) -> None:
        own = layer.attention.self
        self.heads, self.scale, self.dtype = own.heads, own.scale, dtype
        self.key_proj, self.query_proj = own.key_proj, own.query_proj
        query, key, value = (own.query_proj.weight * own.scale, own.query_proj.bias * own.scale), own.key_proj, own.value_proj
        key_value = torch.cat([key.weight, value.weight]), torch.cat([key.bias, value.bias])
        self.query, self.key_value = _Linear(*query, dtype), _Linear(*key_value, dtype)
        self.out, self.norm = _linear(layer.attention.output.dense, dtype), layer.attention.output.LayerNorm
        self.up = _linear(layer.intermediate.dense, dtype, "gelu")
        self.down, self.last_norm = _linear(layer.output.dense, dtype), layer.output.LayerNorm

    def table(self, positions: Tensor) -> _Table:
        """From `[2 longest - 1, hidden]`, the vectors of the distances from longest - 1 down to 1 - longest."""
        keys = self.key_proj(positions).unflatten(-1, (self.heads, -1)).permute(1, 2, 0)
        queries = (self.query_proj(positions) * self.scale).unflatten(-1, (self.heads, -1)).permute(1, 2, 0).flip(-1)
        return _Table(keys.to(self.dtype).contiguous(), queries.to(self.dtype).contiguous())

    def all_tokens(self, x: Tensor, table: _Table, runs: list[_Run]) -> Tensor:
        """float32 `[T, hidden]` -> same."""
        low = x.to(self.dtype)
        query, (key, value) = self.query(low), self.key_value(low).chunk(2, dim=-1)
        mixed = torch.empty_like(low)
        for run in runs:
            rows = slice(run.start, run.end)
            heads = (self._split(t[rows], run) for t in (query, key, value))
            out = attend(*heads, *table.around(run.length))
            mixed[rows].view(run.n, run.length, self.heads, -1).copy_(out.permute(1, 2, 0, 3))
        return self._rest(mixed, x)

    def first_tokens(self, x: Tensor, table: _Table, runs: list[_Run], first: Tensor) -> Tensor:
        """float32 `[T, hidden]` -> `[B, hidden]`, what `all_tokens` gives for the rows `first`."""
        low = x.to(self.dtype)
        query, (key, value) = self.query(low[first]), self.key_value(low).chunk(2, dim=-1)
        mixed = torch.empty_like(query)
        for run in runs:
            rows, sequences = slice(run.start, run.end), slice(run.first, run.first + run.n)
            key_heads, value_heads = self._split(key[rows], run), self._split(value[rows], run)
            query_heads = query[sequences].view(run.n, self.heads, -1).transpose(0, 1)
            out = attend_first(query_heads, key_heads, value_heads, *table.ahead(run.length))
            mixed[sequences].view(run.n, self.heads, -1).copy_(out.transpose(0, 1))
        return self._rest(mixed, x[first])

    def _split(self, flat: Tensor, run: _Run) -> Tensor:
        """`[n l, hidden]` -> view `[H, n, l, d]`."""
        return flat.unflatten(0, (run.n, run.length)).unflatten(-1, (self.heads, -1)).permute(2, 0, 1, 3)

    def _rest(self, mixed: Tensor, x: Tensor) -> Tensor:
        x = self.norm(self.out(mixed) + x)
        return self.last_norm(self.down(self.up(x.to(self.dtype))) + x)


def _linear(linear: nn.Linear, dtype: torch.dtype, activation: str = "none") -> _Linear:
    return _Linear(linear.weight, linear.bias, dtype, activation)


def attend(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, queries: Tensor) -> Tensor:
    """Disentangled attention of n equally long sequences.

    Args:
        query, key, value: `[H, n, l, d]`, the query scaled.
        keys, queries: `[H, d, 2l - 1]`, see `_Table.around`.
    Returns:
        `[H, n, l, d]`.
    """
    heads, n, length, width = query.shape
    c2p = torch.bmm(query.reshape(heads, n * length, width), keys).view(heads * n, length, -1)
    p2c = torch.bmm(key.reshape(heads, n * length, width), queries).view(heads * n, length, -1)
    # The transposed view is copied first: adding through it would read memory against its grain. The content scores come
    # last, for the product adds them before it rounds.
    scores = skew_rows(p2c).transpose(-1, -2).contiguous()
    scores += skew_rows(c2p).contiguous()
    query, key, value = (t.reshape(heads * n, length, width) for t in (query, key, value))
    scores.baddbmm_(query, key.transpose(-1, -2))
    return torch.bmm(torch.softmax(scores, dim=-1), value).view(heads, n, length, width)


def attend_first(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, queries: Tensor) -> Tensor:
    """The same for the first token of each sequence alone.

    Args:
        query: `[H, n, d]`; key, value: `[H, n, l, d]`.
        keys, queries: `[H, d, l]`, see `_Table.ahead`.
    Returns:
        `[H, n, d]`.
    """
    scores = torch.matmul(key, query.unsqueeze(-1)).squeeze(-1) + torch.bmm(query, keys)
    scores += torch.einsum("hnld,hdl->hnl", key, queries)
    return torch.matmul(torch.softmax(scores, dim=-1).unsqueeze(-2), value).squeeze(-2)


class FlatClassifier:
    """A `DebertaClassifier` that reads flat batches.

    Attributes:
        dtype: of the matrix products.
    """

    def __init__(self, network: DebertaClassifier, dtype: torch.dtype) -> None:
        self._network, self.dtype = network, dtype
        self._tables: list[_Table] = []
        with torch.inference_mode():
            self._layers = [_FlatLayer(layer, dtype) for layer in network.deberta.encoder.layer]

    @torch.inference_mode()
    def __call__(self, ids: Tensor, starts: Tensor, lengths: np.ndarray) -> Tensor:
        """
        Args:
            ids: int `[T]`, the sequences one behind the other; those of equal length best stand together.
            starts: int `[B + 1]`, first token of each sequence and T.
            lengths: int `[B]`, tokens of each sequence, at least 1.
        Returns:
            float32 `[B, C]`.
        """
        runs = _runs(lengths.tolist())
        tables = self._tables_for(max(run.length for run in runs))
        x = self._network.deberta.embeddings(ids)
        for layer, table in zip(self._layers[:-1], tables):
            x = layer.all_tokens(x, table, runs)
        x = self._layers[-1].first_tokens(x, tables[-1], runs, starts[:-1].long())
        return self._network.classifier(self._network.pooler(x))

    def _tables_for(self, longest: int) -> list[_Table]:
        """A table for each layer, for sequences of at least `longest` tokens."""
        tables = self._tables  # read once: another thread may put larger ones in its place
        if not tables or tables[0].middle < longest:
            positions = self._network.deberta.encoder.positions(-(-longest // _STEP) * _STEP)
            self._tables = tables = [layer.table(positions) for layer in self._layers]
        return tables


def open_flat(network: nn.Module, dtype: torch.dtype) -> tuple[FlatClassifier | None, str]:
    """(the flat network, its name) or (None, why there is none)."""
    if not isinstance(network, DebertaClassifier):
        return None, "the flat network is for DeBERTa-v3"
    if dtype == torch.float16:
        return None, "float16 on a CPU is read padded"
    return FlatClassifier(network, dtype), "flat"
