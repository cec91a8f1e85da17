"""What a text says in figures: numbers with units, dates, times of day, days of the week, and codes.

Signs are not kept: "-5 %" and "a fall of 5 %" say the same. A quantity that is not `firm` may be stated for a claim but is
not asked of one: "one", "half", the 19 of "COVID-19".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Reading = tuple[str, float]  # (dimension, base units)


@dataclass(frozen=True, slots=True)
class Number:
    """A count, an amount, a share or a rank, as written.

    Attributes:
        value: with its scale word; units: what its unit may mean, empty without one.
        step: the place of its last written digit: 1e5 for "1.5 million", 1 for "12" and for "1,500".
        scale: of its scale word, 1 without one; decimals: it has a decimal point or a half.
        hedge: "about", "over" or "under" where a word beside it says so, else "".
        of: the 5 of "4 out of 5", "4 of 5" and "4/5"; 0 without one.
        per: what the kilogram of "15 mg/kg" may mean; every: seconds of the month of "$20 per month", 0 without one.
        parts: of a sum that may be none, "12 months and 30 days".
        start, end: in the text.
    """

    value: float
    start: int
    end: int
    units: tuple[Reading, ...] = ()
    step: float = 1.0
    scale: float = 1.0
    decimals: bool = False
    hedge: str = ""
    firm: bool = True
    of: float = 0.0
    per: tuple[Reading, ...] = ()
    every: float = 0.0
    parts: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month or a year, or any part of a date that is written.

    Attributes:
        until: last year of a decade or a century; last_month: of "May to July".
        swapped: written as 03/06, so day and month may be the other way round.
    """

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    until: int | None = None
    last_month: int | None = None
    swapped: bool = False
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes since midnight. `halved`: written without am or pm, so that twelve hours more may be meant."""

    minutes: float
    start: int
    end: int
    halved: bool = False
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Weekday:
    """Days of the week, 0 for Monday; several for "Monday to Friday"."""

    days: frozenset[int]
    start: int
    end: int
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Code:
    """A version, a telephone number and the like: digits that are compared one by one. `parts`: its runs of digits."""

    digits: str
    parts: tuple[float, ...]
    start: int
    end: int
    firm: bool = True


Quantity = Number | Date | Clock | Weekday | Code


def read_code(text: str, start: int) -> Code:
    """The code that is written at `start` as `text`."""
    parts = re.findall(r"\d+", text)
    return Code("".join(parts), tuple(float(part) for part in parts if len(part) < 16), start, start + len(text))
