"""Packed reading: the arithmetic of the padded network, taken only where it is there and right, else left alone.

The kernel needs a GPU; a stand-in of the package does the same in plain torch, sequence by sequence.
"""

from __future__ import annotations

import copy
import importlib.util
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch

from nli_faith import parity
from nli_faith.model import NliModel
from nli_faith.options import ModelOptions
from nli_faith.packed import FAMILIES, LONGEST, PackedClassifier, _lengths, open_packed, trial_lengths
from nli_faith.staging import Staging
from nli_faith.types import Counts, PairTable

CUDA = torch.device("cuda:0")  # only asked for its type: nothing here runs on it


class Info(NamedTuple):
    offsets: tuple[int, ...]
    lengths: tuple[int, ...]
    max_seqlen: int


class PlainEncoder(torch.nn.Module):
    """What the package puts in the place of the encoder, without a kernel."""

    def __init__(self, encoder, spoil: float) -> None:
        super().__init__()
        self.encoder, self.spoil, self.calls = encoder, spoil, 0

    def forward_packed(self, hidden, starts, longest, *, output_hidden_states, packed_info):
        assert hidden.ndim == 2 and starts.dtype == torch.int32 and not output_hidden_states
        assert starts.tolist() == list(packed_info.offsets) and longest == packed_info.max_seqlen == max(packed_info.lengths)
        self.calls += 1
        done = []
        for start, length in zip(packed_info.offsets, packed_info.lengths, strict=False):
            x = hidden[start : start + length][None]
            positions = self.encoder.positions(length).to(x.dtype)
            for layer in self.encoder.layer:
                x = layer(x, positions, None)
            done.append(x[0])
        return SimpleNamespace(last_hidden_state=torch.cat(done) + self.spoil)


@pytest.fixture
def package(monkeypatch):
    """The package and Triton, as far as they are asked for anything; `spoil` is added to what the encoder gives."""
    flash = ModuleType("disentangled_flash")
    flash.PackedSequenceInfo, flash.spoil, flash.takes = Info, 0.0, True

    def optimize_deberta(backbone, *, backend, sequence_lengths):
        assert backend == "triton" and sequence_lengths[:4] == FAMILIES[:4] and backbone.config.share_att_key
        assert set(sequence_lengths) >= set(range(1, 513)), "no length is left to be prepared while scoring"
        assert backbone.encoder.relative_attention and not backbone.training
        if flash.takes:
            backbone.encoder = PlainEncoder(backbone.encoder, flash.spoil)
        return backbone

    flash.optimize_deberta = optimize_deberta
    monkeypatch.setitem(sys.modules, "disentangled_flash", flash)
    there = importlib.util.find_spec
    monkeypatch.setattr("nli_faith.packed.find_spec", lambda name: name in ("disentangled_flash", "triton") or there(name))
    return flash


def sequences(count: int, longest: int, size: int):
    """(flat ids, starts, lengths, padded ids) of random sequences, the longest and the shortest among them."""
    rng = np.random.default_rng(longest)
    lengths = np.array([longest, 1, *rng.integers(1, longest, count - 2)])
    flat = rng.integers(5, size - 1, int(lengths.sum()))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    padded = np.zeros((count, longest + 3), dtype=np.int64)
    padded[np.arange(longest + 3) < lengths[:, None]] = flat
    return torch.from_numpy(flat), torch.from_numpy(starts), lengths, torch.from_numpy(padded)


@pytest.mark.parametrize("longest", [2, 37, 200])
def test_packed_logits_are_those_of_the_padded_network(package, tiny_model, longest):
    network = tiny_model._network
    packed, name = open_packed(network, CUDA, 512)
    assert name == "packed disentangled-flash"
    flat, starts, lengths, padded = sequences(9, longest, tiny_model.encoder.size)
    with torch.inference_mode():
        expected = network(padded, torch.from_numpy(lengths))
    assert torch.allclose(packed(flat, starts, lengths), expected, atol=2e-5)


def test_the_padded_network_stays_whole(package, tiny_model):
    network = copy.deepcopy(tiny_model._network)
    before = {name: tensor.data_ptr() for name, tensor in network.named_parameters()}
    encoder = network.deberta.encoder
    packed, _ = open_packed(network, CUDA, 512)
    assert network.deberta.encoder is encoder and type(encoder).__name__ == "Encoder"
    assert not hasattr(network.deberta, "config") and not hasattr(encoder, "norm_rel_ebd")
    assert {name: tensor.data_ptr() for name, tensor in network.named_parameters()} == before
    inner = packed._network.deberta.encoder.encoder
    assert inner is not encoder and inner.rel_embeddings.weight is encoder.rel_embeddings.weight, "weights are shared"


def test_why_there_is_no_packed_path(package, tiny_model, roberta_folder, monkeypatch):
    network = tiny_model._network
    assert open_packed(network, torch.device("cpu"), 512) == (None, "packing is for CUDA devices")
    assert "is for DeBERTa-v3" in open_packed(torch.nn.Linear(2, 2), CUDA, 512)[1]
    assert "at most 8192 tokens" in open_packed(network, CUDA, 9000)[1]
    package.takes = False
    assert "does not take this shape (heads of 32)" in open_packed(network, CUDA, 512)[1]
    monkeypatch.setattr(package, "optimize_deberta", lambda *args, **options: 1 / 0)
    assert open_packed(network, CUDA, 512) == (None, "disentangled-flash failed: ZeroDivisionError: division by zero")
    for missing in ("disentangled_flash", "triton"):
        monkeypatch.setattr("nli_faith.packed.find_spec", lambda name, missing=missing: None if name == missing else 1)
        said = open_packed(network, CUDA, 512)[1]
        assert said.startswith(missing.replace("_", "-")) and "pip install 'nli-faith[flash]'" in said


# Inside the model ------------------------------------------------------------------------------------------------


@pytest.fixture
def model(package, tiny_folder, monkeypatch):
    """A tiny bf16 model that takes the CPU for a device with the kernel; weights are cast as a GPU's would be."""
    monkeypatch.setattr(NliModel, "_candidate", lambda self: open_packed(self._half, CUDA, self.card.max_length))

    def load(dtype="bf16"):
        loaded = NliModel(ModelOptions(str(tiny_folder), device="cpu", dtype="fp32"), probe=False)
        loaded.dtype, loaded._half = dtype, copy.deepcopy(loaded._network).to(torch.bfloat16)
        loaded.packing = loaded._pack()
        return loaded

    return load


def table_of(lengths, encoder):
    rng = np.random.default_rng(1)
    premises = [rng.integers(5, encoder.size - 1, length).astype(np.int32) for length in lengths]
    index = np.arange(len(lengths), dtype=np.int32)
    return PairTable(index, index, np.array([length + 8 for length in lengths], np.int32)), premises, [
        ids[:1].repeat(5) for ids in premises
    ]


def read(model, lengths):
    counts = Counts()
    p = model.probabilities(*table_of(lengths, model.encoder), counts)
    return p, counts


def test_a_model_reads_packed_when_the_numbers_agree(model, monkeypatch):
    monkeypatch.setitem(parity.TOLERANCE, "bf16", 0.2)  # a tiny random network rounds coarsely
    loaded = model()
    assert loaded.attention == "packed disentangled-flash" and loaded.packing.startswith("yes: bf16 is within 0.")
    calls = loaded._packed._network.deberta.encoder
    before = calls.calls
    p, counts = read(loaded, [40, 7, 300, 7, 90])
    assert calls.calls > before and counts.padded_tokens == counts.tokens, "nothing is padded"
    assert parity.difference(p, read(loaded.variant(dtype="fp32"), [40, 7, 300, 7, 90])[0]) < 0.2
    assert read(loaded.variant(), [40])[1].padded_tokens == 48 + 0, "a variant is padded"


@pytest.mark.parametrize(("spoil", "words"), [(0.7, "more than 0.01"), (float("nan"), "not finite")])
def test_a_packed_path_with_other_numbers_is_not_taken(model, package, monkeypatch, spoil, words):
    package.spoil = spoil
    loaded = model()
    assert loaded._packed is None and loaded.attention != "packed disentangled-flash"
    assert loaded.packing.startswith("no: packed disentangled-flash was tried, but ") and words in loaded.packing


class CompilationError(Exception):
    """As a compiler has its own."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("no kernel image is available\nmore lines"), "RuntimeError: no kernel image is available"),
        (CompilationError("at 3:4: not a tensor"), "CompilationError: at 3:4: not a tensor"),
        (subprocess.CalledProcessError(1, ["gcc"]), "CalledProcessError: Command"),
        (TypeError(), "TypeError: "),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_kernel_that_does_not_compile_is_not_taken(model, package, monkeypatch, error, words):
    monkeypatch.setattr(PlainEncoder, "forward_packed", lambda *args, **options: _fail(error))
    loaded = model()
    assert loaded._packed is None and words in loaded.packing and "more lines" not in loaded.packing
    assert read(loaded, [40])[0].shape == (1, 3)


@pytest.mark.parametrize("family", [(0, 64), (64, 128), (128, 384), (384, 512)], ids=str)
def test_a_kernel_that_fails_for_one_family_of_lengths_is_not_taken(model, monkeypatch, family):
    """The pairs of unequal lengths run in the family of the longest, and would not show the others."""
    monkeypatch.setitem(parity.TOLERANCE, "bf16", 0.5)  # a tiny random network rounds coarsely
    loaded, forward = model(), PlainEncoder.forward_packed
    loaded.device, loaded._packed, loaded.attention = CUDA, None, "skewed sdpa"
    assert loaded._pack().endswith("on 20 pairs") and loaded.attention == "packed disentangled-flash"

    def fails(self, hidden, starts, longest, **options):
        if len(set(options["packed_info"].lengths)) == 1 and family[0] < longest <= family[1]:
            raise CompilationError("at 3:4")
        return forward(self, hidden, starts, longest, **options)

    monkeypatch.setattr(PlainEncoder, "forward_packed", fails)
    loaded._packed, loaded.attention = None, "skewed sdpa"
    assert loaded._pack() == "no: packed disentangled-flash was tried, but CompilationError: at 3:4"
    assert loaded._packed is None and loaded.attention == "skewed sdpa"


def test_a_packed_batch_stays_within_the_kernels_numbers(model, tiny_model, monkeypatch):
    monkeypatch.setitem(parity.TOLERANCE, "bf16", 0.2)
    loaded = model()
    assert loaded._packed.most_tokens == (2**31 - 1) // (64 * 2) and loaded.budget == tiny_model.budget
    loaded.budget, loaded._packed = 10**9, None
    loaded._pack()
    assert loaded.budget == loaded._packed.most_tokens
    large = SimpleNamespace(classifier=torch.nn.Linear(1, 1), config=SimpleNamespace(position_buckets=256, num_attention_heads=16))
    most = PackedClassifier(large, None).most_tokens
    assert 15 * most * 512 + most * 512 <= 2**31 - 1 < 16 * (most + 1) * 512
    other = model("fp16")  # the kernel is in bf16 here, and disagrees: the budget stays
    other.budget, other._packed = 10**9, None
    monkeypatch.setitem(parity.TOLERANCE, "fp16", -1.0)
    assert other._pack().startswith("no: ") and other.budget == 10**9


def test_what_fails_in_plain_float32_is_not_hidden(model, monkeypatch):
    """The padded network is what everything falls back on."""
    forward = NliModel.forward

    def fails(self, batch, dtype):
        return _fail(RuntimeError("no such call")) if dtype == "fp32" else forward(self, batch, dtype)

    monkeypatch.setattr(NliModel, "forward", fails)
    with pytest.raises(RuntimeError, match="no such call"):
        model()


def _fail(error: Exception | None = None):
    raise error or RuntimeError("no kernel image is available for execution on the device\nmore lines")


def test_every_length_is_prepared_behind_the_families_it_belongs_to():
    for longest in (1, 64, 65, 500, 512, 513, 2000, LONGEST):
        lengths = _lengths(longest)
        assert set(range(1, longest + 1)) <= set(lengths) and len(set(lengths)) == len(lengths)
        for length in range(1, longest + 1):
            family = min(family for family in FAMILIES if family >= length)
            assert lengths.index(family) <= lengths.index(length), f"{length} comes before {family}, whose tables it shares"
        assert max(lengths) == min(family for family in FAMILIES if family >= longest)


def test_trial_lengths_are_one_of_each_family():
    assert trial_lengths(512) == [48, 112, 320, 480] and trial_lengths(100) == [48, 100] and trial_lengths(65) == [48, 65]
    for longest in (1, 64, 129, 512, 2000, LONGEST):
        lengths = trial_lengths(longest)
        assert max(lengths) <= longest
        belongs = [next(family for family in FAMILIES if length <= family) for length in lengths]
        assert belongs == [family for family in FAMILIES if family <= belongs[-1]] and longest <= belongs[-1]


def test_cpus_read_flat(tiny_model, tiny_folder, monkeypatch):
    assert tiny_model.attention == "flat" and tiny_model.packing.startswith("yes: fp32 is within 0.0000 of padded float32")
    p, counts = read(tiny_model, [40, 7, 300, 7, 90])
    padded, more = read(tiny_model.variant(), [40, 7, 300, 7, 90])
    assert parity.difference(p, padded) < 1e-5
    assert counts.padded_tokens == counts.tokens == more.tokens < more.padded_tokens
    monkeypatch.setattr("nli_faith.flat.FlatClassifier.__call__", lambda self, ids, starts, lengths: _fail())
    other = NliModel(ModelOptions(str(tiny_folder), device="cpu", dtype="fp32"), probe=False)
    assert other.attention == "skewed sdpa" and "flat was tried, but RuntimeError: no kernel image" in other.packing


def test_what_is_no_deberta_is_padded_on_cpus(roberta_folder):
    model = NliModel(ModelOptions(str(roberta_folder), device="cpu", dtype="fp32"), probe=False)
    assert model.packing == "no: the flat network is for DeBERTa-v3" and model.attention == "transformers"


# Parity and staging ----------------------------------------------------------------------------------------------


def test_faults():
    reference = np.array([[0.7, 0.2, 0.1], [0.34, 0.33, 0.33]], dtype=np.float32)
    assert parity.fault(reference, reference, "fp32") is None
    assert parity.fault(reference[:, [1, 0, 2]], reference, "fp32") is not None
    near = reference + np.array([[0, 0, 0], [-0.006, 0.006, 0]], dtype=np.float32)
    assert parity.fault(near, reference, "bf16") is None, "a verdict without a margin may change"
    assert "0.0060 from float32, more than 0.001" in parity.fault(near, reference, "fp32")
    assert "differs by inf" in parity.fault(reference * np.nan, reference, "fp16")
    assert parity.agreement(near, reference) == 0.5


def test_mixed_pairs_fill_the_model_and_no_more(encoder):
    for longest in (256, 512):
        sizes = [len(ids) + 30 for ids in encoder.encode([premise for premise, _ in parity.mixed_pairs(longest, 16)])]
        assert len(sizes) == 16 and sizes[0] < 60 and longest * 0.5 < max(sizes) <= longest


def test_staging_without_cuda_is_a_copy():
    tensor = torch.arange(6).view(2, 3)
    assert torch.equal(Staging(torch.device("cpu")).send(tensor), tensor)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_staging_on_cuda_keeps_every_value():
    staging = Staging(torch.device("cuda"))
    sent = [staging.send(torch.full((number, 7), number)) for number in range(1, 40)]
    assert all((tensor.cpu() == number).all() for number, tensor in enumerate(sent, 1))


@pytest.mark.skipif(importlib.util.find_spec("disentangled_flash") is None, reason="needs disentangled-flash")
def test_the_package_itself_agrees_in_plain_torch(tiny_model, monkeypatch):
    """Its torch backend has the calls of its kernels: names, shapes and arithmetic are checked without a GPU."""
    import disentangled_flash

    own = disentangled_flash.optimize_deberta
    # It keeps a map of L x L for each length, which the kernel has no use for: the lengths below are few.
    plain = lambda backbone, backend, sequence_lengths: own(backbone, backend="torch", sequence_lengths=(64, 150))
    monkeypatch.setattr(disentangled_flash, "optimize_deberta", plain)
    monkeypatch.setattr("nli_faith.packed.find_spec", lambda name: True)
    packed, name = open_packed(tiny_model._network, CUDA, 512)
    assert packed is not None, name
    flat, starts, lengths, padded = sequences(7, 150, tiny_model.encoder.size)
    with torch.inference_mode():
        expected = tiny_model._network(padded, torch.from_numpy(lengths))
    assert torch.allclose(packed(flat, starts, lengths), expected, atol=2e-5)


@pytest.mark.skipif(importlib.util.find_spec("disentangled_flash") is None, reason="needs disentangled-flash")
def test_the_package_keeps_its_tables_while_lengths_change(monkeypatch):
    """Its own cache, on the CPU: a prepared length projects nothing anew, and lengths of a family share one table."""
    import disentangled_flash.kernel as kernel
    from disentangled_flash.kernel import InferenceDisentangledSelfAttention

    config = SimpleNamespace(
        hidden_size=64, num_attention_heads=2, relative_attention=True, share_att_key=True, pos_att_type=["p2c", "c2p"],
        position_buckets=256, max_relative_positions=512, max_position_embeddings=512, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    monkeypatch.setattr(kernel, "triton", None)
    layer = InferenceDisentangledSelfAttention(config, backend="torch").eval()
    layer.backend, compact = "triton", layer.position_plan_cache.compact
    # It asks for a CUDA device by name before it prepares a length; nothing is computed there.
    monkeypatch.setattr(kernel, "canonical_device", lambda device, resident: SimpleNamespace(type="cuda"))
    monkeypatch.setattr(layer.position_plan_cache, "compact", lambda length, device: compact(length, "cpu"))
    vectors, anew, prepare = torch.randn(512, 64), [], layer.prepare_for_inference

    def tables(prepared, read) -> int:
        """Distinct tables after `prepared` at load and then `read`, by what the encoder and the layer do for each."""
        anew.clear()
        prepare(vectors)
        for length in prepared:
            layer.prepare_shape(length, "cuda")
        layer.release_position_projection_workspace()
        for length in read:
            if layer._cached_pos_key is None and layer._get_cached_shape_plan(length, "cuda") is None:
                anew.append(length)
                prepare(vectors)
            layer.prepare_shape(length, "cuda")
        return len({plan.pos_key.data_ptr() for plan in layer._triton_position_projection_cache.values()})

    lengths = np.random.default_rng(0).permutation(np.arange(1, 513)).tolist()
    with torch.inference_mode():
        assert tables(_lengths(512), lengths) <= 4 and not anew
        # Why the families alone are not enough:
        assert tables(FAMILIES[:4], [350, 351, 352]) == 3 and anew == [350]
