"""What stands in a code fence: code, or text that a model merely put into one."""

from __future__ import annotations

import json
import re

from nli_faith.verbs import has_finite_verb

FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]*)$")
# What may stand behind an opening mark: a language, a file, attributes. Anything else is said. Atomic, for each part can be read
# in one way only, and trying others takes for ever on a line of slashes.
INFO = re.compile(
    r"\s*+(?>plain text|[A-Za-z][\w+#.-]*(?:[:/][\w./:-]*)?|\{[^{}]*\}|)(?>[ \t]+(?>[\w-]+=(?>\"[^\"]*\"|\S+)|\{[^{}]*\}|"
    r"[\w/-]+\.\w+))*+\s*"
)
# An opening line on which the text itself begins: ```json {"fee": 5
OPENED_JSON = re.compile(r"[ \t>]*(`{3,}|~{3,})(json|)[ \t]*(?=[{\[])", re.I)
TEXT_NAMES = ("markdown", "md", "text", "txt", "plaintext", "plain text")
# Names for anything: what is inside tells what it is.
LOOSE_NAMES = ("", "json", "output", "result", "results", "answer", "response", "none", "plain", "quote", "example")
JSON_START = re.compile(r'\s*(?:\{\s*["}]|\[\s*["{\]])')
# A sentence of at least three words, as code hardly ever has.
PROSE = re.compile(r"[A-Za-z][a-z']* [A-Za-z][a-z']* [\w', $%-]{0,200}[a-z]{2,}[.!?](?:\s|$)")
CODE = re.compile(
    r"[{};\\]|[=!<>]=|=>|->|\w[(\[]|\w = |^\s*(?:#!|//|/\*|--\w|\$ |>>>|@\w|<\w+[ >/])"
    r"|^\s*(?:import|from|def|class|return|function|const|let|var|sudo|SELECT|FROM|WHERE|INSERT|pip|npm|git|cd|curl)\b"
)
LONGEST_LOOK = 20_000  # characters that are looked at; the rest is like them


def role_of(name: str, text: str, start: int, end: int) -> str:
    """How text[start:end], the inside of a fence, is read: "text", "json" or "code"."""
    name = name.strip().lower()
    if name in TEXT_NAMES:
        return "text"
    if name not in LOOSE_NAMES:
        return "code"
    if JSON_START.match(text, start, end):
        # Cut short it is still what the answer says, line by line.
        return "json" if holds_json(text[start:end].strip()) else "text"
    return "text" if name == "json" or _reads_as_text(text[start : min(end, start + LONGEST_LOOK)]) else "code"


def begins_text(behind: str) -> bool:
    """Whether what stands behind a fence's mark on its line is said rather than the name of a language."""
    return INFO.fullmatch(behind) is None


def closing_in(line: str, mark: str) -> tuple[int, int] | None:
    """Where in `line` the inside of the fence that `mark` opened ends, and where text goes on behind it; None when nowhere.

    A mark at the end of the last line of code closes it, too, and so does one that a sentence stands behind.
    """
    closing = line.strip(" \t>")
    if len(closing) >= len(mark) and set(closing) == {mark[0]}:
        return 0, len(line)
    if mark not in line:
        return None
    opening = FENCE.match(line)
    if opening:
        return (0, opening.end(1)) if begins_text(opening.group(2)) else None
    bare = line.rstrip()
    return (len(bare) - len(mark), len(line)) if bare.endswith(mark) and line.count(mark[0]) == len(mark) else None


def holds_json(body: str) -> bool:
    """Whether `body` is a JSON object, or an array of anything but numbers."""
    if body[:1] not in ("{", "[") or body[-1:] not in ("}", "]"):
        return False
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or any(isinstance(element, (dict, list, str)) for element in value)


def _reads_as_text(inside: str) -> bool:
    """Sentences or a table, with less code than other lines between them."""
    lines = [line for line in inside.splitlines() if line.strip()]
    table = len(lines) > 1 and all(line.strip()[0] == "|" == line.strip()[-1] for line in lines)
    says = PROSE.search(inside) or any(len(line.split()) > 2 and has_finite_verb(line) for line in lines)
    return table or (bool(says) and 2 * sum(CODE.search(line) is not None for line in lines) < len(lines))
