"""Which numbers and letters at the start of a line, or inside one, count a list, and which are said."""

from __future__ import annotations

import re

from nli_faith.sentences import EMOJI

BULLET = re.compile(r"[ \t]*[-*+•‣◦▪▫●○■◆⁃–—]\ufe0f?[ \t\u00a0]+")
# A picture in place of a bullet is kept, as it may say yes or no: "✅ Roaming", "❌ Roaming".
PICTURE = re.compile(rf"[ \t]*(?=[^\ufe0f])[{EMOJI}]{{1,3}}[ \t\u00a0]*(?=[^\s{EMOJI}])")
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


def counting(lines: list[str]) -> set[int]:
    """Which lines begin with a number that counts: it is 1, its list or a neighbour came before, or a neighbour comes next.

    "42. That's all" doesn't count, nor does "2. These are they:" above a list that begins with 1.
    """
    marked = [(at, places(mark)) for at, line in enumerate(lines) for mark in [NUMBER.match(line)] if mark]
    following: dict[tuple[str, str], int] = {}
    found = set()
    for at, own in reversed(marked):
        for shape, kind, place in own:
            after = following.get((shape, kind), 0)
            if place == 1 or after == place + 1 or 1 < after == place - 1:
                found.add(at)
        following.update({(shape, kind): place for shape, kind, place in own})
    seen: set[Place] = set()
    for at, own in marked:
        if not seen.isdisjoint({(shape, kind, near) for shape, kind, place in own for near in (1, place - 1, place + 1)}):
            found.add(at)
        seen.update(own)
    return found


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
        if mark.group(1) != "1" and before.rstrip().endswith((":", "：")):
            continue  # a value: "Wins: 1. Draws: 2. Losses: 3."
        marks.append(mark)
    if len(marks) < (1 if own else 2):
        return [(start, end, False)]
    parts = [(start, marks[0].start(), False)] if marks[0].start() > start else []
    stops = [*(mark.start() for mark in marks[1:]), end]
    parts.extend((mark.end(), stop, True) for mark, stop in zip(marks, stops))
    return parts
