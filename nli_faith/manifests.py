"""What unfinished work was made from: kept beside it as JSON, compared with what is asked for now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nli_faith.errors import ResumeError

AGAIN = "Use --overwrite to begin anew."
_CHANGES_SHOWN = 4
# Whether an older output may be replaced: a permission, which the last clean-up of a run may have taken away with its file.
_LEFT_OUT = ("replaces",)


def load(path: Path) -> dict | None:
    """The JSON object in a file, or None when there is none that can be read."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def dump(path: Path, value: Any) -> None:
    """Write `value` as JSON; what `load` reads."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def compare(saved: dict, manifest: dict, folder: Path) -> None:
    """ResumeError, naming what changed, when the work in `folder` was made from something else than `manifest` says."""
    before, now = _flat(saved), _flat(json.loads(json.dumps(manifest)))
    names = [key for key in dict.fromkeys([*now, *before]) if key not in _LEFT_OUT]
    changed = [key for key in names if before.get(key) != now.get(key)]
    if changed:
        shown = "; ".join(
            f"{key} was {_show(before.get(key))} and is now {_show(now.get(key))}" for key in changed[:_CHANGES_SHOWN]
        )
        more = f"; and {len(changed) - _CHANGES_SHOWN} more" if len(changed) > _CHANGES_SHOWN else ""
        raise ResumeError(f"The unfinished work in {folder} was made from something else: {shown}{more}. {AGAIN}")


def _flat(value: Any, key: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        items = enumerate(value)
    else:
        return {key: value}
    return {
        name: leaf
        for inner, item in items
        for name, leaf in _flat(item, f"{key}.{inner}" if key else str(inner)).items()
    }


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
