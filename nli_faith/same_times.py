"""Which dates and times of day state those of a claim."""

from __future__ import annotations

from collections.abc import Sequence

from nli_faith.quantities import Clock, Date, Number, Quantity


def is_date_stated(asked: Date, sources: Sequence[Quantity]) -> bool:
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


def same_time(asked: Clock, source: Quantity) -> bool:
    if isinstance(source, Number) and source.decimals:  # "12 minutes 35 seconds" may be written 12:35
        return any(source.value * own in (asked.minutes, 60 * asked.minutes) for kind, own in source.units if kind == "time")
    if isinstance(source, Number):  # "open 9-5"
        hour, minute = divmod(asked.minutes, 60)
        return not source.units and minute == 0 and source.value in (hour, hour % 12 or 12)
    if not isinstance(source, Clock):
        return False
    around = 720 if asked.halved or source.halved else 1440
    return (asked.minutes - source.minutes) % around == 0
