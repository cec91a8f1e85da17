"""What an answer is taken apart into: blocks by their marks, and the units that are read in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of an answer that is read as one thing.

    Attributes:
        role: "text", "item", "note" (a footnote), "heading", "code", "json", "head" (header row of a table) or "row".
        start, end: code points, trimmed of white space and marks.
        indent: columns before the mark of an item, level of a heading; 0 for others.
        cells: spans of a row's cells, empty ones included.
        header: what the columns of a row are called, as plain text.
    """

    role: str
    start: int
    end: int
    indent: int = 0
    cells: tuple[tuple[int, int], ...] = ()
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit on its way to becoming a Claim.

    Attributes:
        start, end: span in the answer.
        said: its own markup-free text.
        kind: one of KINDS.
        lead: what is put before it because it can't be read alone; "" for none.
    """

    start: int
    end: int
    said: str
    kind: str
    lead: str = ""


def append_block(text: str, blocks: list[Block], role: str, start: int, end: int, indent: int = 0) -> None:
    """Append text[start:end] without the white space around it, unless nothing is left."""
    body = text[start:end]
    left = start + len(body) - len(body.lstrip())
    right = start + len(body.rstrip())
    if left < right:
        blocks.append(Block(role, left, right, indent))
