"""Chunks -> windows that fit the model, cut at sentence ends (text first, tokens after, so that offsets are true).

A window is as long as the model allows beside a claim of 128 tokens, whatever the claim at hand, so that the same chunk
has the same windows for every claim. Neighbouring windows share one sentence of at most 64 tokens.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nli_faith.sentences import split_sentences
from nli_faith.structured import Leaf, places, read_leaves
from nli_faith.tokens import Encoder

CLAIM_TOKENS = 128
OVERLAP_TOKENS = 64
LETTERS_A_TOKEN = 5
_TITLES = ("name", "title", "business name", "id")
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # fillers and the empty Braille cell: letters and signs by category, but blank


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one chunk as the model reads it.

    Attributes:
        text: equal to `chunk[start:end]` for prose; keys and values for a structured chunk.
        start, end: code points in the chunk.
        pieces: spans in the chunk that evidence is quoted from (sentences or values); empty where the chunk was not cut.
            Of a long value of a record only the sentences that are in the window, while `start` and `end` are those of the value.
        ids: int32[n], n at most the window size, no special tokens.
    """

    text: str
    start: int
    end: int
    pieces: tuple[tuple[int, int], ...] = field(compare=False)
    ids: np.ndarray = field(compare=False)


# (text, start, end, pieces, ids or None where they are still to be made)
_Draft = tuple[str, int, int, tuple[tuple[int, int], ...], np.ndarray | None]
# (start, end, tokens, ids or None)
_Sentence = tuple[int, int, int, np.ndarray | None]


def has_text(text: str) -> bool:
    """Whether a character of it is visible: no space, control, zero-width or unassigned one, no accent alone."""
    return any(unicodedata.category(char)[0] not in "CMZ" and char not in _BLANK for char in text)


def cut_chunks(chunks: Sequence[str], size: int, encoder: Encoder) -> list[tuple[Window, ...]]:
    """Windows of each chunk, in order; none for a chunk that has no text.

    Args:
        chunks: texts, ideally distinct.
        size: tokens of a window, at least 1.
    """
    # A chunk without text is treated as a record without entries: it has no window.
    leaves = [read_leaves(chunk) if has_text(chunk) else [] for chunk in chunks]
    # So many characters are hardly ever as few tokens: such a chunk is encoded sentence by sentence only, and has the same
    # single window when it fits after all.
    brief = [i for i, chunk in enumerate(chunks) if leaves[i] is None and len(chunk) <= LETTERS_A_TOKEN * size]
    whole = dict(zip(brief, encoder.encode([chunks[i] for i in brief])))
    fits = {i for i in brief if len(whole[i]) <= size}
    prose = [i for i in range(len(chunks)) if leaves[i] is None and i not in fits]
    drafts: list[list[_Draft]] = [[] for _ in chunks]
    for i, chunk in enumerate(chunks):
        if leaves[i] is not None:
            drafts[i] = [(*draft, None) for draft in _pack_leaves(chunk, leaves[i], size, encoder)]
        elif i in fits:
            drafts[i] = [(chunk, 0, len(chunk), (), whole[i])]
    for i, spans in zip(prose, _sentences([chunks[i] for i in prose], size, encoder)):
        drafts[i] = _pack_sentences(chunks[i], spans, size, encoder.joins)
    fresh = iter(encoder.encode([draft[0] for drafted in drafts for draft in drafted if draft[-1] is None]))
    return [
        tuple(part for *draft, ids in drafted for part in _within(Window(*draft, next(fresh) if ids is None else ids), size))
        for drafted in drafts
    ]


def _within(window: Window, size: int) -> list[Window]:
    """The window, cut by ids in the rare case that its tokens came to more than those of its sentences."""
    if len(window.ids) <= size:
        return [window]
    cuts = range(0, len(window.ids), size)
    return [Window(window.text, window.start, window.end, window.pieces, window.ids[at : at + size]) for at in cuts]


def _sentences(chunks: Sequence[str], size: int, encoder: Encoder) -> list[list[_Sentence]]:
    """Each chunk's sentences; one that is longer than a window is cut between words."""
    spans = [split_sentences(chunk) for chunk in chunks]
    encoded = iter(encoder.encode([chunk[a:b] for chunk, own in zip(chunks, spans) for a, b in own]))
    out = []
    for chunk, own in zip(chunks, spans):
        counted: list[_Sentence] = []
        for start, end in own:
            ids = next(encoded)
            if len(ids) <= size:
                counted.append((start, end, len(ids), ids))
            else:
                counted.extend((*piece, None) for piece in _cut_long(chunk, start, end, size, encoder))
        out.append(counted)
    return out


def _cut_long(chunk: str, start: int, end: int, size: int, encoder: Encoder) -> list[tuple[int, int, int]]:
    """Pieces of at most `size` tokens of `chunk[start:end]`, cut at white space where there is any."""
    pieces = []
    offsets = encoder.offsets(chunk[start:end])
    first = 0
    while first < len(offsets):
        last = min(first + size, len(offsets))
        if last < len(offsets):
            spaces = [i for i in range(last, max(first + size // 2, first + 1), -1)
                      if chunk[start + offsets[i][0] : start + offsets[i][0] + 1].isspace()
                      or chunk[start + offsets[i - 1][1] : start + offsets[i][0]].isspace()]  # fmt: skip
            last = spaces[0] if spaces else last
        stop = end if last == len(offsets) else start + max(offsets[last][0], offsets[last - 1][1])
        begin = pieces[-1][1] if pieces else start
        if stop > begin:
            pieces.append((begin, stop, last - first))
        first = last
    return pieces


def _pack_sentences(chunk: str, spans: Sequence[_Sentence], size: int, joins: bool) -> list[_Draft]:
    """Greedy windows over sentences; the last sentence of one, when short, is the first of the next."""
    out: list[_Draft] = []
    first = 0
    while first < len(spans):
        last, used = first + 1, spans[first][2]
        while last < len(spans) and used + spans[last][2] <= size:
            used += spans[last][2]
            last += 1
        start, end = spans[first][0], spans[last - 1][1]
        pieces = tuple((a, b) for a, b, *_ in spans[first:last])
        out.append((chunk[start:end], start, end, pieces, _joined(chunk, spans[first:last]) if joins else None))
        if last == len(spans):
            break
        shared = spans[last - 1][2]
        overlaps = last - 1 > first and shared <= OVERLAP_TOKENS and shared + spans[last][2] <= size
        first = last - 1 if overlaps else last
    return out


def _joined(chunk: str, spans: Sequence[_Sentence]) -> np.ndarray | None:
    """Ids of the whole stretch out of those of its sentences; None where they do not stand apart by white space."""
    ids = [sentence[3] for sentence in spans]
    apart = all(chunk[left[1] : right[0]].isspace() for left, right in zip(spans, spans[1:]))
    return np.concatenate(ids) if apart and all(part is not None for part in ids) else None


def _pack_leaves(chunk: str, leaves: Sequence[Leaf], size: int, encoder: Encoder) -> list[tuple]:
    """Windows over the leaves of a structured chunk; each begins with what the record is called and a full path."""
    title = next((leaf for leaf in leaves if len(leaf.path) == 1 and leaf.path[0].lower() in _TITLES), None)
    head = f"{title.text}. " if title is not None and len(title.value) <= 120 else ""
    reserve = len(encoder.encode([head])[0])
    room = max(size - reserve, size // 2)
    parts = [part for leaf in leaves if leaf is not title or not head for part in _split_leaf(chunk, leaf, room, encoder)]
    lengths = [len(ids) + 1 for ids in encoder.encode([part.text for part in parts])]
    out, first = [], 0
    while first < len(parts):
        last, used = first + 1, lengths[first]
        while last < len(parts) and used + lengths[last] <= room:
            used += lengths[last]
            last += 1
        chosen = parts[first:last]
        start, end = chosen[0].start, max(part.end for part in chosen)
        # Two parts of one value may share a sentence.
        spans = tuple(dict.fromkeys(span for part in chosen for span in part.pieces or ((part.start, part.end),)))
        if title is not None and head:
            spans = ((title.start, title.end), *spans)
        out.append((head + _prose(chosen), start, end, spans))
        first = last
    if not out and title is not None:
        out.append((head, title.start, title.end, ((title.start, title.end),)))
    return out


def _split_leaf(chunk: str, leaf: Leaf, room: int, encoder: Encoder) -> list[Leaf]:
    """The leaf, or, when its text is long, one leaf with the same path for every few sentences of it."""
    if len(leaf.text) <= 2 * OVERLAP_TOKENS:
        return [leaf]
    (ids,) = encoder.encode([leaf.text])
    if len(ids) <= room // 2:
        return [leaf]
    path = len(encoder.encode([Leaf(leaf.path, "", 0, 0).text])[0])
    size = max(8, room // 2 - path)
    (spans,) = _sentences([leaf.value], size, encoder)
    at = places(chunk, leaf)
    return [
        replace(leaf, value=text, pieces=tuple((at[a], at[b]) for a, b in pieces) if at else ())
        for text, _, _, pieces, _ in _pack_sentences(leaf.value, spans, size, joins=False)
    ] or [leaf]


def _prose(leaves: Sequence[Leaf]) -> str:
    """"hours / Monday: 9-5; Tuesday: 9-6. wifi: free." : a path is written again only where it changes."""
    out = ""
    parent: tuple[str, ...] | None = None
    for leaf in leaves:
        if parent is not None and leaf.path[:-1] == parent and leaf.path:
            out += f"; {leaf.path[-1]}: {leaf.value}"
        else:
            out += f"{'. ' if out else ''}{leaf.text}"
        parent = leaf.path[:-1]
    return out + "."
