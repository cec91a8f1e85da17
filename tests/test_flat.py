"""Flat batches give the logits of padded ones, whatever the lengths and their order."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_models
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith import flat as flat_module
from nli_faith.deberta import DebertaClassifier
from nli_faith.deberta_config import DebertaConfig
from nli_faith.flat import FlatClassifier

VOCABULARY = 50


@pytest.fixture(scope="module")
def network():
    fields = tiny_models.deberta_config(VOCABULARY) | {"max_position_embeddings": 64}
    made = DebertaClassifier(DebertaConfig.from_dict(fields, 3))
    made.load_state_dict(tiny_models.deberta_state(fields))
    return made.eval()


def both(network: DebertaClassifier, flat: FlatClassifier, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """(logits of the flat batch, of the padded one)."""
    generator = torch.Generator().manual_seed(sum(lengths))
    rows = [torch.randint(3, VOCABULARY, (length,), generator=generator) for length in lengths]
    starts = torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32)
    padded = torch.zeros(len(rows), max(lengths), dtype=torch.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    with torch.inference_mode():
        wanted = network(padded, torch.tensor(lengths))
    return flat(torch.cat(rows).int(), starts, np.array(lengths, dtype=np.int32)), wanted


@pytest.mark.parametrize(
    "lengths",
    [[1], [2, 1], [7, 7, 7], [16, 17], [33, 5, 32], [31, 64, 3], [65, 64, 64, 40], [150, 100], [5, 9, 5, 9, 9], [200]],
    ids=lambda lengths: "-".join(map(str, lengths)),
)
def test_logits_are_those_of_the_padded_network(network, lengths):
    got, wanted = both(network, FlatClassifier(network, torch.float32), lengths)
    assert got.dtype == torch.float32 and got.shape == (len(lengths), 3)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=6))
def test_one_classifier_reads_any_batches_one_after_the_other(network, lengths):
    shared = network.__dict__.setdefault("shared", FlatClassifier(network, torch.float32))
    got, wanted = both(network, shared, lengths)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lengths", [[40, 40, 23], [130, 7]])
def test_bf16_is_near(network, lengths):
    got, wanted = both(network, FlatClassifier(network, torch.bfloat16), lengths)
    assert got.dtype == torch.float32
    change = (torch.softmax(got, -1) - torch.softmax(wanted, -1)).abs().max()
    assert 0 < change < 0.05  # random weights spread wider than trained ones


def test_tables_are_made_once_for_the_longest(network, monkeypatch):
    made = []
    own = flat_module._FlatLayer.table
    monkeypatch.setattr(flat_module._FlatLayer, "table", lambda self, positions: made.append(len(positions)) or own(self, positions))
    flat = FlatClassifier(network, torch.float32)
    layers = len(network.deberta.encoder.layer)
    for lengths in ([60], [64, 3], [10], [65], [100, 64], [128]):
        both(network, flat, lengths)
    assert made == [127] * layers + [255] * layers


@pytest.mark.parametrize("missing", [AttributeError, RuntimeError, NotImplementedError])
def test_without_the_operators_of_onednn_plain_products_are_taken(network, monkeypatch, missing):
    def refuse(weight):
        raise missing("no such operator")

    expected, _ = both(network, FlatClassifier(network, torch.bfloat16), [40, 12])
    monkeypatch.setattr(flat_module, "_reorder", refuse)
    plain = FlatClassifier(network, torch.bfloat16)
    assert all(layer.up.packed is None for layer in plain._layers)
    got, _ = both(network, plain, [40, 12])
    assert (torch.softmax(got, -1) - torch.softmax(expected, -1)).abs().max() < 0.03
