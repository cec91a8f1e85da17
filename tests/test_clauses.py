"""`--granularity clause`: the fixture's figures, laws that hold for any text, and the way through the product."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from cli_fixtures import folder, run  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st
from test_calibrate import stored
from test_claims import FIXTURES, FRAGMENTS, expected, rows

from nli_faith import InputError, Scorer
from nli_faith.claims import split_claims
from nli_faith.clauses import split_clauses
from nli_faith.types import CLAIM

DATA = Path(__file__).parent / "data" / "clauses.jsonl"

# Sentences that are left whole although they could be cut, and why that is accepted. None may be cut where it should not.
KNOWN_MISSES = {
    "The president met the prime minister and discussed trade and security.": "'soap and scented candles' has the same form",
    "The kids played games and watched films.": "as above",
    "The storm killed three people and left thousands without power.": "'left' may stand before a noun as in 'left hands'",
    "The museum shows art from Asia and Africa and children under 12 enter free.": "no list has 'enter' behind a number",
    "Doctors recommend rest and fluids and say most people recover in a week.": "no list has the verb 'recommend'",
    "The water is cold and clear, and fish and crabs live in it.": "'and' twice: where the clause begins is unclear",
    "The battery lasts ten hours and charges in 40 minutes.": "'prices and charges in 40 countries' has the same form",
    "Orders over $50 ship free and arrive within three days.": "no list has 'ship' behind a number",
    "The mine closed in 1986 and the town lost half its people.": "'items damaged in transit and ...' has the same form",
    "The trees lose their leaves in autumn and they bloom in April.": "no list has the verb 'bloom'",
    "The stew is thick and tastes of smoke.": "'tastes of' is a noun more often",
}


def sentences():
    return [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


def test_figures_of_the_fixture():
    """The sets "second" and "third" were written before any rule had seen them: 30 of 42 and 32 of 40 came out exactly as
    expected then, two of them cut where they should not be. The rules have been mended on all of them since."""
    fixture = sentences()
    missed, torn = set(), set()
    for row in fixture:
        read = [said for *_, said in split_clauses(row["text"])]
        if read != row["read"]:
            (missed if len(read) == 1 else torn).add(row["text"])
    assert len(fixture) >= 230 and sum(len(row["read"]) > 1 for row in fixture) >= 120
    assert 1 - len(missed | torn) / len(fixture) >= 0.95
    assert not torn
    assert missed == set(KNOWN_MISSES)


def check_cuts(text):
    """Spans are in order with only white space between them, and every clause has words."""
    parts = split_clauses(text)
    at = 0
    for start, end, said in parts:
        assert text[at:start].strip() == "" and start < end or not text
        assert len(parts) == 1 or any(sign.isalnum() for sign in said)
        at = end
    assert text[at:].strip() == ""
    assert parts == split_clauses(text)
    return parts


def test_laws_hold_on_the_fixture():
    for row in sentences():
        parts = check_cuts(row["text"])
        for _, _, said in parts[1:]:
            assert not re.match(r"(?:and|but)\b", said, re.I) and said[0].isupper()


WORDS = (
    "the fee it they covers costs is was built and but ; , which if opens in 1907 has two floors closed sold"
    " must be paid by card Anna not between both ( ) “ ” ** [a](b) and, however that"
).split()


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=18).map(" ".join))
def test_laws_hold_on_strings_of_words(text):
    check_cuts(text)


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_laws_hold_on_any_text(text):
    check_cuts(text)


def check_units(answer, question=None):
    """The clauses of an answer lie inside its sentences and cover the same letters and digits."""
    whole, parts = split_claims(answer, question), split_claims(answer, question, "clause")
    inside = [False] * len(answer)
    last = 0
    for part in parts:
        assert answer[part.start : part.end] == part.text and last <= part.start
        assert any(unit.start <= part.start and part.end <= unit.end for unit in whole)
        inside[part.start : part.end] = [True] * (part.end - part.start)
        last = part.end
    for unit in whole:
        spread = range(unit.start, unit.end)
        assert all(inside[at] or not answer[at].isalnum() for at in spread), (answer, unit)
        own = [part for part in parts if unit.start <= part.start and part.end <= unit.end]
        assert (unit.kind == CLAIM) == any(part.kind == CLAIM for part in own)
        assert len(own) > 1 or own == [unit]


@pytest.mark.parametrize("name", FIXTURES)
def test_units_of_the_fixtures_of_answers(name):
    for row in rows(name):
        assert list(expected(row))
        check_units(row["answer"], row.get("question"))


@settings(max_examples=200)
@given(st.lists(FRAGMENTS | st.sampled_from([row["text"] for row in sentences()[:60]]), max_size=10).map("".join))
def test_units_of_markdown(answer):
    check_units(answer)


def test_a_part_that_claims_nothing_is_typed_so():
    units = split_claims("I don't know the price, but the shop opens at nine and closes at five.", None, "clause")
    assert [(unit.kind, unit.hypothesis) for unit in units] == [
        ("refusal", "I don't know the price."),
        ("claim", "The shop opens at nine."),
        ("claim", "The shop closes at five."),
    ]


@pytest.mark.parametrize(
    "answer",
    ["| Plan | Note |\n|---|---|\n| Basic | It costs $5 and includes support |", "The plan:\n- free and covers all\n", "```python\nprint('It is new and it costs $5.')\n```"],
)
def test_what_is_read_otherwise_than_it_stands_is_not_cut(answer):
    assert split_claims(answer, None, "clause") == split_claims(answer)


@pytest.mark.parametrize("text", ["It is, and " * 20_000, "It is new and it costs $5; " * 8_000, "a and b. " * 20_000], ids=lambda t: repr(t[:12]))
def test_time_is_linear(text):
    begin = time.process_time()
    split_claims(text, None, "clause")
    assert time.process_time() - begin < 12


ANSWER = "A refund takes 5 days and goes to the original card. The shop is in Leeds."
CONTEXTS = ["A refund takes 5 days.", "Refunds go to the original card. The shop is in Leeds."]


@pytest.mark.parametrize("early", [False, True])
def test_a_scorer_counts_clauses(early):
    score = Scorer("fake", granularity="clause", early_exit=early).score(ANSWER, CONTEXTS)
    assert [claim.hypothesis or claim.text for claim in score.claims] == [
        "A refund takes 5 days.", "A refund goes to the original card.", "The shop is in Leeds.",
    ]  # fmt: skip
    assert score.n_claims == 3 and all(ANSWER[claim.start : claim.end] == claim.text for claim in score.claims)


def test_a_clause_without_a_place_to_cut_is_an_error_and_its_neighbour_is_read():
    score = Scorer("fake", granularity="clause").score(f"The code is {'qz7' * 400} and it is long.", ["Text."])
    assert score.status == "error" and "without a place to cut" in score.error


def test_commands_take_it(folder, run):  # noqa: F811
    row = {"answer": ANSWER, "contexts": CONTEXTS}
    (folder / "in.jsonl").write_text(json.dumps(row) + "\n")
    status, out, _ = run("score", "in.jsonl", "--model", "fake", "--granularity", "clause", "--json")
    summary = json.loads(out)
    assert status == 0 and (summary["claims"], summary["granularity"]) == (3, "clause")
    status, out, _ = run("check", "--answer", ANSWER, "--context", CONTEXTS[0], "--model", "fake", "--granularity", "clause")
    assert status == 0 and "read as: A refund goes to the original card." in out
    status, out, _ = run("score", "in.jsonl", "-o", "x.jsonl", "--model", "fake", "--granularity", "clause", "--dry-run")
    assert status == 0 and "A refund goes to the original card." in out


def test_a_calibration_of_sentences_is_refused(folder, fake):  # noqa: F811
    path = stored(folder, window=fake.window_size, granularity="sentence")
    with pytest.raises(InputError, match="granularity"):
        Scorer("fake", granularity="clause", calibration=path).score(ANSWER, CONTEXTS)
    (folder / "a.jsonl").unlink()
    path = stored(folder, window=fake.window_size, granularity="clause")
    assert Scorer("fake", granularity="clause", calibration=path).score(ANSWER, CONTEXTS).n_claims == 3


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("She never passed the exam and became a cook.", None),
        ("The firm never repaid the loan and closed its plant.", None),
        ("He rarely left the house and met the neighbours.", None),
        ("Nora did not lease the barn and built a shed.", ["Nora did not lease the barn.", "Nora built a shed."]),
        ("They did not merge the clubs and sold the ground.", ["They did not merge the clubs.", "They sold the ground."]),
    ],
)
def test_a_denial_is_not_carried_over_and_no_clause_begins_with_its_verb(text, read):
    assert [said for *_, said in split_clauses(text)] == (read or [text])
