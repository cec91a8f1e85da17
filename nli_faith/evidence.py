"""The passage of a window that bears most on a claim, quoted from the chunk with its offsets."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

LIMIT = 300
LEAD = 60  # characters before the first word that bears on the claim, to make the quotation readable
# Scripts that are written without spaces: two neighbouring characters are taken for a word there.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0002ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(rf"(?P<run>[{_UNSPACED}]+)|[^\W{_UNSPACED}]+")
# Rough on purpose: where a quotation begins or ends decides nothing.
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？؟।])|\n+")


class Passages:
    """The sentences of one window, ready to be quoted for any number of claims."""

    def __init__(self, chunk: str, start: int, end: int, pieces: Sequence[tuple[int, int]]) -> None:
        """
        Args:
            chunk: the whole context chunk.
            start, end: the window in it.
            pieces: spans of the window's sentences or values where known, else found by a simple rule.
        """
        self._chunk = chunk
        self._spans = list(pieces) or _pieces(chunk, start, end) or [(start, min(end, start + LIMIT))]
        self._words = [{word for word, *_ in _words(chunk, a, b)} for a, b in self._spans]

    @property
    def sentences(self) -> list[str]:
        return [self._chunk[a:b] for a, b in self._spans]

    def quote(self, claim: str) -> tuple[int, int]:
        """(start, end) in the chunk of the sentence that bears most on `claim`, with its neighbours, at most 300 characters."""
        chunk, spans = self._chunk, self._spans
        wanted = {word for word, *_ in _words(claim, 0, len(claim)) if len(word) > 2 or word.isdigit() or _RUN.match(word)}
        weights = _weights([words & wanted for words in self._words])
        best = max(range(len(spans)), key=lambda i: (weights[i], -i))
        if spans[best][1] - spans[best][0] > LIMIT:
            return _trim(chunk, *_densest(chunk, *spans[best], wanted))
        low, high = _grow(spans, best)
        return _trim(chunk, spans[low][0], spans[high][1])


def _words(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """(word in lower case, start, end) in order."""
    for match in _WORD.finditer(text, start, end):
        first, last = match.span()
        if match["run"] is None or last - first == 1:
            yield match[0].lower(), first, last
        else:
            yield from ((text[at : at + 2], at, at + 2) for at in range(first, last - 1))


def _grow(spans: Sequence[tuple[int, int]], best: int) -> tuple[int, int]:
    """First and last of at most three neighbouring spans around `best` that fit a quotation.

    The title of a structured chunk may stand far from the other values; it is no neighbour then.
    """
    low = high = best
    grown = True
    while grown:
        grown = False
        for new_low, new_high in ((low - 1, high), (low, high + 1)):
            if new_low < 0 or new_high >= len(spans) or new_high - new_low > 2:
                continue
            if 0 <= spans[new_high][1] - spans[new_low][0] <= LIMIT:
                low, high, grown = new_low, new_high, True
    return low, high


def _pieces(chunk: str, start: int, end: int) -> list[tuple[int, int]]:
    spans, at = [], start
    for match in _END.finditer(chunk, start, end):
        if match.start() > at:
            spans.append((at, match.start()))
        at = match.end()
    if at < end:
        spans.append((at, end))
    return spans


def _weights(found: Sequence[set[str]]) -> list[float]:
    """How much of the claim's wording each sentence holds; a word that stands in many of them says little."""
    holders = Counter(word for words in found for word in words)
    worth = {word: math.log1p(len(found) / count) * (2.0 if word[0].isdigit() else 1.0) for word, count in holders.items()}
    # fsum: the order of a set differs from process to process, and a sum of floats would with it.
    return [math.fsum(worth[word] for word in words) for words in found]


def _densest(chunk: str, start: int, end: int, wanted: set[str]) -> tuple[int, int]:
    """The stretch of at most 300 characters, beginning at a word, with most of the claim's wording; "the" says little."""
    hits = [hit for hit in _words(chunk, start, end) if hit[0] in wanted]
    counts = Counter(word for word, *_ in hits)
    worth = {word: math.log1p(len(hits) / count) * (2.0 if word[0].isdigit() else 1.0) for word, count in counts.items()}
    inside: Counter[str] = Counter()
    begin, best, held, first = start, 0.0, 0.0, 0
    for word, _, stop in hits:
        while stop - hits[first][1] > LIMIT - LEAD and hits[first][2] < stop:
            inside[hits[first][0]] -= 1
            held -= worth[hits[first][0]] if not inside[hits[first][0]] else 0.0
            first += 1
        held += worth[word] if not inside[word] else 0.0
        inside[word] += 1
        if held > best + 1e-9:
            best, begin = held, hits[first][1]
    begin = max(start, min(begin - LEAD, end - LIMIT))
    space = chunk.find(" ", begin, begin + 30)
    begin = space + 1 if begin > start and space >= 0 else begin
    return begin, min(end, begin + LIMIT)


def _trim(chunk: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends, and at most 300 characters of it."""
    end = min(end, start + LIMIT)
    while start < end and chunk[start].isspace():
        start += 1
    while end > start and chunk[end - 1].isspace():
        end -= 1
    return start, end
