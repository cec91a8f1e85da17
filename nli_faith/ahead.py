"""Reading ahead: an iterator run in a thread of its own, so that files are read while the model works."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

Item = TypeVar("Item")
_END = object()


@contextmanager
def read_ahead(items: Iterable[Item], depth: int = 2) -> Iterator[Iterator[Item]]:
    """`items` in order, at most `depth` of them waiting.

    An exception of `items` is raised where the item would have come, after all items before it. When the block is left
    early, the thread ends after the item it is at.
    """
    waiting: queue.Queue = queue.Queue(depth)
    left = threading.Event()

    def read() -> None:
        try:
            for item in items:
                waiting.put((item, None))
                if left.is_set():
                    return
            waiting.put((_END, None))
        except BaseException as error:  # raised again in the other thread
            waiting.put((_END, error))

    def take() -> Iterator[Item]:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item

    # A daemon, so that a read that hangs on a network can't keep the process from ending.
    thread = threading.Thread(target=read, name="nli-faith-reader", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        left.set()
        for _ in range(100):
            with suppress(queue.Empty):
                waiting.get_nowait()  # makes room for a put that waits
            thread.join(0.05)
            if not thread.is_alive():
                break
