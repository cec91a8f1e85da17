"""Which column of the input is the answer, which the contexts, which the question."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nli_faith.errors import InputError
from nli_faith.options import FileOptions

# The first name that is present is taken.
KNOWN_NAMES = {
    "answer": (
        "answer", "response", "actual_output", "output", "prediction", "generated_answer", "completion", "summary",
        "predicted_answer", "candidate_text",
    ),
    "contexts": (
        "contexts", "retrieved_contexts", "retrieval_context", "context", "documents", "passages", "source",
        "sources", "knowledge", "document", "doc",
    ),
    "question": ("question", "user_input", "query", "input", "prompt"),
}  # fmt: skip

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,9}://\S+|www\.\S+", re.ASCII)
# One word with a digit in it and no more than the signs that keys are made of: "doc_17", a UUID, a hash, "a/b/7.pdf".
_KEY = re.compile(r"(?=\S*\d)[\w\-./:#@|]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns that are read; `question` and `id` are None when there is none."""

    answer: str
    contexts: str
    question: str | None = None
    id: str | None = None

    def __str__(self) -> str:
        named = [f"{role}: {name}" for role in self.__slots__ if (name := getattr(self, role)) is not None]
        return ", ".join(named)


def find_columns(names: Sequence[str], options: FileOptions, where: str, named_by: int | None = None) -> Columns:
    """The columns to read, by the flags in `options` or else by the first known name that is present.

    Args:
        names: all columns of the input, in order.
        where: the input, as it is named in messages.
        named_by: the rows whose keys are the `names`, or None when they are all columns there are.
    Raises:
        InputError: for a column twice, a flag that names none, two that differ only by case or separators, no answer
            or no contexts at all, or one column in two roles. It lists the columns and names the flag.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"{where} has more than one column named {_quote(twice)}. Rename one of them. {_listed(names)}"
        )
    flags = {role: getattr(options, role) for role in KNOWN_NAMES}
    free = [name for name in names if name not in flags.values()]
    found = {}
    for role, known in KNOWN_NAMES.items():
        flag = flags[role]
        found[role] = _named(flag, role, names, where, named_by) if flag is not None else _known(role, known, free, names, where)
    if options.id is not None:
        found["id"] = _named(options.id, "id", names, where, named_by)
    if options.by is not None:
        _named(options.by, "by", names, where, named_by)
    for role in ("answer", "contexts"):
        if found[role] is None:
            raise InputError(
                f"{lacks(where, named_by)} that is known to hold the {role}. Name it with --{role} COLUMN. "
                f"{_listed(names)}"
            )
    if found["answer"] == found["contexts"]:
        raise InputError(
            f"{where}: the column {found['answer']!r} can't be both --answer and --contexts. {_listed(names)}"
        )
    return Columns(**found)


def check_contexts(chunks: Sequence[str], column: str, names: Sequence[str], where: str, chosen: bool) -> str | None:
    """A warning, or an error, when the contexts are links or keys of documents and not their text.

    Args:
        chunks: the texts of the first rows.
        chosen: the column was named by the user, who gets a warning only.
    Raises:
        InputError: when nine of ten chunks look like URLs, or like keys, and the column was not `chosen`.
    """
    texts = [chunk.strip() for chunk in chunks if chunk.strip()]
    for kind, pattern, least in (("links", _URL, 1), ("ids", _KEY, 3)):
        hits = [text for text in texts if pattern.fullmatch(text)]
        if len(texts) >= least and len(hits) >= 0.9 * len(texts):
            sentence = f"{where}: the column {column!r} looks like {kind}, not text (such as {hits[0][:80]!a})."
            if chosen:
                return sentence
            raise InputError(
                f"{sentence} Name the column that holds the retrieved text with --contexts COLUMN "
                f"(--contexts {column} if this is it). {_listed(names)}"
            )
    return None


def _known(role: str, known: Sequence[str], free: Sequence[str], names: Sequence[str], where: str) -> str | None:
    for name in known:
        alike = [column for column in free if _plain(column) == _plain(name)]
        if len(alike) > 1:
            raise InputError(
                f"{where} has several columns that could hold the {role}: {_quote(alike)} differ only by case or "
                f"separators. Name one with --{role} COLUMN. {_listed(names)}"
            )
        if alike:
            return alike[0]
    return None


def lacks(where: str, named_by: int | None) -> str:
    """How a sentence begins that says which column is missing; `named_by` as in `find_columns`."""
    if named_by is None:
        return f"{where} has no column"
    rows, have = ("row", "has") if named_by == 1 else (f"{named_by} rows", "have")
    return f"{where}: its first {rows}, whose keys are its columns, {have} no key"


def _named(flag: str, role: str, names: Sequence[str], where: str, named_by: int | None) -> str:
    if flag in names:
        return flag
    close = difflib.get_close_matches(flag, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(f"{lacks(where, named_by)} {flag!r}, which --{role} names.{hint} {_listed(names)}")


def _plain(name: str) -> str:
    return re.sub(r"[\s_.\-]+", "", name).lower()


def _quote(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
    return f"Its columns are: {shown}." if names else "It has no columns."
