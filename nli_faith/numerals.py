"""Text -> quantities, in one pass of one pattern, and the joining of those that belong together.

Own patterns, because the packages that read quantities and dates manage some hundred sentences a second, where this reads
tens of thousands, and take "1931 at" for a unit or "two and" for a day in February.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from nli_faith import amounts, compounds, dates
from nli_faith.quantities import Clock, Date, Number, Quantity, Weekday

_READERS = dates.READERS | amounts.READERS | compounds.READERS
_START = re.compile(r"\d+|(?<![\w.])\.\d+|[½¼¾⅓⅔]|[^\W\d_]+")
_LINKS = frozenset(("http", "https", "www"))
_LINK = re.compile(r"\S*")


def _compile(patterns: dict[str, str]) -> re.Pattern:
    """One pattern for all; its `lastgroup` names the one that fitted."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items()), re.IGNORECASE)


# What is more than a number is looked for before the numbers.
_DAYS = _compile(dates.DAYS)
_FIGURES = _compile(compounds.FIGURES | dates.FIGURES | amounts.SLASHED | amounts.FIGURES)
_NUMBERS = _compile(amounts.FIGURES)
_WORDS = {
    word: [_compile({name: pattern}) for name, pattern in (dates.WORDS.get(word, {}) | amounts.WORDS.get(word, {})).items()]
    for word in dates.WORDS | amounts.WORDS
}
_RANGE = re.compile(r"\s?(?:--?|–|—|to|or|and|through|thru|until|till)\s?", re.I)
_OF = re.compile(r"\s?/\s?|\s(?:out of|of|in)\s(?:a possible |a total of |every )?", re.I)
_SPAN = re.compile(r"\s?(?:--?|–|—|to|through|thru|until|till)\s?", re.I)
_NEXT = re.compile(r"\.?,?\s(?:and\s)?", re.I)

_ROMAN = re.compile(r"(?=..)(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")  # below a hundred: of the rest most are other words
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


@lru_cache(maxsize=4096)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text in the order of their places. Linear in its length; the last few thousand texts are kept."""
    found: list[Quantity] = []
    at = 0
    for start in _START.finditer(text):
        if start.start() < at:
            continue
        word = start[0]
        if word[0].isalpha():
            patterns = _WORDS.get(word.lower())
            if patterns is None and word.isupper() and _ROMAN.fullmatch(word):
                found.append(Number(float(_roman(word)), start.start(), start.end(), firm=False))
            if patterns is None:
                if word.lower() in _LINKS and text[start.end() : start.end() + 1] in (":", "."):
                    at = _LINK.match(text, start.start()).end()
                continue
        else:
            patterns = (_DAYS, _FIGURES, _NUMBERS)
        for pattern in patterns:
            match = pattern.match(text, start.start())
            read = _READERS[match.lastgroup](match) if match else []
            if read:
                found += read
                at = max(match.end(), read[-1].end)
                break
    return tuple(_joined(text, found))


def _roman(word: str) -> int:
    values = [_LETTERS[letter] for letter in word]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0]))


def _joined(text: str, found: list[Quantity]) -> list[Quantity]:
    """`found` with what a neighbour tells of each: the unit of "5" in "5 to 10 km", the years of "2019-21"."""
    out = list(found)
    for i in range(len(found) - 1):
        gap = text[out[i].end : out[i + 1].start]
        if len(gap) > 20:
            continue
        left, right = out[i], out[i + 1]
        if _OF.fullmatch(gap) and _is_share(left, right):
            out[i] = left = replace(left, of=right.value)
            out[i + 1] = right = replace(right, firm=right.firm and "/" not in gap)
        if _RANGE.fullmatch(gap) or (gap == "/" and isinstance(left, Date)):  # 2019/20
            out[i], out[i + 1] = _range(left, right, gap)
        if gap == "/" and _is_day(left, right):
            out.append(Date(left.start, right.end, None, int(left.value), int(right.value), swapped=True, firm=False))
    out += _spans(text, out)
    _add_sums(text, out)
    return out


def _range(left: Quantity, right: Quantity, gap: str) -> tuple[Quantity, Quantity]:
    if isinstance(left, Number) and isinstance(right, Number):
        if left.units and not right.units and left.units[0][0].isupper():  # $5-10
            return left, replace(right, units=left.units, per=left.per, every=left.every)
        if not left.units and (right.units or right.scale > 1) and left.scale == 1:
            scale = right.scale if left.value < right.value / right.scale * 10 and gap.strip() not in ("and", "or") else 1.0
            told = replace(left, value=left.value * scale, step=left.step * scale, scale=scale)
            return replace(told, units=right.units, per=right.per, every=right.every), right
    if isinstance(left, Date) and isinstance(right, Number) and _is_year(left) and 0 < right.value < 100 and not right.units:
        if gap.strip() in ("-", "--", "–", "—", "/") and right.value > left.year % 100 and right.step == 1:
            return left, Date(right.start, right.end, left.year // 100 * 100 + int(right.value))
    if isinstance(left, Number) and isinstance(right, Clock) and left.value == int(left.value) and 0 < left.value < 13:
        if not left.units and left.scale == 1:  # 9 to 5 pm
            return Clock(60.0 * (left.value % 12), left.start, left.end, halved=True), right
    return left, right


def _is_share(left: Quantity, right: Quantity) -> bool:
    """Whether "4 of 5" may stand there: both count."""
    if not (isinstance(left, Number) and isinstance(right, Number)) or left.units or right.units:
        return False
    return left.scale == right.scale == 1 and left.value <= right.value and right.value > 1


def _is_day(left: Quantity, right: Quantity) -> bool:
    """Whether "12/25" may be a day of a month, which it states beside what else it may be."""
    if not (isinstance(left, Number) and isinstance(right, Number)) or left.units or right.units:
        return False
    values = sorted((left.value, right.value))
    return left.step == right.step == 1 and 1 <= values[0] <= 12 and values[1] <= 31


def _is_year(date: Date) -> bool:
    return date.year is not None and date.month is None and date.until is None


def _spans(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """What lies between the ends of "Monday to Friday" and "May to July": stated, but not asked of a claim."""
    for left, right in pairwise(found):
        if not _SPAN.fullmatch(text[left.end : right.start][:12]):
            continue
        if isinstance(left, Weekday) and isinstance(right, Weekday) and len(left.days) == len(right.days) == 1:
            (first,), (last,) = left.days, right.days
            days = frozenset((first + i) % 7 for i in range((last - first) % 7 + 1))
            yield Weekday(days, left.start, right.end, firm=False)
        if isinstance(left, Date) and isinstance(right, Date) and left.month and right.month and left.month != right.month:
            yield Date(left.start, right.end, right.year, left.month, last_month=right.month, firm=False)


def _add_sums(text: str, found: list[Quantity]) -> None:
    """"2 hours 30 minutes" is asked of a claim as one quantity, and stated as three.

    With an "and" or a comma they may be two all the same, "12 months and 30 days' notice": the sum keeps its parts then.
    """
    for i in range(len(found) - 1):
        left, right = found[i], found[i + 1]
        if not (isinstance(left, Number) and isinstance(right, Number) and left.units and right.units) or left.decimals:
            continue
        gap = _NEXT.fullmatch(text[left.end : right.start][:7])
        if gap is None:
            continue
        larger = dict(left.units)
        for dimension, factor in right.units:
            if right.value * factor < larger.get(dimension, 0.0) and factor < larger[dimension]:
                value = left.value * larger[dimension] + right.value * factor
                parts = () if gap[0].isspace() else (left, right)
                found[i], found[i + 1] = replace(left, firm=False), replace(right, firm=False)
                found.append(Number(value, left.start, right.end, ((dimension, 1.0),), factor, decimals=True, parts=parts))
                break
