"""What stands in a code fence: code, or text that a model merely put into one."""

from __future__ import annotations

import json
import re

from nli_faith.verbs import has_finite_verb

FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]{0,60})$")
# An opening line on which the text itself begins: ```json {"fee": 5
OPENED_JSON = re.compile(r"[ \t>]*(`{3,}|~{3,})(json|)[ \t]*(?=[{\[])", re.I)
TEXT_NAMES = ("markdown", "md", "text", "txt", "plaintext")
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
    if name not in ("", "json"):
        return "code"
    if JSON_START.match(text, start, end):
        # Cut short it is still what the answer says, line by line.
        return "json" if holds_json(text[start:end].strip()) else "text"
    return "text" if name or _reads_as_text(text[start : min(end, start + LONGEST_LOOK)]) else "code"


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
