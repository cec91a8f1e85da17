"""Answers as typed units: the fixture's figures, and laws that hold for any text."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.claims import split_claims
from nli_faith.errors import UsageError
from nli_faith.kinds import kind_of
from nli_faith.types import CLAIM, KINDS
from nli_faith.verbs import has_finite_verb

DATA = Path(__file__).parent / "data"
FIXTURES = ("answers.jsonl", "answers_heldout.jsonl")

# Every unit of the fixtures that comes out otherwise, and why that is accepted.
KNOWN_MISSES = {
    ("hard-1", "The shop is on Mill St."): "'St.' before a word Punkt knows as a name too: a saint is likelier",
    ("hard-1", "Customers like it."): "as above",
    ("hard-2", "The firm left the U.S."): "'U.S. Postal Service' would be torn by the rule that could cut here",
    ("hard-2", "Investors were pleased."): "as above",
    ("hard-3", "They contain no information about parking."): "'they' may be anything; a claim is the safe reading",
}


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def expected(row):
    """(start, end, kind, hypothesis) of the units of a fixture row, found from left to right."""
    at = 0
    for unit in row["units"]:
        start = row["answer"].index(unit["text"], at)
        at = start + len(unit["text"])
        yield start, at, unit["kind"], unit.get("hypothesis", unit["text"])


def compare(name):
    """Counts of a fixture: units, wrong boundaries, wrong kinds, wrong hypotheses, true claims typed otherwise; and what missed."""
    counts = dict(units=0, claims=0, boundaries=0, kinds=0, hypotheses=0, hidden=0)
    missed = set()
    for row in rows(name):
        found = {(claim.start, claim.end): claim for claim in split_claims(row["answer"], row.get("question"))}
        for start, end, kind, hypothesis in expected(row):
            claim = found.get((start, end))
            counts["units"] += 1
            counts["claims"] += kind == CLAIM
            if claim is None:
                counts["boundaries"] += 1
            else:
                counts["kinds"] += claim.kind != kind
                counts["hidden"] += kind == CLAIM and claim.kind != CLAIM
                counts["hypotheses"] += claim.hypothesis != hypothesis
            if claim is None or (claim.kind, claim.hypothesis) != (kind, hypothesis):
                missed.add((row["id"], row["answer"][start:end]))
    return counts, missed


@pytest.mark.parametrize("name", FIXTURES)
def test_figures_of_the_fixture(name):
    counts, _ = compare(name)
    assert counts["boundaries"] <= 0.02 * counts["units"], counts
    assert counts["kinds"] <= 0.05 * counts["units"], counts
    assert counts["hypotheses"] <= 0.02 * counts["units"], counts
    assert counts["hidden"] <= 0.005 * counts["claims"], counts


def test_only_the_known_misses_are_missed():
    assert set().union(*(compare(name)[1] for name in FIXTURES)) == set(KNOWN_MISSES)


def test_the_fixture_is_wide_enough():
    kinds = {unit["kind"] for name in FIXTURES for row in rows(name) for unit in row["units"]}
    assert kinds == set(KINDS)
    assert len(rows("answers.jsonl")) >= 150 and len({row["group"] for row in rows("answers.jsonl")}) >= 30


# What may stand outside of every unit although it has letters or digits.
MARKS = re.compile(
    r"(?:^|(?<=[\n\r\v\f\x85\u2028\u2029]))[ \t>]*(?:`{3,}|~{3,})[^\n\r\v\f\x85\u2028\u2029]*"  # fence lines
    r"|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)](?=\s)"  # list marks
    r"|\[[xX]\]"
    r"|\\[bfnrt]"  # white space as JSON writes it
    r"|\[\[?(?:\^|source |doc |document )?\d{1,3}(?:, ?\d{1,3})*\]\]?:?|【[^】\n]{1,40}】",  # citation marks
    re.I,
)


def check_laws(answer, question=None):
    claims = split_claims(answer, question)
    covered = [False] * len(answer)
    last = 0
    for claim in claims:
        assert answer[claim.start : claim.end] == claim.text and claim.text
        assert last <= claim.start < claim.end
        assert claim.kind in KINDS
        assert claim.hypothesis.strip() or not claim.text.strip()
        claim.hypothesis.encode("utf-8")
        last = claim.end
        covered[claim.start : claim.end] = [True] * (claim.end - claim.start)
    for mark in MARKS.finditer(answer):
        covered[mark.start() : mark.end()] = [True] * (mark.end() - mark.start())
    assert all(inside or not sign.isalnum() for inside, sign in zip(covered, answer)), (answer, claims)
    assert bool(claims) == bool(answer.strip())
    assert split_claims(answer, question) == claims
    whole = split_claims(answer, question, "answer")
    assert len(whole) == min(1, len(claims))
    if whole:
        assert whole[0].text == answer.strip() == answer[whole[0].start : whole[0].end]
        assert whole[0].hypothesis
        assert (whole[0].kind == CLAIM) == any(claim.kind == CLAIM for claim in claims)


@pytest.mark.parametrize("name", FIXTURES)
def test_laws_hold_on_the_fixture(name):
    for row in rows(name):
        check_laws(row["answer"], row.get("question"))
        check_laws(row["answer"].replace("\n", "\r\n"))


FRAGMENTS = st.sampled_from(
    ["# Price", "**Price**", "- ", "* a", "1. ", "2. Do it. ", "a) ", "| a | b |", "|---|---|", "|", "```", "```py", "~~~", "> ", "[1]", "[^1]: ", "[2, 3]", "[x](http://a.b/c.d)", "`f(x)[0]`"]
    + ["![", "](", "<br>", "<b>", "&amp;", "\\*", "**", "_", "Dr. ", "U.S. ", "e.g. ", "3.14 ", "v1.2. ", "No. 5 ", "a.m. ", "... ", "?! ", '."', "。", "؟ ", "।", "The fee is $5. ", "I don't know. "]
    + ["42. ", "(5) people. ", "c) ", "```md", "```json", '```json {"a": 5}', "| **a** | 1 |", "arr[5] ", "in [3], ", "([1]) ", "[1][2]", ">90% ", "<answer>", "Sources:", "User: Hi! ", "How many? 12. ", "It is.The "]
    + ["The documents do not mention it, but ", "Hello! ", "Here is a list:", "---", "===", '{"a": 1}', "{", '"', "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u200b", "\x00", "\ud800", "👍", " ", "(Source: x)", "你好", "\u2028"]
    + ["```Fee: $5 a day", "f(1)```", "``` It is.", "```output", "✅ ", "▪️ ", "</p><p>", "<li>", "It is new.✅", "Wins: 1. ", "Myths:", "Is it? ", "→ it is ", "【4†x】", "【定休日】"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_laws_hold_on_markdown(answer):
    check_laws(answer)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=80), st.none() | st.text(max_size=10))
def test_laws_hold_on_any_text(answer, question):
    check_laws(answer, question)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(["It is 5. It is \"new\".\nYes.", "I don't know."]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.just("answer"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(JSON, st.booleans(), st.sampled_from([None, 2]))
def test_laws_hold_on_json(value, ascii_only, indent):
    check_laws(json.dumps(value, ensure_ascii=ascii_only, indent=indent))


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAGMENTS, max_size=8).map("".join))
def test_a_fact_in_a_paragraph_of_its_own_is_always_found(before):
    """Whatever comes first, short of an open fence or JSON, a plain statement is a claim."""
    if "```" in before or "~~~" in before or before.lstrip().startswith(("{", "[")):
        return
    claims = split_claims(f"{before}\n\nThe dam was finished in 1936.")
    assert any("1936" in claim.text and claim.kind == CLAIM for claim in claims)


HIDING_PLACES = [
    "# {}", "**{}**", "- {}", "> {}", "| A |\n|---|\n| {} |", "| {} |\n|---|\n| x |", "[{}](http://a.b)", "*{}*", "1. {}", "({})", '"{}"', '{{"note": "{}"}}', '{{"answer": "{}"}}',
    "Sources: {}", "Here is a summary: {}", "Note: {}", "Hello, {}", "(Source: {})", "```markdown\n{}\n```", "```{}\nx\n```", "I hope this helps: {}", "The documents do not mention it, but {}", "I don't know, however {}",
]  # fmt: skip


@pytest.mark.parametrize("place", HIDING_PLACES)
def test_a_claim_cannot_hide(place):
    answer = place.format("Revenue grew 40% in 2023.")
    assert any("grew 40%" in claim.text and claim.kind == CLAIM for claim in split_claims(answer)), split_claims(answer)


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "```\nx = 1\n{}\n```", "~~~sh\n{}"])
def test_what_is_code_in_a_fence_is_kept_as_code(fence):
    claims = split_claims("It fell later.\n\n" + fence.format('print("Revenue grew 40% in 2023.")'))
    assert [claim.kind for claim in claims if "40%" in claim.text] == ["code"]


def test_an_unknown_granularity_is_refused():
    with pytest.raises(UsageError, match="granularity"):
        split_claims("It is new.", granularity="paragraph")


def test_the_whole_answer_is_read_without_markup():
    (claim,) = split_claims("# Plan\n\n- **Basic**: $5 [1]\n- Pro: $9\n", granularity="answer")
    assert (claim.start, claim.kind, claim.hypothesis) == (0, CLAIM, "Plan Basic: $5 Pro: $9")


@pytest.mark.parametrize("text", ["Costs", "Shipping costs", "Key features", "10 users", "May 2023", "United States", "Waterproof case", "Tools to help you save"])
def test_names_have_no_finite_verb(text):
    assert not has_finite_verb(text)


@pytest.mark.parametrize("text", ["Shipping costs $5", "It is", "Sales fell", "We offer refunds", "Prices may rise", "The lid opened slowly", "Refunds take 5 days"])
def test_statements_have_a_finite_verb(text):
    assert has_finite_verb(text)


@pytest.mark.parametrize(
    "text",
    [
        "Other clubs may have a harder time as they are not specifically named in the article.",
        "No further details of the settlement have been disclosed.",
        "The texts do not give instructions on grip, but rather stress the place of the hands.",
        "Bake for 30 minutes (though the temperature isn't stated in the passage).",
        "The price of the Pro plan, which starts at $9, is not mentioned in the context.",
        "There was no mention of a merger in the speech.",
        "The documents do not mention any fee other than the 3% booking charge.",
        "She asked, \"Where is the key?\"",
        "Good schools raise house prices.",
        "Unfortunately, we cannot provide refunds after 30 days.",
        "The results do not indicate a difference between the groups.",
        "Sources did not disclose the value of the deal.",
        "No details were given about the cause of the fire.",
        "The right is not included in the articles of incorporation.",
        "The data may be shared with third parties.",
        "Feel free to use the pool after hours.",
        "For additional help, the office opens at nine.",
        "If you have questions, call 555-0100.",
        "For more information, call 555-0100.",
        "It depends on the size of the room.",
    ],
)
def test_statements_near_a_rule_stay_claims(text):
    assert kind_of(text) == CLAIM


PATHOLOGICAL = [
    "." * 200_000, "a" * 200_000, ". " * 100_000, "[1]" * 66_000, "*a" * 100_000, "_a" * 100_000, "`a" * 100_000, "<b" * 100_000, "[" * 100_000 + "]" * 100_000, "[a](b " * 33_000,
    "(Source: " * 22_000, "| " * 100_000, "|a|\n" * 50_000, "- a\n" * 25_000, "1. " * 66_000, "```\n" * 50_000, "> " * 100_000, "{" * 200_000, '["' * 100_000, '{"a":' * 40_000,
    "\n" * 200_000, "a:\n" * 33_000, "你好。" * 33_000, "not. " * 40_000, "I'm sorry, " * 18_000, "I cannot find it, but " + "which, " * 28_000, "(“" * 100_000, " " * 200_000 + "a", "\ud800" * 200_000,
    "is not mentioned in the " * 8_000, "“a: " * 50_000 + "?", "".join(" " * depth + "- a\n" for depth in range(600)),
    "```json\n" * 40_000, '```json\n{"\n' * 20_000, "```md\n" * 40_000, "```md\n" * 20_000 + "```\n" * 20_000, "**a**\n" * 40_000, "a\n\n" * 20_000 + "# a\n" * 20_000, "[^1]: a\n" * 30_000,
    "How? 2. " * 20_000, "No? No. 5 " * 15_000, "([1]) " * 30_000, "arr[1] " * 30_000, "Sources:\n[1] a\n" * 10_000, "| a | 1 |\n|-|-|\n" * 10_000, "User: " * 40_000, "a.The " * 30_000,
    "<b x=" * 40_000, '```json {"' * 20_000, "```\nIt is a b c.\n" * 20_000, "12. a\n" * 30_000, "<answer>" * 30_000, "(" * 50_000 + "[1]" + ")" * 50_000, "a: " * 50_000, "**a: 1**\n\n" * 20_000,
    "<p>" * 60_000, "```a b\n" * 30_000, "f(1)```\n" * 30_000, "✅ a\n" * 30_000, "Is it? Yes. " * 20_000, "myths " * 30_000 + ":\n" + "- a\n" * 20_000, "a: 1. " * 40_000,
]  # fmt: skip


@pytest.mark.parametrize("text", PATHOLOGICAL, ids=lambda text: repr(text[:12]))
def test_time_is_linear(text):
    begin = time.process_time()
    split_claims(text)
    # Well above what a linear pass takes on a slow machine, far below a quadratic one.
    assert time.process_time() - begin < 8
