"""The head of a clause: its subject, which a later clause may share, and its auxiliaries. Used by `clauses.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nli_faith.clause_words import (
    BE, DENYING, DETERMINERS, HAVE, MODALS, NEGATIVE, OPENERS, PLURAL, PLURAL_ONLY, PREPOSITIONS, PRONOUNS, RELATIVE, SAME_PASTS,
    SINGULAR, SINGULAR_ONLY, Words, ends_in_s, is_participle, verb_form,
)  # fmt: skip
from nli_faith.markup import plain
from nli_faith.verbs import first_finite_verb

LONGEST_SUBJECT = 20  # words

# Nothing inside is cut, and the words in code and addresses are none.
CLOSED = re.compile(
    r"`[^`]*`|\]\([^)\s]*\)|https?://\S+|\([^()]*\)|\[\^?\d[^\[\]]*\]|\"[^\"]*\"|“[^”]*”|«[^»]*»|‘[^’]*’"
)
HYPHENED = re.compile(r"[^\W\d_]\w*(?:[-–]\w+)+")  # "built-in" is one word, and no verb
DESCRIBED = re.compile(r"((?:[\w'-]+\s){0,7}[\w'-]+),(\s(?:[a-z]+ed|built|made|born|known|led)\b[^,;]*)(?=,\s)")
ASIDE = re.compile(r",\s(?:which|who|whose|where)\b[^,;]*,")
CONNECTIVE = re.compile(
    r"(?:however|therefore|moreover|furthermore|additionally|in addition|instead|also|thus|otherwise|meanwhile|finally"
    r"|overall|and|but),?\s+|(?:yes|no),\s+",
    re.I,
)
CONTRACTED = {"s": "is", "re": "are", "ve": "have", "ll": "will"}


@dataclass(frozen=True, slots=True)
class Head:
    """The subject and the verbs that a clause begins with.

    Attributes:
        subject: plain text, "" where it can't be said again ("There", "No dogs").
        shared: the same with the auxiliaries, "It can be".
        plural: of the subject; None where it can't be told.
        first, verb, main: numbers of the clause's first word, its finite verb, and the word behind the auxiliaries if any.
        chain: what the last auxiliary is: "be", "have", "modal", or "" without one; negated: there is a "not" or "never".
        opened: a subordinate clause stands before ("If you cancel, ...").
    """

    subject: str
    shared: str
    plural: bool | None
    first: int
    verb: int
    main: int
    chain: str
    negated: bool
    opened: bool = False


def hide(text: str) -> str:
    """`text` with NUL in place of all that no clause can begin in, of the same length; a word with hyphens becomes x's."""
    text = CLOSED.sub(lambda found: "\0" * len(found[0]), text)
    text = HYPHENED.sub(lambda found: "x" * len(found[0]), text)
    text = ASIDE.sub(lambda found: f",{chr(0) * (len(found[0]) - 2)},", text)
    described = DESCRIBED.match(text)
    if described and first_finite_verb(described[1]) is None:
        return f"{described[1]},{chr(0) * len(described[2])}{text[described.end(2) :]}"
    return text


def find_head(text: str, words: Words, first: int) -> Head | None:
    """Subject and verbs of the clause that begins with word `first`; None where there is no subject to say again."""
    begin = words.starts[first] if 0 < first < len(words) else 0
    opening = CONNECTIVE.match(words.text, begin)
    if opening:
        begin, first = opening.end(), words.after(opening.end())
    if first >= len(words):
        return None
    opened = words.low[first] in OPENERS
    if opened:
        comma = words.text.find(", ", begin)
        first = words.after(comma)
        if comma < 0 or first >= len(words):
            return None
    verb = _find_verb(words, first)
    if verb is None or (words.gap(words.ends[verb - 1], words.starts[verb]) == "," and is_participle(words.low[verb])):
        return None  # "The book, published in 1950, ...": no verb yet
    pronoun, _, rest = words.low[verb].partition("'")
    contracted = pronoun in PRONOUNS and rest in CONTRACTED
    subject = words.low[first:verb] or ([pronoun] if contracted else [])
    if not 1 <= len(subject) <= LONGEST_SUBJECT or not RELATIVE.isdisjoint(subject):
        return None
    end = words.starts[verb] + (len(pronoun) if contracted else 0)
    said = plain(ASIDE.sub(" ", text[begin:end])).replace("  ", " ")
    said, plural = "" if subject[0] in NEGATIVE else said[:1].upper() + said[1:], _is_plural(subject, words.low[verb])
    return with_verbs(words, Head(said, said, plural, first, verb, verb, "", False, opened))


def _find_verb(words: Words, first: int) -> int | None:
    """Number of the first finite verb at or behind word `first`."""
    start = words.starts[first]
    found = first_finite_verb(words.text[start:])
    limit = len(words) if found is None else words.after(start + found[0])
    joint = next((at for at in range(first, limit) if words.low[at] in ("and", "but")), None)
    # That search knows no verb that may be a noun, or is on no list; what stands around it tells more here.
    for at in range(first + 1, min(limit if joint is None else joint, first + LONGEST_SUBJECT)):
        before, low, form = words.low[at - 1], words.low[at], verb_form(words, at)
        if before in PREPOSITIONS or (before in DETERMINERS and before != "it") or words.next(at - 1) != low:
            continue
        if form == "third" and low.endswith("s") or form == "either" and low in SAME_PASTS:
            return at
        if form == "bare" and words.next(at) in DETERMINERS and ends_in_s(before):
            return at
    # Before a conjunction there must be a verb, if there is a sentence: one that no list knows.
    for at in range(first + 1, joint or first):
        before, after = words.low[at - 1], words.next(at)
        apart = before in PREPOSITIONS or before in DETERMINERS or ends_in_s(before)
        if not apart and ends_in_s(words.low[at]) and words.raw[at].islower() and after not in ("", "of", "and", "but"):
            return at
    return None if found is None else limit


def with_verbs(words: Words, head: Head) -> Head:
    """`head` with all that follows from its `verb`: auxiliaries and the word behind them."""
    low, spoken = words.low[head.verb], words.raw[head.verb]
    pronoun, _, rest = low.partition("'")
    if pronoun in PRONOUNS and rest in CONTRACTED:
        low = spoken = CONTRACTED[rest]
    chain = "be" if low in BE else "have" if low in HAVE else "modal" if low in MODALS else ""
    # "He never finished school and became a painter": what follows may be denied too, or not.
    negated = low.endswith("n't") or low == "cannot" or not DENYING.isdisjoint(words.low[head.first : head.verb])
    at = head.verb
    while chain and at + 1 < len(words) and words.next(at) == words.low[at + 1]:
        after = words.low[at + 1]
        if after in ("be", "been", "being") or (after == "have" and chain == "modal"):
            chain, spoken = "have" if after == "have" else "be", f"{spoken} {after}"
        elif after in ("not", "never"):
            negated = True
        elif not words.is_adverb(at + 1):
            break
        at += 1
    behind = at + 1 < len(words) and words.next(at) == words.low[at + 1]
    main = at + 1 if chain and behind else head.verb
    if chain == "have" and not is_participle(words.low[main]):
        chain, main = "", head.verb  # it has something
    return replace(head, shared=f"{head.subject} {spoken}", main=main, chain=chain, negated=negated)


def _is_plural(subject: Sequence[str], verb: str) -> bool | None:
    """The number of a subject, from its own words or its verb."""
    if len(subject) == 1 and subject[0] in PRONOUNS:
        return subject[0] in PLURAL
    if "and" in subject or verb in PLURAL_ONLY:
        return True
    if verb in SINGULAR_ONLY or subject[0] in SINGULAR:
        return False
    nouns = next((subject[:at] for at, low in enumerate(subject) if at and low in PREPOSITIONS), subject)
    last = nouns[-1]
    ends = last.endswith("s") and not last.endswith(("ss", "us", "is", "'s"))
    return True if ends or subject[0] in PLURAL else None
