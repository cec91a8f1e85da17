"""Words that widen a number: "about 500", "over 100", "up to 10", "100+", "30 days or more"."""

from __future__ import annotations

import re

from nli_faith.units import BLANK

_HEDGES = {
    "about": "about around roughly approximately approx circa ca c some nearly almost close_to near an_estimated estimated",
    "over": "over more_than above at_least exceeding exceeds exceeded upwards_of no_less_than no_fewer_than beyond"
    " a_minimum_of minimum_of in_excess_of greater_than not_less_than not_fewer_than",
    "under": "under less_than fewer_than below up_to at_most no_more_than as_many_as as_much_as"
    " a_maximum_of maximum_of not_more_than",
}
_HEDGE_ENDS = {hedge: tuple(f" {words.replace('_', ' ')}" for words in line.split()) for hedge, line in _HEDGES.items()}
_BEHIND = re.compile(
    rf"(?P<over>\+(?!\d)|{BLANK}(?:or|and){BLANK}(?:more|over|above|older|up|upwards?|higher|longer)\b)"
    rf"|{BLANK}(?:or|and){BLANK}(?:less|fewer|under|below|younger|lower|shorter)\b",
    re.I,
)


def hedge_of(text: str, start: int, *ends: int) -> str:
    """What the words before `start` say, or those behind one of the ends: "about", "over", "under" or ""."""
    before = " " + text[max(0, start - 24) : start].lower().rstrip(" $€£~≈(\u00a0.")
    if text[max(0, start - 2) : start].strip() in ("~", "≈"):
        return "about"
    if before.endswith((" a", " an", " the")):
        before = before.rsplit(" ", 1)[0]
    for hedge, words in _HEDGE_ENDS.items():
        if before.endswith(words):
            return hedge
    behind = next(filter(None, (_BEHIND.match(text, end) for end in ends)), None)
    return "" if behind is None else "over" if behind["over"] else "under"
