"""The network over flat tokens, nothing padded: DeBERTa's layers with the packed kernel of `disentangled-flash`.

The one module that knows that package (extra `nli-faith[flash]`, CUDA with Triton). It replaces the encoder inside a copy
of our network that shares its weights, so that the padded network stays whole for everything else. Whether the numbers
agree is for the caller to test.
"""

from __future__ import annotations

import copy
from importlib.util import find_spec
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor

from nli_faith.deberta import DebertaClassifier

# Every length shares the position tables of the first of these that is not shorter, when these come first. A length that
# was not prepared at load makes the package drop all tables, project anew, and keep those of each length by itself.
FAMILIES = (64, 128, 384, 512, 768, 1024, 2048, 4096, 8192)
LONGEST = FAMILIES[-1]
_INT32 = 2**31 - 1


class PackedClassifier:
    """Flat ids in, logits out. Made by `open_packed`.

    Args:
        network: a `DebertaClassifier` whose encoder has `forward_packed`.
        describe: makes what that method calls `packed_info` out of offsets, lengths and the longest length.

    Attributes:
        dtype: of the weights; most_tokens: what a batch may hold.
    """

    def __init__(self, network: DebertaClassifier, describe) -> None:
        self._network, self._describe = network, describe
        self.dtype = network.classifier.weight.dtype
        # The kernel finds its place in the position scores, [heads, T, position vectors], by 32-bit numbers.
        self.most_tokens = _INT32 // (2 * network.config.position_buckets * network.config.num_attention_heads)

    def __call__(self, ids: Tensor, starts: Tensor, lengths: np.ndarray) -> Tensor:
        """
        Args:
            ids: int `[T]`, the tokens of all sequences behind each other, on the device.
            starts: int32 `[B + 1]`, first token of each sequence and T, on the device.
            lengths: int `[B]`, tokens of each sequence, on the host; none is 0.
        Returns:
            float `[B, C]`, in the dtype of the weights. Nothing waits for the device.
        """
        network, sizes = self._network, tuple(lengths.tolist())
        info = self._describe((0, *accumulate(sizes)), sizes, max(sizes))
        with torch.inference_mode(), torch.cuda.device_of(ids):  # Triton launches on the current device
            x = network.deberta.embeddings(ids[None])[0]  # [T, hidden]; a LayerNorm is of one token, so packing is exact
            x = network.deberta.encoder.forward_packed(
                x, starts, info.max_seqlen, output_hidden_states=False, packed_info=info
            ).last_hidden_state
            return network.classifier(network.pooler(x[starts[:-1].long()]))


def open_packed(network: torch.nn.Module, device: torch.device, longest: int) -> tuple[PackedClassifier | None, str]:
    """(the packed network, its name) or (None, why there is none).

    Args:
        network: in eval mode, on `device`, in the dtype to compute in; not changed, its weights are shared.
        longest: tokens of the longest pair that will come.
    """
    if device.type != "cuda":
        return None, "packing is for CUDA devices"
    if not isinstance(network, DebertaClassifier):
        return None, "the packed kernel is for DeBERTa-v3"
    for module, package in (("disentangled_flash", "disentangled-flash"), ("triton", "triton")):
        if find_spec(module) is None:
            return None, f"{package} is not installed (pip install 'nli-faith[flash]')"
    if longest > LONGEST:
        return None, f"the packed kernel reads at most {LONGEST} tokens, the model reads {longest}"
    try:
        import disentangled_flash

        shared = _share(network)
        with torch.cuda.device_of(network.classifier.weight):
            # Where it can't help, the package returns the backbone as it was, and says nothing.
            disentangled_flash.optimize_deberta(shared.deberta, backend="triton", sequence_lengths=_lengths(longest))
        if not hasattr(shared.deberta.encoder, "forward_packed"):
            width = network.config.hidden_size // network.config.num_attention_heads
            return None, f"disentangled-flash does not take this shape (heads of {width}) on this machine"
        return PackedClassifier(shared, disentangled_flash.PackedSequenceInfo), "packed disentangled-flash"
    except Exception as error:  # a foreign package and a compiler: whatever goes wrong, the padded path is there
        return None, f"disentangled-flash failed: {said(error)}"


def _families(longest: int) -> list[tuple[int, int]]:
    """(longest length that is too short for it, longest length) of each family that can come."""
    return [(below, family) for below, family in zip((0, *FAMILIES), FAMILIES) if below < longest]


def _lengths(longest: int) -> tuple[int, ...]:
    """Every length that can come, behind the families whose tables it shares."""
    return tuple(dict.fromkeys([*(family for _, family in _families(longest)), *range(1, longest + 1)]))


def trial_lengths(longest: int) -> list[int]:
    """One length of each family, for which the package compiles a kernel of its own: 48, 112, 320 and 480 up to 512."""
    return [min((below + 3 * family) // 4, longest) for below, family in _families(longest)]


def said(error: Exception) -> str:
    """The type of an error and its first line."""
    first, *_ = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {first}"


def _share(network: DebertaClassifier) -> DebertaClassifier:
    """The same modules anew around the same weights, with the names that the package looks for."""
    shared = copy.deepcopy(network, {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())})
    config, encoder = network.config, shared.deberta.encoder
    encoder.relative_attention, encoder.norm_rel_ebd = True, ["layer_norm"]
    encoder.position_buckets, encoder.max_relative_positions = config.position_buckets, config.max_relative_positions
    shared.deberta.config = SimpleNamespace(
        hidden_size=config.hidden_size,
        num_attention_heads=config.num_attention_heads,
        relative_attention=True,
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=config.position_buckets,
        max_relative_positions=config.max_relative_positions,
        max_position_embeddings=config.max_relative_positions,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return shared
