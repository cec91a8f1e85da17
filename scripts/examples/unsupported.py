"""Print the claims of a scored JSONL file that no chunk supports: `python unsupported.py answers.scored.jsonl`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path


def unsupported(path: str | Path) -> Iterator[tuple[dict, dict]]:
    """(row, claim) for every claim whose verdict is "unsupported" or "contradicted"."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            for claim in row["claims"]:
                if claim["verdict"] in ("unsupported", "contradicted"):
                    yield row, claim


def main(path: str) -> None:
    for row, claim in unsupported(path):
        text = " ".join((claim["hypothesis"] or claim["text"]).split())
        print(f"  {row.get('id', ''):<11} {claim['verdict']:<13} {text}")


if __name__ == "__main__":
    main(sys.argv[1])
