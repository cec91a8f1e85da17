"""Versions, compared part by part: "Python 3.1" is 3.1.2 but not 3.10."""

from __future__ import annotations

import re

from nli_faith.counted import STOP
from nli_faith.quantities import Number

_NAME = re.compile(r"(?:\b(version|release|firmware|build|v|ver)\.? ?|\b((?-i:[a-z]{0,3}[A-Z])[\w+#]*) )$", re.I)
# Names that measure stand before a decimal number, not before a version.
_MEASURES = frozenset("gpa rating ratings score scores magnitude richter eps index ratio average ph bmi total grade mean".split())


def same_version(asked: Number, source: Number, claim: str, text: str) -> bool | None:
    """Whether the two are one version, None where they are none."""
    if not (asked.decimals or source.decimals) or not (_may_be_one(asked, claim) and _may_be_one(source, text)):
        return None
    name, other = _name(claim, asked), _name(text, source)
    if not (name and other) or (name != other and "version" not in (name, other)):
        return None
    parts, others = parts_of(claim, asked), parts_of(text, source)
    return is_part(parts, others) or (parts[: len(others)] == others and not any(parts[len(others) :]))


def _may_be_one(number: Number, text: str) -> bool:
    """No version has a scale word, a hedge or marks between its thousands: "Population 8.3 million", "Revenue 1,512"."""
    return number.scale == 1 and not number.hedge and "," not in text[number.start : number.end]


def _name(text: str, number: Number) -> str:
    match = _NAME.search(text[max(0, number.start - 24) : number.start])
    if match is None:
        return ""
    name = "version" if match[1] else match[2].lower()
    return "" if name in STOP or name in _MEASURES else name


def parts_of(text: str, number: Number) -> tuple[float, ...]:
    return tuple(float(part) for part in re.findall(r"\d+", text[number.start : number.end]))


def is_part(parts: tuple[float, ...], others: tuple[float, ...]) -> bool:
    return bool(parts) and others[: len(parts)] == parts
