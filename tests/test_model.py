"""Pairs -> probabilities: batches don't matter, memory may run out, overflow is mended, and a wrong model is refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import shutil
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import tiny_models
import torch
from torch import nn

from nli_faith import Scorer, backoff, model as model_module, parity
from nli_faith.devices import attention_kernels, cpu_has_bf16, free_memory, move, no_memory, pick_device, pick_dtype
from nli_faith.errors import DeviceError, ModelError, UsageError
from nli_faith.identity import identity
from nli_faith.model import PROBE, FakeModel, NliModel, open_reader
from nli_faith.options import ModelOptions
from nli_faith.staging import pad
from nli_faith.trials import Trial
from nli_faith.types import Counts, PairTable, TokenBatch

CUDA = torch.device("cuda:0")  # only asked for its type: nothing here runs on it
WORDS = "harbour ferry price ticket adult child river bridge opens closes costs weather market twelve street".split()


def make_pairs(encoder, count: int = 40, seed: int = 3):
    """(table, premises, hypotheses) of very unequal lengths."""
    draw = np.random.default_rng(seed)
    texts = [" ".join(draw.choice(WORDS, size)) for size in draw.integers(1, 120, count)]
    claims = [" ".join(draw.choice(WORDS, size)) for size in draw.integers(1, 20, count)]
    premises, hypotheses = encoder.encode(texts), encoder.encode(claims)
    index = np.arange(count, dtype=np.int32)
    length = np.array([len(a) + len(b) + encoder.specials for a, b in zip(premises, hypotheses)], dtype=np.int32)
    return PairTable(index, index, length), premises, hypotheses


def read(model, pairs) -> tuple[np.ndarray, Counts]:
    counts = Counts()
    return model.probabilities(*pairs, counts), counts


class Around(nn.Module):
    """A network with something done before or after it."""

    def __init__(self, network: nn.Module, call: Callable) -> None:
        super().__init__()
        self.network, self.call = network, call

    def forward(self, ids, lengths=None):
        return self.call(self.network, ids, lengths)


def changed(model: NliModel, call: Callable, **attributes) -> NliModel:
    """A copy of the model whose network is called through `call`."""
    other = copy.copy(model)
    other._network, other._packed = Around(model._network, call), None  # the padded network
    for name, value in attributes.items():
        setattr(other, name, value)
    return other


@pytest.fixture(scope="module")
def pairs(tiny_model):
    return make_pairs(tiny_model.encoder)


@pytest.fixture(scope="module")
def reference(tiny_model, pairs):
    """Each pair scored in a batch of its own."""
    table, premises, hypotheses = pairs
    rows = []
    for i in range(len(table)):
        one = np.array([i], dtype=np.int32)
        rows.append(tiny_model.probabilities(PairTable(one, one, table.length[one]), premises, hypotheses, Counts())[0])
    return np.array(rows)


def test_probabilities_are_probabilities_and_differ(tiny_model, pairs):
    p, counts = read(tiny_model, pairs)
    assert p.dtype == np.float32 and p.shape == (40, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert p.std(axis=0).min() > 0.01
    assert counts.pairs_scored == 40
    assert counts.tokens == pairs[0].length.sum() <= counts.padded_tokens


@pytest.mark.parametrize("budget", [64, 500, 8192])
def test_the_budget_changes_no_probability(tiny_model, pairs, reference, budget):
    model = copy.copy(tiny_model)
    model.budget = budget
    p, _ = read(model, pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)


@pytest.mark.skipif(not cpu_has_bf16(), reason="no bf16 in this CPU")
def test_the_budget_changes_little_in_half_precision(tiny_model, pairs, reference):
    results = []
    for budget in (64, 500, 8192):
        model = copy.copy(tiny_model)
        model.budget, model.dtype = budget, "bf16"
        results.append(read(model, pairs)[0])
    for p in results[1:]:
        np.testing.assert_allclose(p, results[0], atol=1e-2)
    assert np.abs(results[0] - reference).max() > 0  # half precision was in use


def test_columns_come_in_one_order_whatever_that_of_the_checkpoint(tiny_model, pairs, tmp_path):
    state = dict(tiny_model._network.state_dict())
    order = [2, 0, 1]  # THREE, moved
    labels = [tiny_models.THREE[i] for i in order]
    config = tiny_models.deberta_config(tiny_model.encoder.size, labels)
    for name in ("classifier.weight", "classifier.bias"):
        state[name] = state[name][order]
    folder = tiny_models.write_checkpoint(tmp_path / "m", config, state)
    moved = NliModel(ModelOptions(str(folder), device="cpu", dtype="fp32"), probe=False)
    assert moved.checkpoint.labels.order != tiny_model.checkpoint.labels.order
    np.testing.assert_allclose(read(moved, pairs)[0], read(tiny_model, pairs)[0], atol=1e-6)


def test_two_class_probabilities_have_two_columns(two_class_folder, tiny_model, pairs):
    model = NliModel(ModelOptions(str(two_class_folder), device="cpu", dtype="fp32"), probe=False)
    p, _ = read(model, pairs)
    assert p.shape == (40, 2)
    flipped = copy.copy(model)
    flipped._order = model._order[::-1]
    np.testing.assert_allclose(read(flipped, pairs)[0], p[:, ::-1], atol=1e-6)
    assert model._order == [1, 0]


def test_no_pairs_are_no_probabilities(tiny_model):
    none = np.zeros(0, dtype=np.int32)
    p, counts = read(tiny_model, (PairTable(none, none, none), [], []))
    assert p.shape == (0, 3)
    assert counts == Counts()


def test_padding_is_right_of_every_pair_up_to_a_multiple_of_16():
    batch = TokenBatch(np.array([5, 6, 7, 8], dtype=np.int32), np.array([0, 3, 4], dtype=np.int32), np.array([0, 1]))
    ids, lengths = pad(batch)
    assert ids.tolist() == [[5, 6, 7] + [0] * 13, [8] + [0] * 15]
    assert lengths.tolist() == [3, 1]
    whole = TokenBatch(np.arange(1, 33, dtype=np.int32), np.array([0, 16, 32], dtype=np.int32), np.array([0, 1]))
    ids, lengths = pad(whole)
    assert ids.tolist() == [list(range(1, 17)), list(range(17, 33))] and lengths is None


@pytest.mark.parametrize("most", [150, 300, 1000])
def test_running_out_of_memory_halves_the_batches_and_nothing_else(tiny_model, pairs, reference, most):
    def small(network, ids, lengths):
        if ids.numel() > most:
            raise torch.OutOfMemoryError("no memory")
        return network(ids, lengths)

    model = changed(tiny_model, small, budget=4096)
    p, counts = read(model, pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)
    assert counts.out_of_memory > 0
    assert model.budget < 4096
    assert counts.pairs_scored == len(pairs[0]) and counts.tokens == pairs[0].length.sum()
    again = Counts()
    model.budget = most
    model.probabilities(*pairs, again)
    assert again.out_of_memory == 0


def test_one_failure_halves_the_budget_once(tiny_model):
    """All batches that wait were planned for the old budget; each would fail, and halve again, were they not planned anew."""
    table = PairTable(np.zeros(400, np.int32), np.zeros(400, np.int32), np.full(400, 32, np.int32))
    texts = [np.full(20, 9, np.int32)], [np.full(32 - 20 - tiny_model.encoder.specials, 9, np.int32)]
    sizes = []

    def small(network, ids, lengths):
        sizes.append(len(ids))
        if ids.numel() > 2500:
            raise torch.OutOfMemoryError("no memory")
        return network(ids, lengths)

    model = changed(tiny_model, small, budget=4096)
    for failures in (1, 0):
        p, counts = read(model, (table, *texts))
        assert (model.budget, counts.out_of_memory, counts.pairs_scored) == (2048, failures, 400)
        np.testing.assert_allclose(p, np.tile(p[:1], (400, 1)), atol=1e-5)
        assert p.sum() == pytest.approx(400, rel=1e-4) and counts.tokens == 400 * 32
    assert sizes == [128] + 2 * [64, 64, 64, 64, 64, 64, 16]


def test_flat_batches_are_halved_too(tiny_model, pairs, reference):
    class Small:
        dtype = torch.float32

        def __call__(self, ids, starts, lengths):
            if len(ids) > 300:
                raise torch.OutOfMemoryError("no memory")
            return tiny_model._packed(ids, starts, lengths)

    model = copy.copy(tiny_model)
    model._packed, model.budget = Small(), 4096
    p, counts = read(model, pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)
    assert counts.out_of_memory > 0 and model.budget < 4096 and counts.tokens == counts.padded_tokens == pairs[0].length.sum()


def test_no_memory_for_a_single_pair_is_said(tiny_model, pairs):
    longest = int(pairs[0].length.max())

    def smaller(network, ids, lengths):
        if ids.shape[1] >= longest:
            raise torch.OutOfMemoryError("no memory")
        return network(ids, lengths)

    with pytest.raises(DeviceError, match=f"cpu has no memory for a single pair of {longest} tokens.*--device cpu"):
        read(changed(tiny_model, smaller), pairs)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_logits_that_overflow_in_half_precision_are_read_again_in_float32(tiny_model, pairs, reference, bad):
    def overflow(network, ids, lengths):
        with torch.autocast("cpu", enabled=False):
            logits = network(ids, lengths).clone()
        if torch.is_autocast_enabled("cpu"):
            logits[::3, 1] = bad
        return logits

    model = changed(tiny_model, overflow, dtype="bf16", budget=1000)
    p, counts = read(model, pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)
    assert 0 < counts.fp32_retries < len(pairs[0])


def broken_in_half(tiny_model, sizes: list[tuple[int, int]], most: int = 10**9, **attributes) -> NliModel:
    """A model whose bf16 logits are never finite; `sizes` gets the shape of each float32 batch, which has room for `most` ids."""

    def call(network, ids, lengths):
        if torch.is_autocast_enabled("cpu"):
            return torch.full((len(ids), 3), float("nan"))
        sizes.append(tuple(ids.shape))
        if ids.numel() > most:
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
        return network(ids, lengths)

    return changed(tiny_model, call, dtype="bf16", **attributes)


def test_retries_in_float32_go_in_batches_of_a_quarter(tiny_model, pairs, reference):
    sizes = []
    p, counts = read(broken_in_half(tiny_model, sizes, budget=4096), pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)
    assert counts.fp32_retries == len(pairs[0]) and counts.tokens == pairs[0].length.sum(), "tokens are of the first reading"
    assert len(sizes) < len(pairs[0]) / 2 and max(rows * columns for rows, columns in sizes) <= 1024


def test_retries_in_float32_may_run_out_of_memory_too(tiny_model, pairs, reference):
    sizes = []
    model = broken_in_half(tiny_model, sizes, most=300, budget=4096)
    p, counts = read(model, pairs)
    np.testing.assert_allclose(p, reference, atol=1e-3)
    assert counts.out_of_memory > 0 and model.budget < 4096 and counts.fp32_retries == len(pairs[0])


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("no memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=str,
)
def test_what_devices_say_when_memory_runs_out(error):
    assert no_memory(error)
    assert not no_memory(ValueError("out of memory")) and not no_memory(RuntimeError("CUDA error: misaligned address"))


def test_memory_goes_back_to_the_device_it_came_from(monkeypatch, tiny_model, pairs):
    emptied = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append("cuda"))
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: emptied.append("mps"))
    for name in ("cpu", "mps", "cuda:1"):
        free_memory(torch.device(name))
    assert emptied == ["mps", "cuda"]
    freed = []
    monkeypatch.setattr(backoff, "free_memory", freed.append)

    def small(network, ids, lengths):
        if ids.numel() > 300:
            raise torch.OutOfMemoryError("no memory")
        return network(ids, lengths)

    model = changed(tiny_model, small, budget=4096)
    _, counts = read(model, pairs)
    assert len(freed) == counts.out_of_memory and set(freed) == {model.device}


def test_float32_that_needs_no_retry_counts_none(tiny_model, pairs):
    assert read(tiny_model, pairs)[1].fp32_retries == 0


def test_pairs_that_are_longer_than_the_model_holds_are_counted(tiny_model, pairs):
    assert read(tiny_model, pairs)[1].truncated_pairs == 0
    short = copy.copy(tiny_model)
    short.card = dataclasses.replace(tiny_model.card, max_length=int(pairs[0].length.max()) - 1)
    assert read(short, pairs)[1].truncated_pairs == int((pairs[0].length > short.card.max_length).sum()) > 0


def test_logits_that_are_never_finite_are_damage(tiny_model, pairs):
    def broken(network, ids, lengths):
        return torch.full((len(ids), 3), float("nan"))

    with pytest.raises(ModelError, match="not finite, in float32 too: its weights are damaged"):
        read(changed(tiny_model, broken, dtype="bf16"), pairs)


def constant(encoder, folder, label: str, labels=tiny_models.THREE):
    """A checkpoint that answers `label` to everything."""
    config = tiny_models.deberta_config(encoder.size, labels)
    state = tiny_models.deberta_state(config)
    state["classifier.weight"] = torch.zeros_like(state["classifier.weight"])
    state["classifier.bias"] = torch.tensor([5.0 if name == label else 0.0 for name in labels])
    return tiny_models.write_checkpoint(folder, config, state)


@pytest.mark.parametrize("label", tiny_models.THREE)
def test_the_probe_refuses_a_model_that_says_one_thing(encoder, tmp_path, label):
    folder = constant(encoder, tmp_path / "m", label)
    with pytest.raises(ModelError, match="fails the probe of obvious pairs .* of 6 right.*contradiction, entailment, neutral"):
        NliModel(ModelOptions(str(folder), device="cpu"))
    NliModel(ModelOptions(str(folder), device="cpu"), probe=False)


@pytest.mark.parametrize("label", tiny_models.TWO)
def test_the_probe_refuses_a_two_class_model_that_says_one_thing(encoder, tmp_path, label):
    folder = constant(encoder, tmp_path / "m", label, tiny_models.TWO)
    with pytest.raises(ModelError, match="fails the probe"):
        NliModel(ModelOptions(str(folder), device="cpu"))


def oracle(model: NliModel, wrong: int = 0) -> NliModel:
    """The model with a network that knows the probe's classes, but for the last `wrong` of them."""
    answers = {}
    for number, (premise, hypothesis, label) in enumerate(PROBE):
        ids = model.encoder.pair(*model.encoder.encode([premise, hypothesis]))
        answers[tuple(ids.tolist())] = label if number < len(PROBE) - wrong else 0

    def know(network, ids, lengths):
        lengths = [ids.shape[1]] * len(ids) if lengths is None else lengths.tolist()
        logits = torch.zeros(len(ids), len(model._order))
        for row, length in enumerate(lengths):
            label = answers[tuple(ids[row, :length].tolist())]
            logits[row, model._order[min(label, len(model._order) - 1)]] = 4.0
        return logits

    return changed(model, know)


def test_the_probe_takes_a_model_that_is_right_but_for_one_pair(tiny_model):
    oracle(tiny_model)._probe()
    oracle(tiny_model, wrong=1)._probe()
    with pytest.raises(ModelError, match="4 of 6 right"):
        oracle(tiny_model, wrong=2)._probe()


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 2, 1], [2, 1, 0], [2, 0, 1]])
def test_the_probe_refuses_an_order_in_which_entailment_is_something_else(tiny_model, order):
    right = oracle(tiny_model)
    assert right._order == [1, 2, 0]
    right._order = order
    with pytest.raises(ModelError, match="The order is wrong \\(give --labels\\)"):
        right._probe()


def test_the_probe_takes_a_two_class_model_and_refuses_its_mirror(two_class_folder):
    model = NliModel(ModelOptions(str(two_class_folder), device="cpu"), probe=False)
    right = oracle(model)
    right._probe()
    right._order = right._order[::-1]
    with pytest.raises(ModelError, match="fails the probe"):
        right._probe()


def test_every_class_is_in_the_probe_and_entailment_in_half_of_it():
    labels = [label for *_, label in PROBE]
    assert set(labels) == {0, 1, 2} and labels.count(0) == 3


def damaged(folder, out, change: Callable):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, out)
    state = load_file(out / "model.safetensors")
    change(state)
    save_file(state, out / "model.safetensors")
    return ModelOptions(str(out), device="cpu")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(tiny_folder, tmp_path, bad):
    def spoil(state):
        state["deberta.encoder.layer.1.output.dense.weight"][3, 5] = bad

    options = damaged(tiny_folder, tmp_path / "m", spoil)
    with pytest.raises(ModelError, match="hold NaN or infinity \\(deberta.encoder.layer.1.output.dense.weight\\)"):
        NliModel(options, probe=False)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("pooler.dense.weight"),
        lambda state: state.update(extra=torch.zeros(3)),
        lambda state: state.update({"classifier.weight": torch.zeros(2, 64)}),
        lambda state: state.update({"deberta.embeddings.word_embeddings.weight": torch.zeros(10, 64)}),
    ],
    ids=["missing", "unexpected", "classes", "words"],
)
def test_weights_that_do_not_fit_the_config_are_refused(tiny_folder, tmp_path, change):
    options = damaged(tiny_folder, tmp_path / "m", change)
    with pytest.raises(ModelError, match="weights in .* don't fit its config"):
        NliModel(options, probe=False)


def test_weights_that_are_cut_off_are_refused(tiny_folder, tmp_path):
    shutil.copytree(tiny_folder, tmp_path / "m")
    path = tmp_path / "m" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match="can't be read: .*Download or copy the model again"):
        NliModel(ModelOptions(str(tmp_path / "m"), device="cpu"), probe=False)


def test_a_tokenizer_of_another_model_is_refused(tiny_folder, tmp_path):
    shutil.copytree(tiny_folder, tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text()) | {"vocab_size": 100}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="word vectors for 100: the two files are not of the same model"):
        NliModel(ModelOptions(str(tmp_path / "m"), device="cpu"), probe=False)


def test_a_folder_without_tokenizer_is_refused(tiny_folder, tmp_path):
    shutil.copytree(tiny_folder, tmp_path / "m")
    (tmp_path / "m" / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="needs its tokenizer.json"):
        NliModel(ModelOptions(str(tmp_path / "m"), device="cpu"), probe=False)


@pytest.mark.parametrize("field", ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"])
def test_a_config_that_lacks_a_number_is_refused_by_its_name(tiny_folder, tmp_path, field):
    shutil.copytree(tiny_folder, tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    del config[field]
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"lacks '{field}'"):
        NliModel(ModelOptions(str(tmp_path / "m"), device="cpu"), probe=False)


def test_int8_weights_give_nearly_the_same_probabilities(tiny_model, tiny_folder, tmp_path, pairs):
    from safetensors.torch import load_file, save_file

    shutil.copytree(tiny_folder, tmp_path / "m")
    path = tmp_path / "m" / "model.safetensors"
    stored = {}
    for name, tensor in load_file(path).items():
        if tensor.ndim == 2 and "rel_embeddings" not in name and not name.startswith("classifier"):
            scale = tensor.abs().amax(dim=1) / 127
            stored |= {name: torch.round(tensor / scale[:, None]).to(torch.int8), f"{name}.scale": scale}
        else:
            stored[name] = tensor
    save_file(stored, path)
    config = json.loads((tmp_path / "m" / "config.json").read_text()) | {"quantisation": "int8-rows"}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    small = NliModel(ModelOptions(str(tmp_path / "m"), device="cpu", dtype="fp32"), probe=False)
    change = np.abs(read(small, pairs)[0] - read(tiny_model, pairs)[0])
    assert 0 < change.max() < 0.1


def test_another_architecture_runs_through_transformers(roberta_folder):
    from transformers import AutoModelForSequenceClassification

    model = NliModel(ModelOptions(str(roberta_folder), device="cpu", dtype="fp32", budget=300), probe=False)
    assert model.attention == "transformers"
    assert model.encoder.specials == 4
    table, premises, hypotheses = make_pairs(model.encoder, 8, 5)
    keep = [i for i in range(8) if table.length[i] <= 512]
    index = np.array(keep, dtype=np.int32)
    assert len(index) > 3
    p, _ = read(model, (PairTable(index, index, table.length[index]), premises, hypotheses))
    network = AutoModelForSequenceClassification.from_pretrained(roberta_folder).eval()
    for row, i in enumerate(keep):
        ids = torch.tensor(model.encoder.pair(premises[i], hypotheses[i])[None].astype(np.int64))
        with torch.inference_mode():
            logits = network(input_ids=ids).logits[0]
        np.testing.assert_allclose(p[row], torch.softmax(logits, -1)[[2, 1, 0]].numpy(), atol=1e-5)
    assert p.std(axis=0).max() > 1e-3


def test_a_template_of_the_card_wraps_the_hypothesis(tiny_folder, tiny_model, tmp_path):
    shutil.copytree(tiny_folder, tmp_path / "m")
    (tmp_path / "m" / "card.json").write_text(json.dumps({"template": {"hypothesis": "It is said that {}", "join": "text"}}))
    wrapped = NliModel(ModelOptions(str(tmp_path / "m"), device="cpu", dtype="fp32"), probe=False)
    got = wrapped.read_texts([("A premise.", "ferries run")])
    ids = tiny_model.encoder
    a, b = ids.encode(["A premise.", "It is said that ferries run"])
    sequence = np.concatenate([ids.prefix, a, b, ids.suffix]).astype(np.int64)
    with torch.inference_mode():
        logits = tiny_model._network(torch.from_numpy(sequence[None]))[0]
    np.testing.assert_allclose(got[0], torch.softmax(logits, -1)[[1, 2, 0]].numpy(), atol=1e-5)


def test_reading_texts_in_another_dtype_leaves_the_models_own(tiny_model):
    model = copy.copy(tiny_model)
    model.dtype = "bf16"
    texts = [("A premise.", "A claim.")]
    np.testing.assert_allclose(model.read_texts(texts, "fp32"), tiny_model.read_texts(texts), atol=1e-6)
    assert model.dtype == "bf16"


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "", "tpu", "meta", "xpu:0"])
def test_unknown_devices_are_refused_with_the_known_ones(name):
    with pytest.raises(UsageError, match="give auto, cpu, cuda, cuda:N or mps"):
        pick_device(name)


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(DeviceError, match="cuda:9 is not there: this machine has 2 CUDA devices. Use --device cpu"):
        pick_device("cuda:9")
    assert pick_device("cuda:1") == torch.device("cuda:1")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(DeviceError, match="cuda is not there"):
        pick_device("cuda")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="mps is not there"):
        pick_device("mps")


class Unmovable(nn.Linear):
    def __init__(self, error: Exception) -> None:
        super().__init__(1, 1)
        self.error = error

    def to(self, device):
        raise self.error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("The NVIDIA driver here is too old (found version 11040).\nUpdate it."), "too old .found version 11040."),
        (AssertionError("Torch not compiled with CUDA enabled"), "Torch not compiled with CUDA enabled"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 MiB."), "Tried to allocate 20 MiB"),
        (AssertionError(), "AssertionError"),
    ],
    ids=["driver", "build", "memory", "silent"],
)
def test_a_device_that_cannot_be_used_is_one_sentence(error, words):
    with pytest.raises(DeviceError, match=f"^cuda:0 can't be used: .*{words}. Use --device cpu.$"):
        move(Unmovable(error), CUDA)


def test_a_gpu_that_takes_weights_and_computes_nothing_is_refused_too(monkeypatch):
    def no_kernel(*size, device):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(torch, "ones", no_kernel)
    network = nn.Linear(1, 1)
    monkeypatch.setattr(network, "to", lambda device: network)
    with pytest.raises(DeviceError, match="cuda:0 can't be used: CUDA error: no kernel image"):
        move(network, CUDA)
    assert move(network, torch.device("cpu")) is network


def test_a_bare_cuda_becomes_the_device_of_the_weights(tiny_folder, monkeypatch):
    monkeypatch.setattr(model_module, "pick_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(model_module, "move", lambda network, device: network)
    assert NliModel(ModelOptions(str(tiny_folder), dtype="fp32"), probe=False).device == torch.device("cpu")


def test_attention_leaves_cudnn_out_on_cuda_only(tiny_model, pairs):
    def cudnn() -> bool:
        return torch.backends.cuda.cudnn_sdp_enabled()

    before, seen = cudnn(), []
    for name, expected in (("cuda:0", False), ("cpu", before), ("mps", before)):
        with attention_kernels(torch.device(name)):
            assert cudnn() is expected
            assert torch.backends.cuda.mem_efficient_sdp_enabled() and torch.backends.cuda.math_sdp_enabled()
        assert cudnn() is before
    read(changed(tiny_model, lambda network, ids, lengths: seen.append(cudnn()) or network(ids, lengths), device=CUDA), pairs)
    assert not any(seen) and seen


# How it is read --------------------------------------------------------------------------------------------------


def as_on_cuda(tiny_model, dtype: str) -> NliModel:
    """The padded model as it would be on CUDA, its weights halved, computed by the CPU."""
    model = copy.copy(tiny_model)
    model.device, model.dtype, model._packed, model.attention = CUDA, dtype, None, "skewed sdpa"
    model._half = model._halved()
    return model


@pytest.mark.parametrize(("dtype", "kind"), [("fp16", torch.float16), ("bf16", torch.bfloat16)])
def test_a_gpu_has_weights_in_half_precision_whichever_it_is(tiny_model, pairs, dtype, kind, monkeypatch):
    monkeypatch.setattr(torch, "autocast", lambda *args: pytest.fail("weights are cast in every pass"))
    model, seen = as_on_cuda(tiny_model, dtype), []
    model._half = Around(model._half, lambda network, ids, lengths: seen.append(1) or network(ids, lengths))
    assert {tensor.dtype for tensor in model._half.parameters()} == {kind}
    assert model._network is tiny_model._network and next(model._network.parameters()).dtype == torch.float32
    p, _ = read(model, pairs)
    assert seen and 0 < np.abs(p - read(model.variant(dtype="fp32"), pairs)[0]).max() < 0.3
    assert as_on_cuda(tiny_model, "fp32")._half is None and tiny_model._half is None


def test_a_variant_in_the_other_half_precision_is_cast(tiny_model):
    model = as_on_cuda(tiny_model, "fp16")
    assert model._in("fp16") is model._half and model._in("bf16") is None and model._in("fp32") is model._network


def spoiling(monkeypatch, spoils: dict[str, float]) -> list[str]:
    """Halved networks whose logits are off by so much; gives the dtypes they are made in."""
    made, own = [], NliModel._halved
    monkeypatch.setattr(parity, "TOLERANCE", {"fp32": 1e-3, "bf16": 0.2, "fp16": 0.2})  # a tiny random network rounds coarsely

    def halved(self):
        half = own(self)
        if half is not None:
            made.append(self.dtype)
            off = torch.tensor([spoils[self.dtype], 0.0, 0.0])
            half = Around(half, lambda network, ids, lengths: network(ids, lengths).float() + off)
        return half

    monkeypatch.setattr(NliModel, "_halved", halved)
    return made


@pytest.mark.parametrize(
    ("first", "spoils", "dtype", "said"),
    [
        ("fp16", {"fp16": 0.0}, "fp16", []),
        ("fp16", {"fp16": 9.0, "bf16": 0.0}, "bf16", ["fp16 was tried, but a probability differs by"]),
        ("fp16", {"fp16": float("nan"), "bf16": 9.0}, "fp32", ["fp16 was tried, but its logits are not finite", "bf16 was tried"]),
        ("bf16", {"bf16": float("inf")}, "fp32", ["bf16 was tried, but its logits are not finite"]),
        ("fp32", {}, "fp32", []),
    ],
)
def test_half_precision_is_taken_only_where_its_numbers_are_those_of_float32(tiny_model, monkeypatch, first, spoils, dtype, said):
    spoiling(monkeypatch, spoils)
    model = as_on_cuda(tiny_model, first)
    found = model._settle()
    assert model.dtype == dtype and len(found) == len(said) and all(a.startswith(b) for a, b in zip(found, said))
    assert (model._half is None) == (dtype == "fp32")


@pytest.mark.parametrize(("dtype", "tried"), [("auto", ["fp16", "bf16"]), ("fp16", [])])
def test_the_dtype_is_settled_at_load_unless_it_was_asked_for(tiny_folder, monkeypatch, dtype, tried):
    """The device of the weights is the CPU, which is taken for a GPU once it is known."""
    spoiling(monkeypatch, {"fp16": 9.0, "bf16": 9.0})
    ran, own = [], Trial.run
    monkeypatch.setattr(Trial, "run", lambda self, model: ran.append(model.dtype) or own(self, model))
    monkeypatch.setattr(model_module, "pick_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(model_module, "move", lambda network, device: Elsewhere(network))
    monkeypatch.setattr(model_module, "Staging", lambda device: SimpleNamespace(send=lambda tensor: tensor))
    model = NliModel(ModelOptions(str(tiny_folder), device="cuda", dtype=dtype), probe=False)
    assert ran == tried and model.dtype == ("fp32" if tried else "fp16")
    assert model.packing.count("was tried, but") == len(tried) and model.packing.startswith("no: ")


class Elsewhere(nn.Module):
    """A network whose weights say that they are on a GPU."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def parameters(self, recurse: bool = True):
        yield SimpleNamespace(device=CUDA, dtype=next(self.network.parameters()).dtype)

    def forward(self, ids, lengths=None):
        return self.network(ids, lengths)


def test_off_the_cpu_every_family_of_lengths_is_tried_by_itself(tiny_model):
    model, lengths = as_on_cuda(tiny_model, "fp16"), []
    trial = Trial(model)
    assert len(trial) == 16 + 4 and len(Trial(tiny_model)) == 4
    model.read_ids = lambda premises, hypotheses, counts: lengths.append(
        [len(a) + len(b) + model.encoder.specials for a, b in zip(premises, hypotheses, strict=True)]
    ) or np.zeros((len(premises), 3), dtype=np.float32)
    trial._references = [np.zeros_like(reference) for reference in trial._references]
    assert trial.run(model) == (None, 0.0)
    assert len(set(lengths[0])) > 8, "unequal lengths, as they come"
    assert lengths[1:] == [[48] * 32, [112] * 32, [320] * 32, [480] * 32]


def test_a_short_model_has_no_long_families(tiny_model, monkeypatch):
    """Another tokenizer may make twice as many tokens of the same text."""
    monkeypatch.setattr("nli_faith.trials.mixed_pairs", lambda longest, count: parity.mixed_pairs(2 * longest, count))
    model = as_on_cuda(tiny_model, "fp16")
    model.card = dataclasses.replace(model.card, max_length=100)
    trial = Trial(model)
    mixed, *alone = [[len(p) + len(h) + model.encoder.specials for p, h in zip(a, b)] for a, b, _ in trial._batches]
    assert alone == [[48], [100]] and max(mixed) == 100 and min(mixed) < 30, "no pair is longer than the model reads"


# What fixes the numbers ------------------------------------------------------------------------------------------


def loaded(folder) -> Scorer:
    scorer = Scorer(str(folder), device="cpu", dtype="fp32", probe=False)
    assert scorer.reader
    return scorer


def test_a_folder_goes_by_its_last_name_however_it_is_written(tiny_folder, tmp_path, monkeypatch):
    shutil.copytree(tiny_folder, tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    found = [identity(loaded(name)) for name in ("mine", "./mine/", str(tmp_path / "mine"))]
    assert found[0]["model"] == "mine" and found == found[:1] * 3
    assert str(tmp_path) not in json.dumps(found)
    monkeypatch.chdir(tmp_path / "mine")
    assert identity(loaded("."))["model"] == "mine"


def test_a_name_that_is_no_folder_stays_whole(tiny_folder):
    scorer = loaded(tiny_folder)
    scorer.model_options = dataclasses.replace(scorer.model_options, model="somebody/else")
    assert identity(scorer)["model"] == "somebody/else" and identity(Scorer("fake"))["model"] == "fake"


def test_the_version_of_transformers_counts_where_its_code_runs(roberta_folder, tiny_folder):
    assert identity(loaded(roberta_folder))["versions"]["transformers"]
    assert "transformers" not in identity(loaded(tiny_folder))["versions"]


def test_a_gpu_is_named_and_its_number_is_not(tiny_folder, monkeypatch):
    scorer = loaded(tiny_folder)
    plain = identity(scorer)
    assert "gpu" not in plain and plain["device"] == "cpu" and plain["threads"] == torch.get_num_threads()
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
    scorer.reader.device = torch.device("cuda:1")
    assert identity(scorer) == plain | {"device": "cuda", "gpu": "GPU 1", "threads": None}


def test_auto_takes_the_best_device_and_its_dtype(monkeypatch):
    import nli_faith.devices as devices

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto") == torch.device("cuda")
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    assert pick_dtype("auto", cuda, None) == "fp16"
    assert pick_dtype("auto", cuda, "bf16") == "bf16"
    monkeypatch.setattr(devices, "cpu_has_bf16", lambda: False)
    assert pick_dtype("auto", cpu, None) == "fp32"
    monkeypatch.setattr(devices, "cpu_has_bf16", lambda: True)
    assert pick_dtype("auto", cpu, None) == "bf16"
    assert pick_dtype("auto", cpu, "fp32") == "fp32"
    assert pick_dtype("fp16", cpu, "fp32") == "fp16"


def test_the_fake_model_gives_every_verdict_and_depends_on_lengths_alone(encoder):
    model = open_reader(ModelOptions("fake"))
    assert isinstance(model, FakeModel)
    premise = [np.zeros(n, dtype=np.int32) for n in range(1, 9)]
    index = np.arange(8, dtype=np.int32)
    table = PairTable(np.repeat(index, 8), np.tile(index, 8), np.full(64, 10, dtype=np.int32))
    p, counts = read(model, (table, premise, premise))
    assert set(p.argmax(axis=1).tolist()) == {0, 1, 2}
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    assert counts.pairs_scored == 64
    backwards = PairTable(table.premise[::-1], table.hypothesis[::-1], table.length)
    assert (read(model, (backwards, premise, premise))[0] == p[::-1]).all()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_settles_its_dtype_and_says_so(tiny_folder):
    model = NliModel(ModelOptions(str(tiny_folder), device="cuda"), probe=False)
    assert model.device.index is not None and model.packing.count("was tried, but") >= ("fp16", "bf16", "fp32").index(model.dtype)
    assert identity(Scorer(str(tiny_folder), device="cuda", probe=False))["gpu"] == torch.cuda.get_device_name(0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_half_precision_on_a_gpu_is_within_a_hundredth_of_float32(tiny_folder, pairs, reference):
    model = NliModel(ModelOptions(str(tiny_folder), device="cuda", dtype="fp16"), probe=False)
    np.testing.assert_allclose(read(model, pairs)[0], reference, atol=1e-2)
    whole = NliModel(ModelOptions(str(tiny_folder), device="cuda", dtype="fp32"), probe=False)
    np.testing.assert_allclose(read(whole, pairs)[0], reference, atol=1e-3)
