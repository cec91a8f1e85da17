"""Which headings head something and name it, and which are the answer itself, set in bold."""

from __future__ import annotations

import re

from nli_faith.kinds import kind_of
from nli_faith.leads import kind_of_heading
from nli_faith.markup import plain
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


LONGEST_VALUE = 8  # words


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


def kind_of_marked(said: str) -> str:
    """The kind of a heading with something below it: a claim when it gives a value ("Rating: 4.5/5") or states a fact.

    "Summary: The fall of a king" is a title, for titles have colons too: a value has a figure or begins small.
    """
    if AMOUNT.fullmatch(said):
        return CLAIM
    labelled = LABELLED.fullmatch(said)
    if labelled and not TITLE_LABEL.fullmatch(labelled[1].strip()):
        value = labelled[2]
        given = value[0].islower() or (any(sign.isdigit() for sign in value) and len(value.split()) <= LONGEST_VALUE)
        if given and kind_of(value) == CLAIM:
            return CLAIM
    return kind_of_heading(said)
