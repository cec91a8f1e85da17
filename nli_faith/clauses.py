"""Sentences with coordinated predicates or clauses, one clause at a time: `--granularity clause`.

    "A refund takes 5 days and goes to the original card." -> "A refund takes 5 days." "A refund goes to the original card."

Rules on words, without a parser. A cut is made only where a finite verb stands behind "and", "but" or ";" and nothing
nearby speaks against it: a sentence that is left whole loses nothing, one that is torn is read as what it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nli_faith.clause_heads import CONNECTIVE, Head, find_head, hide, with_verbs
from nli_faith.clause_words import (
    ATTRIBUTING, INTRANSITIVE, OPEN, PERSONS, PLURAL_ONLY, PREPOSITIONS, PRONOUNS, RELATIVE, SINGULAR_ONLY, Words,
    has_object, is_certain, is_participle, verb_form,
)  # fmt: skip
from nli_faith.markup import plain
from nli_faith.verbs import BASE, WORD, first_finite_verb

LONGEST = 1500  # characters; what is longer is no sentence
MOST_MARKS = 40  # commas and conjunctions; a sentence with more is a list
LONGEST_NAME = 8  # words from the conjunction to the verb of a clause with a subject of its own

SEPARATOR = re.compile(r";|,?\s+(?:and|but)(?=\s)|,(?=\s)")
# A condition behind the last clause may hold for all of them; the other words tie the clauses together.
TYING = re.compile(
    r"\b(?:if|unless|provided that|as long as|except|respectively|not only|either(?=.*\bor\b)|neither|rather than)\b", re.S
)
PAIRED = re.compile(r"\b(?:between|both)\b(?!.*\sand\s)", re.S)  # the "and" that follows belongs to the pair
RESUMED = re.compile(r",\s+(?:and|but)\s")  # a clause may have begun here already: ", and fish and crabs live in it"
TANGLED = frozenset(("to", "and", "but", "or"))  # in the words before a verb: they are more than its subject


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a clause begins, where its words begin behind the conjunction, and what is read before these."""

    start: int
    body: int
    before: str


def split_clauses(text: str) -> list[tuple[int, int, str]]:
    """(start, end, hypothesis) of each clause of one sentence; only the whole sentence where nothing is cut.

    Spans are in order and don't overlap; between them is white space only. A hypothesis can be read by itself: its
    subject is said again, markup and conjunction are gone.

    Args:
        text: one sentence as it stands in the answer.
    """
    said = plain(text)
    whole = [(0, len(text), said)]
    if len(text) > LONGEST or said.endswith(("?", ":")):
        return whole
    cuts = _cuts(text)
    starts, ends = [0, *(cut.start for cut in cuts)], [*(cut.start for cut in cuts), len(text)]
    spans = [(start, start + len(text[start:end].rstrip())) for start, end in zip(starts, ends)]
    # Emphasis or a link that reaches over a cut would leave its marks in both parts.
    if not cuts or " ".join(plain(text[start:end]) for start, end in spans) != said:
        return whole
    stop = said[-1] if said.endswith((".", "!")) else ""
    parts = [plain(text[: spans[0][1]])]
    for cut, (_, end) in zip(cuts, spans[1:]):
        body = plain(text[cut.body : end])
        parts.append(f"{cut.before} {body}" if cut.before else body[:1].upper() + body[1:])
    parts = [f"{part.rstrip(',; ').removesuffix(stop)}{stop}" for part in parts]
    return [(start, end, part) for (start, end), part in zip(spans, parts)] if all(map(WORD.search, parts)) else whole


def _cuts(text: str) -> list[_Cut]:
    masked = hide(text)
    marks = list(SEPARATOR.finditer(masked))
    if all(mark[0] == "," for mark in marks) or len(marks) > MOST_MARKS:
        return []
    words = Words(masked)
    head = find_head(text, words, 0)
    cuts: list[_Cut] = []
    for number, mark in enumerate(marks):
        at = words.after(mark.end())
        if head is None or at == len(words):
            break
        if mark.start() < words.ends[head.verb] or words.gap(mark.end(), words.starts[at]):
            continue
        found = _clause(text, words, head, mark, at, marks[number + 1 :])
        if found is not None:
            before, body, head = found
            conjunction = mark[0].lstrip(", \t\r\n")
            start = mark.end() - len(conjunction) if conjunction.isalpha() else _skip_space(text, mark.end())
            cuts.append(_Cut(start, _skip_space(text, max(body, mark.end())), before))
    return cuts


def _skip_space(text: str, place: int) -> int:
    return len(text) - len(text[place:].lstrip())


_Found = tuple[str, int, Head]  # what is read before the clause, where its words begin, its head


def _clause(text: str, words: Words, head: Head, mark: re.Match, at: int, later: Sequence[re.Match]) -> _Found | None:
    """The clause that begins with word `at` behind the separator `mark`, when one does for certain."""
    masked, place, sign = words.text, mark.start(), mark[0].lstrip(", \t\r\n") or ","
    if sign == ";":
        opening = CONNECTIVE.match(masked, words.starts[at])
        at = words.after(opening.end()) if opening else at
        closed = at == len(words) or ":" in masked[:place] or head.opened
        return None if closed else _other_subject(text, words, head, at)
    if TYING.search(masked, words.ends[head.verb]):
        return None
    inner = words.low[head.first : words.after(place)]
    # "makes and sells shoes" has two verbs before its object.
    last = head.main + 2 if words.low[head.main + 1 : head.main + 2] == ["and"] else head.main
    inside = masked[words.ends[min(last, len(words) - 1)] : place]
    tied = not RELATIVE.isdisjoint(inner) or first_finite_verb(inside) is not None
    found = None if tied else _same_subject(words, head, at, place)
    if sign == ",":
        series = found and "," not in masked[words.ends[head.verb] : place] and _is_series(words, head, later)
        return found if series else None
    if found or head.opened or (tied and mark[0] != ", but"):
        return found
    verbs = {words.low[head.verb], words.low[head.main]}
    sure = mark[0].startswith(",") or is_certain(words, head.verb) or words.low[at] in PERSONS
    says = not verbs.isdisjoint(ATTRIBUTING) and not (head.negated and mark[0] == ", but")  # "I don't know, but ..."
    halted = not mark[0].startswith(",") and RESUMED.search(masked, words.ends[head.verb], place)
    if not sure or says or halted or PAIRED.search(masked[words.starts[head.first] : place]):
        return None
    return _other_subject(text, words, head, at, sure=True)


def _is_series(words: Words, head: Head, later: Sequence[re.Match]) -> bool:
    """Whether predicates of the same subject follow up to an "and": "opens at nine, closes at five and costs $3"."""
    for mark in later:
        at = words.after(mark.end())
        if at == len(words) or mark[0] == ";" or not _same_subject(words, head, at, mark.start()):
            return False
        if mark[0] != ",":
            return True
    return False


def _same_subject(words: Words, head: Head, at: int, place: int) -> _Found | None:
    """A second predicate of the subject at hand.

    Args:
        at: its first word; place: where the first one ends.
    """
    last = words.after(place) - 1
    # "designs and builds boats", "imports from and exports to": what both verbs need can't be torn from one of them.
    bare = not words.gap(words.ends[last], place) and last <= head.main and (last == head.verb or head.chain != "be")
    if not head.subject or bare or last < head.verb or words.low[last] in OPEN:
        return None
    verb = at
    while verb < at + 2 and words.is_adverb(verb) and verb + 1 < len(words) and words.next(verb) == words.low[verb + 1]:
        verb += 1
    shares = _shares(words, head, verb, last)
    if shares is None or (head.negated and (shares or not head.chain)):
        return None
    new = replace(head, verb=verb, main=verb)
    return head.shared if shares else head.subject, words.starts[at], new if shares else with_verbs(words, new)


def _shares(words: Words, head: Head, verb: int, last: int) -> bool | None:
    """Whether the predicate with `verb` goes on with the auxiliaries (True) or with the subject (False).

    None where it is no predicate, or no certain one.
    """
    form, low = verb_form(words, verb), words.low[verb]
    if form == "aux" and not (low == "have" and head.chain == "modal"):
        odd = PLURAL_ONLY if head.plural is False else SINGULAR_ONLY if head.plural else ()
        return None if low in odd and low not in ("have", "was") else False
    if form == "third":
        return None if head.plural else False
    if form == "past":
        return False
    if form in ("either", "participle"):
        return _shares_past(words, head, verb, form, last)
    if head.chain == "modal" and form:
        return True
    present = words.low[head.verb] in BASE | {"have", "are"} or verb_form(words, head.verb) == "bare"
    if form in ("base", "bare") and head.plural and present:
        # Behind an infinitive it may go on with that: "plan to open a shop and hire staff".
        return None if "to" in words.low[head.verb : last + 1] else False
    return None


def _shares_past(words: Words, head: Head, verb: int, form: str, last: int) -> bool | None:
    """`_shares` of a past form or participle."""
    after = words.next(verb)
    led = after == "" or after in PREPOSITIONS or (verb + 1 < len(words) and words.is_adverb(verb + 1))
    objected = has_object(words, verb) or (after.isalpha() and words.raw[verb + 1][0].isupper())
    others = any(is_participle(low) for low in words.low[head.main + 1 : last + 1])
    if head.chain == "be":
        past = words.low[head.verb] in ("was", "were") and form == "either"
        if objected:
            return False if past else None
        if not led or others:
            return None
        return not (past and words.low[verb] in INTRANSITIVE)
    if head.chain == "have":
        return True if led or objected else None
    if head.chain or form == "participle":
        # Behind "did not buy" a second verb of the kind would be a base form: "and sold its shares" is a predicate of its own.
        return False if head.chain and form == "either" and objected else None
    if verb_form(words, head.verb) in ("past", "either"):
        named = not words.raw[last][0].islower()  # "in Leeds and studied law": no list of things goes on here
        return False if led or objected or named else None
    return False if objected or (led and after and not others) else None


def _other_subject(text: str, words: Words, head: Head, at: int, sure: bool = False) -> _Found | None:
    """A clause with a subject of its own.

    Args:
        at: its first word; sure: only when its verb can be nothing else, for an object may go on behind "and".
    """
    new = find_head(text, words, at)
    pronoun = words.low[at].partition("'")[0]
    led = verb_form(words, at) in ("past", "either") and has_object(words, at)  # "sold its shares" begins with the verb
    if new is None or new.opened or new.first != at or led or pronoun in ("this", "that", "these", "those"):
        return None
    if pronoun in PRONOUNS:
        return _pronoun_subject(words, head, new, pronoun) if new.verb <= at + 2 else None
    joined = all(words.next(i) == words.low[i + 1] for i in range(at, new.verb))
    subject = words.low[at : new.verb]
    plain_name = joined and len(subject) <= LONGEST_NAME and TANGLED.isdisjoint(subject)
    if sure and not (plain_name and is_certain(words, new.verb)):
        return None
    return "", words.starts[at], new


def _pronoun_subject(words: Words, head: Head, new: Head, pronoun: str) -> _Found | None:
    """A clause whose pronoun stands for the subject at hand, which is then said in its place."""
    first = head.subject.lower()
    if pronoun not in PERSONS or first == pronoun:
        return "", words.starts[new.first], new
    named = all(part[0].isupper() for part in head.subject.split()) and not head.plural
    agrees = {"it": not head.plural and not named, "they": head.plural is True}.get(pronoun, named)
    if not first or first in PRONOUNS or "," in first or " and " in first or not agrees:
        return None
    said = with_verbs(words, replace(new, subject=head.subject, plural=head.plural))
    contracted = new.verb == new.first
    return (said.shared if contracted else said.subject), words.ends[new.first], said
