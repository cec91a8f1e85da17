"""An answer that is one JSON object or array, read leaf by leaf with offsets into the raw text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import groupby

from nli_faith.fences import holds_json
from nli_faith.kinds import kind_of
from nli_faith.markup import plain
from nli_faith.sentences import CONTENT, split_sentences
from nli_faith.source_names import names_source
from nli_faith.spans import Unit
from nli_faith.types import CLAIM
from nli_faith.verbs import has_finite_verb

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.S)
ESCAPED = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.S)
# Names under which models put the whole answer: they say nothing about it.
GENERIC_KEYS = frozenset(
    "answer response text summary explanation result reason reasoning content output message description final_answer".split()
)
# Names of notes on an answer, when one stands beside them; by themselves they are data: "score": "3-1".
RATING_KEYS = frozenset("confidence confidence_score score".split())
PART = re.compile(r"(?:0?\.\d+|1\.0+|\d{1,3} ?%)|(?:very )?(?:high|medium|moderate|low)", re.I)  # of a score: 98 may be points
# What tells a record of a list from the others.
NAME_KEYS = frozenset("name title label id product plan".split())
SOURCE_KEYS = frozenset(
    "source sources citation citations reference references source_id source_ids doc_id doc_ids chunk_id chunk_ids".split()
)
RATING = re.compile(r"(?:100(?:\.0*)?|\d{0,2}(?:\.\d+)?) ?%?|(?:very )?(?:high|medium|moderate|low)", re.I)
LONGEST_SOURCE = 120  # characters of a title, a file name or an address


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a JSON text.

    Attributes:
        keys: names on the way to it, outermost first; array positions are left out.
        start, end: span of the value; a string's without its quotes.
        key_start: where the names that no earlier leaf covers begin; `start`, or its quote, when there are none.
        is_string: the value is a string.
        record: number of the innermost object that is an element of an array; -1 outside of one.
    """

    keys: tuple[str, ...]
    start: int
    end: int
    key_start: int
    is_string: bool
    record: int


def read_json(answer: str, start: int, end: int) -> list[Unit] | None:
    """The units of answer[start:end], or None when that is no JSON object or array of anything but numbers.

    A string that is a sentence is split and typed like any text; a flat record in an array is one unit, "name: X; price: 5";
    any other leaf is one unit, "key: value".
    """
    if not holds_json(answer[start:end].strip()):
        return None
    units: list[Unit] = []
    every = _leaves(answer, start, end)
    answered = {leaf.keys[:-1] for leaf in every if leaf.keys and leaf.keys[-1].lower() in GENERIC_KEYS}
    for record, group in groupby(every, key=lambda leaf: leaf.record):
        leaves = list(group)
        if record >= 0 and len(leaves) > 1 and not any(_is_prose(answer, leaf) for leaf in leaves):
            said = "; ".join(_pair(answer, leaf) for leaf in leaves)
            units.append(Unit(leaves[0].key_start, _close(leaves[-1]), said, CLAIM))
        else:
            name = _record_name(answer, leaves) if record >= 0 else None
            for leaf in leaves:
                noted = any(leaf.keys[:depth] in answered for depth in range(len(leaf.keys)))
                if name and leaf is not name and leaf.keys:
                    said = plain(_decode(answer[name.start : name.end]))
                    leaf = replace(leaf, keys=(*leaf.keys[: len(name.keys) - 1], said, *leaf.keys[len(name.keys) - 1 :]))
                units.extend(_leaf_units(answer, leaf, noted))
    return [unit for unit in units if CONTENT.search(answer, unit.start, unit.end)]


def _record_name(text: str, leaves: list[Leaf]) -> Leaf | None:
    """The leaf that names its record, if there is one."""
    return next((leaf for leaf in leaves if leaf.keys and leaf.keys[-1].lower() in NAME_KEYS and not _is_prose(text, leaf)), None)


def _leaves(text: str, start: int, end: int) -> list[Leaf]:
    """Walk the tokens of text[start:end], which is valid JSON."""
    leaves: list[Leaf] = []
    path: list[str | None] = []  # one entry per open bracket: the key in hand, None inside an array
    records: list[int] = []
    key_start, count = -1, 0
    tokens = [(token.group(), token.start(), token.end()) for token in TOKEN.finditer(text, start, end)]
    follows = [*(token for token, _, _ in tokens[1:]), ""]
    for (token, left, right), follow in zip(tokens, follows):
        if token in ("{", "["):
            element = bool(path) and path[-1] is None
            records.append(count if token == "{" and element else (records[-1] if records else -1))
            count += 1
            path.append("" if token == "{" else None)
        elif token in ("}", "]"):
            path.pop()
            records.pop()
        elif token in (",", ":"):
            continue
        elif token[0] == '"' and follow == ":":
            path[-1] = _decode(token[1:-1])
            key_start = left if key_start < 0 else key_start
        else:
            string = token[0] == '"'
            keys = tuple(key for key in path if key)
            begin = key_start if key_start >= 0 else left
            leaves.append(Leaf(keys, left + string, right - string, begin, string, records[-1]))
            key_start = -1
    if key_start >= 0:
        # Names of empty containers at the end: a leaf without a value.
        leaves.append(Leaf((), tokens[-1][1], tokens[-1][1], key_start, False, -1))
    return leaves


def _close(leaf: Leaf) -> int:
    """The end of the value, quote and all."""
    return leaf.end + leaf.is_string


def _is_prose(text: str, leaf: Leaf) -> bool:
    """A string that states something by itself, or that is typed as no claim by itself (a refusal)."""
    if not leaf.is_string or leaf.end - leaf.start < 8:
        return False
    said = plain(_decode(text[leaf.start : leaf.end]))
    generic = bool(leaf.keys) and leaf.keys[-1].lower() in GENERIC_KEYS
    stopped = said.endswith((".", "!", "?", "。", "！", "？"))
    return (generic or stopped) and (has_finite_verb(said) or kind_of(said) != CLAIM)


def _pair(text: str, leaf: Leaf) -> str:
    """The leaf as "key: value", outer names first."""
    value = plain(_decode(text[leaf.start : leaf.end]))
    return ": ".join([*(plain(key) for key in leaf.keys), value])


def _is_note(text: str, leaf: Leaf) -> bool:
    """Whether a leaf beside an answer is a remark on it: how sure it is, or where it is from."""
    key, value = leaf.keys[-1].lower(), text[leaf.start : leaf.end]
    if key in RATING_KEYS:
        return (PART if key == "score" else RATING).fullmatch(value.strip()) is not None
    said = _decode(value)
    named = key.endswith(("_id", "_ids")) or names_source(said)
    return key in SOURCE_KEYS and len(value) <= LONGEST_SOURCE and named and not has_finite_verb(plain(said))


def _leaf_units(text: str, leaf: Leaf, noted: bool) -> list[Unit]:
    """The units of one leaf: its sentences when it is prose, else itself.

    Args:
        noted: it stands beside an answer, or inside something that does.
    """
    key = leaf.keys[-1].lower() if leaf.keys else ""
    if not _is_prose(text, leaf):
        if leaf.start == leaf.end and not leaf.is_string:
            return [Unit(leaf.key_start, leaf.end, plain(text[leaf.key_start : leaf.end]), "meta")]
        meta = (noted and _is_note(text, leaf)) or (key in GENERIC_KEYS and text[leaf.start : leaf.end] in ("null", ""))
        return [Unit(leaf.key_start, _close(leaf), _pair(text, leaf), "meta" if meta else CLAIM)]
    names = ": ".join(plain(name) for name in leaf.keys)
    named_here = leaf.key_start < leaf.start - leaf.is_string
    generic = key in GENERIC_KEYS and len(leaf.keys) == 1
    units = []
    if generic and named_here:
        colon = text.rindex(":", leaf.key_start, leaf.start - 1)
        units.append(Unit(leaf.key_start + 1, text.rindex('"', leaf.key_start, colon), names, "meta"))
    # Other names are read with every sentence, and the first one's span reaches back over them.
    begin = leaf.key_start if named_here and not generic else None
    lead = "" if generic or not names else f"{names}:"
    raw = text[leaf.start : leaf.end]
    for left, right in split_sentences(_mask(raw)):
        said = plain(_decode(raw[left:right]))
        units.append(Unit(leaf.start + left if begin is None else begin, leaf.start + right, said, kind_of(said), lead))
        begin = None
    return units


def _decode(raw: str) -> str:
    """What the inside of a JSON string means; the raw text where a cut went through an escape."""
    if "\\" not in raw:
        return raw
    try:
        return json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw


def _mask(raw: str) -> str:
    """The inside of a JSON string with as many characters in place of each escape, so that it can be split in place."""
    return ESCAPED.sub(_stand_in, raw) if "\\" in raw else raw


def _stand_in(escape: re.Match) -> str:
    """Characters that split as the meant one would: white space for a line break, a quote for a quote."""
    mark = escape.group()
    if mark[1] in "ntrf":
        return " \n" if mark[1] == "n" else "  "
    return mark[1] * 2 if mark[1] in "\"/" else "x" * len(mark)
