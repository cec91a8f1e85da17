"""One cell of the input -> text: the contexts of a row as a tuple of chunks, its answer, its question.

People bring contexts as lists of texts, lists of dicts, numpy arrays, JSON or Python literals inside a CSV cell, or one
plain text. Everything that is not clearly one of these is an error of that row, said in a sentence, and never a guess.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real

import numpy as np

from nli_faith.errors import InputError
from nli_faith.types import Row

TEXT_KEYS = ("text", "content", "page_content")

# Pieces of a Python literal: a quoted string, an escape, and what stands between the strings. Possessive, and tried on
# balanced text only: a quote that is never closed would make every later quote run to the end of the cell in vain.
_STRING = r"[uU]?'[^'\\]*+(?:\\.[^'\\]*+)*+'|[uU]?\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
_BALANCED = re.compile(rf"(?:{_STRING}|[^'\"])*+", re.DOTALL)
_STRING_OR_NAN = re.compile(rf"({_STRING})|\bnan\b", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\'\"abfnrtvxuUN0-7\n]?)")
_ITEM = r"(?:S|None|nan)"
_LISTED = re.compile(rf"\[\s*{_ITEM}(?:\s*(?:,\s*)?{_ITEM})*\s*(?:,\s*)?\]")
_NO_COMMA = re.compile(r"S\s*S|S\s+(?:None|nan)|(?:None|nan)\s+(?:S|None|nan)|}\s*{")
# Raw line ends inside JSON strings come from spreadsheets; they are text, not damage.
_JSON = json.JSONDecoder(strict=False)


class CellError(InputError):
    """A cell that can't be read as text; the sentence says what was found and what to do."""


def read_chunks(cell: object) -> tuple[str, ...]:
    """The chunks of one contexts cell, empties included, so that an index into them is an index into the cell.

    Args:
        cell: None or NaN (no chunk), one text, a list, tuple or numpy array of texts and of dicts with one of
            `TEXT_KEYS`, such a dict, or the JSON or Python text of such a list. Elements are never parsed.
    Raises:
        CellError: for anything else.
    """
    if isinstance(cell, str):
        return _chunks_of_text(str(cell))
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
        if isinstance(cell, str):  # an array of no dimension
            return (cell,)
    if isinstance(cell, (list, tuple)):
        return tuple([item if type(item) is str else _chunk_of_element(item, index) for index, item in enumerate(cell)])
    if _is_missing(cell):
        return ()
    if isinstance(cell, dict):
        return (_text_of_dict(cell, "The contexts cell"),)
    raise CellError(
        f"The contexts cell holds {_describe(cell)}; expected one text, or a list of texts or of dicts with "
        f"{_keys()}. Write the chunks of a row as a list of texts."
    )


def read_answer(cell: object) -> str | None:
    """The answer in one cell: text as it is, numbers as text ("15"), None for None and NaN; CellError for the rest."""
    if isinstance(cell, str):
        return str(cell)
    if _is_missing(cell):
        return None
    if _is_number(cell) and (number := _digits(cell)) is not None:
        return number
    raise CellError(
        f"The answer cell holds {_describe(cell)}; expected one text. Name the column of the answers with --answer."
    )


def read_question(cell: object) -> str | None:
    """The question in one cell, or None when it holds no text (some exports keep a list of chat messages there)."""
    if isinstance(cell, str):
        return str(cell)
    return _digits(cell) if _is_number(cell) and not _is_missing(cell) else None


def make_row(position: int, answer: object, contexts: object, question: object = None, id: object = None) -> Row:
    """The `Row` of raw cells. Never raises for bad cells: such a row carries the sentence in `error` and no text."""
    try:
        text, chunks, asked = read_answer(answer), read_chunks(contexts), read_question(question)
        for name, part in [("answer", text), ("question", asked), *(("contexts", chunk) for chunk in chunks)]:
            if part is not None and not part.isascii():
                _check_unicode(name, part)
    except CellError as error:
        return Row(position, None, (), None, id, str(error))
    return Row(position, text, chunks, asked, id)


def text_bytes(texts: Iterable[str | None]) -> int:
    """Bytes in UTF-8 of all `texts` together."""
    return sum(len(text) if text.isascii() else len(text.encode()) for text in texts if text)


def _chunks_of_text(text: str) -> tuple[str, ...]:
    bare = text.strip()
    if bare[:1] == "[" and bare[-1:] == "]":
        parsed = _parse_list(bare)
        if parsed is not None:
            return tuple([_chunk_of_element(item, index) for index, item in enumerate(parsed)])
    elif bare.startswith("array([") and bare.endswith(")"):
        raise CellError(_numpy_sentence())
    return (text,)


def _parse_list(text: str) -> list | None:
    """The list that `text` spells, if all its elements are texts or dicts with a text key; else None.

    Raises:
        CellError: for the text of a numpy array, which Python would read as one glued-together string.
    """
    try:
        parsed = _JSON.decode(text)
    except (ValueError, RecursionError):
        parsed = _parse_literal(text)
    if isinstance(parsed, list) and all(_is_chunk(item) for item in parsed):
        return parsed
    return None


def _parse_literal(text: str) -> object:
    # Escapes Python does not know keep their backslash; doubling it gives the same string without a warning.
    escaped = _ESCAPE.sub(lambda match: match.group(0) if match.group(1) else "\\\\", text)
    if not _BALANCED.fullmatch(escaped):
        return None
    outline = _STRING_OR_NAN.sub(lambda match: "S" if match.group(1) else "nan", escaped)
    if _NO_COMMA.search(outline) and (_LISTED.fullmatch(outline) or re.match(r"\[\s*{\s*S\s*:", outline)):
        raise CellError(_numpy_sentence())
    if "nan" in outline:
        escaped = _STRING_OR_NAN.sub(lambda match: match.group(1) or "None", escaped)
    try:
        return ast.literal_eval(escaped)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _is_chunk(item: object) -> bool:
    if isinstance(item, dict):
        return any(isinstance(item.get(key), str) for key in TEXT_KEYS)
    return isinstance(item, str) or _is_missing(item)


def _chunk_of_element(item: object, index: int) -> str:
    if isinstance(item, str):
        return str(item)
    if _is_missing(item):
        return ""
    if isinstance(item, dict):
        return _text_of_dict(item, f"Element {index} of the contexts cell")
    raise CellError(
        f"Element {index} of the contexts cell holds {_describe(item)}; expected a text or a dict with {_keys()}. "
        "Write the chunks of a row as a list of texts."
    )


def _text_of_dict(item: dict, where: str) -> str:
    present = [item[key] for key in TEXT_KEYS if key in item]
    for value in present:
        if isinstance(value, str):
            return str(value)
    if present and all(_is_missing(value) for value in present):
        return ""
    names = ", ".join(ascii(key) for key in list(item)[:8]) or "no key at all"
    raise CellError(
        f"{where} is a dict without text under {_keys()} (it has {names}). Put the text under one of these."
    )


def _is_missing(cell: object) -> bool:
    """None, any NaN, and the NA and NaT of pandas, which is not imported for that."""
    if cell is None:
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()  # one kind of NaN can't be compared
    if isinstance(cell, (float, np.floating)):
        return cell != cell
    return type(cell).__name__ in ("NAType", "NaTType")


def _is_number(cell: object) -> bool:
    return isinstance(cell, (Real, Decimal)) and not isinstance(cell, (bool, np.bool_))


def _digits(number: object) -> str | None:
    """A number as text; None for one of thousands of digits, which Python does not write out."""
    try:
        return str(number)
    except ValueError:
        return None


def _check_unicode(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CellError(
            f"The {name} cell holds half of a surrogate pair (\\u{ord(text[error.start]):04x} at character "
            f"{error.start}), which is not a character. Write the text again as valid Unicode."
        ) from None


def _describe(cell: object) -> str:
    if isinstance(cell, (bool, np.bool_)):
        return f"a truth value ({cell})"
    if _is_number(cell):
        return f"a number ({_digits(cell) or 'of thousands of digits'})"
    return f"a value of type {type(cell).__name__}"


def _keys() -> str:
    return f"the key {', '.join(TEXT_KEYS[:-1])} or {TEXT_KEYS[-1]}"


def _numpy_sentence() -> str:
    return (
        "The contexts cell is a numpy array written as text, without commas, so its chunks can't be told apart. "
        "Turn the column into lists before writing (frame['contexts'].map(list)), or write parquet or JSONL."
    )
