"""Markup taken out of what the model reads: emphasis, links, citation marks, tags, invisible characters."""

from __future__ import annotations

import html
import re
from collections import Counter

from nli_faith.citation_marks import drop_links, drop_marks
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
# "a<b and c>d" is no tag: a tag has nothing behind its name but attributes.
TAG = re.compile(
    r"</?(b|i|u|s|a|em|strong|br|p|div|span|ul|ol|li|sub|sup|small|mark|del|ins|h[1-6]|table|thead|tbody|tr|td|th|code|"
    r"pre|hr|blockquote|details|summary|center|font|img|kbd|cite|"
    r"answer|final_answer|response|output|think|thinking|reasoning|reflection|scratchpad)"
    r"(?:\s+[\w:-]+\s*=[^<>]{0,300}|\s+open)?\s*/?>",
    re.I,
)
# A number set high: an exponent ("10<sup>6</sup>"), or the mark of a note behind an amount, a year or a word.
HIGH = re.compile(r"<sup>\s*([-−]?\d{1,3})\s*</sup>", re.I)
NOTED = re.compile(r"(?:[$€£¥]\s?[\d.,]*\d|[%.,;:!?)\"”]|(?<!\d)(?:19|20)\d\d|[^\W\d_]{3,})$")
GLUED_TAGS = frozenset("b i u s a em strong span sub sup small mark del ins code font kbd cite".split())
AUTOLINK = re.compile(r"<((?:https?://|mailto:|www\.)[^<>\s]{1,1000}|[\w.+-]{1,64}@[\w.-]{1,255})>")
ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
ESCAPE = re.compile(r"\\([*_`\[\]()#|!.~>$%&{}+-])")
STARS = re.compile(r"\*+|~~+")
UNDERLINED = re.compile(r"(?<![^\W_])(_{1,3})(?=[^\s_])([^_]{1,300})(?<=\S)\1(?![^\W_])")
# A ">" before a figure is a sign.
QUOTE_MARK = re.compile(r"^(?:>(?!\s?[=$€£]?\d|=)\s?)+|(?<=\n)[ \t]*(?:>(?![=$€£]|\d)\s?)+")
LABEL = re.compile(r"^(?:final answer|answer|response)\s*:\s*(?=\S)", re.I)
# Who speaks, but not "Customer: Acme" or "Agent: J. Park".
SPEAKER = re.compile(r"^(?:(?:AI )?assistant|(?:chat)?bot|agent|user|customer|AI)\s*:\s+(?=(\S.*))", re.I | re.S)
SPOKEN = re.compile(r"(?:thanks|thank you|hi|hello|hey|yes|no|sure|ok(?:ay)?|you're|please|sorry)\b|.*[!?]$", re.I | re.S)
LABELS = re.compile(rf"{LABEL.pattern}|{SPEAKER.pattern}", re.I | re.S)
SPACES = re.compile(r"\s+")


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced: tokenizers take only what UTF-8 can carry."""
    return SURROGATE.sub("\ufffd", text)


def plain(text: str) -> str:
    """`text` as a reader would say it: no emphasis, link targets, citation marks, tags or invisible characters.

    White space is one space. Code spans keep what is inside them. The result can always be encoded in UTF-8.
    """
    labelled = ":" in text and LABELS.match(text)
    if not labelled and "  " not in text and "(" not in text and not SUSPICIOUS.search(text):
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
    text = LABEL.sub("", SPACES.sub(" ", text).strip())
    speaker = SPEAKER.match(text)
    said = speaker.group(1) if speaker else ""
    return said if SPOKEN.match(said) or has_finite_verb(said) else text


def _unmark(text: str) -> str:
    """Take the marks out of text without code spans; the order matters: links first, so that [1](url) is a link."""
    text = QUOTE_MARK.sub("", text)
    if "[" in text:
        text = drop_links(text)
    text = drop_marks(text)
    if "<" in text:
        text = HIGH.sub(lambda high: "" if NOTED.search(text[max(0, high.start() - 20) : high.start()]) else f"^{high[1]}", text)
        text = TAG.sub(lambda tag: "" if tag.group(1).lower() in GLUED_TAGS else " ", AUTOLINK.sub(r"\1", text))
    if "*" in text or "~" in text:
        runs = Counter(STARS.findall(text))
        text = STARS.sub(lambda run: _keep_star(text, run, runs), text)
    if "_" in text:
        text = UNDERLINED.sub(r"\2", text)
    if "\\" in text:
        text = ESCAPE.sub(r"\1", text)
    return ENTITY.sub(lambda mark: html.unescape(mark.group()), text) if "&" in text else text


def _keep_star(text: str, run: re.Match, runs: Counter) -> str:
    """Emphasis goes; "2 * 3", "2*3*4", "2**3" and an escaped star stay."""
    before = text[run.start() - 1 : run.start()] or " "
    after = text[run.end() : run.end() + 1] or " "
    product = before.isspace() and after.isspace() and run.start() > 0 and run.end() < len(text)
    power = before.isascii() and after.isascii() and before.isalnum() and after.isalnum() and runs[run.group()] == 1
    power = power or (before.isdigit() and after.isdigit())
    return run.group() if product or power or before == "\\" else ""
