"""The flags in the chain: off they leave no trace, on they change nothing else, and --strict-numbers turns verdicts by them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from cli_fixtures import folder, run  # noqa: F401

from nli_faith import Scorer, UsageError
from nli_faith.flags import Flags, apply_flags, chunks_behind
from nli_faith.markup import plain
from nli_faith.model import FakeModel
from nli_faith.numbers import missing_numbers
from nli_faith.statements import chunk_statement, claim_statement
from nli_faith.types import ClaimVerdict

CONTEXTS = [
    "The library has 12 branches. It opened on 3 June 1931. Membership costs 20 euros a year.",
    "The library has 14 branches and a bus. The reading room is not open on Sunday.",
    "Nothing of this is about books.",
]
WRONG = "The library has 15 branches."
RIGHT = "The library has 14 branches."


class Believer(FakeModel):
    """Entailment, 0.9, wherever the window holds the claim's second word; else neutral. `shy` makes it contradiction."""

    shy = False

    def probabilities(self, table, premises, hypotheses, counts):
        p = np.empty((len(table), 3), dtype=np.float32)
        for i, (premise, hypothesis) in enumerate(zip(table.premise, table.hypothesis)):
            holds = hypotheses[hypothesis][1] in premises[premise]
            p[i] = ((0.05, 0.05, 0.9) if self.shy else (0.9, 0.05, 0.05)) if holds else (0.1, 0.8, 0.1)
        counts.pairs_scored += len(table)
        return p


def believing(encoder, shy: bool = False, **options) -> Scorer:
    scorer = Scorer("fake", **options)
    scorer._reader = Believer(encoder)
    scorer._reader.shy = shy
    return scorer


def claim(encoder, answer: str, contexts=CONTEXTS, **options) -> ClaimVerdict:
    (verdict,) = believing(encoder, **options).score(answer, contexts).claims
    return verdict


@pytest.mark.parametrize("option", ["flags", "strict_numbers"])
def test_a_number_that_a_supporting_chunk_states_is_no_mismatch(encoder, option):
    said = claim(encoder, RIGHT, **{option: True})
    assert (said.verdict, said.support, said.numeric_mismatch) == ("supported", pytest.approx(0.9), False)


def test_a_number_is_looked_for_in_every_chunk_that_supports_the_claim_and_in_no_other(encoder):
    assert claim(encoder, "The library has 14 branches.", flags=True).chunk == 0
    assert claim(encoder, "The library has 14 branches.", CONTEXTS[:1], flags=True).numeric_mismatch
    assert claim(encoder, "The library has 14 branches.", [CONTEXTS[0], "Nothing: 14."], flags=True).numeric_mismatch


def test_flags_change_no_verdict(encoder):
    for answer in (WRONG, RIGHT, "The reading room is open on Sunday.", "The ship has 3 masts."):
        plain, flagged = claim(encoder, answer), claim(encoder, answer, flags=True)
        assert (plain.numeric_mismatch, plain.negation_mismatch) == (None, None)
        assert replace(flagged, numeric_mismatch=None, negation_mismatch=None) == plain


def test_strict_numbers_takes_the_support_and_keeps_what_the_model_said(encoder):
    strict, plain = (believing(encoder, strict_numbers=on).score(WRONG, CONTEXTS) for on in (True, False))
    (said,), (before,) = strict.claims, plain.claims
    assert (said.verdict, said.support, said.numeric_mismatch, said.conflict) == ("unsupported", 0.0, True, False)
    assert (said.p_entailment, said.chunk, said.evidence) == (before.p_entailment, before.chunk, before.evidence)
    assert (strict.faithfulness, strict.n_supported, strict.n_unsupported) == (0.0, 0, 1)
    assert (strict.min_support, strict.faithful) == (0.0, False)
    assert (plain.faithfulness, plain.faithful) == (1.0, True)


def test_strict_numbers_leaves_a_contradiction_one(encoder):
    said = claim(encoder, WRONG, shy=True, strict_numbers=True)
    assert (said.verdict, said.support, said.numeric_mismatch) == ("contradicted", 0.0, True)


def test_a_negation_is_flagged_against_the_deciding_window(encoder):
    said = claim(encoder, "The reading room is open on Sunday.", CONTEXTS[1:], strict_numbers=True)
    assert (said.verdict, said.numeric_mismatch, said.negation_mismatch) == ("supported", False, True)


def test_units_that_are_no_claims_and_claims_without_a_context_have_none(encoder):
    scorer = believing(encoder, flags=True)
    assert [c.numeric_mismatch for c in scorer.score("Hello! " + RIGHT, CONTEXTS).claims] == [None, False]
    (said,) = scorer.score(RIGHT, [""]).claims
    assert (said.verdict, said.numeric_mismatch, said.negation_mismatch) == ("unsupported", None, None)


def test_with_early_exit_a_number_may_stand_in_what_was_not_read(encoder):
    assert claim(encoder, WRONG, flags=True, early_exit=True).numeric_mismatch is None
    assert claim(encoder, RIGHT, CONTEXTS[1:2], flags=True, early_exit=True).numeric_mismatch is False
    with pytest.raises(UsageError, match="early_exit"):
        Scorer("fake", strict_numbers=True, early_exit=True)


def test_strict_numbers_implies_the_flags():
    assert Scorer("fake", strict_numbers=True).score_options.claim_fields == ("numeric_mismatch", "negation_mismatch")


def test_the_chunks_behind_a_claim():
    chunk = np.array([0, 0, 2, 3])
    assert chunks_behind(np.array([[False, True, False, True]]), chunk) == [0, 3]
    assert chunks_behind(np.array([[False] * 4, [False, False, True, False]]), chunk) == [2]
    assert chunks_behind(np.zeros((1, 4), bool), chunk) == [0, 2, 3]


@pytest.mark.parametrize("flags", [Flags(False, True), Flags(None, False)])
def test_only_a_certain_mismatch_is_strict(flags):
    verdict = ClaimVerdict("x", None, 0, 1, "claim", "supported", 0.9, conflict=True)
    said = apply_flags(verdict, flags, strict_numbers=True)
    assert (said.verdict, said.support, said.conflict) == ("supported", 0.9, True)
    assert (said.numeric_mismatch, said.negation_mismatch) == (flags.numeric_mismatch, flags.negation_mismatch)


def test_the_command_line(folder, run):  # noqa: F811
    command = ["check", "--model", "fake", "--answer", WRONG, "--context", CONTEXTS[0], "--json"]
    plain, flagged = (json.loads(run(*command, *more)[1]) for more in ([], ["--flags"]))
    assert "numeric_mismatch" not in plain["claims"][0]
    assert list(flagged["claims"][0])[-2:] == ["numeric_mismatch", "negation_mismatch"]
    assert flagged["claims"][0]["numeric_mismatch"] is True
    strict = json.loads(run(*command, "--strict-numbers")[1])
    assert strict["claims"][0]["support"] == 0.0
    assert strict["min_support"] == 0.0


CITED = ["[2, 15]", "[4, 5, 16]", "[15–17]", "[^15]", "[Doc 15]", "【15†leave.pdf】",
         "(Source: leave.pdf, p. 15)", "(see Section 15.2)",
         "[15, p. 33]", "<sup>15</sup>", "(Brown et al., 2019)", "(Brown & Lee, 2018; Kim, 2019)", "(WHO, 2019)", "(p. 15)",
         "(Manual, page 15)", "(cf. Table 15)", "in document 15", "according to passages 15 and 16"]  # fmt: skip


@pytest.mark.parametrize("mark", CITED)
def test_citations_are_no_numbers_of_the_claim(mark):
    for text in (f"Parental leave is paid {mark}.", f"Parental leave is paid.{mark}", f"Parental leave {mark} is paid."):
        assert missing_numbers(claim_statement(text, plain(text)), ["Parental leave is paid."]) == ()


@pytest.mark.parametrize(
    ("text", "chunk"),
    [("Tip 14: Ask early.", "Ask early."), ("It cost $25 **million**.", "It cost $25 million."),
     ("The flat has 45 m<sup>2</sup>.", "45 m²"),
     ("The flat has 45 m².", "45 m<sup>2</sup>"), ("It cost $25 million.", "It cost $25 **million**."),
     ("There were $150$ samples.", "There were 150 samples."), ("It takes 14 days.", '{"time": "14\\u201320 days"}'),
     ("It costs €35.", '{"fee": "\\u20ac35 per head"}'), ("It costs £35.", "It costs &pound;35.")],
)  # fmt: skip
def test_marks_and_escapes_change_no_number(text, chunk):
    assert missing_numbers(claim_statement(text, plain(text)), [chunk_statement(chunk)]) == ()


@pytest.mark.parametrize("text", ["The show (May, 2019) sold out.", "It lasts (with breaks) 15 hours."])
def test_what_is_said_in_brackets_stays(text):
    assert claim_statement(text, text) == text


def test_a_record_states_its_values_and_no_position():
    record = json.dumps([{"seats": 40}] * 12)
    assert missing_numbers("There are 40 seats.", [chunk_statement(record)]) == ()
    assert missing_numbers("There are 12 seats.", [chunk_statement(record)]) == ("12",)


def test_the_question_before_a_fragment_is_not_asked_for(encoder):
    scorer = believing(encoder, flags=True)
    (said,) = scorer.score("In 1931.", ["It opened in 1931."], question="Why did the 45 branches open?").claims
    assert said.hypothesis is not None and said.numeric_mismatch is False
