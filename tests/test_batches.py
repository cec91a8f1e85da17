"""Batches are a partition of the pairs, respect the budget, and come longest first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.batches import MAX_PAIRS, compose, padded_length, plan_batches
from nli_faith.types import PairTable

LENGTHS = st.lists(st.integers(3, 600), max_size=80).map(lambda numbers: np.array(numbers, dtype=np.int32))


@settings(max_examples=150, deadline=None)
@given(LENGTHS, st.integers(1, 9000))
def test_every_pair_is_in_exactly_one_batch(length, budget):
    batches = plan_batches(length, budget)
    flat = [int(i) for batch in batches for i in batch]
    assert sorted(flat) == list(range(len(length)))
    assert all(len(batch) for batch in batches)


@settings(max_examples=150, deadline=None)
@given(LENGTHS, st.integers(1, 9000))
def test_a_padded_batch_fits_the_budget_or_is_one_pair(length, budget):
    for batch in plan_batches(length, budget):
        assert len(batch) == 1 or padded_length(int(length[batch].max())) * len(batch) <= budget


@settings(max_examples=150, deadline=None)
@given(LENGTHS, st.integers(1, 9000))
def test_longest_pairs_come_first_and_ties_by_number(length, budget):
    flat = [int(i) for batch in plan_batches(length, budget) for i in batch]
    assert flat == sorted(range(len(length)), key=lambda i: (-length[i], i))


@settings(max_examples=100, deadline=None)
@given(LENGTHS, st.integers(1, 9000))
def test_no_batch_leaves_room_for_the_next_pair(length, budget):
    batches = plan_batches(length, budget)
    for batch, following in zip(batches, batches[1:], strict=False):
        assert padded_length(int(length[batch].max())) * (len(batch) + 1) > budget
        assert int(length[following].max()) <= int(length[batch].min())


def test_a_pair_over_the_budget_has_a_batch_of_its_own():
    assert [batch.tolist() for batch in plan_batches(np.array([10, 500, 10, 10]), 100)] == [[1], [0, 2, 3]]


def test_a_batch_has_a_largest_number_of_pairs():
    assert [len(batch) for batch in plan_batches(np.full(MAX_PAIRS + 5, 3), 10**9)] == [MAX_PAIRS, 5]


def test_lengths_do_not_overflow_their_integer_type():
    length = np.full(4, 40_000, dtype=np.uint16)
    assert sorted(int(i) for batch in plan_batches(length, 80_000) for i in batch) == [0, 1, 2, 3]


def test_no_pairs_are_no_batches():
    assert plan_batches(np.zeros(0, dtype=np.int32), 100) == []


@pytest.mark.parametrize("chosen", [[0, 1, 2], [2, 0], [1]])
def test_a_batch_holds_the_composed_pairs_in_the_order_chosen(encoder, chosen):
    premises = encoder.encode(["A first premise, rather long for what it says.", "Second."])
    hypotheses = encoder.encode(["Claim one.", "The other claim stands here."])
    p, h = np.array([0, 1, 0], dtype=np.int32), np.array([0, 0, 1], dtype=np.int32)
    length = np.array([len(premises[a]) + len(hypotheses[b]) + encoder.specials for a, b in zip(p, h)], dtype=np.int32)
    batch = compose(PairTable(p, h, length), np.array(chosen), premises, hypotheses, encoder)
    assert batch.pair.tolist() == chosen
    assert batch.starts[0] == 0 and batch.starts[-1] == len(batch.token_ids)
    assert batch.longest == max(length[i] for i in chosen)
    for place, i in enumerate(chosen):
        own = batch.token_ids[batch.starts[place] : batch.starts[place + 1]]
        assert own.tolist() == encoder.pair(premises[p[i]], hypotheses[h[i]]).tolist()
