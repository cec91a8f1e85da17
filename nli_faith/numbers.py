"""Which numbers of a claim no passage states.

A quantity is stated when a passage has an equal one, however it is spelled: "1.5k" = "1,500", "twelve" = "12", "5 PM" = "17:00",
"a year and a half" = "18 months", "3 June" = "June 3rd" = "2024-06-03". Where a claim rounds, what people accept is equal:

- Digits without a decimal point or a scale word are exact: "1,931" is not 1,930, and "1,512,345" is not "1.5 million".
- A decimal point or a scale word rounds to the last written digit: "1.5 million" is 1,512,345, "3.1" is 3.14. So does a whole
  number where the passage has decimals ("12 %" for 12.4 %). Without a decimal point the error may be 5 % at most: "2 million"
  is not 1.6 million.
- A hedge in the claim widens that: "about" and the like to 10 % either way, "over 100" to anything from 100 to 150, "under 100"
  to anything from 67 to 100, and where the passage counts the same things to anything above or below: "more than 5 people" is 12
  people. Not where the passage hedges too: "up to 90 days" is not "up to 60 days".
- "4 out of 5", "4/5" and "4 of 5" are as good as "8 of 10" and "80 %", and as a bare 4.
- Versions are compared part by part, not as decimals: "Python 3.1" is 3.1.2 but not 3.10. A number is one behind "version" and
  the like, and behind the name that the passage has before its number.
- Different units of one kind are converted, to 2 % or a degree: "5 miles" is 8 km. A number without a unit is equal to one with
  a unit, unless it counts something ("45 countries" is not "45 minutes"). So are rates: "$20 per month" is not "$20 per year",
  and "15 mg/kg" no dose of 15 mg; but what is paid or done in a time may be said without it, "$20".
- "2 hours 30 minutes" is one quantity; "12 months and 30 days" may be stated as one or as two.
- The year of a full date may stand elsewhere in the passages; a month or a weekday may lie between the ends of a range.

Whole numbers up to ten without a unit are held against passages only where one counts the same thing otherwise, or out of the
same number, and none has the claim's number: "two options" is fair to a passage that lists two options and nowhere says "two",
but "four branches" is not to "three branches".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from nli_faith.counted import counted, singular
from nli_faith.numerals import read_quantities
from nli_faith.quantities import Clock, Code, Date, Number, Quantity, Weekday
from nli_faith.rates import is_strict
from nli_faith.same_times import is_date_stated, same_time
from nli_faith.versions import is_part, parts_of, same_version

SMALL = 10
_NOTHING = (("", 1.0),)
_BOUNDS = ("over", "under")


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
        return [(number, counted(self.text, number)) for number in found]


def _is_stated(asked: Quantity, claim: str, stated: Sequence[_Passage]) -> bool:
    if isinstance(asked, Number):
        if asked.parts and all(_is_stated(part, claim, stated) for part in asked.parts):
            return True
        things = counted(claim, asked)
        if not asked.units and asked.value <= SMALL and not asked.decimals:
            return not _is_denied(asked, things, [count for passage in stated for count in passage.counts])
        return any(_same_number(asked, source, claim, things, passage) for passage in stated for source in passage.quantities)
    sources = [source for passage in stated for source in passage.quantities]
    if isinstance(asked, Date):
        return is_date_stated(asked, sources)
    if isinstance(asked, Clock):
        return any(same_time(asked, source) for source in sources)
    if isinstance(asked, Weekday):
        return any(isinstance(source, Weekday) and asked.days <= source.days for source in sources)
    digits = _own_digits(asked, claim)
    return any(digits in re.sub(r"\D", "", passage.text) for passage in stated)


def _own_digits(code: Code, text: str) -> str:
    """Without the code of a country, and the 0 or the American 1 that stands for it."""
    if text[max(0, code.start - 1) : code.start] == "+" and len(code.digits) > 9:
        return code.digits[-9:]
    american = len(code.digits) == 11 and code.digits[0] == "1" and len(code.parts) == 4  # 1-800-555-0199
    return code.digits[1:] if american or (len(code.digits) > 8 and code.digits[0] == "0") else code.digits


def _is_denied(asked: Number, things: frozenset[str], counts: Sequence[tuple[Number, frozenset[str]]]) -> bool:
    """Whether the passages give another number of the same things or out of as many, and nowhere the claim's number."""
    if any(_same_count(asked, source, bool(things & counted)) for source, counted in counts):
        return False
    return any(
        source.firm and (things & counted or (asked.of and asked.value <= source.of and asked.of == source.of))
        for source, counted in counts
    )


def _same_count(asked: Number, source: Number, alike: bool) -> bool:
    """For numbers without a unit. `alike`: both count the same things."""
    if asked.of and source.of:
        return abs(asked.value / asked.of - source.value / source.of) < 1e-9
    asked = _unhedged(asked, source)
    if alike and asked.hedge in _BOUNDS and (source.value - asked.value) * (1 if asked.hedge == "over" else -1) >= 0:
        return True
    return _close(asked, source.value)


def _unhedged(asked: Number, source: Number) -> Number:
    """Without its hedge where the passage hedges too: "up to 90 days" is not "up to 60 days". But "over 500" is about 600."""
    kept = not source.hedge or (source.hedge == "about" and asked.hedge in _BOUNDS)
    return asked if kept else replace(asked, hedge="")


def _same_number(asked: Number, source: Quantity, claim: str, things: frozenset[str], passage: _Passage) -> bool:
    if isinstance(source, Date):
        bare = source.month is None and not counted(passage.text, source)  # "the 1965 Watts riots"
        if asked.of and {asked.value, asked.of} == {source.month, source.day}:
            return True  # "12/25" is December 25
        slashed = "/" in (claim[max(0, asked.start - 1) : asked.start], claim[asked.end : asked.end + 1])
        own = (source.year, source.day, source.until, source.month if slashed else None)
        values = own if not asked.units else (source.year,) if bare else ()
        return any(_close(asked, value) for value in values if value)
    if isinstance(source, Code):
        whole = asked.value in source.parts and not asked.decimals
        return not asked.units and (whole or is_part(parts_of(claim, asked), source.parts))
    if isinstance(source, Clock):  # "12:35" lasts 12 minutes and 35 seconds, or as many hours
        lasting = [factor * asked.value for kind, factor in asked.units if kind == "time"]
        return bool(asked.parts or asked.decimals) and any(seconds in (source.minutes, 60 * source.minutes) for seconds in lasting)
    if not isinstance(source, Number):
        return False
    if not asked.units and not source.units:
        version = same_version(asked, source, claim, passage.text)
        if version is not None:
            return version
        return _same_count(asked, source, bool(asked.hedge and things & counted(passage.text, source)))
    asked = _unhedged(asked, source)
    if bool(asked.units) != bool(source.units) and _close(asked, source.value):
        things_there = counted(passage.text, source)
        named = map(singular, re.findall(r"[a-z]+", claim[asked.start : asked.end].lower()))  # "the seventh year": seven years
        return not asked.units or (source.firm and (not things_there or not things_there.isdisjoint(named)))
    return any(_close(asked, value, room) for value, room in _converted(asked, source))


def _converted(asked: Number, source: Number) -> Iterator[tuple[float, float]]:
    """(value of `source` in a unit of `asked`, room for rounding) for each pair of readings of one kind."""
    rate = _rate(asked, source)
    if rate is None:
        return
    for kind, factor in asked.units or _NOTHING:
        if kind == "%" and source.of and not source.units:
            yield 100 * source.value / source.of / factor, 0.0
        for other, own in source.units or _NOTHING:
            if kind == other:
                value = source.value * own / factor * rate
                yield value, 0.02 * value if own != factor or rate != 1 else 0.0
            elif (kind, other) == ("celsius", "fahrenheit"):
                yield from ((abs(sign * source.value - 32) / 1.8, max(1.0, 0.02 * source.value / 1.8)) for sign in (1, -1))
            elif (kind, other) == ("fahrenheit", "celsius"):
                yield from ((abs(sign * source.value * 1.8 + 32), max(1.0, 0.02 * source.value * 1.8)) for sign in (1, -1))
            elif other == "%" and asked.of and not asked.units:
                yield source.value * own * asked.of / 100, 0.0


def _rate(asked: Number, source: Number) -> float | None:
    """How many times as much the source says where both are rates; None where they are measured against other things.

    What something costs, and what happens in a day, is often said without the other half: "$20" is fair to "$20 per month".
    A dose by the kilogram is no dose.
    """
    every = asked.every / source.every if asked.every and source.every else 1.0
    if not (asked.per and source.per):
        strict = is_strict(asked.per or source.per) and any(kind.islower() for kind, _ in asked.units)
        return None if strict else every
    kinds = dict(source.per)
    return next((every * factor / kinds[kind] for kind, factor in asked.per if kind in kinds), None)


def _close(asked: Number, value: float, converted: float = 0.0) -> bool:
    """Whether the claim's number is a fair way to write `value`; see the rules above."""
    written, room = asked.value, max(converted, 1e-9 * abs(value))
    if asked.decimals:
        room = max(room, asked.step / 2)
    elif asked.scale > 1 or abs(value - round(value)) > 1e-9:
        room = max(room, min(asked.step / 2, 0.05 * value))
    if asked.hedge == "about":
        room = max(room, 0.1 * max(written, value))
    if abs(written - value) <= room * (1 + 1e-6):
        return True
    return (asked.hedge == "over" and written <= value <= 1.5 * written) or (
        asked.hedge == "under" and written / 1.5 <= value <= written
    )
