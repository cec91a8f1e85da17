"""Every claim of a row against every window of that row, each distinct pair once."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.pairs import Pool, cross, overlap
from nli_faith.scores import Rule, judge


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def test_a_pool_numbers_distinct_sequences_in_the_order_they_came():
    pool = Pool()
    assert [pool.add(ids(5, 6)), pool.add(ids(5)), pool.add(ids(5, 6)), pool.add(ids()), pool.add(ids(6, 5))] == [0, 1, 0, 2, 3]
    assert [each.tolist() for each in pool.ids] == [[5, 6], [5], [], [6, 5]]


TEXTS = st.lists(st.lists(st.integers(1, 4), max_size=3), max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.integers(0, 4))
def test_the_cross_product_is_that_of_two_loops_without_its_duplicates(rows, specials):
    premises, hypotheses = Pool(), Pool()
    sides = [
        (
            np.array([hypotheses.add(ids(*text)) for text in claims], dtype=np.int64),
            np.array([premises.add(ids(*text)) for text in windows], dtype=np.int64),
        )
        for claims, windows in rows
    ]
    pairs = cross(sides, premises, hypotheses, specials)
    wanted = [[(tuple(claim), tuple(window)) for claim in claims for window in windows] for claims, windows in rows]
    table = [
        (tuple(hypotheses.ids[h].tolist()), tuple(premises.ids[p].tolist()))
        for p, h in zip(pairs.table.premise, pairs.table.hypothesis, strict=True)
    ]
    assert len(pairs.starts) == len(rows) + 1
    for number, pairs_of_row in enumerate(wanted):
        slots = pairs.slot[pairs.starts[number] : pairs.starts[number + 1]]
        assert [table[slot] for slot in slots] == pairs_of_row
    assert len(set(table)) == len(table) == len({pair for row in wanted for pair in row})
    assert pairs.table.length.tolist() == [len(h) + len(p) + specials for h, p in table]


def test_a_pair_that_two_rows_share_is_scored_once():
    premises, hypotheses = Pool(), Pool()
    row = np.array([hypotheses.add(ids(1, 2))]), np.array([premises.add(ids(3)), premises.add(ids(4))])
    pairs = cross([row, row], premises, hypotheses, 3)
    assert len(pairs.table) == 2
    assert pairs.slot.tolist() == [0, 1, 0, 1]


def test_one_short_answer_under_two_questions_is_two_pairs(encoder):
    premises, hypotheses = Pool(), Pool()
    window = np.array([premises.add(encoder.encode(["Fifteen people came to the fair."])[0])])
    first, second, again = (
        np.array([hypotheses.add(encoder.encode([text])[0])])
        for text in ("How many people came? 15", "How old is she? 15", "How many people came? 15")
    )
    pairs = cross([(first, window), (second, window), (again, window)], premises, hypotheses, encoder.specials)
    assert len(pairs.table) == 2
    assert pairs.slot[0] == pairs.slot[2] != pairs.slot[1]


def test_overlap_by_hand():
    # Four windows; id 1 stands in all, 2 in one, 3 in two, 4 in none.
    windows = [ids(1, 2, 2), ids(1, 3), ids(1, 3, 9), ids(1)]
    one, two, three = (math.log(1 + 4 / n) for n in (4, 1, 2))
    got = overlap([ids(1, 2, 3, 4), ids(2, 2), ids(4)], windows)
    expected = [
        [one + two, one + three, one + three, one],
        [two, 0, 0, 0],  # a repeated id counts once
        [0, 0, 0, 0],
    ]
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_overlap_is_of_ids_not_of_their_number_or_order():
    windows = [ids(1, 2, 3), ids(3, 3, 2, 1, 1)]
    assert overlap([ids(2, 1)], windows).tolist()[0][0] == overlap([ids(1, 2, 2)], windows).tolist()[0][1]


def tied(draw):
    """(a claim, another that shares no word with it, six windows of which each holds the claim's words that one other holds)."""
    claim, other = draw.integers(0, 300, 20).astype(np.int32), draw.integers(1000, 1300, 25).astype(np.int32)
    texts = [draw.integers(0, 300, 120).astype(np.int32) for _ in range(3)]
    windows = [np.append(text, np.int32(2000 + i)) for i, text in enumerate(texts + texts)]
    return claim, other, windows


def test_windows_that_hold_the_same_words_tie_whatever_stands_beside_them():
    draw = np.random.default_rng(3)
    for _ in range(60):
        claim, other, windows = tied(draw)
        alone, beside = overlap([claim], windows)[0], overlap([claim, other], windows)[0]
        assert alone.tolist() == beside.tolist() and alone[:3].tolist() == alone[3:].tolist()


def test_the_verdict_of_a_claim_does_not_depend_on_the_claim_beside_it():
    """Six windows in three tied pairs, one of which contradicts: it counts, or does not, by its place in the chunks."""
    draw = np.random.default_rng(3)
    for _ in range(200):
        claim, other, windows = tied(draw)
        p = np.tile(np.array([0.1, 0.8, 0.1], np.float32), (2, 6, 1))
        p[0, draw.integers(0, 6)] = [0.1, 0.2, 0.7]
        (alone,) = judge(p[:1], np.arange(6), Rule(), lambda: overlap([claim], windows))
        beside, _ = judge(p, np.arange(6), Rule(), lambda: overlap([claim, other], windows))
        assert alone.verdict == beside.verdict


def test_overlap_with_empty_texts_is_zero():
    assert overlap([ids(), ids(1)], [ids(), ids(1)]).tolist() == [[0, 0], [0, round(math.log(3), 9)]]
