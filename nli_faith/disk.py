"""Files that appear whole or not at all, and errors of the disk as one sentence."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nli_faith.errors import InputError


def make_folder(folder: Path) -> None:
    """Make `folder` and those above it, if they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} can't be made: {error.strerror or error}. Name an output elsewhere with -o."
        ) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the disk as one sentence that names `path`; everything else passes."""
    try:
        yield
    except OSError as error:
        advice = (
            "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check the folder and its permissions"
        )
        raise InputError(
            f"{path} can't be written: {error.strerror or error}. {advice}, "
            "then run the same command again."
        ) from error


def put(path: Path, write: Callable[[Path], None], fresh: Path | None = None) -> None:
    """Make `path` appear whole: `write` fills `fresh`, which is synced and renamed to it.

    By default it is a neighbour, which does not stay when that fails.
    """
    if fresh is None:
        fresh = path.with_name(path.name + ".tmp")
        try:
            put(path, write, fresh)
        except BaseException:
            with suppress(OSError):  # what made the first one is said
                fresh.unlink(missing_ok=True)
            raise
        return
    with writing(path):
        write(fresh)
        sync(fresh)
        os.replace(fresh, path)
        sync(path.parent)


def sync(path: Path) -> None:
    """Force a file or folder to disk; folders can't be synced on Windows."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
