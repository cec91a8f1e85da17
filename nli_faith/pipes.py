"""What is printed goes to a reader that may be gone, such as `head`; the command still ends with its own status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reader_may_go() -> Iterator[None]:
    """Print inside: when nobody reads stdout any more, the rest of it goes nowhere and what comes after goes on."""
    try:
        yield
        sys.stdout.flush()  # here a reader that has gone can still be told from a failure
    except BrokenPipeError:
        # Python would complain once more while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
