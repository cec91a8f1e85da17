"""Which numbers of a claim no passage states.

A quantity is stated when a passage has an equal one, however it is spelled: "1.5k" = "1,500", "twelve" = "12", "5 PM" = "17:00",
"a year and a half" = "18 months", "3 June" = "June 3rd" = "2024-06-03". Where a claim rounds, what people accept is equal:

- Digits without a decimal point or a scale word are exact: "1,931" is not 1,930, and "1,512,345" is not "1.5 million".
- A decimal point or a scale word rounds to the last written digit: "1.5 million" is 1,512,345, "3.1" is 3.14. So does a whole
  number where the passage has decimals ("12 %" for 12.4 %). Without a decimal point the error may be 5 % at most: "2 million"
  is not 1.6 million.
- A hedge in the claim widens that: "about" and the like to 10 % either way, "over 100" to anything from 100 to 150, "under 100"
  to anything from 67 to 100; not where the passage hedges too: "up to 90 days" is not "up to 60 days".
- Different units of one kind are converted, to 2 %: "5 miles" is 8 km. A number without a unit is equal to one with a unit,
  unless it counts something ("45 countries" is not "45 minutes").
- The year of a full date may stand elsewhere in the passages; a month or a weekday may lie between the ends of a range.

Whole numbers up to ten without a unit are held against a passage only where it counts the same thing otherwise: "two options"
is fair to a passage that lists two options and nowhere says "two", but "four branches" is not to "three branches".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from nli_faith.numerals import read_quantities
from nli_faith.quantities import Clock, Code, Date, Number, Quantity, Weekday

SMALL = 10
_AFTER = re.compile(r"[ \u00a0-]([a-z]{2,})(?:[ \u00a0-]([a-z]{2,}))?", re.I)
_STOP = frozenset(
    "a an the and or but of to in on at by for from with as is are was were be been has have had will would can could may"
    " might must that which who whose this these those it its they their he she his her we our you your not no than then"
    " so if when while after before during since until between among over under about into per each every more less most"
    " least other others such only also still just very later earlier ago away up down out off there here what how all".split()
)
_NOTHING = (("", 1.0),)


def missing_numbers(claim: str, passages: Sequence[str]) -> tuple[str, ...]:
    """The numbers, dates, times and amounts of `claim`, as written there, that none of the passages states."""
    asked = [quantity for quantity in read_quantities(claim) if quantity.firm]
    if not asked:
        return ()
    stated = [_Passage(text) for text in passages]
    return tuple(claim[q.start : q.end].strip(" -") for q in asked if not _is_stated(q, claim, stated))


class _Passage:
    """A passage with its quantities, and what each of its bare numbers counts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.quantities = read_quantities(text)

    @cached_property
    def counts(self) -> list[tuple[Number, frozenset[str]]]:
        found = [q for q in self.quantities if isinstance(q, Number) and not q.units]
        return [(number, _counted(self.text, number)) for number in found]


def _is_stated(asked: Quantity, claim: str, stated: Sequence[_Passage]) -> bool:
    if isinstance(asked, Number):
        if not asked.units and asked.value <= SMALL and asked.value == int(asked.value):
            return not any(_counts_otherwise(asked, _counted(claim, asked), passage) for passage in stated)
        return any(_same_number(asked, source, passage.text) for passage in stated for source in passage.quantities)
    sources = [source for passage in stated for source in passage.quantities]
    if isinstance(asked, Date):
        return _is_date_stated(asked, sources)
    if isinstance(asked, Clock):
        return any(_same_time(asked, source) for source in sources)
    if isinstance(asked, Weekday):
        return any(isinstance(source, Weekday) and asked.days <= source.days for source in sources)
    return any(asked.digits in re.sub(r"\D", "", passage.text) for passage in stated)


def _counted(text: str, number: Quantity) -> frozenset[str]:
    """What the number counts: the one or two words behind it, without their plural; empty before "of", a stop and the like."""
    match = _AFTER.match(text, number.end)
    words = []
    for word in match.groups() if match else ():
        if word is None or word.lower() in _STOP:
            break
        words.append(word.lower())
    return frozenset(word[:-1] if word[-1] == "s" and word[-2] != "s" else word for word in words)


def _counts_otherwise(asked: Number, things: frozenset[str], passage: _Passage) -> bool:
    """Whether the passage gives another number of the same things, and nowhere the claim's number."""
    if not things or any(number.value == asked.value for number, _ in passage.counts):
        return False
    return any(number.firm and things & counted for number, counted in passage.counts)


def _same_number(asked: Number, source: Quantity, text: str) -> bool:
    if isinstance(source, Date):
        return not asked.units and any(_close(asked, value) for value in (source.year, source.day, source.until) if value)
    if isinstance(source, Code):
        return not asked.units and asked.value in source.parts
    if not isinstance(source, Number):
        return False
    # A bound is no fair way to write another bound: "up to 90 days" is not "up to 60 days".
    asked = asked if not source.hedge else replace(asked, hedge="")
    if bool(asked.units) != bool(source.units) and _close(asked, source.value):
        return not asked.units or (source.firm and not _counted(text, source))
    return any(_close(asked, value, converted) for value, converted in _converted(asked, source))


def _converted(asked: Number, source: Number) -> Iterator[tuple[float, bool]]:
    """(value of `source` in a unit of `asked`, whether that is another unit) for each pair of readings of one kind."""
    for kind, factor in asked.units or _NOTHING:
        for other, own in source.units or _NOTHING:
            if kind == other:
                yield source.value * own / factor, own != factor
            elif (kind, other) == ("celsius", "fahrenheit"):
                yield (source.value - 32) / 1.8, True
            elif (kind, other) == ("fahrenheit", "celsius"):
                yield source.value * 1.8 + 32, True


def _close(asked: Number, value: float, converted: bool = False) -> bool:
    """Whether the claim's number is a fair way to write `value`; see the rules above."""
    written, room = asked.value, 1e-9 * abs(value)
    if asked.decimals:
        room = max(room, asked.step / 2)
    elif asked.scale > 1 or abs(value - round(value)) > 1e-9:
        room = max(room, min(asked.step / 2, 0.05 * value))
    if converted:
        room = max(room, 0.02 * value)
    if asked.hedge == "about":
        room = max(room, 0.1 * written)
    if abs(written - value) <= room * (1 + 1e-6):
        return True
    return (asked.hedge == "over" and written <= value <= 1.5 * written) or (
        asked.hedge == "under" and written / 1.5 <= value <= written
    )


def _is_date_stated(asked: Date, sources: Sequence[Quantity]) -> bool:
    if asked.month is None:
        return any(_has_year(source, asked) for source in sources)
    fits = [source for source in sources if isinstance(source, Date) and _same_day(asked, source)]
    if asked.year is None or any(source.year == asked.year for source in fits):
        return bool(fits)
    year = Date(0, 0, asked.year)
    return any(source.year is None for source in fits) and any(_has_year(source, year) for source in sources)


def _has_year(source: Quantity, asked: Date) -> bool:
    first, last = asked.year, asked.until or asked.year
    if isinstance(source, Number):
        return not source.units and first <= source.value <= last
    if not isinstance(source, Date) or source.year is None:
        return False
    return first <= source.year and (source.until or source.year) <= last


def _same_day(asked: Date, source: Date) -> bool:
    """Whether day and month are those of `source`, as far as they are given."""
    if source.month is None:
        return False
    if source.last_month is not None:
        span = (source.last_month - source.month) % 12
        return asked.day is None and (asked.month - source.month) % 12 <= span
    pairs = {(source.month, source.day)} | ({(source.day, source.month)} if source.swapped else set())
    wanted = {(asked.month, asked.day)} | ({(asked.day, asked.month)} if asked.swapped else set())
    return any(month == m and (day is None or day == d) for month, day in wanted for m, d in pairs)


def _same_time(asked: Clock, source: Quantity) -> bool:
    if isinstance(source, Number):  # "open 9-5"
        hour, minute = divmod(asked.minutes, 60)
        return not source.units and minute == 0 and source.value in (hour, hour % 12 or 12)
    if not isinstance(source, Clock):
        return False
    around = 720 if asked.halved or source.halved else 1440
    return (asked.minutes - source.minutes) % around == 0
