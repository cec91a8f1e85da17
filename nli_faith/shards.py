"""Work in progress beside an output: finished parts, what they were made from, and a lock that dies with its process.

    <OUT>.parts/
        lock              held while a process works here
        manifest.json     input, options, model and versions; a resumed run must have the same
        data/             part-00017.parquet: one window of rows
        claims/           the same for --claims-out
        finished/         part-00017.json: statistics; written last, so that a part counts only when it is whole

Every file is written under another name, synced and renamed: a crash at any moment leaves finished parts and rubbish
with the ending .tmp, never a torn part.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nli_faith.errors import InputError, ResumeError

_CHANGES_SHOWN = 4


class Parts:
    """The finished parts of one output. Made by `open_parts`; only for use while its lock is held."""

    def __init__(self, folder: Path, lock: Any):
        self.folder, self._lock = folder, lock

    def path(self, kind: str, index: int, ending: str) -> Path:
        return self.folder / kind / f"part-{index:05d}{ending}"

    def finished(self) -> list[dict]:
        """What `finish` saved for the parts 0, 1, 2, ... without a gap.

        A part whose data is gone does not count: a crash may have come right after a folder of parts was moved to its
        final place.
        """
        data = self.folder / "data"
        there = {name.partition(".")[0] for name in os.listdir(data)} if data.exists() else set()
        saved: list[dict] = []
        while (path := self.path("finished", len(saved), ".json")).exists() and path.stem in there:
            saved.append(json.loads(path.read_text("utf-8")))
        return saved

    def write(self, kind: str, index: int, ending: str, write: Callable[[Path], None]) -> None:
        """One file of a part: `write` fills a path that gets its real name once it is on disk."""
        put(self.path(kind, index, ending), write)

    def finish(self, index: int, saved: dict) -> None:
        """Part `index` is whole; `saved` comes back from `finished`."""
        put(self.path("finished", index, ".json"), lambda path: _dump(path, saved))

    def remove(self) -> None:
        """Take the folder away, once the output stands. The lock goes last."""
        for name in os.listdir(self.folder):
            if name != "lock":
                path = self.folder / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if os.name == "nt":  # where an open file can't be removed
            self._lock.close()
        shutil.rmtree(self.folder)
        sync(self.folder.parent)


@contextmanager
def open_parts(folder: Path, manifest: dict, *, anew: bool) -> Iterator[Parts]:
    """The parts in `folder`, locked until the block ends; a new folder when there is none.

    Args:
        manifest: JSON-able; what the parts are made from.
        anew: forget parts that are there.
    Raises:
        ResumeError: when another process works here, or the parts were made from something else.
    """
    make_folder(folder)
    lock = _lock(folder)
    parts = Parts(folder, lock)
    try:
        path = folder / "manifest.json"
        if anew:
            _clear(folder)
        if parts.finished():
            _compare(path, manifest, folder)
        else:
            put(path, lambda target: _dump(target, manifest))
        _sweep(folder, len(parts.finished()))
        yield parts
    except BaseException:
        # Nothing was finished, so there is nothing to go on from; an error in the input must not leave rubbish.
        if folder.exists() and not parts.finished():
            parts.remove()
        raise
    finally:
        lock.close()


def make_folder(folder: Path) -> None:
    """Make `folder` and those above it, if they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} can't be made: {error.strerror or error}. Name an output elsewhere with -o."
        ) from error


def read_manifest(folder: Path) -> dict | None:
    """The manifest of unfinished work, or None when there is none that can be read."""
    try:
        saved = json.loads((folder / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return saved if isinstance(saved, dict) else None


def put(path: Path, write: Callable[[Path], None], fresh: Path | None = None) -> None:
    """Make `path` appear whole: `write` fills `fresh` (by default a neighbour), which is synced and renamed to it."""
    fresh = path.with_name(path.name + ".tmp") if fresh is None else fresh
    try:
        write(fresh)
        sync(fresh)
        os.replace(fresh, path)
        sync(path.parent)
    except OSError as error:
        advice = (
            "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check the folder and its permissions"
        )
        raise InputError(
            f"{path} can't be written: {error.strerror or error}. {advice}, "
            "then run the same command again: it goes on from here."
        ) from error


def sync(path: Path) -> None:
    """Force a file or folder to disk; folders can't be synced on Windows."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_AGAIN = "Use --overwrite to begin anew."


def _lock(folder: Path) -> Any:
    path = folder / "lock"
    while True:
        lock = open(path, "ab")  # noqa: SIM115 (held until the parts are done with)
        try:
            _take(lock)
        except OSError as error:
            lock.close()
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise ResumeError(f"{path} can't be locked: {error}. Write the output to a local disk.") from error
            raise ResumeError(
                f"Another process is working on {folder}. Wait for it to end, or give another output with -o."
            ) from None
        try:
            # Whoever finished a moment ago may have taken this file away between our open and our lock.
            if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
                return lock
        except FileNotFoundError:
            make_folder(folder)
        lock.close()


if os.name == "nt":
    import msvcrt

    def _take(lock: Any) -> None:
        lock.seek(0)
        msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(lock: Any) -> None:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _clear(folder: Path) -> None:
    # The manifest goes last: parts without one are refused, parts with a wrong one would be believed.
    for name in ("finished", "data", "claims", "old"):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
    (folder / "manifest.json").unlink(missing_ok=True)


def _sweep(folder: Path, finished: int) -> None:
    """Make the folders and take away what a crash left behind the last finished part."""
    for kind in ("data", "claims", "finished"):
        (folder / kind).mkdir(exist_ok=True)
        for path in (folder / kind).iterdir():
            number = re.match(r"part-(\d+)\.", path.name)
            if path.name.endswith(".tmp") or number is None or int(number[1]) >= finished:
                path.unlink()


def _compare(path: Path, manifest: dict, folder: Path) -> None:
    saved = read_manifest(folder)
    if saved is None:
        raise ResumeError(f"{path} is missing or damaged, so the unfinished work can't be continued. {_AGAIN}")
    before, now = _flat(saved), _flat(json.loads(json.dumps(manifest)))
    changed = [key for key in dict.fromkeys([*now, *before]) if before.get(key) != now.get(key)]
    if changed:
        shown = "; ".join(
            f"{key} was {_show(before.get(key))} and is now {_show(now.get(key))}" for key in changed[:_CHANGES_SHOWN]
        )
        more = f"; and {len(changed) - _CHANGES_SHOWN} more" if len(changed) > _CHANGES_SHOWN else ""
        raise ResumeError(f"The unfinished work in {folder} was made from something else: {shown}{more}. {_AGAIN}")


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


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
