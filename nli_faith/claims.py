"""An answer as typed units with exact offsets.

    answer -> blocks -> sentences -> kinds -> units (reading or json_answers) -> (clauses) -> claims

For every unit `answer[start:end] == text`, units are in order and don't overlap, and every letter or digit of the answer is
inside a unit or is a list number, a citation mark, a fence line or another mark.
"""

from __future__ import annotations

import re
from dataclasses import replace

from nli_faith.clauses import split_clauses
from nli_faith.errors import UsageError
from nli_faith.greetings import may_be_a_name
from nli_faith.headings import AGREEMENT
from nli_faith.json_answers import read_json
from nli_faith.kinds import kind_of
from nli_faith.markup import encodable, plain
from nli_faith.options import GRANULARITIES
from nli_faith.reading import LONGEST_LEAD, read_text
from nli_faith.sentences import CONTENT
from nli_faith.spans import Unit
from nli_faith.types import CLAIM, Claim
from nli_faith.verbs import has_finite_verb

# Words that point back, at the beginning of a sentence ...
POINTING = re.compile(
    r"(?:it|its|they|their|he|his|she|her|this|that|these|those)\b(?!['’]?s? (?:said|being said|is to say)\b)", re.I
)
# ... but not in "It is important to": there is nothing to point to.
EMPTY_IT = re.compile(
    r"it(?:['’]s| is| was) (?:also |not |always |usually )?(?:important|possible|necessary|recommended|essential"
    r"|advisable|likely|unlikely|clear|known|common|best|worth)\b",
    re.I,
)


def split_claims(
    answer: str, question: str | None = None, granularity: str = "sentence", prefix_pronouns: bool = False
) -> tuple[Claim, ...]:
    """Split an answer into typed units.

    Args:
        answer: raw text; anything goes, lone surrogates included.
        question: put before a fragment answer such as "15"; pass it only when it is short enough to be read with one.
        granularity: "sentence" (one unit per sentence), "clause" (one per coordinated clause) or "answer" (the whole
            answer as one unit).
        prefix_pronouns: read a claim that opens with a pronoun or demonstrative with the claim before it.

    Returns:
        The units in order; empty only when the answer has nothing but white space.
    """
    if granularity not in GRANULARITIES:
        raise UsageError(f"granularity {granularity!r} is not one of {', '.join(GRANULARITIES)}.")
    units = _units(answer)
    if granularity == "answer" and units:
        units = [_whole(answer, units)]
    units = _with_question(units, plain(question) if question else "")
    parts = [_clauses(answer, unit) if granularity == "clause" else [unit] for unit in units]
    if prefix_pronouns:
        parts = [own if before is None else _with_previous(own, before) for own, before in zip(parts, [None, *units])]
    return tuple(_claim(answer, unit) for own in parts for unit in own)


def _claim(answer: str, unit: Unit) -> Claim:
    """The public form of a unit. A text of nothing but marks is read as it is."""
    text = answer[unit.start : unit.end]
    said = f"{unit.lead} {unit.said}" if unit.lead else unit.said
    return Claim(text, unit.start, unit.end, unit.kind, said or encodable(text))


def _units(answer: str) -> list[Unit]:
    """The units of the answer's sentences; one of kind meta when there are no letters or digits outside of marks."""
    units = read_json(answer, 0, len(answer))
    if units is None:
        units = read_text(answer)
    if not units and answer.strip():
        return [Unit(*_stripped(answer), plain(answer), "meta")]
    return units


def _stripped(answer: str) -> tuple[int, int]:
    """The span without white space at the ends."""
    return len(answer) - len(answer.lstrip()), len(answer.rstrip())


def _whole(answer: str, units: list[Unit]) -> Unit:
    """All units as one."""
    kind = CLAIM if any(unit.kind == CLAIM for unit in units) else units[0].kind
    return Unit(*_stripped(answer), " ".join(unit.said for unit in units if unit.said), kind)


def _clauses(answer: str, unit: Unit) -> list[Unit]:
    """A claim as its coordinated clauses, each of the kind that it has by itself: "I don't know, but it costs $5."

    A unit that is read with something before it, or otherwise than it stands there (a table row), stays whole.
    """
    text = answer[unit.start : unit.end]
    if unit.kind != CLAIM or unit.lead or unit.said != plain(text):
        return [unit]
    parts = split_clauses(text)
    if len(parts) == 1:
        return [unit]
    units = [Unit(unit.start + start, unit.start + end, said, kind_of(said)) for start, end, said in parts]
    return units if any(part.kind == CLAIM for part in units) else [unit]


def _with_previous(units: list[Unit], before: Unit) -> list[Unit]:
    """Units of one sentence, read with the claim before it where they open with a word that points back."""
    if before.kind != CLAIM or not before.said or len(before.said) > LONGEST_LEAD:
        return units
    return [
        replace(unit, lead=before.said)
        if unit.kind == CLAIM and not unit.lead and POINTING.match(unit.said) and not EMPTY_IT.match(unit.said)
        else unit
        for unit in units
    ]


def _with_question(units: list[Unit], question: str) -> list[Unit]:
    """Read a fragment answer, or a leading "Yes.", with the question.

    Without a question, a "Yes." before claims says nothing that can be checked: it is meta.
    """
    # A line of tags ("<answer>") says nothing, so what it stands around is still alone.
    spoken = [at for at, unit in enumerate(units) if CONTENT.search(unit.said)]
    if not spoken or units[spoken[0]].lead:
        return units
    at, alone = spoken[0], len(spoken) == 1
    first = units[at]
    read = first
    agrees = AGREEMENT.fullmatch(first.said) is not None
    if agrees and question and (alone or first.kind == CLAIM):
        read = replace(first, kind=CLAIM, lead=question)
    elif agrees and not alone and first.kind == CLAIM and any(unit.kind == CLAIM for unit in units[at + 1 :]):
        read = replace(first, kind="meta")
    elif alone and question and first.kind == CLAIM and not has_finite_verb(first.said):
        read = replace(first, lead=question)
    elif alone and question and first.kind == "greeting" and may_be_a_name(first.said):
        read = replace(first, kind=CLAIM, lead=question)
    return [*units[:at], read, *units[at + 1 :]]
