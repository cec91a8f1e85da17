"""The bench: pairs of the length asked for, honest arithmetic, and a table that a person can read."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from cli_fixtures import folder, run  # noqa: F401
from tiny_models import SHAPE

from nli_faith import UsageError, bench, parity, speed
from nli_faith.made_up import made_up_pairs
from nli_faith.packed import PackedClassifier


@pytest.fixture(scope="module")
def reader(tiny_model):
    return tiny_model.variant()


def test_made_up_pairs_have_their_length(reader):
    for length in (64, 128, 256, 512):
        pairs = speed.list_pairs(made_up_pairs(length, 9, reader), reader)
        assert len(pairs) == 9 and set(pairs.table.length) == {length}
        assert len({premise for premise, _ in pairs.texts}) == 9
        for premise, hypothesis in pairs.texts[::3]:
            assert hypothesis in premise
        for premise, hypothesis in pairs.texts[1::3] + pairs.texts[2::3]:
            assert hypothesis not in premise
    assert made_up_pairs(128, 3, reader) == made_up_pairs(128, 3, reader) != made_up_pairs(128, 3, reader, seed=1)


def test_pairs_are_the_same_encoded_once_or_often(reader):
    texts = [("One premise.", "A claim."), ("One premise.", "Another claim."), ("Two.", "A claim.")]
    once, often = speed.list_pairs(texts, reader), speed.list_pairs(texts, reader, once=False)
    assert len(once.premises) == 2 and len(often.premises) == 3
    assert np.array_equal(once.table.length, often.table.length)
    assert np.array_equal(speed.read(reader, once), speed.read(reader, often))


def test_flops_are_those_of_the_design(tmp_path):
    config = SHAPE | {"num_hidden_layers": 12, "hidden_size": 384, "intermediate_size": 1536, "position_buckets": 256}
    one = speed.flops(np.array([512]), config)
    assert one == 12 * (512 * (8 * 384**2 + 4 * 384 * 1536) + 4 * 512**2 * 384 + 4 * 512 * 511 * 384)
    assert speed.flops(np.array([128, 512]), config) == one + speed.flops(np.array([128]), config)
    assert 6.2e9 < speed.flops(np.array([128]), config) < 6.4e9 and 31e9 < one < 32e9
    short = 12 * (8 * (8 * 384**2 + 4 * 384 * 1536) + 4 * 8 * 8 * 384 + 4 * 8 * 15 * 384)
    assert speed.flops(np.array([8]), config) == short, "8 tokens have 15 distances"
    assert speed.flops(np.array([8]), config | {"relative_attention": False}) == short - 12 * 4 * 8 * 15 * 384


def test_flops_are_of_what_is_computed():
    """Keys and values of every token in the last layer, and the rest of it for the first token only: a twelfth less, nearly."""
    config = SHAPE | {"num_hidden_layers": 12, "hidden_size": 384, "intermediate_size": 1536, "position_buckets": 256}
    n, h, f = 263, 384, 1536
    whole, ours = (speed.flops(np.array([n]), config, first_only) for first_only in (False, True))
    last = n * 4 * h * h + 4 * h * h + 4 * h * f + 8 * n * h
    assert ours == pytest.approx(whole * 11 / 12 + last, rel=1e-12) and 1.06 < whole / ours < 1.09
    flat = config | {"relative_attention": False}
    assert speed.flops(np.array([n]), flat, True) < speed.flops(np.array([n]), config, True)
    assert speed.flops(np.array([1]), config, True) == speed.flops(np.array([1]), config), "one token is the first token"


def test_who_computes_the_last_layer_for_the_first_token(tiny_model, reader, monkeypatch):
    eager = reader.variant(network=speed.EagerNetwork(reader.checkpoint), dtype="fp32")
    assert tiny_model.reads_first_only and reader.reads_first_only and not eager.reads_first_only
    packed = tiny_model.variant(padded=False)
    packed._packed = PackedClassifier(tiny_model._network, None)
    assert not packed.reads_first_only and packed.variant().reads_first_only
    asked = []
    monkeypatch.setattr("nli_faith.bench.speed", lambda *args: asked.append(args[-1]) or {})
    for one in (reader, eager):
        bench._measure(one, 32, 0.01, 1e12)
    assert asked == [True, False]


@pytest.mark.parametrize(("kind", "sizes"), [("cpu", [4, 4]), ("cuda", [128, 128])])
def test_what_a_pair_costs_is_told_by_a_full_batch_on_a_gpu(reader, monkeypatch, kind, sizes):
    read, seen, other = [], bench.read, reader.variant()
    other.device, other.budget = torch.device(kind), 4096
    monkeypatch.setattr(bench, "read", lambda reader, pairs, *rest: read.append(len(pairs)) or seen(reader, pairs, *rest))
    bench._measure(other, 32, 0.01, 1e12)
    assert read[:2] == sizes


def test_a_difference_without_a_number_is_valid_json(reader, monkeypatch):
    monkeypatch.setattr(parity, "difference", lambda p, reference: float("inf"))
    report = bench.bench(reader, (32,), 0.05)
    assert report["parity"]["max_difference"] is None and "Infinity" not in json.dumps(report)
    assert "largest difference infinite" in bench.show(report)
    assert parity.written(0.12345678) == 0.123457


class Device:
    """A device that computes behind its caller, with a clock: what reads an element waits for all that was asked."""

    def __init__(self, product: float, warm_up: float) -> None:
        self.now = self.busy = 0.0
        self.product, self.warm_up = product, warm_up

    def to(self, dtype):
        return self

    def __matmul__(self, other):
        self.busy = max(self.busy, self.now) + self.product + self.warm_up
        self.warm_up = 0.0
        return self

    def flatten(self):
        return [self]

    def item(self):
        self.now = max(self.now, self.busy)


@pytest.mark.parametrize("product", [0.003, 0.7])
def test_the_ceiling_is_of_a_warm_device(monkeypatch, product):
    asked = device = Device(product, warm_up=9.0)
    monkeypatch.setattr(speed.torch, "randn", lambda *size, device: asked)
    monkeypatch.setattr(speed.time, "perf_counter", lambda: device.now)
    assert speed.ceiling(torch.device("cuda"), torch.float16) == pytest.approx(2 * 8192**3 / product)
    assert device.now >= 9.0 + 0.5


def test_other_work_is_told_from_the_measurement_itself(monkeypatch):
    monkeypatch.setattr(speed.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(speed.torch, "get_num_threads", lambda: 4)
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    assert not speed.disturbed(None, None, cpu) and not speed.disturbed(1.9, 5.9, cpu) and not speed.disturbed(0.1, 2.9, cuda)
    assert speed.disturbed(2.1, None, cpu) and speed.disturbed(0.0, 6.1, cpu) and speed.disturbed(0.0, 3.1, cuda)


def test_passes_keep_to_their_time():
    calls = []
    assert len(speed.passes(lambda: calls.append(1), 10.0)) == len(calls) == 5
    assert len(speed.passes(lambda: None, 0.0)) == 1


def test_speed_is_of_the_median_pass(reader):
    pairs = speed.list_pairs(made_up_pairs(64, 10, reader), reader)
    line = speed.speed([2.0, 4.0, 30.0], pairs, reader.checkpoint.config, 1e9)
    assert line["seconds"] == 4.0 and line["pairs_per_second"] == 2.5 and line["tokens_per_second"] == 160
    assert line["spread"] == 7.0 and line["passes"] == 3
    assert line["percent_of_ceiling"] == round(100 * speed.flops(pairs.table.length, reader.checkpoint.config) / 4e9, 1)
    ours = speed.speed([4.0], pairs, reader.checkpoint.config, 1e9, first_only=True)
    assert ours["percent_of_ceiling"] < line["percent_of_ceiling"] and ours["tflops"] <= line["tflops"]


def test_the_eager_network_is_the_reference(reader):
    eager = reader.variant(network=speed.EagerNetwork(reader.checkpoint), dtype="fp32")
    pairs = speed.list_pairs(made_up_pairs(96, 5, reader) + [("Short.", "It is short.")], reader)
    assert np.allclose(speed.read(eager, pairs), speed.read(reader, pairs), atol=1e-5)
    with torch.no_grad():
        spoiled = speed.EagerNetwork(reader.checkpoint)
        spoiled.net.deberta.encoder.LayerNorm.bias += 1.0
    assert not np.allclose(speed.read(reader.variant(network=spoiled, dtype="fp32"), pairs), speed.read(reader, pairs), atol=1e-3)


def test_a_report(reader):
    said = []
    report = bench.bench(reader, (32, 64, 9000), 0.2, said.append)
    assert json.loads(json.dumps(report)) == report
    assert [line["length"] for line in report["lengths"]] == [32, 64] and len(said) == 3
    for line in report["lengths"]:
        assert line["pairs_per_second"] > 0 and line["mean_tokens"] == line["length"] and line["padding"] == 0.0
    assert report["parity"]["ok"] and report["parity"]["pairs"] == 14 and report["parity"]["max_difference"] < 1e-4
    assert report["machine"]["attention"] == reader.attention and report["ceiling_tflops"] > 0
    assert report["peak_memory_mib"]["process"] > 50 and report["peak_memory_mib"]["device"] is None
    for noisy in (True, False):
        assert ("other work ran" in bench.show(report | {"disturbed": noisy})) is noisy


def test_what_can_not_be_measured(reader, fake):
    with pytest.raises(UsageError, match="measures a network"):
        bench.bench(fake.reader, (64,))
    with pytest.raises(UsageError, match="reads at most 512 tokens"):
        bench.bench(reader, (513,))


def test_a_text_table():
    rows = [{"name": "one", "a": 1234.56, "b": 0.5}, {"name": "second", "b": 1234}]
    assert bench.text_table(rows, ("name", "a", "b")) == "name          a       b\none     1,234.6  0.5000\nsecond            1,234"


def test_the_command(run, tiny_folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr("nli_faith.model.NliModel._probe", lambda self: None)
    common = ("bench", "--model", tiny_folder, "--device", "cpu", "--dtype", "fp32", "--seconds", "0.1", "--lengths", "32,48")
    status, out, _ = run(*common)
    assert status == 0 and "pairs/s" in out and "of ceiling" in out and "parity" in out
    status, out, _ = run(*common, "--json")
    assert status == 0 and [line["length"] for line in json.loads(out)["lengths"]] == [32, 48]
    for words, sentence in (
        (("--lengths", "a"), "--lengths"), (("--lengths", "8"), "at least 32"), (("--seconds", "0"), "--seconds"),
    ):  # fmt: skip
        status, out, err = run("bench", "--model", "fake", *words)
        assert status == 2 and sentence in err and not out
