"""Sentences that end in a question mark: do they ask, or do they state something?"""

from __future__ import annotations

import re

from nli_faith.tails import has_subject_and_verb
from nli_faith.verbs import has_finite_verb

QUESTION_WORD = re.compile(
    r"\b(?:what|which|who|whom|whose|how|why|when|where|do you|would you|could you|can you|can i|will you|have you|"
    r"are "
    r"you|is it|is there|is this|shall|should i|should we|may i|want me|need help|right)\b"
)
ASKING = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|may|should|must|shall|so|or|and|what|which|"
    r"who|"
    r"whom|whose|how|why|when|where|¿)(?:\b|(?<=¿))"
)
MARKS = ("?", "？", "؟", "?)", "?!")
# The mark only doubts a word: "It was Giotto (?)".
DOUBT = "(?)"
TAG = re.compile(
    r"(.+), (?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n't| not)? (?:it|he|she|they|there|that)|"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should) (?:it|he|she|they|there|that) not|right|correct|no|"
    r"yes)\?$",
    re.S,
)
TO_THE_READER = re.compile(r"(?:so,? |and |but )?(?:you|your|i|do|shall|what|which|who|how|why|when|where)\b")
TOLD = re.compile(r"(?:and |but )?did you know(?: that)?[,:]? (?!what|which|who|how|why|when|where|whether|if)(.+)\?$", re.S)
# A title that asks, at the end of a statement: "He hosted Who Wants to Be a Millionaire?"
TITLE = re.compile(
    r"(.*[\w,]) (?:Who|What|Where|Why|How|When|Which|Whose|Is|Are|Do|Does|Did|Can|Will|Have|Has)(?:,? (?:[A-Z][\w'’]*|an?|the|of|"
    r"to|be|in|on|for|my|and|is|it))"
    r"*,? [A-Z][\w'’]*\?$",
    re.S,
)


def is_question(text: str) -> bool:
    """Whether a sentence asks something and states nothing."""
    low = text.lower().replace("’", "'").strip()
    return low.endswith(MARKS) and not low.endswith(DOUBT) and not _states_a_fact(text.strip(), low)


def _states_a_fact(text: str, low: str) -> bool:
    """A statement that merely ends in a question mark: it quotes a question or names a title, tells what the reader may not
    know, asks for no more than a nod, or has figures or much to say and asks nothing.
    """
    told, tag, title = TOLD.match(low), TAG.match(low), TITLE.match(text)
    if told and has_subject_and_verb(told[1]):
        return True
    if tag and not TO_THE_READER.match(low) and not ASKING.match(low) and has_subject_and_verb(tag[1]):
        return True
    if title and not ASKING.match(low) and has_subject_and_verb(f"{title[1]} it"):
        return True
    head = re.match(r"(.*\S)\s*(?:[\"“«「]|: )(?=\S)", low, re.S)
    if head and len(head.group(1)) > 1 and has_finite_verb(head.group(1)) and not ASKING.match(low):
        return True
    if not low.isascii() or ASKING.match(low) or QUESTION_WORD.search(low.rsplit(",", 1)[0]):
        return False
    return any(sign.isdigit() for sign in low) or len(low.split()) >= 12
