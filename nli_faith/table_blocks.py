"""Tables of Markdown as blocks: which row names the columns, and which only looks as if it did."""

from __future__ import annotations

import re

from nli_faith.markup import plain
from nli_faith.spans import Block

PIPE = re.compile(r"(?<!\\)\|")
# A value rather than the name of a column: "1998", "$40", "4.5/5", "120 km".
VALUE = re.compile(r"[~≈<>]?\s?[$€£]?\d[\d.,:/–-]*\s?(?:%|[^\W\d_]{1,12}\.?(?: [^\W\d_]{1,12})?)?")
# A span of time names a column as often as it is a value.
PERIOD = re.compile(r"(?:FY ?|Q[1-4] ?)?(?:19|20)\d\d|\d{1,3}[ -](?:hour|day|week|month|year)s?")
# What the first column of a table is called when its second is named after something.
NAMES = frozenset(
    "attribute aspect category characteristic country criterion criteria date day description detail element feature field"
    " fact figure indicator item key metric month name option parameter plan product property quantity question region"
    " service spec specification stat statistic topic type variable year".split()
)
BOLD = ("**", "__")


def read_table(text: str, lines: list[tuple[int, int]], at: int, blocks: list[Block]) -> int:
    """A table with a header and a rule, or a single piped row without; returns `at` when it is neither."""
    line = text[slice(*lines[at])].strip()
    ruled = at + 1 < len(lines) and _is_table_rule(text[slice(*lines[at + 1])])
    if not ruled:
        if line[0] == "|" and line[-1] == "|" and len(line) > 2:
            if not _is_table_rule(line):
                _append_row(text, blocks, "row", _cells(text, *lines[at]), ())
            return at + 1
        return at
    last = at + 2
    while last < len(lines) and "|" in text[slice(*lines[last])]:
        last += 1
    head, *rows = [_cells(text, *lines[row]) for row in (at, *range(at + 2, last))]
    named = not _is_data(text, head, rows)
    header = tuple(plain(text[left:right]) for left, right in head) if named else ()
    _append_row(text, blocks, "head" if named else "row", head, ())
    for cells in rows:
        _append_row(text, blocks, "row", cells, header if any(header) else ())
    return last


def _is_data(text: str, head: list[tuple[int, int]], rows: list[list[tuple[int, int]]]) -> bool:
    """Whether the row above the rule is one more "key | value" row, as Markdown has no table without a header."""
    if len(head) != 2 or not rows:
        return False
    name, value = (text[left:right] for left, right in head)
    said = plain(name).lower().rstrip(":")
    if not said or said in NAMES or said.removesuffix("s") in NAMES:
        return False
    pairs = [tuple(text[left:right] for left, right in row) for row in rows if len(row) == 2]
    if name.startswith(BOLD) and value and not value.startswith(BOLD):
        return all(key.startswith(BOLD) and not what.startswith(BOLD) for key, what in pairs)
    if not VALUE.fullmatch(plain(value)):
        return False
    return not (PERIOD.fullmatch(plain(value)) and all(VALUE.fullmatch(plain(what)) for _, what in pairs))


def _is_table_rule(line: str) -> bool:
    """A line such as |---|:-:| between header and rows."""
    return "|" in line and "-" in line and not set(line) - set("|-: \t\r")


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of all cells of the row in text[start:end], empty ones included."""
    line = text[start:end]
    edges = [start - 1, *(start + mark.start() for mark in PIPE.finditer(line)), end]
    cells = []
    for left, right in zip(edges, edges[1:]):
        cell = text[left + 1 : right]
        begin = left + 1 + len(cell) - len(cell.lstrip())
        cells.append((begin, max(begin, left + 1 + len(cell.rstrip()))))
    if line.lstrip().startswith("|"):
        cells = cells[1:]
    if line.rstrip().endswith("|") and not line.rstrip().endswith("\\|"):
        cells = cells[:-1]
    return cells


def _append_row(
    text: str, blocks: list[Block], role: str, cells: list[tuple[int, int]], header: tuple[str, ...]
) -> None:
    """Append a row from its first to its last filled cell."""
    filled = [span for span in cells if span[0] < span[1]]
    if filled:
        blocks.append(Block(role, filled[0][0], filled[-1][1], cells=tuple(cells), header=header))
