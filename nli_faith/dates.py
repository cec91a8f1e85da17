"""Dates, times of day and days of the week as people write them: patterns and what they mean."""

from __future__ import annotations

import re

from nli_faith.number_words import CARDINALS, DECADES, ORDINALS, written_values
from nli_faith.quantities import Clock, Date, Number, Quantity, Weekday, read_code
from nli_faith.units import BLANK, EUROPEAN, UNITS, either

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_NUMBERS = {form: i for i, name in enumerate(_MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
_DAY_NUMBERS = {form: i for i, name in enumerate(_DAYS) for form in (name, f"{name}s")} | _SHORT_DAYS
_PERIODS = {"noon": 720.0, "midday": 720.0, "midnight": 0.0}
_USUAL = {"weekday": range(5), "weekdays": range(5), "weekend": range(5, 7), "weekends": range(5, 7), "daily": range(7),
          "every day": range(7), "seven days a week": range(7), "7 days a week": range(7), "24/7": range(7)}  # fmt: skip
_DAY = r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?:1\d{3}|20\d\d|21\d\d)(?!\d|[,.]\d|-\d\d-)"
_MONTH = r"[a-z]{3,9}(?![a-z])\.?"
_AM = rf"{BLANK}?(?P<%s>[ap])\.?{BLANK}?m\b"
_SMALL = either(list(CARDINALS)[1:13])
_ORDINAL = rf"(?:(?:twenty|thirty)[ -])?(?:{either(ORDINALS)})(?![a-z])"
_DECIMALS = r"\d+(?:\.\d+)?-\d+(?:\.\d+)?(?![.-]?\d)"  # "0.5-1 mg" is a range
_JOIN = r"\s?(?:-|–|to|and|or)\s?"

DAYS = {
    "daymonth": rf"(?<![\d.,:])(?:(?P<da>{_DAY}){_JOIN})?(?P<db>{_DAY})(?: of)?[\s-](?P<dm>{_MONTH})"
                rf"(?:(?: of)?[\s,-]{{1,2}}(?P<dy>{_YEAR}))?",
}  # fmt: skip
# What begins with a digit. The first that fits and means something wins; each takes a bounded stretch of text.
FIGURES = {
    "iso": r"(?<!\d)(?P<iy>\d{4})-(?P<im>0[1-9]|1[0-2])-(?P<id>[0-2]\d|3[01])(?!\d)",
    "slashed": r"(?<![\d./])(?P<sa>[0-2]?\d|3[01])(?:/(?P<sb>[0-2]?\d|3[01])/(?P<sy>\d{4}|\d\d)|\.(?P<sc>0?\d|1[0-2])\."
               r"(?P<sz>\d{4}))(?![\d/]|\.\d)",
    "slashedmonth": r"(?<![\d./])(?P<lm>0?[1-9]|1[0-2])/(?P<ly>(?:19|20)\d\d)(?![\d/])",
    "isomonth": r"(?<![\d.-])(?P<ky>(?:19|20)\d\d)-(?P<km>0[1-9]|1[0-2])(?!\d|[.-]\d)",
    "code": rf"(?!{EUROPEAN}|{_DECIMALS})\d+(?:[.-]\d+){{2,}}|(?:(?<=\+)\d{{1,3}}|0\d{{2,4}})(?:[ \u00a0-]\d{{2,4}}){{2,4}}(?!\d)",
    "clock": rf"(?<![\d.,])(?P<ch>[01]?\d|2[0-4])(?:(?::(?P<ci>[0-5]?\d)(?::[0-5]\d)?(?!\d)|\.(?P<cd>[0-5]\d))?{_AM % 'cp'}"
             rf"|:(?P<cm>[0-5]\d|0)(?::(?P<cs>[0-5]\d))?(?![\d:])|h(?P<cf>[0-5]\d)(?!\d))",
    "usual": r"7 days a week\b|24/7(?!\d)",
    "noon": r"12 (?P<no>noon|midday|midnight)\b",
    "oclock": rf"(?<!\d)(?P<oh>\d{{1,2}}) o['’]clock(?:{_AM % 'op'})?",
    "century": r"(?<!\d)(?P<cn>\d{1,2})(?:st|nd|rd|th)[ -]centur(?:y|ies)",
    "decade": r"(?<![\d.,])(?P<ey>(?:1\d|20)\d0|\d0)['’]?s\b",
}  # fmt: skip
_OF_MONTH = {
    "monthday": rf"(?P<mm>{_MONTH})\s(?:the )?(?P<ma>{_DAY})(?![:%]|\.\d|,\d{{3}}(?!\d))(?:{_JOIN}(?P<mb>{_DAY})(?![:%a-z]))?"
                rf"(?:\s?,?\s?(?P<my>{_YEAR}))?",
    "monthword": rf"(?P<om>{_MONTH}) (?:the )?(?P<od>{_ORDINAL})\b(?:[\s,]{{1,2}}(?P<oy>{_YEAR}))?",
    "month": rf"(?P<nm>{_MONTH})(?:(?: of)?,?\s(?P<ny>{_YEAR}))?",
}  # fmt: skip
# What begins with a word: patterns for each first word.
_OF_NUMBER = {
    "wordday": rf"(?P<wd>{_ORDINAL})(?: of)? (?P<wm>{_MONTH})(?:[\s,]{{1,2}}(?P<wy>{_YEAR}))?",
    "wordcentury": rf"(?P<cw>{_ORDINAL})[ -]centur(?:y|ies)",
    "wordclock": rf"(?P<wh>{_SMALL})(?: o['’]clock)?(?:{_AM % 'wp'}|(?<=clock))",
}  # fmt: skip
_PAST = {"past": rf"(?:half past|quarter past|quarter to) (?P<ph>1?\d(?!\d)|{_SMALL})\b(?:{_AM % 'pp'})?"}
WORDS = (
    {word: _OF_MONTH for word in _MONTH_NUMBERS}
    | {word: _OF_NUMBER for word in [*ORDINALS, *CARDINALS]}
    | {word: {"weekday": rf"{word}\b"} for word in _DAY_NUMBERS}
    | {word: {"usual": rf"{word}\b"} for word in ("weekday", "weekdays", "weekend", "weekends", "daily")}
    | {word: {"period": rf"{word}\b"} for word in _PERIODS}
    | {word: {"tens": rf"{word}\b"} for word in DECADES}
    | {"seven": {"usual": r"seven days a week\b"} | _OF_NUMBER}
    | {"fy": {"fiscal": r"fy ?['’]?(?P<fy>\d\d)(?!\d)"}}
    | {"every": {"usual": r"every day\b"}, "half": _PAST, "quarter": _PAST}
)


_ON = re.compile(r"\b(?:on|by|until|till|since|of|before|after|from)\s$", re.IGNORECASE)
# May and March are words too, and so are most short forms: they count with a capital, and alone after a preposition only.
_BEFORE_MONTH = re.compile(
    r"\b(?:in|of|by|to|since|until|till|from|last|next|late|early|mid|and|or|through|throughout|before|after|into|during"
    r"|between|around|for|this|each|every)[ -]$",
    re.IGNORECASE,
)


def _month(name: str) -> int | None:
    """1 to 12, or None for a word that names no month."""
    plain = name.rstrip(".")
    number = _MONTH_NUMBERS.get(plain.lower())
    doubtful = len(plain) < 5 or plain.lower() == "march"
    return None if doubtful and plain.islower() and plain.lower() not in ("june", "july") else number


def _day(text: str | None) -> int | None:
    """The day of "3", "3rd" or "twenty-first"."""
    if not text:
        return None
    if text[0].isdigit():
        return int(re.match(r"\d+", text)[0])
    return written_values(text.lower())[-1][0]


def _year(text: str | None) -> int | None:
    return int(text) if text else None


def _iso(m: re.Match) -> list[Quantity]:
    return [Date(m.start(), m.end(), int(m["iy"]), int(m["im"]), int(m["id"]))]


def _month_of(m: re.Match, month: int, year: int) -> list[Quantity]:
    return [Date(m.start(), m.end(), year, month)]


def _iso_month(m: re.Match) -> list[Quantity]:
    year, month = int(m["ky"]), int(m["km"])
    return _month_of(m, month, year) if month <= year % 100 else []  # "2009-10" is a season


def _slashed(m: re.Match) -> list[Quantity]:
    first, second, year = int(m["sa"]), int(m["sb"] or m["sc"]), int(m["sy"] or m["sz"])
    year += 0 if year > 99 else 2000 if year < 70 else 1900
    if second > 12:
        first, second = second, first
    if not (0 < first < 32 and 0 < second < 13):
        return [read_code(m[0], m.start())]
    return [Date(m.start(), m.end(), year, second, first, swapped=m["sb"] is not None and first < 13)]


def _days_of(m: re.Match, days: tuple[str | None, ...], month: str, year: str | None) -> list[Quantity]:
    number = _month(month)
    if number is None and m.string.startswith(month, m.start()) and _ON.search(m.string, max(0, m.start() - 7), m.start()):
        number = _MONTH_NUMBERS.get(month.lower())  # "on may 30"
    if number is None:
        return []
    return [Date(m.start(), m.end(), _year(year), number, day) for day in map(_day, days) if day and 0 < day < 32]


def _month_alone(m: re.Match) -> list[Quantity]:
    number, name = _month(m["nm"]), m["nm"].lower()
    if number is None:
        return []
    if m["ny"] is None and (name in ("may", "march") or (len(name) < 5 and name not in ("june", "july"))):
        if not name.endswith(".") and not _BEFORE_MONTH.search(m.string, max(0, m.start() - 8), m.start()):
            return []
    return [Date(m.start(), m.end(), _year(m["ny"]), number)]


def _clock(m: re.Match) -> list[Quantity]:
    minute = next((int(value) for value in (m["ci"], m["cd"], m["cm"], m["cf"]) if value), 0)
    return _time(m, int(m["ch"]), minute + int(m["cs"] or 0) / 60, m["cp"], len(m["ch"]) == 2 and m["ch"][0] == "0")


def _hour(text: str) -> int:
    return int(text) if text.isdigit() else CARDINALS[text.lower()]


def _time(m: re.Match, hour: int, minute: float, half: str | None, exact: bool = False) -> list[Quantity]:
    if hour > 24:
        return []
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return [Clock(hour % 24 * 60 + minute, m.start(), m.end(), not half and not exact and 0 < hour < 13)]


def _past(m: re.Match) -> list[Quantity]:
    minute = 30 if m[0][0] in "hH" else 15 if " past " in m[0].lower() else -15
    return _time(m, _hour(m["ph"]), minute, m["pp"])


def _weekday(m: re.Match) -> list[Quantity]:
    # "Sat" and "Sun" are words too: an abbreviation may state a day but is not asked for.
    name = m[0].lower()
    if name in _SHORT_DAYS and m[0].islower():
        return []
    return [Weekday(frozenset({_DAY_NUMBERS[name]}), m.start(), m.end(), firm=name not in _SHORT_DAYS)]


def _century(m: re.Match, number: int) -> list[Quantity]:
    return [Date(m.start(), m.end(), 100 * (number - 1), until=100 * number)] if 0 < number < 30 else []


def _decade(m: re.Match) -> list[Quantity]:
    digits, start = m["ey"], m.start()
    year = int(digits)
    if len(digits) == 4:
        return [Date(start, m.end(), year, until=year + (99 if year % 100 == 0 else 9))]
    year += 1900 if year >= 20 else 2000
    # "In her 30s" is an age; "the '30s" is a decade.
    return [Date(start, m.end(), year, until=year + 9, firm=m.string[max(0, start - 1) : start] in ("'", "’"))]


def _tens(m: re.Match) -> list[Quantity]:
    year = 1900 + DECADES[m[0].lower()]
    return [Date(m.start(), m.end(), year, until=year + 9, firm=False)]


def _usual(m: re.Match) -> list[Quantity]:
    days: list[Quantity] = [Weekday(frozenset(_USUAL[m[0].lower()]), m.start(), m.end(), firm=False)]
    return [*days, Number(24.0, m.start(), m.end(), UNITS["hours"], firm=False)] if m[0] == "24/7" else days


READERS = {
    "usual": _usual,
    "iso": _iso,
    "slashed": _slashed,
    "slashedmonth": lambda m: _month_of(m, int(m["lm"]), int(m["ly"])),
    "isomonth": _iso_month,
    "code": lambda m: [read_code(m[0], m.start())],
    "daymonth": lambda m: _days_of(m, (m["da"], m["db"]), m["dm"], m["dy"]),
    "monthday": lambda m: _days_of(m, (m["ma"], m["mb"]), m["mm"], m["my"]),
    "wordday": lambda m: _days_of(m, (m["wd"],), m["wm"], m["wy"]),
    "monthword": lambda m: _days_of(m, (m["od"],), m["om"], m["oy"]),
    "month": _month_alone,
    "clock": _clock,
    "oclock": lambda m: _time(m, _hour(m["oh"]), 0, m["op"]),
    "wordclock": lambda m: _time(m, _hour(m["wh"]), 0, m["wp"]),
    "period": lambda m: [Clock(_PERIODS[m[0].lower()], m.start(), m.end())],
    "noon": lambda m: [Clock(_PERIODS[m["no"].lower()], m.start(), m.end())],
    "past": _past,
    "weekday": _weekday,
    "century": lambda m: _century(m, int(m["cn"])),
    "wordcentury": lambda m: _century(m, _day(m["cw"])),
    "decade": _decade,
    "fiscal": lambda m: [Date(m.start(), m.end(), 2000 + int(m["fy"]))],
    "tens": _tens,
}
