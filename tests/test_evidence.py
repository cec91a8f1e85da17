"""Evidence is quoted from the chunk, with its offsets, and is the passage that bears on the claim."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.evidence import LIMIT, Passages


def quote(chunk, start, end, pieces, claim):
    return Passages(chunk, start, end, pieces).quote(claim)


CHUNK = (
    "The harbour was built in 1907. It has two piers. A ferry leaves every hour. "
    "Tickets cost 4 pounds for adults. Children travel free. Dogs need a lead. " + "The weather is often mild. " * 12
)


def said(chunk: str, claim: str, start: int = 0, end: int | None = None, pieces=()) -> str:
    a, b = quote(chunk, start, len(chunk) if end is None else end, pieces, claim)
    return chunk[a:b]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Adults pay 4 pounds.", "Tickets cost 4 pounds for adults."),
        ("The harbour dates from 1907.", "The harbour was built in 1907."),
        ("Dogs must wear a lead.", "Dogs need a lead."),
    ],
)
def test_the_sentence_that_shares_words_with_the_claim_is_quoted_with_its_neighbours(claim, sentence):
    passage = said(CHUNK, claim)
    assert sentence in passage
    assert len(passage) <= LIMIT
    assert passage[0].isupper() and passage[-1] == "."


def test_a_number_weighs_more_than_a_word():
    chunk = "Adults pay at the gate with coins. " + "Filler stands here to part them. " * 12 + "The price: 4711 in all."
    assert "4711" in said(chunk, "Adults: 4711.")


def test_without_a_shared_word_the_window_is_quoted_from_its_beginning():
    assert said(CHUNK, "Zebras!").startswith("The harbour was built in 1907.")


def test_only_the_window_is_quoted():
    start = CHUNK.index("Tickets")
    assert said(CHUNK, "Harbour built in 1907.", start).startswith("Tickets")
    assert "Tickets" not in said(CHUNK, "Adults pay 4 pounds.", 0, start)


def test_a_long_sentence_is_cut_around_the_words_of_the_claim():
    chunk = "and so on " * 100 + "the treasure lies under the old oak tree " + "and so on " * 100
    passage = said(chunk, "Treasure under an oak.")
    assert "treasure lies under the old oak" in passage
    assert len(passage) <= LIMIT


def test_known_sentences_are_used_where_given():
    chunk = "alpha beta\tgamma delta\tepsilon zeta" + "." * 300
    pieces = [(0, 10), (11, 22), (23, 35 + 300)]
    assert said(chunk, "Gamma.", pieces=pieces) == "alpha beta\tgamma delta"


TEXT = st.text(st.sampled_from("ab1 .!?。\n\"'é🙂"), max_size=900)


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT.map(lambda text: text[:40]), st.integers(0, 900), st.integers(0, 900))
def test_a_quotation_lies_in_its_window_is_short_and_has_no_space_around(chunk, claim, one, other):
    start, end = sorted((min(one, len(chunk)), min(other, len(chunk))))
    a, b = quote(chunk, start, end, (), claim)
    assert start <= a <= b <= end
    assert b - a <= LIMIT
    assert chunk[a:b] == chunk[a:b].strip()


@settings(max_examples=100, deadline=None)
@given(TEXT.filter(lambda text: text.strip()), TEXT)
def test_a_window_with_visible_text_is_quoted_with_visible_text(chunk, claim):
    start, end = len(chunk) - len(chunk.lstrip()), len(chunk.rstrip())
    a, b = quote(chunk, start, end, (), claim)
    assert chunk[a:b].strip()


def test_of_a_long_sentence_the_rare_words_are_quoted():
    filler = "and the old wall of the town was in the way of the road, "
    chunk = filler * 12 + "a copper heron on a pole, " + filler * 12
    assert "copper heron" in said(chunk, "And the copper heron was in the way of the town.")


def test_what_is_written_without_spaces_is_found_by_pairs_of_characters():
    filler = "天気は穏やかで風も弱い。"
    chunk = filler * 30 + "渡し船の切符は駅で買える。" + filler * 30
    assert "切符は駅で" in said(chunk, "切符は駅で売られている。")
    long = filler.replace("。", "、") * 30 + "渡し船の切符は駅で買える、" + filler.replace("。", "、") * 30
    assert "切符は駅で" in said(long, "切符は駅で売られている。")
