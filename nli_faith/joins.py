"""Finished parts -> the files that were asked for, each by one atomic rename, so that a crash leaves all or nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from nli_faith.disk import put
from nli_faith.formats import LineFormat, ParquetFormat
from nli_faith.shards import Parts
from nli_faith.targets import Target, check_space, move_folder

Form = LineFormat | ParquetFormat


def finish(
    parts: Parts, count: int, forms: Mapping[str, Form], target: Target, claims: Target | None, summary: dict
) -> None:
    """Join the first `count` parts. The output itself comes last: once it stands, the run is over.

    Args:
        forms: how the parts "data", and "claims" when there are any, are joined.
    Raises:
        InputError: no room on a disk, or a place that can't be written; nothing has to be scored again.
    """

    def join(kind: str, path: Path) -> None:
        form = forms[kind]
        form.join([parts.path(kind, index, form.ending) for index in range(count)], path)

    def settle(path: Path) -> None:
        join("data", path)
        parts.settle(summary, path.name)

    needed: Counter[Path] = Counter()
    if claims is not None:
        needed[claims.path.parent] += _joined_bytes(parts.folder / "claims", claims)
    if not target.folder:
        needed[parts.folder] += _joined_bytes(parts.folder / "data", target)
    check_space(needed)
    if claims is not None:
        put(claims.path, lambda path: join("claims", path))
    put(target.summary, lambda path: path.write_text(_indented(summary), encoding="utf-8"))
    if target.folder:
        parts.settle(summary, "data")
        move_folder(parts.folder / "data", target.path, parts.folder / "old")
    else:
        put(target.path, settle, parts.folder / f"joined{target.ending}")


def _indented(summary: dict) -> str:
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a group of --by is named by half of a surrogate pair
        text = json.dumps(summary, indent=2)
    return text + "\n"


def _joined_bytes(folder: Path, target: Target) -> int:
    """About how much the parts in `folder` take once they are joined; text shrinks to a quarter or less under gzip."""
    size = sum(path.stat().st_size for path in folder.iterdir())
    return round(size * (0.25 if target.ending.endswith(".gz") else 1.1))
