"""Claims and chunks as the flags read them: without markup, citations, labels and escapes, whose figures state nothing.

Wider than `markup.plain`: what is taken out here is not compared, where the model would miss it.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache

from nli_faith.markup import GLUED_TAGS, TAG, plain
from nli_faith.structured import read_leaves

_RAISED = re.compile(r"<(su[pb])\b[^<>]{0,40}>([^<>]{1,12})</\1>", re.I)
_POWER_OF = re.compile(r"(?:\b(?:[cdkm]?m|ft|in|mi|yd)|10)$")
_BOLD = re.compile(r"(?<![\w*])\*{2,3}(?=[^\s*])|(?<=[^\s*])\*{2,3}(?![\w*])")
_LOCATOR = (
    r"(?:pages?|pp?\.?|sections?|sec\.|chapters?|ch\.|tables?|figures?|figs?\.|append(?:ix|ices)|articles?|clauses?"
    r"|paragraphs?|§§?)"
)
_NAME = r"[A-Z][\w'’-]+"
# "(see Section 12.3)", "(Handbook, p. 14)", "[12, p. 45]": where something is said.
_LOCATED = re.compile(
    rf"[ \u00a0]?[(\[](?:(?:see|cf\.|in|from)\s)?(?:[^()\[\]\d]{{0,60}},\s|\^?\d{{1,3}},\s)?"
    rf"{_LOCATOR}\s?\d[\d.\s,–-]{{0,20}}[)\]]",
    re.I,
)
# "(Smith et al., 2020)", "(Smith & Jones, 2020; Doe, 2019)", "(WHO, 2021)": who says it.
_WORK = rf"{_NAME}(?:,? (?:and|&) {_NAME}| et al\.?)?,? (?:19|20)\d\d[a-z]?(?:, {_LOCATOR} ?\d+)?"
_AUTHORS = re.compile(
    rf"[ \u00a0]?\((?:(?:see|cf\.|e\.g\.,?) )?(?:{_WORK}; )*{_NAME}(?: et al\.?,?|,? (?:and|&) {_NAME},?|,) (?:19|20)\d\d[a-z]?"
    rf"(?:, {_LOCATOR} ?\d+)?(?:; {_WORK})*\)|(?<=et al\.) \((?:19|20)\d\d[a-z]?\)"
)
# "According to document 12": as the retrieved chunks are called.
_CHUNK = re.compile(
    r"\b(?:documents?|docs?|passages?|sources?|chunks?|contexts?|excerpts?) #?\d{1,3}(?:(?:, | and | & )\d{1,3})*\b", re.I
)
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*,? \d", re.I)
# "Step 12: Apply in writing." counts the answer's own parts.
_LABEL = re.compile(r"(?:step|item|point|note|tip|option|question|part|reason|example)\s\d{1,3}(?:\.\d{1,3})*\s?[:.)–-]\s", re.I)


def claim_statement(text: str, hypothesis: str) -> str:
    """What a claim itself says: without the question or lead-in that the model reads before it.

    Args:
        text: as it stands in the answer; hypothesis: what the model reads.
    """
    said = plain(_raised(text))
    said = said if hypothesis.endswith(plain(text)) else hypothesis  # a table row is read otherwise than it stands there
    said = _CHUNK.sub("", _LOCATED.sub("", said))
    said = _AUTHORS.sub(lambda mark: mark[0] if _MONTH.match(mark[0].lstrip(" \u00a0(")) else "", said)
    return _LABEL.sub("", said, count=1) if _LABEL.match(said) else said


@lru_cache(maxsize=1024)
def chunk_statement(chunk: str) -> str:
    """What a chunk says. A record is read with its escapes resolved, and without the positions in its lists."""
    leaves = read_leaves(chunk)
    if leaves:
        return "\n".join(f"{' / '.join(name for name in leaf.path if not _is_position(name))}: {leaf.value}" for leaf in leaves)
    if "<" in chunk:
        chunk = TAG.sub(lambda tag: "" if tag[1].lower() in GLUED_TAGS else " ", _raised(chunk))
    chunk = _BOLD.sub("", chunk)
    return html.unescape(chunk) if "&" in chunk else chunk


def _raised(text: str) -> str:
    """Powers as a reader types them; other figures that are raised are notes, lowered ones stay."""
    return _RAISED.sub(lambda mark: _resolved(text, mark), text) if "<" in text else text


def _resolved(text: str, mark: re.Match) -> str:
    if mark[1].lower() == "sub":
        return mark[2]
    power = _POWER_OF.search(text[max(0, mark.start() - 4) : mark.start()])
    if power:
        return f"^{mark[2]}"
    return "" if re.fullmatch(r"[\[(]?\d{1,3}(?:[,;–-]\s?\d{1,3})*[\])]?", mark[2]) else mark[2]


def _is_position(name: str) -> bool:
    return name.isdigit() and len(name) < 4
