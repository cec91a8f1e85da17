"""Blocks of an answer as units: sentences with their kinds, fragments with what they hang on."""

from __future__ import annotations

import re
from dataclasses import replace

from nli_faith.blocks import find_blocks
from nli_faith.headings import AGREEMENT, COLONS, kind_of_marked, says_it_itself
from nli_faith.json_answers import read_json
from nli_faith.kinds import is_sources_line, kind_of
from nli_faith.leads import denies, governs, kind_of_heading, kind_of_lead, names_sources, says_nothing
from nli_faith.list_marks import BULLET, inline_items
from nli_faith.markup import encodable, plain
from nli_faith.sentences import CITATIONS, CONTENT, LINE_BREAK, split_sentences
from nli_faith.source_names import names_source
from nli_faith.spans import Block, Unit
from nli_faith.types import CLAIM
from nli_faith.verbs import has_finite_verb

LONGEST_LEAD = 300  # characters of lead-in that may stand before a fragment
STOPS = (".", "!", "?", "。", "！")
BOLD = re.compile(r"\*\*[^*]+\*\*:?")
ASKED = ("?", "？", "؟")
QUESTION_LABEL = re.compile(r"q(?:uestion)?\s?\d*\s?[:.)]\s*", re.I)
ANSWER_LABEL = re.compile(r"a(?:nswer)?\s?\d*\s?[:.)]\s*(?=\S)", re.I)
LOWEST = 9  # the level of a heading that heads no heading
BASE = -1  # the depth of what is above a list; items have 0 and more
# How an entry of a bibliography begins when a blank line stands before it.
ENTRY = re.compile(r"[\"“(]|\[|https?:|www\.|\d{1,3}[.)]\s")


def read_text(text: str) -> list[Unit]:
    """The units of a text in Markdown."""
    units: list[Unit] = []
    leads: list[tuple[int, str]] = []  # (depth, text) of what is open above the next block
    blocks = find_blocks(text)
    level = 0  # of the heading above
    marked = [block for block in blocks if block.role == "heading"]
    title = marked[0] if marked and len(marked) < len(blocks) else None
    for block, after in zip(blocks, [*blocks[1:], None]):
        if block.role == "code":
            units.append(Unit(block.start, block.end, encodable(text[block.start : block.end]), "code"))
        elif block.role == "json":
            units.extend(read_json(text, block.start, block.end) or ())
        elif block.role in ("head", "row"):
            units.extend(_row(text, block))
        elif block.role == "heading" and not says_it_itself(text, block, after, block is title):
            own = _heading(text, block, leads)
            units.extend(own)
            level = LOWEST if own and own[0].kind == CLAIM else block.indent
        else:
            if block.role == "heading":
                # It hangs on a line that announces it or on a higher heading, not on its like or on a claim.
                if leads and level >= block.indent and not leads[-1][1].endswith(COLONS):
                    leads.clear()
                block = replace(block, role="text")
            parent = after is not None and after.role == "item" and (block.role == "text" or after.indent > block.indent)
            units.extend(_prose(text, block, leads, parent))
    return _answered(text, _without_names(units))


def _answered(text: str, units: list[Unit]) -> list[Unit]:
    """Fragments that answer the question before them ("Is it new? Yes."), read with it."""
    read = []
    for before, unit in zip([None, *units], units):
        asked = before is not None and before.kind in ("question", "heading") and before.said.endswith(ASKED)
        asked = asked and len(before.said) <= LONGEST_LEAD and "|" not in text[before.end : unit.start]  # no table
        if asked and unit.kind == CLAIM and not unit.lead:
            question = QUESTION_LABEL.sub("", before.said)
            said = ANSWER_LABEL.sub("", unit.said) if question != before.said else unit.said
            # Verbs are known in English only.
            if AGREEMENT.fullmatch(said) or (question.isascii() and said.isascii() and not has_finite_verb(said)):
                unit = replace(unit, said=said, lead=question)
        read.append(unit)
    return read


def _without_names(units: list[Unit]) -> list[Unit]:
    """Headings are what the answer says when nothing else in it is: "# Paris", "I hope this helps!"."""
    if any(unit.kind not in ("heading", "greeting", "meta", "question") for unit in units):
        return units
    return [replace(unit, kind=_kind(unit.said)) if unit.kind == "heading" else unit for unit in units]


def _kind(said: str) -> str:
    return kind_of_lead(said) if said.endswith(COLONS) else kind_of(said)


def _row(text: str, block: Block) -> list[Unit]:
    """A table row as "header: value" pairs; its header row as a heading."""
    values = [plain(text[left:right]) for left, right in block.cells]
    if not CONTENT.search(text, block.start, block.end):
        return []
    if block.role == "head":
        said = " | ".join(value for value in values if value)
        states = any(kind_of_heading(value) == CLAIM for value in values)
        return [Unit(block.start, block.end, said, CLAIM if states else "heading")]
    header = block.header + ("",) * (len(values) - len(block.header))
    pairs = [f"{name}: {value}" if name else value for name, value in zip(header, values) if value]
    if len(values) == 2 and not any(header):
        pairs = [": ".join(value for value in values if value)]
    return [Unit(block.start, block.end, "; ".join(pairs), CLAIM)]


def _heading(text: str, block: Block, leads: list[tuple[int, str]]) -> list[Unit]:
    """A heading, which also stands above the fragments that follow it."""
    said = plain(text[block.start : block.end])
    if not CONTENT.search(text, block.start, block.end):
        return []
    leads[:] = [(BASE, said)]
    return [Unit(block.start, block.end, said, kind_of_marked(said, text[block.start : block.end]))]


def _prose(text: str, block: Block, leads: list[tuple[int, str]], parent: bool) -> list[Unit]:
    """The sentences of a paragraph or list item. Updates what is open above the next block.

    Args:
        parent: there are list items below the block.
    """
    depth = block.indent if block.role == "item" else BASE
    while leads and leads[-1][0] >= max(depth, 0):
        leads.pop()
    listed_source = block.role != "text" or ENTRY.match(text, block.start) is not None
    sourced = block.role == "note" or (listed_source and bool(leads) and names_sources(leads[0][1]))
    units: list[Unit] = []
    hung = False  # the line before hangs on a lead-in line, and this one may, too
    for start, end, listed in inline_items(text, block.start, block.end):
        above = depth + 1 if listed else depth
        for unit in _sentences(text, start, end):
            first = not units or listed or units[-1].said.endswith(COLONS) or (hung and _breaks(text, units[-1], unit))
            stopped = unit.said.endswith(STOPS)
            hangs = first and bool(leads) and not (stopped and block.role == "text" and not listed)
            fragment = (hangs or parent or sourced) and _is_fragment(unit)
            if sourced and fragment and names_source(text[unit.start : unit.end]):
                units.append(replace(unit, kind="meta"))
                continue
            sourced = unit.said.endswith(COLONS) and names_sources(unit.said)
            governed = first and (listed or block.role == "item") and any(governs(said) for _, said in leads)
            lead = _lead(leads, listed or block.role == "item") if ((hangs and fragment) or governed) and unit.kind == CLAIM else ""
            named = parent and fragment and not stopped and _is_name(text, block, unit)
            hung = False
            if named and not denies(unit.said) and not (lead and _is_announced(leads)):
                unit, lead = replace(unit, kind="heading"), ""
            if unit.said.endswith(COLONS) or named or (parent and fragment and not stopped and block.role == "item"):
                while leads and leads[-1][0] >= above:
                    leads.pop()
                leads.append((above, unit.said))
            elif above == BASE:
                # A heading stays open below its paragraphs, a lead-in line over fragments up to the next sentence.
                hung = bool(lead) and not stopped and ":" not in unit.said and _is_announced(leads)
                if not hung:
                    _close(leads)
            units.append(replace(unit, lead=lead) if lead else unit)
    if hung:
        _close(leads)
    return units


def _close(leads: list[tuple[int, str]]) -> None:
    """Nothing hangs on the open lead-in lines any more."""
    leads[:] = [entry for entry in leads if not entry[1].endswith(COLONS)]


def _breaks(text: str, before: Unit, unit: Unit) -> bool:
    return LINE_BREAK.search(text, before.end, unit.start) is not None


def _is_announced(leads: list[tuple[int, str]]) -> bool:
    """Whether a fragment completes what is open above it ("The plan includes:") rather than stands below names only."""
    return any(said.endswith(COLONS) and kind_of_lead(said) != "heading" for _, said in leads)


def _is_name(text: str, block: Block, unit: Unit) -> bool:
    """Whether a fragment above a list is what the list is called rather than a fact with details below it."""
    if any(sign.isdigit() for sign in unit.said) or unit.end != block.end:
        return False
    return BOLD.fullmatch(text, unit.start, unit.end) is not None or len(unit.said.split()) <= (3 if block.role == "item" else 6)


def _is_fragment(unit: Unit) -> bool:
    """Whether a unit can't be read by itself; long ones are sentences, whatever their words."""
    return len(unit.said) <= LONGEST_LEAD and unit.kind in (CLAIM, "heading") and not has_finite_verb(unit.said)


def _lead(leads: list[tuple[int, str]], item: bool) -> str:
    """What is open above a fragment, outermost first, as "lead:"; the outermost parts go when it gets too long.

    Args:
        item: it stands in a list. "Sources:" is read before the items of its list only.
    """
    parts = [said.rstrip(":： ") + ":" for _, said in leads if not says_nothing(said) and (item or not names_sources(said))]
    while parts and sum(map(len, parts)) + len(parts) > LONGEST_LEAD:
        parts.pop(0)
    return " ".join(parts)


def _sentences(text: str, start: int, end: int) -> list[Unit]:
    """The sentences of text[start:end] with their kinds. Bare citation marks and list marks are no units."""
    units = []
    for left, right in split_sentences(text[start:end]):
        left, right = left + start, right + start
        mark = BULLET.match(text, left, right)
        if mark:
            left = mark.end()
        if not CONTENT.search(text, left, right) or CITATIONS.fullmatch(text, left, right):
            continue
        said = plain(text[left:right])
        if not CONTENT.search(said):
            kind = "meta"  # only a source in brackets, a tag or the like
        else:
            kind = _kind(said)
            if kind == CLAIM and ":" in said and is_sources_line(said, text[left:right]):
                kind = "meta"
        units.append(Unit(left, right, said, kind))
    return units
