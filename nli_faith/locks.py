"""One process at a time in a folder, by a lock that dies with its process."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

from nli_faith.errors import ResumeError

if os.name == "nt":
    import msvcrt

    def _take(lock: BinaryIO) -> None:
        lock.seek(0)
        msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(lock: BinaryIO) -> None:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_folder(folder: Path) -> BinaryIO:
    """The open and locked file "lock" in `folder`; closing it gives the lock back, and so does the end of the process.

    Raises:
        ResumeError: another process holds it, or there can be none here.
    """
    path = folder / "lock"
    while True:
        try:
            lock = open(path, "ab")  # noqa: SIM115 (held until the parts are done with)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)  # whoever finished a moment ago took it away
            continue
        except OSError as error:
            raise ResumeError(
                f"{path} can't be locked: {error.strerror or error}. Check the folder and its permissions."
            ) from error
        try:
            _take(lock)
        except OSError as error:
            lock.close()
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise ResumeError(f"{path} can't be locked: {error}. Write the output to a local disk.") from error
            raise ResumeError(
                f"Another process is working on {folder}. Wait for it to end, or give another output with -o."
            ) from None
        # The same may have happened between our open and our lock.
        if os.path.exists(path) and os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
            return lock
        lock.close()
