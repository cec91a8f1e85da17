"""DeBERTa-v3 with a classification head, as plain torch: the one place that knows the arithmetic of the encoder.

Parameter names are those of the published checkpoints, so a state dict loads as it is. The scores of disentangled
attention (He et al. 2021, https://arxiv.org/abs/2006.03654, equation 4, with the log buckets of version 2) are

    score[q, k] = (Q[q] . K[k]  +  Q[q] . PK[bucket(q - k)]  +  K[k] . PQ[bucket(q - k)]) / sqrt(3 d)

The usual code multiplies with all 512 position vectors and then gathers `[B, H, L, L]` elements twice. Here the position
tables are put in the order of the distance q - k first (2 L - 1 rows); the two terms are then views with skewed strides of
the products, and nothing is gathered (`skew_rows`). The last layer is computed for the first token only, all the head reads.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nli_faith.deberta_config import DebertaConfig

_POOLERS = {"gelu": F.gelu, "tanh": torch.tanh}


def log_buckets(distance: Tensor, buckets: int, longest: int) -> Tensor:
    """Signed bucket of each signed distance; int64, same shape. Distances up to `buckets // 2` stay as they are."""
    middle = buckets // 2
    size = distance.abs().clamp(min=middle - 1).to(torch.float32)
    log = torch.ceil(torch.log(size / middle) / math.log((longest - 1) / middle) * (middle - 1)) + middle
    return torch.where(distance.abs() <= middle, distance, (log * distance.sign()).to(torch.int64))


@lru_cache(maxsize=256)
def _position_rows(length: int, buckets: int, longest: int, device: torch.device) -> Tensor:
    """int64 `[2 length - 1]`: the position vector of each distance, from length - 1 down to 1 - length."""
    with torch.inference_mode(False):  # training reads it too
        # Made on the CPU: the logarithm of another device may round to the next bucket.
        bucket = log_buckets(torch.arange(length - 1, -length, -1, device="cpu"), buckets, longest)
        return (bucket + buckets).clamp(0, 2 * buckets - 1).to(device)


def skew_rows(products: Tensor) -> Tensor:
    """View of `[..., L, W]` as `[..., L, L]`: element (i, j) is column L - 1 + j - i of row i; W is at least 2L - 1.

    `products` must be contiguous. Memory is shared, nothing is copied.
    """
    *lead, length, width = products.shape
    strides = (*products.stride()[:-2], width - 1, 1)
    return products.as_strided((*lead, length, length), strides, products.storage_offset() + length - 1)


def _vectors(rows: int, width: int, padding_idx: int | None = None) -> nn.Embedding:
    """An embedding. On the meta device it draws no first weights, for which torch would import its compiler, a second's work."""
    weight = torch.empty(rows, width)
    return nn.Embedding(rows, width, padding_idx, _weight=weight if weight.is_meta else None)


class Embeddings(nn.Module):
    """Word vectors and their LayerNorm; int ids `[B, L]` -> float `[B, L, hidden]`."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.word_embeddings = _vectors(config.vocab_size, config.hidden_size, padding_idx=0)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, ids: Tensor) -> Tensor:
        return self.LayerNorm(self.word_embeddings(ids))


def _by_position(x: Tensor, table: Tensor) -> Tensor:
    """`[B, H, L, L]`, each row of `x`, `[B, H, L, d]`, times the vectors of its distances; `table` is `[H, 2L-1, d]`."""
    batch, heads, length, width = x.shape
    # One product a head (one of four dimensions would copy the table for every sequence), its rows of even width for GPUs.
    table = F.pad(table, (0, 0, 0, 1)).transpose(-1, -2)
    products = torch.bmm(x.transpose(0, 1).reshape(heads, batch * length, width), table)
    return skew_rows(products.view(heads, batch, length, 2 * length)).transpose(0, 1)


class SelfAttention(nn.Module):
    """Disentangled attention; float `[B, L, hidden]` -> same."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.scale = 1.0 / math.sqrt(3 * config.hidden_size // config.num_attention_heads)
        self.query_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.key_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.value_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def split(self, x: Tensor) -> Tensor:
        """`[..., L, hidden]` -> `[..., H, L, d]`."""
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        """
        Args:
            x: `[B, L, hidden]`.
            positions: `[2L-1, hidden]`, position vectors ordered by the distance q - k, from L - 1 down to 1 - L.
            mask: bool `[B, 1, 1, L]`, True where a key is a token; None when nothing is padded.
        """
        query = self.split(self.query_proj(x) * self.scale)
        key = self.split(self.key_proj(x))
        value = self.split(self.value_proj(x))
        position_key = self.split(self.key_proj(positions))  # [H, 2L-1, d]
        position_query = self.split(self.query_proj(positions) * self.scale).flip(-2)
        bias = _by_position(query, position_key) + _by_position(key, position_query).transpose(-1, -2)
        if mask is not None:
            bias = bias.masked_fill(~mask, torch.finfo(bias.dtype).min)
        if torch.is_grad_enabled():
            # The fused kernel has no gradient for its bias.
            out = torch.softmax(query @ key.transpose(-1, -2) + bias, dim=-1) @ value
        else:
            out = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=1.0)
        return out.transpose(1, 2).flatten(-2)

    def first(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        """`[B, 1, hidden]`, what `forward` gives for the first token; arguments as there."""
        query = self.split(self.query_proj(x[:, :1]) * self.scale)
        key, value = self.split(self.key_proj(x)), self.split(self.value_proj(x))
        ahead = positions[x.shape[1] - 1 :]  # the distances 0, -1, ...
        position_key, position_query = self.split(self.key_proj(ahead)), self.split(self.query_proj(ahead) * self.scale)
        p2c = (key * position_query).sum(-1, dtype=torch.float32).unsqueeze(-2)  # [B, H, 1, L]
        scores = (query @ (key + position_key).transpose(-1, -2)).float() + p2c
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return (torch.softmax(scores, dim=-1).to(value.dtype) @ value).transpose(1, 2).flatten(-2)


class SelfOutput(nn.Module):
    """Projection, residual and LayerNorm behind attention or the feed-forward block."""

    def __init__(self, width: int, config: DebertaConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(width, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(self.dense(x) + residual)


class Attention(nn.Module):
    """Attention with its output block."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.self = SelfAttention(config)
        self.output = SelfOutput(config.hidden_size, config)


class Intermediate(nn.Module):
    """First half of the feed-forward block."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.dense(x))


class Layer(nn.Module):
    """One encoder layer; float `[B, L, hidden]` -> same."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.intermediate = Intermediate(config)
        self.output = SelfOutput(config.intermediate_size, config)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        return self._rest(self.attention.self(x, positions, mask), x)

    def first(self, x: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        """`[B, 1, hidden]`, what `forward` gives for the first token."""
        return self._rest(self.attention.self.first(x, positions, mask), x[:, :1])

    def _rest(self, mixed: Tensor, x: Tensor) -> Tensor:
        attended = self.attention.output(mixed, x)
        return self.output(self.intermediate(attended), attended)


class Encoder(nn.Module):
    """The layers and the shared position vectors."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.config = config
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.rel_embeddings = _vectors(2 * config.position_buckets, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def positions(self, length: int) -> Tensor:
        """`[2 length - 1, hidden]`: the vector of each distance q - k, from length - 1 down to 1 - length."""
        vectors, config = self.rel_embeddings.weight, self.config
        rows = _position_rows(length, config.position_buckets, config.max_relative_positions, vectors.device)
        return self.LayerNorm(vectors)[rows]


class Backbone(nn.Module):
    """Embeddings and encoder."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)


class Pooler(nn.Module):
    """Dense layer over the first token."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = _POOLERS[config.pooler_hidden_act]

    def forward(self, first: Tensor) -> Tensor:
        return self.activation(self.dense(first))


class DebertaClassifier(nn.Module):
    """The whole network: padded ids in, logits out. Right padding with id 0; `lengths` say what is a token."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.config = config
        self.deberta = Backbone(config)
        self.pooler = Pooler(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """
        Args:
            ids: int `[B, L]`, right-padded.
            lengths: int `[B]`, tokens of each sequence; None when nothing is padded.
        Returns:
            float `[B, C]`, in the dtype the head computes in.
        """
        encoder = self.deberta.encoder
        length = ids.shape[1]
        mask = None
        if lengths is not None:
            mask = (torch.arange(length, device=ids.device) < lengths[:, None])[:, None, None, :]
        x = self.deberta.embeddings(ids)
        positions = encoder.positions(length).to(x.dtype)
        for layer in encoder.layer[:-1]:
            x = layer(x, positions, mask)
        return self.classifier(self.pooler(encoder.layer[-1].first(x, positions, mask)[:, 0]))
