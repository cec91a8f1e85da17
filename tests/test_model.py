"""Pairs -> probabilities: batches don't matter, memory may run out, overflow is mended, and a wrong model is refused."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable

import numpy as np
import pytest
import tiny_models
import torch
from torch import nn

from nli_faith.devices import cpu_has_bf16, pick_device, pick_dtype
from nli_faith.errors import DeviceError, ModelError
from nli_faith.model import PROBE, FakeModel, NliModel, open_reader, pad
from nli_faith.options import ModelOptions
from nli_faith.types import Counts, PairTable, TokenBatch

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
    batch = TokenBatch(np.array([5, 6, 7, 8], dtype=np.int32), np.array([0, 3, 4], dtype=np.int32), np.array([2, 1]), np.array([0, 1]))
    ids, lengths = pad(batch)
    assert ids.tolist() == [[5, 6, 7] + [0] * 13, [8] + [0] * 15]
    assert lengths.tolist() == [3, 1]
    whole = TokenBatch(np.arange(1, 33, dtype=np.int32), np.array([0, 16, 32], dtype=np.int32), np.array([9, 9]), np.array([0, 1]))
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


def test_float32_that_needs_no_retry_counts_none(tiny_model, pairs):
    assert read(tiny_model, pairs)[1].fp32_retries == 0


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
    with pytest.raises(DeviceError, match="give auto, cpu, cuda, cuda:N or mps"):
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
def test_half_precision_on_a_gpu_is_within_a_hundredth_of_float32(tiny_folder, pairs, reference):
    model = NliModel(ModelOptions(str(tiny_folder), device="cuda", dtype="fp16"), probe=False)
    np.testing.assert_allclose(read(model, pairs)[0], reference, atol=1e-2)
    whole = NliModel(ModelOptions(str(tiny_folder), device="cuda", dtype="fp32"), probe=False)
    np.testing.assert_allclose(read(whole, pairs)[0], reference, atol=1e-3)
