"""Which numbers and letters at the start of a line, or inside one, count a list, and which are said."""

from __future__ import annotations

import re

BULLET = re.compile(r"[ \t]*[-*+•‣◦▪●⁃–—][ \t\u00a0]+")
NUMBER = re.compile(
    r"[ \t]*(\(?)(\d{1,3}|[a-z]|[ivx]{1,4})(\))[ \t\u00a0]+|[ \t]*()(\d{1,3})(\.)[ \t\u00a0]+|"
    r"[ \t]*()([a-z])(\.)[ \t\u00a0]+(?=[A-Z])"
)
NOTE = re.compile(r"[ \t]*\\?\[\^?\d{1,3}\]:[ \t]*")
ROMAN = {numeral: at + 1 for at, numeral in enumerate("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv".split())}

# "1." or "2)" inside a line begins an item when the numbers count up from 1.
INLINE_MARK = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(?=\S)")
OWN_MARK = re.compile(r"(?:^|\s|\()(\d{1,2})[.)]\s+$")
BEFORE_FIRST = re.compile(r"[:：.!?;][*_\"')\]]*\s*$")

Place = tuple[str, str, int]  # how a mark is written, what it counts in, its place in the count


def places(mark: re.Match) -> list[Place]:
    """Where in a list a mark of NUMBER may stand; "i)" is the first of its kind or follows "h)"."""
    before, sign, after = [group for group in mark.groups() if group is not None]
    shape = before + after
    if sign.isdigit():
        return [(shape, "1", int(sign))]
    found = [(shape, "a", ord(sign) - 96)] if len(sign) == 1 else []
    return found + ([(shape, "i", ROMAN[sign])] if sign in ROMAN else [])


def counted(lines: list[str]) -> set[Place]:
    """The places of all marks that begin a line."""
    return {place for line in lines for mark in [NUMBER.match(line)] if mark for place in places(mark)}


def in_series(mark: re.Match, others: set[Place]) -> bool:
    """Whether a mark counts: a list of its kind begins somewhere, or a neighbour is there. In "42. That's all" it doesn't."""
    return any(
        not others.isdisjoint({(shape, kind, 1), (shape, kind, place - 1), (shape, kind, place + 1)})
        for shape, kind, place in places(mark)
    )


def inline_items(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Cut text[start:end] where a list is written inside a line ("Steps: 1. Open it. 2. Close it.").

    Returns:
        (start, end, is_item) of the parts without the numbers; a single part when there is no such list.
    """
    marks: list[re.Match] = []
    # An item may go on counting: "1. Open it. 2. Close it."
    own = OWN_MARK.search(text[max(0, start - 8) : start])
    last = int(own.group(1)) if own else 0
    for mark in INLINE_MARK.finditer(text, start, end):
        if not marks and mark.group(1) == "1":
            own, last = None, 0  # a list of its own begins
        if int(mark.group(1)) != last + len(marks) + 1:
            continue
        before = text[max(start, mark.start() - 20) : mark.start()]
        if not marks and before and not BEFORE_FIRST.search(before):
            continue
        marks.append(mark)
    if len(marks) < (1 if own else 2):
        return [(start, end, False)]
    parts = [(start, marks[0].start(), False)] if marks[0].start() > start else []
    stops = [*(mark.start() for mark in marks[1:]), end]
    parts.extend((mark.end(), stop, True) for mark, stop in zip(marks, stops))
    return parts
