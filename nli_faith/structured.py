"""A chunk that is itself a JSON object (or a Python literal of one) -> its leaves, each with its path and place.

An NLI model reads prose. `{"hours": {"Monday": "9-5"}, "wifi": null}` is therefore read as
`hours / Monday: 9-5. wifi: not given.`: keys before every value, `false` and `null` kept apart, and no window that begins
in the middle of an object without saying of what.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass

_DEPTH = 60
_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
# One character of a string, as it is or escaped; in JSON two halves may make one.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\U[\da-fA-F]{8}|\\.|.", re.DOTALL
)
_SCALAR = re.compile(r"-?(?:\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|Infinity)|true|false|null|True|False|None|NaN|nan")
_WORDS = {"true": "yes", "True": "yes", "false": "no", "False": "no", "null": "not given", "None": "not given",
          "NaN": "not given", "nan": "not given"}  # fmt: skip
_RECORDS = re.compile(r"\{|\[\s*\{")
_HOURS = re.compile(r"([01]?\d|2[0-4]):([0-5]?\d)(?:\s*[-\u2013]\s*([01]?\d|2[0-4]):([0-5]?\d))?")
# Names of values that are times of day; elsewhere "16:9" is a ratio and "3:1" a score.
_TIMES = re.compile(
    r"\b(?:hours?|times?|open(?:s|ed|ing)?|clos(?:es?|ed|ing)|starts?|ends?|begins?|finish|arriv\w+|depart\w+|"
    r"check ?(?:in|out)|schedule|from|to|until|at|days?|daily|week(?:days?|ends?)|"
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?|am|pm|shift)\b",
    re.I,
)
# Not where the name is one of a duration or a score.
_LASTING = re.compile(
    r"\b(?:cook\w*|prep\w*|bak\w*|half|full|extra|over|added|total|duration|run(?:ning)?|lap|split|elapsed|length|scores?|results?"
    r"|ratio|records?|best|play\w*|travel|read\w*|wait\w*|rest|delay|average)\b",
    re.I,
)
_JSON = json.JSONDecoder(strict=False)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|_+")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a structured chunk.

    Attributes:
        path: keys from the root, as a person would write them; list positions of records are counted from 1.
        value: what stands there, as text; yes, no and "not given" for true, false and null; "9:0-17:0" as
            "9:00-17:00 (9 AM to 5 PM)", for an answer says it in either way.
        start, end: code points of the value in the chunk, with its key where it has one; literal: where the value itself
            begins, None for a list of values.
        pieces: what is quoted of a part of a long value.
    """

    path: tuple[str, ...]
    value: str
    start: int
    end: int
    literal: int | None = None
    pieces: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        """Path and value, "hours / Monday: 9-5"."""
        return f"{' / '.join(self.path)}: {self.value}" if self.path else self.value


class _NotStructured(ValueError):
    """The text is no JSON and no Python literal."""


def read_leaves(text: str) -> list[Leaf] | None:
    """The leaves of a JSON object, an array of objects, objects line by line, or the Python literal of one; else None."""
    stripped = text.strip()
    if stripped[:1] + stripped[-1:] not in ("{}", "[]") or not _RECORDS.match(stripped):
        return None
    leaves: list[Leaf] = []
    try:
        end = _value(text, _skip(text, 0), None, (), leaves, 0)
        if _skip(text, end) != len(text):
            leaves = _lines(text)
    except _NotStructured:
        return None
    # A bracketed remark is no object: at least one value must have a key.
    return leaves if any(leaf.path for leaf in leaves) else None


def _lines(text: str) -> list[Leaf]:
    """The leaves of several objects, each on lines of its own, counted from 1."""
    leaves: list[Leaf] = []
    at, number = _skip(text, 0), 0
    while at < len(text):
        number += 1
        end = _value(text, at, None, (str(number),), leaves, 0) if text[at] == "{" else at
        at = _skip(text, end)
        if text[end:at].count("\n") == 0 and at < len(text):
            raise _NotStructured
    return leaves


def places(chunk: str, leaf: Leaf) -> list[int] | None:
    """Where each character of a leaf's text stands in the chunk, and the end of the last; None where that can't be told."""
    if leaf.literal is None or chunk[leaf.literal] not in "\"'":
        return None
    found = [match.start() for match in _CHARACTER.finditer(chunk, leaf.literal + 1, leaf.end - 1)]
    return [*found, leaf.end - 1] if len(found) == len(leaf.value) else None


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()


def _name(key: str) -> str:
    return _HUMP.sub(" ", key).strip() or key


def _string(raw: str) -> str:
    if raw[0] == '"':
        try:
            return _JSON.decode(raw)
        except ValueError:
            pass  # Python writes double quotes too, around a text with a single one, and knows more escapes
    try:
        return ast.literal_eval(raw.replace("\n", "\\n"))
    except (ValueError, SyntaxError):
        return raw[1:-1]


def _clock(value: str, path: tuple[str, ...]) -> str:
    """A time of day or two, with its minutes in full and as a twelve-hour clock says it; any other value as it is."""
    match = _HOURS.fullmatch(value)
    if not match or not (match.group(3) or _names_times(path)):
        return value
    times = [(int(h), int(m)) for h, m in (match.group(1, 2), match.group(3, 4)) if h is not None]
    full = "-".join(f"{h}:{m:02}" for h, m in times)
    if len(set(times)) < len(times):
        return full  # "0:0-0:0": open all day or closed all day, the record does not say
    return f"{full} ({' to '.join(_twelve(h, m) for h, m in times)})"


def _names_times(path: tuple[str, ...]) -> bool:
    return any(map(_TIMES.search, path)) and not any(map(_LASTING.search, path))


def _twelve(hour: int, minute: int) -> str:
    minutes = f":{minute:02}" if minute else ""
    return f"{hour % 12 or 12}{minutes} {'AM' if hour % 24 < 12 else 'PM'}"


def _value(text: str, at: int, key_start: int | None, path: tuple[str, ...], leaves: list[Leaf], depth: int) -> int:
    """Parse the value at `at`, append its leaves, return the place behind it."""
    if depth > _DEPTH or at >= len(text):
        raise _NotStructured
    if text[at] == "{":
        return _members(text, at + 1, key_start, path, leaves, depth)
    if text[at] == "[":
        return _elements(text, at + 1, key_start, path, leaves, depth)
    match = _STRING.match(text, at)
    if match:
        value = _clock(_string(match[0]), path)
    else:
        match = _SCALAR.match(text, at)
        if not match:
            raise _NotStructured
        value = _WORDS.get(match[0], match[0])
    leaves.append(Leaf(path, value, at if key_start is None else key_start, match.end(), at))
    return match.end()


def _members(text: str, at: int, key_start: int | None, path: tuple[str, ...], leaves: list[Leaf], depth: int) -> int:
    """Members of an object whose brace has been read; an empty one becomes the leaf "none", as an empty array does."""
    first, at = at, _skip(text, at)
    if text.startswith("}", at):
        leaves.append(Leaf(path, "none", first - 1 if key_start is None else key_start, at + 1))
    while not text.startswith("}", at):
        key = _STRING.match(text, at) or _SCALAR.match(text, at)
        if not key:
            raise _NotStructured
        name = _string(key[0]) if key[0][0] in "\"'" else key[0]
        at = _skip(text, key.end())
        if not text.startswith(":", at):
            raise _NotStructured
        at = _skip(text, _value(text, _skip(text, at + 1), key.start(), (*path, _name(name)), leaves, depth + 1))
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("}", at):
            raise _NotStructured
    return at + 1


def _elements(text: str, at: int, key_start: int | None, path: tuple[str, ...], leaves: list[Leaf], depth: int) -> int:
    """Elements of an array whose bracket has been read; an array of scalars becomes one leaf, "a, b, c"."""
    own: list[Leaf] = []
    first, at = at, _skip(text, at)
    scalars, number = True, 0
    while not text.startswith("]", at):
        number += 1
        nested = text[at : at + 1] in ("{", "[")
        scalars = scalars and not nested
        at = _skip(text, _value(text, at, None, (*path, str(number)) if nested else path, own, depth + 1))
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("]", at):
            raise _NotStructured
    start = first - 1 if key_start is None else key_start
    if not own:
        leaves.append(Leaf(path, "none", start, at + 1))
    elif scalars and sum(len(leaf.value) for leaf in own) <= 300:
        leaves.append(Leaf(path, ", ".join(leaf.value for leaf in own), start, at + 1))
    else:
        leaves.extend(own)
    return at + 1
