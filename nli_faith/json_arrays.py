"""A JSON file -> its objects one by one, each with its text. An array is streamed, an object around a list is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from nli_faith.errors import InputError
from nli_faith.json_text import DEEPEST, members, too_deep

_CHUNK = 1 << 20  # characters
_LONGEST = 256 << 20  # characters of one object; more is damage
_DECODER = json.JSONDecoder()
_ADVICE = 'Expected an array of objects, or an object with one list of objects (pandas: to_json(orient="records")).'


def json_elements(stream: TextIO, name: str) -> Iterator[tuple[str, dict]]:
    """(text, value) of each object of the array in `stream`, in order.

    Raises:
        InputError: naming the file and the number of the element (from 0) that is no object or no valid JSON.
    """
    try:
        text = stream.read(_CHUNK)
        while text and not text.strip() and (more := stream.read(_CHUNK)):
            text += more
        start = len(text) - len(text.lstrip())
        if text[start : start + 1] == "{":
            text += stream.read()
            start = _list_inside(text, name)
        elif text[start : start + 1] != "[":
            raise InputError(f"{name} is no JSON array. {_ADVICE}")
        yield from _elements(stream, text, start + 1, name)
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 ({error.reason}). Convert the file to UTF-8.") from error


def _elements(stream: TextIO, text: str, at: int, name: str) -> Iterator[tuple[str, dict]]:
    number, closed = 0, False
    while not closed:
        where = f"{name}, element {number}"
        text, at = _next_sign(stream, text, at)
        if text[at : at + 1] == "]" and number == 0:
            return
        if text[at : at + 1] != "{":
            raise InputError(f"{where} is not a JSON object, or the file ends early. {_ADVICE}")
        text, at, value, end = _object(stream, text, at, where)
        if too_deep(text[at:end], value):
            raise InputError(f"{where} is nested more than {DEEPEST} levels deep. Correct or remove it.")
        yield text[at:end], value
        number += 1
        text, at = _next_sign(stream, text, end)
        if text[at : at + 1] not in (",", "]"):
            raise InputError(f"{where} is followed by {text[at : at + 1]!r} and not by a comma or the end of the list.")
        closed = text[at] == "]"
        at += 1


def _object(stream: TextIO, text: str, at: int, where: str) -> tuple[str, int, dict, int]:
    """The object at `at`, as (text, its start, value, its end); reads on, twice as far each time, until it is whole."""
    while True:
        try:
            value, end = _DECODER.raw_decode(text, at)
            return text, at, value, end
        except ValueError as error:
            text, at = text[at:], 0
            more = stream.read(max(_CHUNK, len(text))) if len(text) < _LONGEST else ""
            if not more:
                raise InputError(f"{where} is not valid JSON: {error}. Correct the file.") from error
            text += more
        except RecursionError as error:
            raise InputError(f"{where} is nested too deeply to be read.") from error


def _next_sign(stream: TextIO, text: str, at: int) -> tuple[str, int]:
    """The text and the place in it of the next character that is no white space."""
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at < len(text):
            return text, at
        text, at = stream.read(_CHUNK), 0
        if not text:
            return "", 0


def _list_inside(text: str, name: str) -> int:
    """Where the one list of objects begins inside a JSON object."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} is not valid JSON: {error}. One object a line is JSONL: rename it to .jsonl."
        ) from error
    lists = [key for key, value in whole.items() if isinstance(value, list) and all(isinstance(x, dict) for x in value)]
    if len(lists) != 1:
        found = (
            f"lists of objects under {', '.join(map(repr, lists))}"
            if lists
            else f"the keys {', '.join(map(repr, list(whole)[:8]))}"
        )
        raise InputError(f"{name} is an object with {found}. {_ADVICE}")
    return next(start for key, _, start, _ in members(text) if key == lists[0])
