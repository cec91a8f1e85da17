"""Lines that stand above others: lead-ins ("The kit contains:") and marked headings. A name, a remark, or a claim?"""

from __future__ import annotations

import re
from functools import lru_cache

from nli_faith.kinds import kind_of
from nli_faith.refusals import EVIDENCE
from nli_faith.tails import has_subject_and_verb
from nli_faith.types import CLAIM
from nli_faith.verbs import WORD, has_finite_verb

FIGURE = re.compile(r"(?<!passage )(?<!document )(?<!source )(?<!\w)\d")
# Numbers that count have been taken away: "15. Here's the breakdown:" says 15.
NUMBERED = re.compile(r"\d{1,3}[.)]\s")
# The line stops where its object should be: "The warranty covers:", "You need:", "It is available in:".
OPEN_VERB = re.compile(
    r"\b(?:(?:include|cover|contain|highlight|praise|emphasi[sz]e|need|require|support|offer|provide|receive|"
    r"comprise|"
    r"list|mention|state|say|note|recommend|suggest|show|accept|allow|involve|use|serve|sell|make|get|find|choose|see"
    r"|know|report|describe|discuss|explain|cite|run|ask|do)(?:s|es|d)?|ha(?:s|ve|d)|found|are|is|was|were|be|can|"
    r"may|"
    r"must|should|will|by|to|with|for|of|from|as|in|that|these|this|those|such as)"
    r"(?: (?:the|some|several|many|various|multiple|a few|all))*$"
)
# It only announces what its items say: "The kit contains the following items:", "We offer these plans:", "run this:".
ANNOUNCED = re.compile(
    r"\b(?:(?:the )?following(?: [\w-]+){0,4}|as follows|(?:given|listed|shown|outlined) below|these(?: [\w-]+){1,3}|"
    r"(?:run|type|enter|use|do|try|follow)(?: (?:this|it))?(?: [\w-]+)?)$"
)
# "If you move, ..." says nothing by itself, "Because it is banned, ..." does.
SUBORDINATE = re.compile(
    r"^(?:(?:however|therefore|alternatively|additionally|also|thus|so|finally|overall|and|but|yes|no|sure|then|next)\b,? |"
    r"(?:if|when|whenever|once|before|after|unless|until|to)\b[^,:]*,\s*|"
    r"(?:while|as|for|in|on|at|with|based|according|given|per|from|under)\b[^,:\d]*,\s*)"
)
CONJUNCTION = re.compile(r",? (?:and|but|so|because|while)\b|, (?!which\b)")
REASON = re.compile(r" (?:for|because of|due to)$")
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
# How a long name of a part begins; other long lines may have a verb that no list knows.
PURPOSE = re.compile(
    r"(?:to|for|how|based|according|when|if|before|after|once|under|in|on|at|by|with|following|summary|overview|"
    r"difference|key|main|step|method)\b"
)
# Lead-in lines that add nothing to what they stand before, and those above a list of sources.
EMPTY_LEAD = re.compile(
    rf"(?:based (?:solely |only )?(?:up)?on|according to|as per) [^:,]{{0,40}}{EVIDENCE}|in summary|summary|answer|"
    rf"notes?"
)
# What a lead-in line makes of its items, sentences or not: conditions, denials, what others say.
CONDITION = re.compile(r"\b(?:if|when|whenever|unless|until|in case|provided that)$")
FALSEHOOD = re.compile(
    r"(?!.*\b(?:debunk|dispel|correct(?:s|ing|ed)\b|address|clarif|clear))(?:.*\b)?(?:false|untrue|incorrect|inaccurate|myths?|"
    r"misconceptions?|"
    r"not (?:true|correct|accurate|the case))\b"
)
NEGATION = re.compile(r"\b(?:not|never|cannot|except|excludes?|excluding|without)\b(?! (?:only|just|limited)\b)|n't\b")
ATTRIBUTION = re.compile(
    r"according to (?!the (?:information|data|details|facts)$)[^,]+$|.*\b(?:(?:say|says|said|argue[sd]?|claimed|believe[sd]?|"
    r"alleged|contend(?:s|ed)?)(?: that)?|"
    r"(?:claims?|alleges?) that)$"
)
FROM_EVIDENCE = re.compile(rf".*\b{EVIDENCE}")
SOURCES_LEAD = re.compile(r"(?:sources?|references?|citations?|sources used|footnotes)")
# "No refunds", "Not available in Japan": a denial names nothing.
DENIAL = re.compile(r"(?:no|not|never|none of|without)\s[^\W\d_]{2,}", re.I)
VERB_BY_FORM = re.compile(r"(?:[A-Z][\w'-]* )+[a-z]{3,}(?<![sui])s (?:[A-Z]|the\b|an?\b|its\b|their\b)(?!.* [Ff]or\b)")
LONGEST_LEAD_IN = 16  # words
LONGEST_GOVERNING = 300  # characters
SHORT_LEAD_IN = 7  # words within which a figure is part of a name ("Review 2 (May 2021):")


def kind_of_lead(text: str) -> str:
    """The kind of a line that ends in a colon and introduces what follows: "heading" (a name), "meta" or a claim.

    It is a claim as soon as it may say something that its items don't say by themselves.
    """
    low = text.lower().replace("’", "'").strip().rstrip(":： ")
    if NUMBERED.match(low):
        return CLAIM
    kind = kind_of(f"{low}:")
    words = len(low.split())
    if kind != CLAIM:
        return kind
    main = _main(low)
    if words > LONGEST_LEAD_IN or (words > SHORT_LEAD_IN and FIGURE.search(main)) or _states_before(main):
        return CLAIM
    announced = ANNOUNCED.search(main)
    if announced:
        return CLAIM if _hangs_loosely(main[: announced.start()].rstrip()) else "meta"
    if OPEN_VERB.search(low):
        return "meta"
    named = not has_finite_verb(low) and (words <= SHORT_LEAD_IN or PURPOSE.match(low))
    return "heading" if named else CLAIM


def _main(low: str) -> str:
    """The clause that is left open, without quotations and without what says nothing before it."""
    low = QUOTED.sub("x", low)
    for _ in range(3):
        low = SUBORDINATE.sub("", low)
    return low


def _states_before(clause: str) -> bool:
    """Whether a whole clause stands before the one that is left open: "It costs ten dollars and includes:"."""
    cuts = [cut.start() for cut in CONJUNCTION.finditer(clause)]
    return any(has_subject_and_verb(clause[:at]) and len(WORD.findall(clause[at:])) > 1 for at in cuts)


def _hangs_loosely(before: str) -> bool:
    """Whether "the following" gives reasons for a statement that is whole: "He was fired for the following reasons:"."""
    bare = REASON.sub("", before)
    return bare != before and has_subject_and_verb(bare) and not OPEN_VERB.search(bare)


def kind_of_heading(text: str) -> str:
    """The kind of a marked heading: a claim when it states a fact, for a claim can't pass by being a heading."""
    asked = text.rstrip().endswith(("?", "？", "؟"))
    bare = re.sub(r"^[\d.)(:]+\s*", "", text)
    return "heading" if asked or not (has_finite_verb(bare) or _has_verb_by_form(bare) or denies(bare)) else CLAIM


def denies(text: str) -> bool:
    """Whether a fragment is a denial, which is the name of nothing: "No refunds"."""
    return DENIAL.match(text) is not None and kind_of(text) == CLAIM


def _has_verb_by_form(text: str) -> bool:
    """A small word in -s between a capital and an article or a name: "Aspirin thins the blood", "Acme acquires Globex"."""
    return VERB_BY_FORM.match(text) is not None or has_subject_and_verb(text[:1].lower() + text[1:])


@lru_cache(maxsize=1 << 10)
def governs(lead: str) -> bool:
    """Whether an item says something else without its lead-in line: "You are not eligible if:", "These claims are false:"."""
    if len(lead) > LONGEST_GOVERNING:
        return False
    low = lead.lower().replace("’", "'").rstrip()
    bare = low.rstrip(":： ")
    last = re.split(r",|\bbut\b", bare)[-1]
    if FALSEHOOD.match(last):
        return True
    if bare == low or FROM_EVIDENCE.match(low):
        return False
    return any(pattern.search(last) for pattern in (CONDITION, NEGATION)) or ATTRIBUTION.match(bare) is not None


def says_nothing(lead: str) -> bool:
    """Whether a lead-in line or heading adds nothing to the fragments below it: "According to the documents:"."""
    return EMPTY_LEAD.fullmatch(lead.lower().rstrip(":： ")) is not None


def names_sources(lead: str) -> bool:
    """Whether a lead-in line or heading announces a list of sources, whose fragments are no claims."""
    return SOURCES_LEAD.fullmatch(lead.lower().rstrip(":： ")) is not None
