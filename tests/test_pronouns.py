"""`--prefix-pronouns`: a claim that opens with a word that points back is read with the claim before it."""

from __future__ import annotations

import pytest
from cli_fixtures import folder, run  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st
from test_claims import FRAGMENTS

from nli_faith import Scorer
from nli_faith.claims import split_claims

FACT = "The ferry leaves at six."


def read(answer: str, granularity: str = "sentence") -> list[str]:
    return [claim.hypothesis for claim in split_claims(answer, None, granularity, prefix_pronouns=True)]


@pytest.mark.parametrize(
    "claim", ["It arrives at noon.", "They cost $5.", "This takes two hours.", "He sold it.", "These are new.", "Its crew is Greek.", "it's cheap."]
)
def test_a_word_that_points_back_brings_the_claim_before(claim):
    assert read(f"{FACT} {claim}") == [FACT, f"{FACT} {claim}"]
    (_, unit) = split_claims(f"{FACT} {claim}", None, "sentence", True)
    assert unit.text == claim and unit.kind == "claim"


@pytest.mark.parametrize(
    "claim", ["Items cost $5.", "It is important to book.", "There is a lift.", "That said, a lift exists.", "Italy is near.", "Theory is hard."]
)
def test_other_openings_stand_alone(claim):
    assert read(f"{FACT} {claim}") == [FACT, claim]


@pytest.mark.parametrize("before", ["Hello!", "I could not find this in the documents.", "Where is it?", "x" * 400 + " is long."])
def test_only_a_claim_of_ordinary_length_is_put_before(before):
    assert read(f"{before} It arrives at noon.")[-1] == "It arrives at noon."
    assert read("It arrives at noon.") == ["It arrives at noon."]


def test_one_claim_and_no_chain_of_them():
    assert read(f"{FACT} It is old. It is red.") == [FACT, f"{FACT} It is old.", "It is old. It is red."]


def test_clauses_are_read_with_the_sentence_before():
    assert read(f"{FACT} It costs $5 and takes two hours.", "clause") == [FACT, f"{FACT} It costs $5.", f"{FACT} It takes two hours."]


def test_what_has_something_before_it_keeps_that():
    answer = "It includes the following items:\n- a lift\n- it costs $5"
    assert read(answer)[1] == "It includes the following items: a lift"


@settings(max_examples=100)
@given(st.lists(FRAGMENTS | st.sampled_from(["It is new. ", "They cost $5. ", FACT + " "]), max_size=10).map("".join))
def test_nothing_but_what_is_read_changes(answer):
    alone, prefixed = split_claims(answer), split_claims(answer, None, "sentence", True)
    assert [(c.text, c.start, c.end, c.kind) for c in alone] == [(c.text, c.start, c.end, c.kind) for c in prefixed]
    for old, new in zip(alone, prefixed):
        assert new.hypothesis == old.hypothesis or (new.kind == "claim" and new.hypothesis.endswith(f" {old.hypothesis}"))
    assert split_claims(answer, None, "answer", True) == split_claims(answer, None, "answer")


def test_scorer_and_command(run):  # noqa: F811
    answer = f"{FACT} It arrives at noon."
    score = Scorer("fake", prefix_pronouns=True).score(answer, ["A ferry."])
    assert [claim.hypothesis for claim in score.claims] == [None, answer]
    assert Scorer("fake").score(answer, ["A ferry."]).claims[1].hypothesis is None
    status, out, _ = run("check", "--answer", answer, "--context", "A ferry.", "--model", "fake", "--prefix-pronouns")
    assert status == 0 and f"read as: {answer}" in out
    options = [Scorer("fake", prefix_pronouns=on).identity()["options"] for on in (False, True)]
    assert options[0] != options[1]
