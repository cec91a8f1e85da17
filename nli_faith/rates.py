"""What an amount is measured against: the kilogram of "15 mg/kg", the month of "$20 per month" and "$20 monthly"."""

from __future__ import annotations

import re

from nli_faith.quantities import Reading
from nli_faith.units import BLANK, UNITS, unit_at

# "15 mg/kg", "250 mg/5 mL", "10 mg of iron per kilogram", "$5 a day", "500 mg every 8 hours".
_PER = re.compile(
    rf"(?:{BLANK}?/{BLANK}?|{BLANK}(?:an?|each|every)(?={BLANK})|(?:{BLANK}(?!and\b|or\b|per\b)[a-z]+){{0,3}}{BLANK}per(?={BLANK}))"
    rf"(?:{BLANK}?(?P<count>\d{{1,4}}(?:\.\d{{1,3}})?)(?!\d|[.,/]\d))?",
    re.I,
)
_SHORT = re.compile(r"(s|d|wk|mo|y|yr|annum)(?![^\W_])", re.I)
_SHORT_TIMES = {"s": "second", "d": "day", "wk": "week", "mo": "month", "y": "year", "yr": "year", "annum": "year"}
_ADVERB = re.compile(rf"{BLANK}(hourly|daily|weekly|monthly|yearly|annually)\b", re.I)
_ADVERB_TIMES = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_PAST = re.compile(rf"{BLANK}(?:ago|later|earlier|before|after)\b", re.I)  # "weighed 5 kg a year ago"
_SINGLE = frozenset(reading for readings in UNITS.values() for reading in readings)
_HOUR = 3600.0
_MOST = 3  # "mg/kg/day" has two

_Rate = tuple[tuple[Reading, ...], tuple[Reading, ...], float]  # (units, per, every) as in `Number`


def with_rate(text: str, at: int, units: tuple[Reading, ...]) -> _Rate:
    """The units of an amount that ends at `at`, and what it is measured against. A length by the hour is a speed."""
    per: tuple[Reading, ...] = ()
    every = 0.0
    if not units:
        return units, per, every
    for _ in range(_MOST):
        readings, at = _denominator(text, at)
        if not readings:
            break
        times = [factor for kind, factor in readings if kind == "time"]
        per, every = (per, every or times[0]) if times else (per or readings, every)
    lengths = [factor for kind, factor in units if kind == "length"]
    if lengths and 0 < every <= _HOUR:
        return (("speed", 3.6 * lengths[0] / every),), per, 0.0
    return units, per, every


def is_strict(per: tuple[Reading, ...]) -> bool:
    """Whether it belongs to the unit, as in mg/kg; "5 g per 100 g" may be said in many ways."""
    return not _SINGLE.isdisjoint(per)


def _denominator(text: str, at: int) -> tuple[tuple[Reading, ...], int]:
    """(what it may mean, where it ends); ((), at) where nothing is said."""
    adverb = _ADVERB.match(text, at)
    if adverb:
        return UNITS[_ADVERB_TIMES[adverb[1].lower()]], adverb.end()
    match = _PER.match(text, at)
    if match is None:
        return (), at
    short = _SHORT.match(text, match.end() + (text[match.end() : match.end() + 1].isspace()))
    units, end = (UNITS[_SHORT_TIMES[short[1].lower()]], short.end()) if short else unit_at(text, match.end())
    if not units or _PAST.match(text, end):
        return (), at
    count = float(match["count"] or 1) or 1.0
    return tuple((kind, factor * count) for kind, factor in units), end
