"""Markdown seen as blocks with offsets.

Only the shapes that language models write are known: headings, lists, tables, fences, quotes, rules. Anything else is text,
so that nothing is lost: what no block covers is a list mark, a fence line, a table rule or another mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nli_faith.markup import plain
from nli_faith.sentences import LINE_BREAK, runs_on
from nli_faith.verbs import has_finite_verb

FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]{0,60})$")
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
ITEM = re.compile(
    r"[ \t]*(?:[-*+•‣◦▪●⁃–—][ \t\u00a0]+|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})\)[ \t\u00a0]+|\d{1,3}\.[ \t\u00a0]+|"
    r"[a-z]\.[ \t\u00a0]+(?=[A-Z])|\\?\[\^\d{1,3}\]:[ \t]*)"
)
CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
QUOTE = re.compile(r"(?:[ \t]{0,3}>)+[ \t]?")
BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)[^*]{1,120}\1:?")
TERMINATED = re.compile(r"[.!?。！？][*_\"'”’)]*:?$")
PIPE = re.compile(r"(?<!\\)\|")
BULLET_INDENT = 4  # columns of a tab

# "1." or "2)" inside a line begins an item when the numbers count up from 1.
INLINE_MARK = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(?=\S)")
BEFORE_FIRST = re.compile(r"[:：.!?;][*_\"')\]]*\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of an answer that is read as one thing.

    Attributes:
        role: "text", "item", "heading", "code", "head" (header row of a table) or "row".
        start, end: code points, trimmed of white space and marks.
        indent: columns before the mark of an item; 0 for others.
        cells: spans of a row's cells, empty ones included.
        header: what the columns of a row are called, as plain text.
    """

    role: str
    start: int
    end: int
    indent: int = 0
    cells: tuple[tuple[int, int], ...] = ()
    header: tuple[str, ...] = ()


def find_blocks(text: str) -> list[Block]:
    """The blocks of `text` in order, without overlap."""
    lines = _lines(text)
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        at = _read(text, lines, at, blocks)
    return blocks


def _lines(text: str) -> list[tuple[int, int]]:
    """Spans of all lines, without their breaks."""
    lines, start = [], 0
    for mark in LINE_BREAK.finditer(text):
        lines.append((start, mark.start()))
        start = mark.end()
    lines.append((start, len(text)))
    return lines


def _read(text: str, lines: list[tuple[int, int]], at: int, blocks: list[Block]) -> int:
    """Read what begins at line `at`, append its blocks, and return the next line to read."""
    start, end = lines[at]
    line = text[start:end]
    if not line.strip() or _is_rule(line):
        return at + 1
    fence = FENCE.match(line)
    # What is written behind the mark is read by nobody, so it must not be a statement.
    if fence and not has_finite_verb(fence.group(2)):
        return _read_fence(text, lines, at, fence.group(1), blocks)
    heading = HEADING.match(line)
    if heading:
        _append(text, blocks, "heading", start + heading.end(), start + len(line.rstrip(" \t#")))
        return at + 1
    if "|" in line:
        after = _read_table(text, lines, at, blocks)
        if after > at:
            return after
    quote = QUOTE.match(line)
    skip = quote.end() if quote else 0
    item = ITEM.match(line, skip)
    if item:
        box = CHECKBOX.match(line, item.end())
        indent = _columns(line[skip : len(line) - len(line[skip:].lstrip())] if skip else line)
        _append(text, blocks, "item", start + (box or item).end(), end, indent)
        return at + 1
    bare = line[skip:].strip()
    if BOLD_LINE.fullmatch(bare) and not TERMINATED.search(bare):
        _append(text, blocks, "heading", start + skip, end)
        return at + 1
    if _is_setext(text, lines, at, bare):
        _append(text, blocks, "heading", start, end)
        return at + 2
    _append_text(text, lines, at, start + skip, end, quote is not None, blocks)
    return at + 1


def _append(text: str, blocks: list[Block], role: str, start: int, end: int, indent: int = 0) -> None:
    """Append text[start:end] without the white space around it, unless nothing is left."""
    body = text[start:end]
    left = start + len(body) - len(body.lstrip())
    right = start + len(body.rstrip())
    if left < right:
        blocks.append(Block(role, left, right, indent))


def _append_text(
    text: str, lines: list[tuple[int, int]], at: int, start: int, end: int, quoted: bool, blocks: list[Block]
) -> None:
    """A line without a mark: more of the block before it when that one is adjacent and goes on, else a block."""
    joined = bool(blocks) and at > 0 and not quoted and lines[at - 1][0] < blocks[-1].end <= lines[at - 1][1]
    if joined and blocks[-1].role == "text":
        blocks[-1] = Block("text", blocks[-1].start, start + len(text[start:end].rstrip()))
        return
    if joined and blocks[-1].role == "item":
        last = blocks[-1]
        body = text[start:end]
        left, right = start + len(body) - len(body.lstrip()), start + len(body.rstrip())
        indent = _columns(body)
        if runs_on((last.start, last.end), text, left, right):
            blocks[-1] = Block("item", last.start, right, last.indent)
            return
        if indent > last.indent:
            blocks.append(Block("item", left, right, indent))
            return
    _append(text, blocks, "text", start, end)


def _columns(line: str) -> int:
    """Columns of white space at the start of `line`."""
    blank = line[: len(line) - len(line.lstrip())]
    return len(blank) + (BULLET_INDENT - 1) * blank.count("\t")


def _is_rule(line: str) -> bool:
    """A horizontal rule, or a setext or table underline that stands alone: no letters or digits are in it."""
    marks = set(line) - set(" \t>")
    return len(marks) == 1 and marks <= set("-*_=") and sum(map(line.count, marks)) >= 3


def _is_setext(text: str, lines: list[tuple[int, int]], at: int, bare: str) -> bool:
    """Whether line `at` is a heading by being underlined; a paragraph above a rule is not."""
    if at + 1 >= len(lines) or len(bare) > 80 or TERMINATED.search(bare):
        return False
    if at and text[slice(*lines[at - 1])].strip():
        return False
    return _is_rule(text[slice(*lines[at + 1])].strip()) and set(text[slice(*lines[at + 1])].strip()) <= set("=-")


def _read_fence(text: str, lines: list[tuple[int, int]], at: int, mark: str, blocks: list[Block]) -> int:
    """A code fence up to its closing line, or to the end of the text when there is none."""
    last = at + 1
    while last < len(lines):
        closing = text[slice(*lines[last])].strip(" \t>")
        if len(closing) >= len(mark) and set(closing) == {mark[0]}:
            break
        last += 1
    if last > at + 1:
        _append(text, blocks, "code", lines[at + 1][0], lines[last - 1][1])
    return last + 1


def _read_table(text: str, lines: list[tuple[int, int]], at: int, blocks: list[Block]) -> int:
    """A table with a header and a rule, or a single piped row without; returns `at` when it is neither."""
    line = text[slice(*lines[at])].strip()
    ruled = at + 1 < len(lines) and _is_table_rule(text[slice(*lines[at + 1])])
    if not ruled:
        if line[0] == "|" and line[-1] == "|" and len(line) > 2:
            if not _is_table_rule(line):
                _append_row(text, blocks, "row", *lines[at], ())
            return at + 1
        return at
    cells = _append_row(text, blocks, "head", *lines[at], ())
    header = tuple(plain(text[left:right]) for left, right in cells)
    at += 2
    while at < len(lines) and "|" in text[slice(*lines[at])]:
        _append_row(text, blocks, "row", *lines[at], header)
        at += 1
    return at


def _is_table_rule(line: str) -> bool:
    """A line such as |---|:-:| between header and rows."""
    return "|" in line and "-" in line and not set(line) - set("|-: \t\r")


def _append_row(
    text: str, blocks: list[Block], role: str, start: int, end: int, header: tuple[str, ...]
) -> tuple[tuple[int, int], ...]:
    """Append the row in text[start:end] from its first to its last filled cell; returns the spans of all its cells."""
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
    filled = [span for span in cells if span[0] < span[1]]
    if filled:
        blocks.append(Block(role, filled[0][0], filled[-1][1], cells=tuple(cells), header=header))
    return tuple(cells)


def inline_items(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Cut text[start:end] where a list is written inside a line ("Steps: 1. Open it. 2. Close it.").

    Returns:
        (start, end, is_item) of the parts without the numbers; a single part when there is no such list.
    """
    marks: list[re.Match] = []
    for mark in INLINE_MARK.finditer(text, start, end):
        if int(mark.group(1)) != len(marks) + 1:
            continue
        before = text[max(start, mark.start() - 20) : mark.start()]
        if not marks and before and not BEFORE_FIRST.search(before):
            continue
        marks.append(mark)
    if len(marks) < 2:
        return [(start, end, False)]
    parts = [(start, marks[0].start(), False)] if marks[0].start() > start else []
    stops = [*(mark.start() for mark in marks[1:]), end]
    parts.extend((mark.end(), stop, True) for mark, stop in zip(marks, stops))
    return parts
