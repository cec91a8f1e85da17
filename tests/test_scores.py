"""Probabilities -> verdicts, on arrays written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.scores import CONTRADICTION, LIKELY_WINDOWS, Decision, Rule, join_parts, judge, softmax_rows

YES, NO, UNSURE = (0.8, 0.1, 0.1), (0.1, 0.1, 0.8), (0.1, 0.8, 0.1)


def decide(windows, chunk=None, threshold=None, overlap=None) -> Decision:
    """The decision for one hypothesis, with no contradiction set aside unless `overlap` says so."""
    p = np.array([windows], dtype=np.float32)
    chunk = np.arange(p.shape[1]) if chunk is None else np.array(chunk)
    weights = np.zeros((1, p.shape[1])) if overlap is None else np.array([overlap], dtype=float)
    (decision,) = judge(p, chunk, Rule(threshold), lambda: weights)
    return decision


def test_softmax_is_that_of_the_definition_and_does_not_overflow():
    logits = np.array([[1.0, 2.0, 3.0], [1e4, 0.0, -1e4], [-5e4, -5e4, -5e4]], dtype=np.float32)
    p = softmax_rows(logits)
    np.testing.assert_allclose(p[0], np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum(), rtol=1e-6)
    np.testing.assert_allclose(p[1:], [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-6)
    assert p.dtype == np.float32


def test_softmax_of_no_pairs_is_no_probabilities():
    assert softmax_rows(np.zeros((0, 3), dtype=np.float32)).shape == (0, 3)


def test_the_best_window_supports():
    decision = decide([UNSURE, YES, NO, (0.6, 0.3, 0.1)])
    assert (decision.verdict, decision.window) == ("supported", 1)
    assert decision.support == pytest.approx(0.8)
    assert decision.p == pytest.approx(YES)


@pytest.mark.parametrize("tie", [(0.4, 0.4, 0.2), (0.4, 0.2, 0.4), (1 / 3, 1 / 3, 1 / 3), (0.5, 0.5)])
def test_a_tie_of_classes_is_no_win_for_entailment(tie):
    assert decide([tie]).verdict == "unsupported"


def test_a_tie_of_classes_is_no_win_for_contradiction():
    assert decide([(0.2, 0.4, 0.4)]).verdict == "unsupported"


def test_a_threshold_replaces_argmax_everywhere():
    low, high = (0.45, 0.4, 0.15), (0.3, 0.6, 0.1)
    assert decide([low], threshold=0.5).verdict == "unsupported"
    assert decide([high], threshold=0.3).verdict == "supported"
    assert decide([(0.3, 0.1, 0.6)], threshold=0.3).verdict == "supported"


def test_a_threshold_is_reached_by_equality():
    assert decide([(0.7, 0.2, 0.1)], threshold=0.7).verdict == "supported"
    assert decide([(0.7, 0.2, 0.1)], threshold=0.7001).verdict == "unsupported"


def test_under_a_threshold_the_decisive_window_still_has_the_highest_support():
    decision = decide([(0.55, 0.4, 0.05), (0.65, 0.3, 0.05)], threshold=0.5)
    assert (decision.verdict, decision.window) == ("supported", 1)


def test_contradiction_wins_only_without_any_support():
    decision = decide([UNSURE, NO, (0.05, 0.05, 0.9)])
    assert (decision.verdict, decision.window) == ("contradicted", 2)
    assert decision.support == pytest.approx(0.1)
    assert decide([YES, NO]).verdict == "supported"


def test_unsupported_is_decided_by_the_highest_support():
    decision = decide([(0.1, 0.85, 0.05), (0.3, 0.6, 0.1)])
    assert (decision.verdict, decision.window) == ("unsupported", 1)


def test_contradiction_counts_in_the_three_windows_that_overlap_most():
    for place in range(6):
        windows = [UNSURE] * 6
        windows[place] = NO
        overlap = [1.0, 6.0, 2.0, 5.0, 3.0, 4.0]
        expected = "contradicted" if overlap[place] >= 4.0 else "unsupported"
        assert decide(windows, overlap=overlap).verdict == expected, place
    assert LIKELY_WINDOWS == 3


def test_equal_overlaps_keep_the_first_windows():
    assert [decide([*[UNSURE] * i, NO, *[UNSURE] * (4 - i)]).verdict for i in range(5)] == [
        *["contradicted"] * 3, *["unsupported"] * 2,
    ]  # fmt: skip


def test_a_window_far_from_the_claim_is_not_the_evidence_of_a_contradiction():
    decision = decide([NO, UNSURE, UNSURE, (0.01, 0.01, 0.98)], overlap=[3, 2, 1, 0])
    assert (decision.verdict, decision.window) == ("contradicted", 0)


def test_conflict_is_support_in_one_chunk_and_contradiction_in_another():
    assert decide([YES, NO], chunk=[0, 1]).conflict is True
    assert decide([YES, NO], chunk=[0, 0]).conflict is False
    assert decide([YES, UNSURE], chunk=[0, 1]).conflict is False
    assert decide([NO, UNSURE], chunk=[0, 1]).conflict is False


def test_a_far_contradiction_is_no_conflict():
    assert decide([YES, UNSURE, UNSURE, NO], overlap=[3, 2, 1, 0]).conflict is False


@pytest.mark.parametrize("triple", [YES, NO, UNSURE])
def test_ties_between_windows_go_to_the_first(triple):
    assert decide([triple] * 3, chunk=[0, 0, 1]).window == 0
    assert decide([(0.0, 0.98, 0.02), triple, triple]).window == 1


@pytest.mark.parametrize(("pair", "verdict"), [((0.6, 0.4), "supported"), ((0.4, 0.6), "unsupported"), ((0.01, 0.99), "unsupported")])
def test_two_class_models_never_contradict_and_have_no_conflict(pair, verdict):
    decision = decide([(0.3, 0.7), pair])
    assert decision.verdict == verdict
    assert decision.conflict is None
    assert len(decision.p) == 2


def test_overlap_is_asked_for_only_when_a_contradiction_wins_somewhere():
    asked = []

    def overlap():
        asked.append(1)
        return np.zeros((2, 2))

    quiet = np.array([[YES, UNSURE], [UNSURE, UNSURE]], dtype=np.float32)
    judge(quiet, np.arange(2), Rule(), overlap)
    assert not asked
    judge(np.array([[YES, NO], [NO, NO]], dtype=np.float32), np.arange(2), Rule(), overlap)
    assert len(asked) == 1


TRIPLES = st.tuples(*[st.integers(0, 20)] * 3).filter(any).map(lambda t: tuple(x / sum(t) for x in t))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(TRIPLES, min_size=1, max_size=6),
    st.lists(TRIPLES, min_size=1, max_size=4),
    st.sampled_from([None, 0.3, 0.5, 0.9]),
    st.randoms(use_true_random=False),
)
def test_more_chunks_never_lower_support_and_never_undo_it(windows, more, threshold, random):
    before = decide(windows, threshold=threshold)
    overlap = [random.random() for _ in range(len(windows) + len(more))]
    after = decide([*windows, *more], threshold=threshold, overlap=overlap)
    assert after.support >= before.support
    assert before.verdict != "supported" or after.verdict == "supported"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(TRIPLES, min_size=3, max_size=3), min_size=1, max_size=4))
def test_claims_of_a_row_are_judged_apart(grid):
    p = np.array(grid, dtype=np.float32)
    together = judge(p, np.arange(3), Rule(), lambda: np.zeros(p.shape[:2]))
    alone = [decide(row) for row in grid]
    assert [(d.verdict, d.support, d.window, d.conflict) for d in together] == [
        (d.verdict, d.support, d.window, d.conflict) for d in alone
    ]


def part(verdict: str, support: float, contradiction: float = 0.0, window: int = 0, conflict: bool | None = False) -> Decision:
    return Decision(verdict, support, window, np.array([support, 1 - support - contradiction, contradiction]), conflict)


def test_parts_are_supported_together_when_each_is():
    joined = join_parts([part("supported", 0.9, window=1), part("supported", 0.7, window=2)])
    assert (joined.verdict, joined.support, joined.window) == ("supported", 0.7, 2)


def test_one_unsupported_part_leaves_the_claim_unsupported():
    joined = join_parts([part("supported", 0.6, window=1), part("unsupported", 0.4, window=2), part("supported", 0.9)])
    assert (joined.verdict, joined.support, joined.window) == ("unsupported", 0.4, 2)


def test_one_contradicted_part_contradicts_the_claim_and_is_its_evidence():
    parts = [part("unsupported", 0.05), part("contradicted", 0.2, 0.7, 3), part("contradicted", 0.1, 0.8, 4)]
    joined = join_parts(parts)
    assert (joined.verdict, joined.window, joined.p[CONTRADICTION]) == ("contradicted", 4, 0.8)
    assert joined.support == 0.05


def test_parts_conflict_when_one_does_and_the_claim_is_supported():
    assert join_parts([part("supported", 0.9), part("supported", 0.8, conflict=True)]).conflict is True
    assert join_parts([part("supported", 0.9), part("supported", 0.8)]).conflict is False
    assert join_parts([part("unsupported", 0.4), part("supported", 0.8, conflict=True)]).conflict is False
    assert join_parts([part("supported", 0.9, conflict=None), part("supported", 0.8, conflict=None)]).conflict is None
