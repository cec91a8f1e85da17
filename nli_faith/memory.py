"""glibc's allocator, told to keep what is freed.

Attention makes large temporaries again and again. By default glibc maps and unmaps each of them, and the kernel clears
every page anew: most of a run's time can go there. Settings of the process, so the command line makes them, a library
import never does.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4


def keep_freed_memory() -> bool:
    """Serve large blocks from the heap and never shrink it; True where the C library is glibc and took the settings."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # musl has neither the name nor the problem
        return False
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, 2**31 - 1), (_M_TOP_PAD, 256 * 2**20))
    return all(mallopt(option, value) for option, value in settings)
