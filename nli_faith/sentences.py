"""Where sentences end in plain text, in time linear in its length.

Candidates (terminators that something may follow) are found by one scan. Rules of ours settle most of them; what is left,
a period after a word, is put to NLTK's Punkt with just the two words around it, so that no text is long or odd enough to
make Punkt slow. The parameters ship with the package; nothing is downloaded.
"""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from functools import lru_cache
from importlib import resources

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from nli_faith.abbreviations import (
    AFTER_TIME,
    BEFORE_NUMBER,
    COUNTRIES,
    INNER,
    LETTERED,
    MORE_ABBREVIATIONS,
    NOT_LOWER,
    STARTERS,
    TITLES,
)

# How far we look from a terminator. Longer words are URLs and noise, whose inside says nothing about a boundary.
WORD_REACH = 40

FULL_STOPS = "。！？｡؟۔।॥။።"
INVISIBLE = "\x00\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
CLOSERS = "\"'”’»)\\]}*_`~」』》）〉】›" + INVISIBLE
OPENERS = "\"'“‘«(\\[{*_`~#>「『《（〈¿¡" + INVISIBLE

# Runs are taken whole and always match, so there is nothing to backtrack over.
CANDIDATE = re.compile(rf"([.!?…]+|[{FULL_STOPS}][{FULL_STOPS}!?]*)(</?[a-z]{{1,6}} ?/?>|[{CLOSERS}])*")
CITATIONS = re.compile(
    r"(?:[ \u00a0]?(?:\[(?:\[|\^|source |doc |document )?\d{1,3}(?:, ?\d{1,3})*\]{1,2}|【[^】\n]{1,40}】)(?!\())+",
    re.I,
)
LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
LIST_MARK = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|#+|[|>])\s")
CONTENT = re.compile(r"[^\W_]")
SPACE = re.compile(r"\s*")
STEM = re.compile(rf"[^{OPENERS}–—/-]*$")
NEXT_WORD = re.compile(rf"[{OPENERS}]*([^\s]{{0,{WORD_REACH}}})")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]")
# A Japanese quotation goes on with a particle, a Chinese one with who said it: 「はい。」と
QUOTE_GOES_ON = re.compile(r"[とっはがをにでもの、，,]|[他她我]?们?[说說道问問]")

OPEN_LINE_END = re.compile(
    r"(?:[,;(–—/&-]|\b(?:the|an?|of|and|or|to|in|on|at|by|for|from|with|as|is|are|was|were|that|than|about|its|"
    r"their))$"
)

ROMAN_OR_LETTER = re.compile(r"(?:\d|[IVXLC]+\b|[A-Z]\b)")
DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]$")

_lock = threading.Lock()
_punkt: PunktSentenceTokenizer | None = None


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Sentence spans of plain text, in order.

    Returns:
        (start, end) in code points, without white space at either end. Every character that is no white space lies in
        exactly one span. A blank line always ends a sentence, a single line break does unless the line runs on.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _paragraphs(text):
        spans.extend(_sentences(text, start, end))
    return spans


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Stretches within which a sentence may go on, line breaks and all, trimmed of white space."""
    stretches: list[list[int]] = []
    before = None
    start = 0
    for mark in [*LINE_BREAK.finditer(text), None]:
        end = mark.start() if mark else len(text)
        line = text[start:end]
        if line.strip():
            left = start + len(line) - len(line.lstrip())
            right = start + len(line.rstrip())
            if before is not None and runs_on(before, text, left, right):
                stretches[-1][1] = right
            else:
                stretches.append([left, right])
            before = (left, right)
        else:
            before = None
        if mark:
            start = mark.end()
    return [(left, right) for left, right in stretches]


def runs_on(before: tuple[int, int], text: str, left: int, right: int) -> bool:
    """Whether the line text[left:right] continues the sentence of the line before it: a soft wrap."""
    last = text[max(before[0], before[1] - WORD_REACH) : before[1]]
    if LIST_MARK.match(text, left, min(right, left + 8)) or last[-1] == ":":
        return False
    return text[left].islower() or OPEN_LINE_END.search(last) is not None


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split text[start:end], which begins and ends with something other than white space."""
    spans: list[tuple[int, int]] = []
    content = CONTENT.search(text, start, end)
    for mark in CANDIDATE.finditer(text, start, end):
        stop = mark.end()
        if content is None or stop >= end:
            break
        # Marks with nothing said before them (". . .", a leading ellipsis) end nothing.
        if content.start() >= mark.start():
            continue
        cited = CITATIONS.match(text, stop, end)
        if cited:
            stop = cited.end()
        follow = SPACE.match(text, stop, end).end()
        spaced = follow > stop or cited is not None or mark.group().endswith(("<br>", "<br/>", "<br />"))
        if follow >= end or not _ends_here(text, start, mark, follow, spaced):
            continue
        spans.append((start, stop))
        start = follow
        content = CONTENT.search(text, start, end)
    if content is None and spans:
        # Only marks or emoji are left: they belong to what was said last.
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))
    return spans


def _ends_here(text: str, start: int, mark: re.Match, follow: int, spaced: bool) -> bool:
    """Whether the terminator `mark` of the sentence begun at `start` ends it; the next text begins at `follow`."""
    signs = mark.group(1)
    closed = mark.end() > mark.end(1)
    if signs[0] in FULL_STOPS:
        return not (closed and QUOTE_GOES_ON.match(text, follow))
    if not spaced:
        return signs[-1] in "!?…" and CJK.match(text, follow) is not None
    word = NEXT_WORD.match(text, follow).group(1)
    if not word:
        return True
    weak = closed or signs[0] in "!?…" or len(signs) > 1  # marks that may stand inside a sentence
    if word[0] in ",;:)&%=" or (weak and word[0].islower() and not _camel(word)):
        return False
    if signs[-1] in "!?" or signs[0] in "!?":
        return True
    left = max(start, mark.start() - WORD_REACH)
    before = text[left : mark.start()].rsplit(None, 2)
    stem = STEM.search(before[-1]).group() if before else ""
    if len(stem) == 1 and len(before) > 1 and (before[-2].lower() in LETTERED or before[-2][-1] in "°º"):
        return word[0].isupper()
    alone = left == start and len(before) <= 1
    bracket = text[follow] in "([{"
    return _period_ends(stem[-WORD_REACH:], word, alone, bracket, len(signs) > 1 or signs == "…")


def _camel(word: str) -> bool:
    """A name such as iPhone, which can begin a sentence."""
    return len(word) > 2 and word[1].isupper()


@lru_cache(maxsize=1 << 15)
def _period_ends(stem: str, word: str, alone: bool, bracket: bool, ellipsis: bool) -> bool:
    """Whether "stem. word" is two sentences.

    Args:
        alone: the stem is all there is before the period, as in a list mark "1.".
        bracket: the next text opens with a bracket.
        ellipsis: the mark is "..." or "…".
    """
    # "CA." and "IT." are no abbreviations of that kind, unless everything is in capitals.
    low = stem if stem.isupper() and stem.isalpha() and len(stem) > 1 and not word.isupper() else stem.lower()
    bare = re.sub(r"[^\w].*", "", word).lower()
    if ellipsis:
        return _punkt_ends(stem + "...", word)
    if alone and (stem.isdigit() and len(stem) <= 3 or len(stem) == 1):
        return False
    if stem in NOT_LOWER:
        return True
    if low in INNER or low in TITLES:
        if low == "st":  # "Milpas St. Customers", "St. Louis"
            return bare in STARTERS or _punkt_ends("St.", word)
        return bare in STARTERS and (low in TITLES or low in ("al", "vs", "approx"))
    if low.lower() in BEFORE_NUMBER and ROMAN_OR_LETTER.match(word) and not (bracket and low == "no"):
        return False
    if low in ("a.m", "p.m", "am", "pm"):
        return not bracket and word[0].isupper() and bare not in AFTER_TIME
    if (len(stem) == 1 and stem.isalpha()) or DOTTED.match(stem) or low in MORE_ABBREVIATIONS:
        if bracket or word[0].islower() or word[0].isdigit():
            return False
        # "U.S. Postal Service", "J. Park": what follows in capitals is a name unless sentences often begin with it.
        return bare in STARTERS or (not (len(stem) == 1 or low in COUNTRIES) and _punkt_ends(stem + ".", word))
    if low != stem.lower():
        return not word[0].islower()
    if bracket and low in _english().abbrev_types:
        return False
    return _punkt_ends(stem + ".", word)


def _punkt_ends(stem: str, word: str) -> bool:
    """What Punkt says of these two words. Without a word before the mark there is nothing to ask about."""
    return len(stem) < 2 or _tokenizer().text_contains_sentbreak(f"{stem} {word}")


def _tokenizer() -> PunktSentenceTokenizer:
    """The English tokenizer, made once per process."""
    global _punkt
    if _punkt is None:
        with _lock:
            if _punkt is None:
                _punkt = PunktSentenceTokenizer(_english())
    return _punkt


class _Orthography(defaultdict):
    """Answers 0 for unknown words without storing them: reading must not grow what threads share."""

    def __missing__(self, word: str) -> int:
        return 0


@lru_cache(maxsize=1)
def _english() -> PunktParameters:
    """Parameters from the package data, with our abbreviations added."""
    raw = json.loads(resources.files("nli_faith").joinpath("data/punkt_english.json").read_text("utf-8"))
    parameters = PunktParameters()
    parameters.abbrev_types = set(raw["abbreviations"]) | INNER | TITLES | MORE_ABBREVIATIONS
    parameters.collocations = {tuple(pair) for pair in raw["collocations"]}
    parameters.sent_starters = set(raw["starters"])
    parameters.ortho_context = _Orthography(int)
    for flags, words in raw["orthography"].items():
        parameters.ortho_context.update(dict.fromkeys(words.split(" "), int(flags)))
    return parameters
