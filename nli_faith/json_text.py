"""JSON text: written from Python values, and taken apart without being read, so that its spelling stays."""

from __future__ import annotations

import base64
import datetime
import json
import re
from collections.abc import Collection, Iterable
from decimal import Decimal
from uuid import UUID

import numpy as np

DEEPEST = 500  # levels of lists and objects inside each other; Python's own limit moves with the depth of its calls
_SPACE = re.compile(r"[ \t\r\n]*")
_SCANNER = json.JSONDecoder()


def to_json(value: object) -> str:
    """JSON text of a Python value; NaN and infinities, which JSON lacks, become null."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_without_nan(value))


def too_deep(text: str, value: object) -> bool:
    """Whether the JSON `value` of `text` has more than `DEEPEST` levels, where writing it may fail at some other depth."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        level = [inner for item in level if isinstance(item, (dict, list)) for inner in _inner(item)]
        depth += 1
    return bool(level)


def members(text: str) -> list[tuple[str, int, int, int]]:
    """(key, start of the key, start of the value, end of the value) for each member of the JSON object `text`."""
    found = []
    at = _SPACE.match(text, text.index("{") + 1).end()
    while text[at] != "}":
        start = at
        key, at = json.decoder.scanstring(text, at + 1, True)
        value = _SPACE.match(text, text.index(":", at) + 1).end()
        _, at = _SCANNER.scan_once(text, value)
        found.append((key, start, value, at))
        at = _SPACE.match(text, at).end()
        if text[at] == ",":
            at = _SPACE.match(text, at + 1).end()
    return found


def inside(text: str) -> str:
    """What stands between the braces of the JSON object `text`, on one line."""
    # A line end in valid JSON stands between values only, never inside a string.
    return text.strip()[1:-1].strip().replace("\r", " ").replace("\n", " ")


def inside_without(text: str, left_out: Collection[str]) -> str:
    """The same without some members."""
    kept = [text[start:end] for key, start, _, end in members(text) if key not in left_out]
    return ", ".join(kept).replace("\r", " ").replace("\n", " ")


def plain_value(value: object) -> object:
    """The JSON form of what the json module does not know; TypeError when there is none."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (Decimal, UUID)):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def _inner(item: dict | list) -> Iterable:
    return item.values() if isinstance(item, dict) else item


def _without_nan(value: object) -> object:
    if isinstance(value, (float, np.floating)):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return value


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=plain_value)
