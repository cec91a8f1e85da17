"""Where sentences end in plain text, in time linear in its length.

Candidates (terminators that something may follow) are found by one scan and settled by what stands right before and after
them; what a period after a word means is asked of `periods`.
"""

from __future__ import annotations

import re

from nli_faith.abbreviations import EXCLAIMED, GERMAN_LEADING, LEADING, LETTERED, SHARED_MONTHS, STARTERS
from nli_faith.periods import Around, period_ends

# How far we look from a terminator. Longer words are URLs and noise, whose inside says nothing about a boundary.
WORD_REACH = 40
LIST_REACH = 600  # how far from a list mark its neighbours may be

FULL_STOPS = "。！？｡؟۔।॥။።"
INVISIBLE = "\x00\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
CLOSERS = "\"'”’»)\\]}*_`~」』》）〉】›" + INVISIBLE
EMOJI = "\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
OPENERS = "\"'“‘«(\\[{*_`~#>「『《（〈¿¡" + INVISIBLE

EMOJI_END = re.compile(rf"[{EMOJI}]$")
# Runs are taken whole and always match, so there is nothing to backtrack over.
CANDIDATE = re.compile(rf"([.!?…]+|[{FULL_STOPS}][{FULL_STOPS}!?]*)(</?[a-z]{{1,6}} ?/?>|[{CLOSERS}{EMOJI}])*")
CITATIONS = re.compile(
    r"(?:[ \u00a0]?(?:\[(?:\[|\^|source |doc |document )?\d{1,3}(?:, ?\d{1,3})*\]{1,2}|【(?:[\d,:\s]{1,20}|"
    r"[^】\n]{0,40}†[^】\n]{0,40})】)(?!\())+",
    re.I,
)
LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
# Tags that end a line as a line break does, behind those that close and before those that open: "</p><p>", "<br>".
BLOCK_TAGS = re.compile(r"(?<!`)(?:<(?:br ?/?|/?(?:p|div|li|ul|ol|h[1-6]))>\s*)+", re.I)
CLOSING_TAG = re.compile(r"<(?:br ?/?|/\w+)>", re.I)
LIST_MARK = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|#+|[|>])\s")
CONTENT = re.compile(r"[^\W_]")
SPACE = re.compile(r"\s*")
STEM = re.compile(rf"[^{OPENERS}–—/-]*$")
NEXT_WORD = re.compile(rf"[{OPENERS}]*([^\s]{{0,{WORD_REACH}}})")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]")
# A Japanese quotation goes on with a particle, a Chinese one with who said it: 「はい。」と
QUOTE_GOES_ON = re.compile(r"[とっはがをにでもの、，,]|[他她我]?们?[说說道问問]")

# Before other small letters a period belongs to an abbreviation: "5 yrs. old", "34 in. of rain".
SUBJECT = re.compile(r"(?:it|this|these|they|he|she|we|you|i|there|the|its|their|his|her)\b")
OPEN_LINE_END = re.compile(
    r"(?:[,;(–—/&-]|\b(?:the|an?|of|and|or|to|in|on|at|by|for|from|with|as|is|are|was|were|that|than|about|its|"
    r"their))$"
)

# "1.2%.The Dow", "safe?Yes.": a blank was forgotten.
GLUED = re.compile(r"[a-z0-9%)\"”]$")
GLUED_WORD = re.compile(r"([A-Z][a-z]{2,})[\s,.!]")
NO_PROSE = re.compile(r"[/@\\_=&]")
ANSWERED_NO = re.compile(r"(?:answer|says?|said|answered|replied|voted?)(?: (?:is|was|be|with))?,? [\"“']?$")
# "Revenue rose", not "Board of directors".
GOES_ON_SMALL = re.compile(rf"(?![A-Z]\.)\S{{1,{WORD_REACH}}}[ \n](?!(?:and|of|for|from|or)\b)[a-z]")


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
    breaks = [mark.span() for mark in LINE_BREAK.finditer(text)]
    if "<" in text:
        breaks = sorted([*breaks, *((at, at) for at in _tag_breaks(text))])
    for end, following in [*breaks, (len(text), len(text))]:
        line = text[start:end]
        if line.strip():
            left = start + len(line) - len(line.lstrip())
            right = start + len(line.rstrip())
            if before is not None and not _begins_small(text, stretches[-1][0]) and runs_on(before, text, left, right):
                stretches[-1][1] = right
            else:
                stretches.append([left, right])
            before = (left, right)
        if not line.strip() or following == end:
            before = None
        start = following
    return [(left, right) for left, right in stretches]


def _tag_breaks(text: str) -> list[int]:
    """Where tags break `text`. A single one before a small letter is spoken of: "the <br> tag"."""
    found = []
    for run in BLOCK_TAGS.finditer(text):
        closing = [tag.end() for tag in CLOSING_TAG.finditer(text, run.start(), run.end())]
        if run.group().count("<") > 1 or not text[run.end() : run.end() + 1].islower():
            found.append(closing[-1] if closing else run.start())
    return found


def _begins_small(text: str, at: int) -> bool:
    """Whether a sentence begins with a small letter, so that small letters behind a break or a period tell nothing."""
    return text[at].islower() and not _camel(text[at : at + 3])


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
        spaced = follow > stop or cited is not None or EMOJI_END.search(mark.group()) is not None
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
        return _was_glued(text, start, mark) or (signs[-1] in "!?…" and CJK.match(text, follow) is not None)
    word = NEXT_WORD.match(text, follow).group(1)
    if not word:
        return True
    weak = closed or signs[0] in "!?…" or len(signs) > 1  # marks that may stand inside a sentence
    small = word[0].islower() and not _camel(word)
    if word[0] in ",;:)&%=" or (small and (weak or not (_begins_small(text, start) or SUBJECT.match(word)))):
        return False
    left = max(start, mark.start() - WORD_REACH)
    before = text[left : mark.start()].rsplit(None, 2)
    stem = STEM.search(before[-1]).group() if before else ""
    if signs[-1] in "!?" or signs[0] in "!?":
        return not (signs == "!" and stem in EXCLAIMED and word[0].isupper() and word.lower() not in STARTERS)
    last = before[-2].lower().lstrip("(") if len(before) > 1 else ""
    if stem.isdigit() and last in GERMAN_LEADING and word.rstrip(".,!").lower() in SHARED_MONTHS:
        return False
    if len(stem) == 1 and last and (last in LETTERED or last[-1] in "°º"):
        return word[0].isupper()
    alone = left == start and len(before) <= 1
    if alone and stem.isdigit() and _answers(text, start, int(stem), follow):
        return True
    if stem.lower() == "no" and word[0].isdigit() and _said_no(text, start, left, mark.start() - 2, alone):
        return True
    around = Around(
        alone,
        text[follow] in "([{",
        len(signs) > 1 or signs == "…",
        last[-1:].isdigit(),
        last in LEADING,
        GOES_ON_SMALL.match(text, follow) is not None,
    )
    return period_ends(stem[-WORD_REACH:], word, around)


def _was_glued(text: str, start: int, mark: re.Match) -> bool:
    """Whether a blank is missing behind the mark, as nothing but a sentence goes on like this."""
    word = GLUED_WORD.match(text, mark.end())
    if not word or word.group(1).lower() not in STARTERS or mark.group(1)[-1] not in ".!?":
        return False
    last = text[max(start, mark.start() - WORD_REACH) : mark.start()].rsplit(None, 1)
    return bool(last) and GLUED.search(last[-1]) is not None and not NO_PROSE.search(last[-1])


def _answers(text: str, start: int, number: int, follow: int) -> bool:
    """Whether a number that stands alone answers a question ("How many? 12. Is it heated?") and counts no list."""
    before = text[max(0, start - 4) : start]
    if number == 1 or not before.rstrip().endswith("?") or LINE_BREAK.search(before):
        return False
    near = text[max(0, start - LIST_REACH) : follow + LIST_REACH]
    return not re.search(rf"(?<!\d)(?:{number - 1}|{number + 1})\. ", near)


def _said_no(text: str, start: int, left: int, at: int, alone: bool) -> bool:
    """Whether "No" before a number is an answer rather than short for "number"."""
    if alone:
        return text[max(0, start - 4) : start].rstrip().endswith("?")
    return ANSWERED_NO.search(text[left:at].lower()) is not None


def _camel(word: str) -> bool:
    """A name such as iPhone, which can begin a sentence."""
    return len(word) > 2 and word[1].isupper()
