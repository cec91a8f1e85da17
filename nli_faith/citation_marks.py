"""Marks that name a source inside a sentence, [1], 【4†x】, (Source: a.pdf), and numbers in brackets that are data."""

from __future__ import annotations

import re

from nli_faith.source_names import names_source
from nli_faith.verbs import has_finite_verb

_SOURCE = r"(?:sources?|docs?|documents?|context|passages?|chunks?|refs?|citations?|cite)"
BRACKET_MARK = re.compile(
    rf"[ \u00a0]?\[\[?(?:\^[\w-]{{1,30}}\^?|(?:\^?{_SOURCE}[ :_#-]{{0,2}})?[1-9]\d{{0,2}}"
    rf"(?:[ ,;–-]{{1,3}}(?:{_SOURCE}[ :_#]{{0,2}})?[1-9]\d{{0,2}})*)\]\]?(?!\()"
    r"|[ \u00a0]?【(?:[^】\n]{0,40}†[^】\n]{0,40}|(?:\^?(?:source|doc|document|passage|来源|文档|出典|资料|"
    r"資料)[ :：_#-]{0,2})?[\d,，:;\s–-]{1,20}"
    r"|(?:source|doc|document|来源|文档|出典|资料|資料)[ :：_#][^】\n]{1,40})】",
    re.I,
)
PAREN_MARK = re.compile(
    r"[ \u00a0]?\((?:see )?(?:(?P<label>sources?|docs?|documents?|contexts?|passages?|chunks?|refs?|"
    r"references?))\b(?:\s*[:#]\s*(?P<named>[^()\n]{1,60})|\s*#?\d{1,3}(?:\s*(?:,|and|&)\s*(?:\w{3,8}\s)?\d{1,3})*)\)",
    re.I,
)
# Links and images; "[1][2]" is written like one.
LINK = re.compile(
    r"([ \u00a0]?)!?\[([^\[\]]{0,300})\](?:\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s\"[^\"]{0,200}\")?\)|"
    r"\[[^\[\]]{0,100}\])"
)
CITED = re.compile(r"\^?\d{1,3}")
NUMBERS = re.compile(r"[\s\[\]\d,;–-]+")
EMPTIED = re.compile(r"[ \u00a0]\([\s,;]{0,9}\)")  # brackets around marks
REACH = 40  # characters before a mark that say what it is

# "values in [1, 10]", "returns [1, 2]": what these words are followed by is a list or an interval.
LIST_BEFORE = re.compile(
    r"\b(?:in|ranges?|intervals?|between|of|is|are|was|were|equals?|gives?|values?|arrays?|lists?|vectors?|tuples?"
    r"|sequences?|outputs?|prints?|(?:functions?|methods?|code|call|script|query|expression|it|which|that|and|will|to|`|\))"
    r" (?:returns?|yields?|produces?))$"
    r"|[=:→]$",
    re.I,
)
# Of these a hyphen may be in the middle, too: "95% CI [2–8]".
INTERVAL_BEFORE = re.compile(r"\b(?:ranges?|intervals?|between|CI|CrI|IQR|scale)$", re.I)
# "As shown in [3], it works": without the mark the phrase would have no end.
OBJECT_BEFORE = re.compile(r"\b(?:in|by|from|to|see|per|of|with)$", re.I)
PHRASE_GOES_ON = re.compile(r",? ?\w|, ")
# What is written right before an index: a name from a program, or a call.
INDEXED = re.compile(
    r"(?:\w_\w+|\b[a-z]+[A-Z]\w*|\w\((?:[^()]{0,30}\))?|"
    r"\b(?:arr|array|list|lst|nums?|args|argv|matrix|vec|buf|df|dict|[a-z]))(?:\[\d{1,3}\]){0,3}$"
)


def drop_links(text: str) -> str:
    """`text` with every link as its words; one whose words are the number of a source goes."""
    return LINK.sub(lambda link: _words(text, link), text)


def drop_marks(text: str) -> str:
    """`text` without citation marks. Intervals, lists and indices stay, and so do statements in brackets."""
    if "[" in text or "【" in text:
        kept = BRACKET_MARK.sub(lambda mark: mark.group() if _is_data(text, mark) else _keep_statement(mark), text)
        text = EMPTIED.sub("", kept) if kept != text else text
    return PAREN_MARK.sub(_keep_statement, text) if "(" in text else text


def _words(text: str, link: re.Match) -> str:
    if not CITED.fullmatch(link.group(2)):
        return link.group(1) + link.group(2)
    return link.group() if link.group().endswith("]") and _is_indexed(text, link) else ""


def _is_indexed(text: str, mark: re.Match) -> bool:
    """Whether a mark stands right behind something that has elements: "arr[5]", "sorted([3, 1])"."""
    return mark.group()[0] == "[" and INDEXED.search(text[max(0, mark.start() - REACH) : mark.start()]) is not None


def _is_data(text: str, mark: re.Match) -> bool:
    """Whether numbers in brackets are said rather than cited."""
    if not NUMBERS.fullmatch(mark.group()):
        return False
    if _is_indexed(text, mark):
        return True
    before = text[max(0, mark.start() - REACH) : mark.start()]
    if ("," in mark.group() and LIST_BEFORE.search(before)) or INTERVAL_BEFORE.search(before):
        return True
    return OBJECT_BEFORE.search(before) is not None and PHRASE_GOES_ON.match(text, mark.end()) is not None


def _keep_statement(mark: re.Match) -> str:
    """A source named in brackets goes; a statement can't hide there: "(Source: sales fell in May)"."""
    return mark.group() if has_finite_verb(mark.group()) or _says_what(mark) else ""


def _says_what(mark: re.Match) -> bool:
    """Whether "(context: a fraud scandal)" or "(source: the sun)" tells something rather than names a source."""
    named = mark.groupdict().get("named")
    if not named or names_source(named):
        return False
    return not (mark["label"].lower().startswith(("source", "ref")) and named[0].isupper())
