"""Work in progress beside an output: finished parts, what they were made from, and a lock that dies with its process.

    <OUT>.parts/
        lock              held while a process works here
        manifest.json     input, options, model and versions; a resumed run must have the same
        data/             part-00017.parquet: one window of rows
        claims/           the same for --claims-out
        finished/         part-00017.json: sizes and statistics; written last, so that a part counts only when it is whole
        done.json         the summary; once what it names has been moved away, the output stands and the run is over

Every file is written under another name, synced and renamed: a crash at any moment leaves finished parts and rubbish
with the ending .tmp, never a torn part.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO

from nli_faith.disk import make_folder, put, sync, writing
from nli_faith.errors import InputError, ResumeError
from nli_faith.locks import lock_folder
from nli_faith.manifests import AGAIN, compare, dump, load

_DONE = "done.json"
_OURS = re.compile(r"lock|(?:manifest|done)\.json(?:\.tmp)?|data|claims|finished|old|joined\..+")
_OUR_PARTS = re.compile(r"part-\d+\..+")


class Parts:
    """The finished parts of one output. Made by `open_parts`; only for use while its lock is held."""

    def __init__(self, folder: Path, lock: BinaryIO):
        self.folder, self._lock = folder, lock
        self.done: dict | None = None  # the summary, when nothing but this folder is left to be taken away
        self._sizes: dict[str, int] = {}

    def path(self, kind: str, index: int, ending: str) -> Path:
        return self.folder / kind / f"part-{index:05d}{ending}"

    def finished(self) -> Iterator[dict]:
        """What `finish` saved for the parts 0, 1, 2, ... without a gap, one by one: all of it may be much.

        A part whose files are gone or cut off does not count: a crash may have come right after a folder of parts was
        moved to its final place.

        Raises:
            ResumeError: what was saved can't be read.
        """
        for number in count():
            path = self.path("finished", number, ".json")
            if not path.exists():
                return
            part = load(path)
            if part is None or not {"sizes", "saved"} <= part.keys():
                raise ResumeError(f"{path} is damaged, so the unfinished work can't be continued. {AGAIN}")
            if any(_size(self.folder / name) != size for name, size in part["sizes"].items()):
                return
            yield part["saved"]

    def write(self, kind: str, index: int, ending: str, write: Callable[[Path], None]) -> None:
        """One file of a part: `write` fills a path that gets its real name once it is on disk."""
        path = self.path(kind, index, ending)
        put(path, write)
        self._sizes[f"{kind}/{path.name}"] = path.stat().st_size

    def finish(self, index: int, saved: dict) -> None:
        """Part `index` is whole; `saved` comes back from `finished`."""
        part = {"sizes": self._sizes, "saved": saved}
        put(self.path("finished", index, ".json"), lambda path: dump(path, part))
        self._sizes = {}

    def settle(self, summary: dict, moved: str) -> None:
        """All that is left to do is to move `moved`, a file or folder in here, to the place of the output."""
        done = {"summary": summary, "moved": moved, "manifest": load(self.folder / "manifest.json")}
        put(self.folder / _DONE, lambda path: dump(path, done))

    def remove(self) -> None:
        """Take the folder away, once the output stands. The lock goes last but one, then what tells that it does."""
        with writing(self.folder):
            for name in set(os.listdir(self.folder)) - {"lock", _DONE}:
                path = self.folder / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if os.name == "nt":  # where an open file can't be removed
                self._lock.close()
            for name in ("lock", _DONE):
                (self.folder / name).unlink(missing_ok=True)
            try:
                self.folder.rmdir()
            except OSError:  # another process came as soon as the lock was gone, and is at work here
                if not self.folder.exists() or os.listdir(self.folder):
                    return
                raise
            sync(self.folder.parent)


@contextmanager
def open_parts(folder: Path, manifest: dict, output: Path, *, anew: bool) -> Iterator[Parts]:
    """The parts in `folder`, locked until the block ends; a new folder when there is none.

    Args:
        output: what is made from the parts; manifest: JSON-able; what the parts are made from.
        anew: forget parts that are there, but for those of a run that was itself begun anew and asked for the same.
    Raises:
        InputError: when something stands in `folder` that no run wrote; at the end it would be taken away.
        ResumeError: when another process works here, or the parts were made from something else.
    """
    make_folder(folder)
    _check_ours(folder)
    lock = lock_folder(folder)
    parts = Parts(folder, lock)
    try:
        with writing(folder):
            if anew and not _was_begun_anew(folder, manifest, parts):
                _clear(folder)
            done = read_done(folder, output)
            if done is not None:
                compare(done["manifest"], manifest, folder)
                parts.done = done["summary"]
            else:
                _prepare(folder, manifest, parts)
        yield parts
    except BaseException:
        # Nothing was finished, so there is nothing to go on from; an error in the input must not leave rubbish.
        if folder.exists() and read_done(folder, output) is None and next(parts.finished(), None) is None:
            parts.remove()
        raise
    finally:
        lock.close()


def _was_begun_anew(folder: Path, manifest: dict, parts: Parts) -> bool:
    """Whether the work in `folder` is of the same command, which had forgotten what was there before: it goes on then."""
    done = load(folder / _DONE) or {}
    saved = read_manifest(folder) or done.get("manifest") or {}
    if not saved.get("replaces"):
        return False
    try:
        compare(saved, manifest, folder)
        deque(parts.finished(), maxlen=0)  # all can be read
    except ResumeError:
        return False
    return True


def read_manifest(folder: Path) -> dict | None:
    """The manifest of unfinished work, or None when there is none that can be read."""
    return load(folder / "manifest.json")


def read_done(folder: Path, output: Path) -> dict | None:
    """What `Parts.settle` wrote, when the output has been moved to its place since and still stands there; else None."""
    done = load(folder / _DONE)
    return None if done is None or (folder / done["moved"]).exists() or not output.exists() else done


def discard_empty(folder: Path) -> None:
    """Take `folder` away when a crash left nothing but its lock in it."""
    if folder.is_dir() and set(os.listdir(folder)) <= {"lock"}:
        lock = lock_folder(folder)
        try:
            Parts(folder, lock).remove()
        finally:
            lock.close()


def _check_ours(folder: Path) -> None:
    foreign = [name for name in os.listdir(folder) if not _OURS.fullmatch(name)]
    for kind in ("data", "claims", "finished"):
        if (folder / kind).is_dir():
            foreign += [f"{kind}/{name}" for name in os.listdir(folder / kind) if not _OUR_PARTS.fullmatch(name)]
    if foreign:
        raise InputError(
            f"Work in progress would go to {folder}, which holds {foreign[0]!r}, and no run of nli-faith wrote that. "
            "Move it away, or give another name with -o."
        )


def _clear(folder: Path) -> None:
    # The manifest goes last: parts without one are refused, parts with a wrong one would be believed.
    for name in (_DONE, "finished", "data", "claims", "old", "manifest.json"):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _prepare(folder: Path, manifest: dict, parts: Parts) -> None:
    """Go on from finished parts that were made from the same, or begin; take away what a crash left behind them."""
    (folder / _DONE).unlink(missing_ok=True)  # before what it names is made again
    path = folder / "manifest.json"
    finished = sum(1 for _ in parts.finished())
    if finished:
        saved = load(path)
        if saved is None:
            raise ResumeError(f"{path} is missing or damaged, so the unfinished work can't be continued. {AGAIN}")
        compare(saved, manifest, folder)
    else:
        put(path, lambda target: dump(target, manifest))
    for kind in ("data", "claims", "finished"):
        (folder / kind).mkdir(exist_ok=True)
        for path in (folder / kind).iterdir():
            number = int(path.name.removeprefix("part-").partition(".")[0])
            if path.name.endswith(".tmp") or number >= finished:
                path.unlink()


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None
