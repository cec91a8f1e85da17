"""Markup taken out of what the model reads: emphasis, links, citation marks, tags, invisible characters."""

from __future__ import annotations

import html
import re
from collections import Counter

from nli_faith.verbs import has_finite_verb

# One look decides whether there is anything to take out: marks, white space other than single spaces, invisible characters.
SUSPICIOUS = re.compile(
    r"[*_`~\[<>\\【&\x00-\x1f\x7f\x85\xa0\xad\u034f\u061c\u115f\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]"
)
INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\xad\u034f\u061c\u115f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
SURROGATE = re.compile(r"[\ud800-\udfff]")
CODE_SPAN = re.compile(r"(`{1,2})([^`\n]{1,400})\1")
IMAGE_OR_LINK = re.compile(
    r"!?\[([^\[\]]{0,300})\](?:\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s\"[^\"]{0,200}\")?\)|"
    r"\[[^\[\]]{0,100}\])"
)
CITED = re.compile(r"\^?\d{1,3}")
BRACKET_MARK = re.compile(
    r"[ \u00a0]?\[\[?(?:\^[\w-]{1,30}\^?|(?:\^?(?:sources?|docs?|documents?|context|passages?|chunks?|refs?|"
    r"citations?|"
    r"cite)[ :_#-]{0,2})?[1-9]\d{0,2}"
    r"(?:[ ,;–-]{1,3}(?:(?:sources?|docs?|documents?|context|passages?|chunks?|"
    r"citation)[ :_#]{0,2})?[1-9]\d{0,2})*)\]\]?(?!\()"
    r"|[ \u00a0]?【[^】\n]{1,60}】",
    re.I,
)
INTERVAL_BEFORE = re.compile(r"\b(?:in|range|interval|between|of|is|are)$", re.I)
PAREN_MARK = re.compile(
    r"[ \u00a0]?\((?:see )?(?:sources?|docs?|documents?|contexts?|passages?|chunks?|refs?|"
    r"references?)\b(?:\s*[:#]\s*[^()\n]{1,60}|\s*#?\d{1,3}(?:\s*(?:,|and|&)\s*(?:\w{3,8}\s)?\d{1,3})*)\)",
    re.I,
)
TAG = re.compile(
    r"</?(b|i|u|s|a|em|strong|br|p|div|span|ul|ol|li|sub|sup|small|mark|del|ins|h[1-6]|table|thead|tbody|tr|td|th|"
    r"code|"
    r"pre|hr|blockquote|details|summary|center|font|img|kbd|cite)\b[^<>]{0,300}>",
    re.I,
)
GLUED_TAGS = frozenset("b i u s a em strong span sub sup small mark del ins code font kbd cite".split())
AUTOLINK = re.compile(r"<((?:https?://|mailto:|www\.)[^<>\s]{1,1000}|[\w.+-]{1,64}@[\w.-]{1,255})>")
ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
ESCAPE = re.compile(r"\\([*_`\[\]()#|!.~>$%&{}+-])")
STARS = re.compile(r"\*+|~~+")
UNDERLINED = re.compile(r"(?<![^\W_])(_{1,3})(?=[^\s_])([^_]{1,300})(?<=\S)\1(?![^\W_])")
QUOTE_MARK = re.compile(r"^(?:>\s?)+|(?<=\n)[ \t]*(?:>\s?)+")
LABEL = re.compile(r"^(?:final answer|answer|response)\s*:\s*(?=\S)", re.I)
SPACES = re.compile(r"\s+")


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced: tokenizers take only what UTF-8 can carry."""
    return SURROGATE.sub("\ufffd", text)


def plain(text: str) -> str:
    """`text` as a reader would say it: no emphasis, link targets, citation marks, tags or invisible characters.

    White space is one space. Code spans keep what is inside them. The result can always be encoded in UTF-8.
    """
    if "  " not in text and "(" not in text and not SUSPICIOUS.search(text) and not LABEL.match(text):
        return text.strip()
    text = INVISIBLE.sub("", encodable(text))
    if "`" in text:
        parts, at = [], 0
        for span in CODE_SPAN.finditer(text):
            parts += [_unmark(text[at : span.start()]), span.group(2)]
            at = span.end()
        text = "".join([*parts, _unmark(text[at:]).replace("`", "")])
    else:
        text = _unmark(text)
    return LABEL.sub("", SPACES.sub(" ", text).strip())


def _unmark(text: str) -> str:
    """Take the marks out of text without code spans; the order matters: links first, so that [1](url) is a link."""
    text = QUOTE_MARK.sub("", text)
    if "[" in text:
        text = IMAGE_OR_LINK.sub(lambda link: "" if CITED.fullmatch(link.group(1)) else link.group(1), text)
    if "[" in text or "【" in text:
        text = BRACKET_MARK.sub(lambda mark: _keep_interval(text, mark) or _keep_statement(mark), text)
    if "(" in text:
        text = PAREN_MARK.sub(_keep_statement, text)
    if "<" in text:
        text = TAG.sub(lambda tag: "" if tag.group(1).lower() in GLUED_TAGS else " ", AUTOLINK.sub(r"\1", text))
    if "*" in text or "~" in text:
        runs = Counter(STARS.findall(text))
        text = STARS.sub(lambda run: _keep_star(text, run, runs), text)
    if "_" in text:
        text = UNDERLINED.sub(r"\2", text)
    if "\\" in text:
        text = ESCAPE.sub(r"\1", text)
    return ENTITY.sub(lambda mark: html.unescape(mark.group()), text) if "&" in text else text


def _keep_statement(mark: re.Match) -> str:
    """A source named in brackets goes; a statement can't hide there: "(Source: sales fell in May)"."""
    return mark.group() if has_finite_verb(mark.group()) else ""


def _keep_interval(text: str, mark: re.Match) -> str:
    """A citation mark goes; "values in [1, 10]" is an interval and stays."""
    if "," in mark.group() and INTERVAL_BEFORE.search(text[max(0, mark.start() - 10) : mark.start()]):
        return mark.group()
    return ""


def _keep_star(text: str, run: re.Match, runs: Counter) -> str:
    """Emphasis goes; "2 * 3", "2**3" and an escaped star stay."""
    before = text[run.start() - 1 : run.start()] or " "
    after = text[run.end() : run.end() + 1] or " "
    product = before.isspace() and after.isspace() and run.start() > 0 and run.end() < len(text)
    power = before.isascii() and after.isascii() and before.isalnum() and after.isalnum() and runs[run.group()] == 1
    return run.group() if product or power or before == "\\" else ""
