"""A JSON file -> its objects one by one, each with its text: an array, or an object around one list. Both are streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TextIO

from nli_faith.errors import InputError
from nli_faith.json_text import DEEPEST, too_deep

_CHUNK = 1 << 20  # characters
_LONGEST = 256 << 20  # characters of one value; more is damage
_SHOWN = 40
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_ADVICE = 'Expected an array of objects, or an object with one list of objects (pandas: to_json(orient="records")).'


def json_elements(stream: TextIO, name: str) -> Iterator[tuple[str, dict]]:
    """(text, value) of each object of the array, or of the one list of objects, in `stream`, in order.

    Raises:
        InputError: naming the file and the number of the element (from 0) that is no object or no valid JSON, or what
            follows the end.
    """
    text = _Text(stream)
    try:
        sign = text.sign()
        if sign == "[":
            yield from _elements(text, name)
            _check_end(text, f"{name} goes on after its array")
        elif sign == "{":
            yield from _inside(text, name)
        else:
            raise InputError(f"{name} is no JSON array. {_ADVICE}")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 ({error.reason}). Convert the file to UTF-8.") from error


def check_wrapped(stream: TextIO, name: str) -> None:
    """Read an object around a list to its end: what else is in it tells whether that list is the only one.

    Raises:
        InputError: it is not, or any other that `json_elements` raises. An array is not read.
    """
    text = _Text(stream)
    try:
        if text.sign() == "{":
            for _ in _inside(text, name):
                pass
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 ({error.reason}). Convert the file to UTF-8.") from error


class _Text:
    """A text that is read on as it is needed.

    Attributes:
        text: what is held; at: the place in it up to which it was taken.
    """

    def __init__(self, stream: TextIO):
        self._stream, self.text, self.at = stream, "", 0

    def sign(self) -> str:
        """The next character that is no white space, which becomes the place; "" at the end."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()
            if self.at < len(self.text):
                return self.text[self.at]
            self.text, self.at = self._stream.read(_CHUNK), 0
            if not self.text:
                return ""

    def value(self, where: str) -> tuple[str, object]:
        """The text and the value of what begins here; reads on, twice as far each time, until it is whole."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
                # The next read may bring more digits of a number.
                if not isinstance(value, (int, float)) or end + 3 <= len(self.text) or not self._read_on():
                    found, self.at = self.text[self.at : end], end
                    return found, value
            except ValueError as error:
                if not self._read_on():
                    raise InputError(f"{where} is not valid JSON: {error}. Correct the file.") from error
            except RecursionError as error:
                raise InputError(f"{where} is nested too deeply to be read.") from error

    def opened(self) -> str:
        """What stands first in the list whose bracket is the next sign; "" when that is none. The place stays there."""
        if self.sign() != "[":
            return ""
        while True:
            first = _SPACE.match(self.text, self.at + 1).end()
            if first < len(self.text):
                return self.text[first]
            if not self._read_on():
                return ""

    def _read_on(self) -> bool:
        """Hold more, and drop what was taken; False, with nothing changed, when there is no more."""
        held = len(self.text) - self.at
        more = self._stream.read(max(_CHUNK, held)) if held < _LONGEST else ""
        if more:
            self.text, self.at = self.text[self.at :] + more, 0
        return bool(more)


def _elements(text: _Text, name: str) -> Iterator[tuple[str, dict]]:
    """The objects of the list whose bracket is at the place, which ends behind the closing one."""
    text.at += 1
    number = 0
    while True:
        where = f"{name}, element {number}"
        sign = text.sign()
        if sign == "]" and number == 0:
            text.at += 1
            return
        if sign != "{":
            raise InputError(f"{where} is not a JSON object, or the file ends early. {_ADVICE}")
        found, value = text.value(where)
        if too_deep(found, value):
            raise InputError(f"{where} is nested more than {DEEPEST} levels deep. Correct or remove it.")
        yield found, value
        number += 1
        sign = text.sign()
        if sign not in (",", "]"):
            raise InputError(f"{where} is followed by {sign!r} and not by a comma or the end of the list.")
        text.at += 1
        if sign == "]":
            return


def _inside(text: _Text, name: str) -> Iterator[tuple[str, dict]]:
    """The objects of the one list of them in the object whose brace is at the place; other members are passed over."""
    keys: list[str] = []
    lists: list[str] = []
    empty = False
    text.at += 1
    ended = text.sign() == "}"
    while not ended:
        key = _key(text, name, keys)
        keys.append(key)
        opened = text.opened()
        if opened == "{":
            lists.append(key)
            if len(lists) > 1:
                raise InputError(f"{name} is an object with lists of objects under {_quoted(lists)}. {_ADVICE}")
            yield from _elements(text, name)
        else:
            empty |= opened == "]"
            text.value(f"{name}, the value of {key!r},")
        sign = text.sign()
        if sign not in (",", "}"):
            raise InputError(f"{name} is not valid JSON: {sign!r} follows the value of {key!r}. Correct the file.")
        ended = sign == "}"
        text.at += not ended
    text.at += 1
    _check_end(text, f"{name} goes on after its object")
    if not lists and not empty:
        raise InputError(f"{name} is an object with {f'the keys {_quoted(keys)}' if keys else 'no keys'}. {_ADVICE}")


def _key(text: _Text, name: str, keys: list[str]) -> str:
    """The next key, with its colon."""
    place = f"after the value of {keys[-1]!r}" if keys else "at its beginning"
    if (sign := text.sign()) != '"':
        raise InputError(f"{name} is not valid JSON: {sign!r} and no key stands {place}. Correct the file.")
    key = text.value(f"{name}, the key {place},")[1]
    if key in keys:
        raise InputError(f"{name} is an object that has the key {key!r} twice. Remove one of the two.")
    if (sign := text.sign()) != ":":
        raise InputError(f"{name} is not valid JSON: {sign!r} and no colon follows the key {key!r}. Correct the file.")
    text.at += 1
    return key


def _check_end(text: _Text, what: str) -> None:
    if text.sign():
        follows = text.text[text.at : text.at + _SHOWN]
        raise InputError(
            f"{what}, with {follows!r}. One file holds one array; remove what follows, or, if every line is an object, "
            "rename it to .jsonl."
        )


def _quoted(keys: list[str]) -> str:
    return ", ".join(map(repr, keys[:8]))
