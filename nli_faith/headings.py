"""Which headings head something and name it, and which are the answer itself, set in bold."""

from __future__ import annotations

import re

from nli_faith.kinds import kind_of
from nli_faith.leads import kind_of_heading
from nli_faith.markup import LABEL, plain
from nli_faith.spans import Block
from nli_faith.types import CLAIM

COLONS = (":", "：")
AGREEMENT = re.compile(
    r"(?:yes|no|yep|nope|correct|incorrect|true|false|sure|certainly|of course|absolutely|definitely)[.!]?", re.I
)
LABELLED = re.compile(r"([^:：]{1,60})[:：]\s*(\S.*)")
# Labels before a title: "Step 2: ...", "Method: ...", "Business Overview: ...".
TITLE_LABEL = re.compile(
    r"(?:.*\d|[A-Z]|.*\b(?:overview|summary|introduction|background|analysis|review|guide|topic|title|subject|question|q|"
    r"step|part|phase|method|option|chapter|section|conclusion|notes?|tips?|example|comparison|update|news|spoilers?))",
    re.I,
)
# An amount names nothing: "$40", "12.5%", "30 days".
AMOUNT = re.compile(
    r"(?:about |around |up to |over |under )?(?:[$€£]\s?\d[\d.,–-]*(?: (?:million|billion|thousand))?|\d[\d.,–-]*\s?"
    r"(?:%|percent)|\d[\d.,–-]* (?:(?:business|working|calendar) )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?))",
    re.I,
)
# Values that say what the text below is, or titles: "Refund policy: overview", "Napoleon: A Life".
TITLE_VALUE = re.compile(
    r"(?:an?|the|how|why|what|when|where|which|from|your|our|my|top|understanding|introducing|using|making|getting)\b.*|"
    r".*\b(?:overview|summary|introduction|"
    r"background|analysis|review|guide|details?|features?|specifications?|specs|comparison|history|profile|steps?|basics|benefits|"
    r"terms|pros|cons|tips|instructions|directions|method|ingredients|recipe|information|info|highlights|results|findings|facts|"
    r"examples?|"
    r"conclusion|description|explanation|breakdown|outline|tutorial|report|part|checklist)",
    re.I | re.S,
)
MARKS = re.compile(r"[\s#*_>]+")
LONGEST_VALUE = 8  # words
LONGEST_NAMED_VALUE = 4  # words of a value that begins with a capital
LONGEST_VALUE_LABEL = 3  # words of its label


def says_it_itself(text: str, block: Block, after: Block | None, title: bool) -> bool:
    """Whether a heading is read like a paragraph: nothing hangs on it, or it is a "Yes".

    A line that ends in a colon stands above whatever comes next.

    Args:
        after: the block below it.
        title: it is the first heading of an answer that has more than headings, so that all of it hangs there.
    """
    said = plain(text[block.start : block.end])
    if AGREEMENT.fullmatch(said) or after is None:
        return True
    return not title and not said.endswith(COLONS) and after.role == "heading" and after.indent <= block.indent


def answers(text: str) -> bool:
    """Whether a heading, raw, is labelled as the answer itself: "**Answer: Paris**"."""
    return LABEL.match(MARKS.sub("", text[:4]) + text[4:]) is not None


def kind_of_marked(said: str, text: str) -> str:
    """The kind of a heading with something below it, as it is said and raw: a claim when it gives a value ("Rating: 4.5/5") or
    states a fact.

    "Summary: The fall of a king" is a title, for titles have colons too: a value has a figure, begins small or is short.
    """
    if answers(text) and said and kind_of(said) == CLAIM:
        return CLAIM
    if AMOUNT.fullmatch(said):
        return CLAIM
    labelled = LABELLED.fullmatch(said)
    if labelled and not TITLE_LABEL.fullmatch(labelled[1].strip()):
        value = labelled[2]
        words = len(value.split())
        given = value[0].islower() or (any(sign.isdigit() for sign in value) and words <= LONGEST_VALUE)
        named = words <= LONGEST_NAMED_VALUE and len(labelled[1].split()) <= LONGEST_VALUE_LABEL
        if (given or named) and not TITLE_VALUE.fullmatch(value) and kind_of(value) == CLAIM:
            return CLAIM
    return kind_of_heading(said)
