#!/usr/bin/env python3
"""Feed the splitter of claims and the reader of cells with what a coverage-guided fuzzer makes up.

    pip install atheris
    scripts/fuzz_atheris.py claims -max_total_time=600 [corpus folder]
    scripts/fuzz_atheris.py cells -max_total_time=600 [corpus folder]

The first word names the target, the rest goes to libFuzzer. A crash is an exception, a broken law below, or an input that
takes longer than -timeout seconds; libFuzzer writes it to a file, and it becomes a case of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
with atheris.instrument_imports(include=["nli_faith"]):
    from nli_faith.cells import make_row
    from nli_faith.claims import split_claims
    from nli_faith.options import GRANULARITIES
    from nli_faith.types import KINDS

# Marks that answers and cells are made of; random bytes alone would take days to meet them.
MARKS = (
    "\n", "\n\n", "# ", "- ", "* ", "1. ", "> ", "```", "~~~", "|", "|---|", "**", "_", "`", "[", "](", ")", "[1]", "{", "}",
    '"', "'", "\\", ":", ",", ". ", "? ", "...", "e.g. ", "Dr. ", "3.5", "https://a.b/c", "a@b.c", "nan", "None", "array([",
    "\u200b", "\u202e", "\u3002", "\ud800", "\u00a0", "\r\n", "\u2028", "\x00", "\x1b[0m", "[CLS]", "<br>", "</p>", "&amp;",
    "The plan costs ", "ten euros", "However, ", " and ", " which ", "Hello", "I could not find this", "Sure",
)  # fmt: skip


def text(provider: atheris.FuzzedDataProvider) -> str:
    """Unicode in which marks are as frequent as letters."""
    pieces = []
    while provider.remaining_bytes() and len(pieces) < 200:
        at = provider.ConsumeIntInRange(0, 2 * len(MARKS))
        pieces.append(MARKS[at] if at < len(MARKS) else provider.ConsumeUnicode(provider.ConsumeIntInRange(0, 12)))
    return "".join(pieces)


def claims(data: bytes) -> None:
    """Offsets are true, units are in order and apart, and nothing that can be read is left out of all of them."""
    provider = atheris.FuzzedDataProvider(data)
    granularity = GRANULARITIES[provider.ConsumeIntInRange(0, len(GRANULARITIES) - 1)]
    question = text(provider) if provider.ConsumeBool() else None
    answer = text(provider)
    end = 0
    units = split_claims(answer, question, granularity)
    for unit in units:
        assert answer[unit.start : unit.end] == unit.text and unit.text
        assert end <= unit.start < unit.end <= len(answer)
        assert unit.kind in KINDS and unit.hypothesis.strip()
        unit.hypothesis.encode()
        end = unit.end
    assert bool(units) == bool(answer.strip())


def cells(data: bytes) -> None:
    """Any cell is a row of texts or a row with one sentence of error."""
    provider = atheris.FuzzedDataProvider(data)
    kind, cell = provider.ConsumeIntInRange(0, 4), text(provider)
    cell = (cell, f"[{cell}]", f"['{cell}']", [cell, None], [{"text": cell}])[kind]
    row = make_row(0, "An answer.", cell)
    assert row.error is None or (not row.chunks and len(row.error) < 500)
    for chunk in row.chunks:
        chunk.encode()
    if row.error is None and kind >= 3:
        assert len(row.chunks) == len(cell)


if __name__ == "__main__":
    target = {"claims": claims, "cells": cells}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if target is None:
        sys.exit(__doc__)
    # Long inputs from the start: what is short is soon exhausted.
    atheris.Setup([sys.argv[0], "-len_control=0", "-max_len=500", *sys.argv[2:]], target)
    atheris.Fuzz()
