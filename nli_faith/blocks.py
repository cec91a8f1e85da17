"""Markdown seen as blocks with offsets.

Only the shapes that language models write are known: headings, lists, tables, fences, quotes, rules. Anything else is text,
so that nothing is lost: what no block covers is a list mark, a fence line, a table rule or another mark.
"""

from __future__ import annotations

import re

from nli_faith.fences import CODE, FENCE, OPENED_JSON, begins_text, closing_in, role_of
from nli_faith.list_marks import BULLET, NOTE, NUMBER, PICTURE, counting
from nli_faith.sentences import LINE_BREAK, runs_on
from nli_faith.spans import Block, append_block
from nli_faith.table_blocks import read_table
from nli_faith.verbs import has_finite_verb

HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+")
BOLD_LEVEL = 7  # a bold line is the lowest heading
CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
# ">90%" is a sign, "> 90%" at the start of a line a quotation.
QUOTE = re.compile(r"(?:[ \t]{0,3}>(?![=\d$€£]))+[ \t]?")
BOLD_LINE = re.compile(r"(\*\*|__)(?=\S)[^*]{1,120}\1:?")
TERMINATED = re.compile(r"[.!?。！？][*_\"'”’)]*:?$")
BULLET_INDENT = 4  # columns of a tab


def find_blocks(text: str) -> list[Block]:
    """The blocks of `text` in order, without overlap."""
    return _Reader(text).read()


def _lines(text: str) -> list[tuple[int, int]]:
    """Spans of all lines, without their breaks."""
    lines, start = [], 0
    for mark in LINE_BREAK.finditer(text):
        lines.append((start, mark.start()))
        start = mark.end()
    lines.append((start, len(text)))
    return lines


class _Reader:
    """Reads a text line by line.

    Attributes:
        lines: spans of the lines; where text stands before or behind a fence's mark, of that text.
        bare: the same without marks of quotation.
        fences: marks of the fences around the current line whose inside is read like the rest.
        closings: where the last fence with a mark was found to be closed, so that no line is looked at twice.
        series: the lines that begin with a number that counts.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _lines(text)
        self.blocks: list[Block] = []
        self.fences: list[str] = []
        self.closings: dict[str, int] = {}
        self.bare = [self._unquoted(line) for line in self.lines]
        self.series = counting([text[slice(*line)] for line in self.bare])

    def _unquoted(self, line: tuple[int, int]) -> tuple[int, int]:
        quote = QUOTE.match(self.text[slice(*line)])
        return (line[0] + quote.end(), line[1]) if quote else line

    def _cut(self, at: int, start: int, end: int) -> None:
        """Make text[start:end] what is left of line `at`."""
        self.lines[at] = (start, end)
        self.bare[at] = self._unquoted((start, end))

    def read(self) -> list[Block]:
        """All blocks."""
        at = 0
        while at < len(self.lines):
            at = self._read(at)
        return self.blocks

    def _read(self, at: int) -> int:
        """Read what begins at line `at`, append its blocks, and return the next line to read."""
        text, blocks = self.text, self.blocks
        start, end = self.lines[at]
        line = text[start:end]
        if not line.strip() or _is_rule(line):
            return at + 1
        closing = closing_in(line, self.fences[-1]) if self.fences else None
        if closing:
            self.fences.pop()
            stop, behind = closing
            if not stop and not line[behind:].strip():
                return at + 1
            start, end = (start, start + stop) if stop else (start + behind, end)
            self._cut(at, start, end)
            line = text[start:end]
        opened = OPENED_JSON.match(line)
        fence = opened or FENCE.match(line)
        if fence:
            said = opened or begins_text(fence.group(2))
            return self._read_fence(at, fence, start + (opened.end() if opened else fence.end(1)) if said else None)
        heading = HEADING.match(line)
        if heading:
            level = len(heading.group(1))
            append_block(text, blocks, "heading", start + heading.end(), start + len(line.rstrip(" \t#")), level)
            return at + 1
        if "|" in line:
            after = read_table(text, self.bare, at, blocks)
            if after > at:
                return after
        quote = QUOTE.match(line)
        skip = quote.end() if quote else 0
        note = NOTE.match(line, skip)
        if note:
            append_block(text, blocks, "note", start + note.end(), end)
            return at + 1
        item = self._item(at, line, skip)
        if item:
            box = CHECKBOX.match(line, item.end())
            indent = _columns(line[skip : len(line) - len(line[skip:].lstrip())] if skip else line)
            append_block(text, blocks, "item", start + (box or item).end(), end, indent)
            return at + 1
        if self._is_picture_item(at):
            append_block(text, blocks, "item", start + skip, end, _columns(line[skip:]))
            return at + 1
        bare = line[skip:].strip()
        if BOLD_LINE.fullmatch(bare) and not TERMINATED.search(bare):
            append_block(text, blocks, "heading", start + skip, end, BOLD_LEVEL)
            return at + 1
        if _is_setext(text, self.lines, at, bare):
            level = 1 if "=" in text[slice(*self.lines[at + 1])] else 2
            append_block(text, blocks, "heading", start, end, level)
            return at + 2
        _append_text(text, self.lines, at, start + skip, end, quote is not None, blocks)
        return at + 1

    def _item(self, at: int, line: str, skip: int) -> re.Match | None:
        """The list mark at line[skip:]."""
        number = NUMBER.match(line, skip)
        return number if number and at in self.series else BULLET.match(line, skip)

    def _is_picture_item(self, at: int) -> bool:
        """Whether line `at` begins with a picture, stands in a list of such or below a lead-in line, and above no list."""
        if not PICTURE.match(self.text, *self.bare[at]):
            return False
        before, after = (self._near(at, step) for step in (-1, 1))
        listed = PICTURE.match(before) or PICTURE.match(after) or before.rstrip("*_ \t").endswith((":", "："))
        return bool(listed) and not BULLET.match(after) and not NUMBER.match(after)

    def _near(self, at: int, step: int) -> str:
        """The line before or after line `at`; beyond a blank one."""
        for near in (at + step, at + 2 * step):
            if 0 <= near < len(self.bare) and self.text[slice(*self.bare[near])].strip():
                return self.text[slice(*self.bare[near])]
        return ""

    def _read_fence(self, at: int, fence: re.Match, begin: int | None) -> int:
        """A fence up to its closing line, or to the end of the text when there is none.

        Args:
            begin: where its inside begins on the opening line; None when it begins below.
        """
        mark, name = fence.group(1, 2)
        first, last = at + 1, self._closing(at, mark)
        named = (self.lines[at][0] + fence.start(2), self.lines[at][0] + fence.end(2))
        if begin is not None:
            body = self.text[begin : self.lines[at][1]].rstrip()
            first, last = at, at if body.endswith(mark) else last
            self._cut(at, begin, begin + len(body.removesuffix(mark)))
        stop, after, behind = self.lines[min(last, len(self.lines) - 1)][1], last + 1, None
        if at < last < len(self.lines):
            left, right = self.lines[last]
            inside, rest = closing_in(self.text[left:right], mark)
            stop = left + inside if inside else self.lines[last - 1][1]
            behind = (left + rest, right) if self.text[left + rest : right].strip() else None
        start = self.lines[first][0] if first < len(self.lines) else stop
        if not self.text[start:stop].strip():
            if last < len(self.lines):
                append_block(self.text, self.blocks, "text", *named)  # there is nothing that it could be the name of
        else:
            role = role_of(name, self.text, start, stop)
            opening = self.text[slice(*self.lines[at])]
            if role == "code" and begin is not None and (has_finite_verb(opening) or not CODE.search(opening)):
                role = "text"
            if role == "text":
                if last > at:
                    self.fences.append(mark)
                return first
            append_block(self.text, self.blocks, role, start, stop)
        if behind:
            self._cut(last, *behind)
            return last
        return after

    def _closing(self, at: int, mark: str) -> int:
        """The line that closes the fence opened at line `at`; the number of lines when there is none."""
        last = self.closings.get(mark, 0)
        if last <= at:
            last = at + 1
            while last < len(self.lines) and not closing_in(self.text[slice(*self.lines[last])], mark):
                last += 1
            self.closings[mark] = last
        return last


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
    append_block(text, blocks, "text", start, end)


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
