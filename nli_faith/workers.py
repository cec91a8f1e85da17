"""Several processes that score, one a device: windows of rows are dealt out, results come in the order of the input.

A window is scored whole by one process, so what is written does not depend on how many there are. Reading, writing and
resume stay in the process that begins them.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from nli_faith.errors import DeviceError, NliFaithError
from nli_faith.memory import keep_freed_memory
from nli_faith.rows import Window
from nli_faith.types import WindowResult

WINDOWS_EACH = 2
_OUT_OF_HAND = 9  # how a Linux kernel that has no memory left ends a process


class Workers:
    """A window scorer made of several, each in a process of its own. Use it as a context manager: leaving it ends them.

    Args:
        scorers: one a process; each travels without a model it has loaded, and loads it there.
        threads: threads of torch in each process; None leaves the default, as for devices that are no CPU.
    """

    def __init__(self, scorers: Sequence, threads: int | None = None) -> None:
        self._idle: queue.SimpleQueue = queue.SimpleQueue()
        self._members: list[_Member] = []
        self._pool = ThreadPoolExecutor(len(scorers), "nli-faith-worker")
        try:
            with _signals_held_back():
                for scorer in scorers:
                    self._members.append(_Member(scorer, threads))
                    self._idle.put(self._members[-1])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes at once; what they are at is lost."""
        for member in self._members:
            member.kill()
        self._pool.shutdown(cancel_futures=True)  # a thread that waits for an answer sees the end of its line
        for member in self._members:
            member.close()

    def identity(self) -> dict:
        """What all processes say of themselves. Loads the models.

        Raises:
            ModelError, DeviceError: a model can't be loaded; the devices would not give the same numbers.
        """
        for member in self._members:
            member.send("identity")
        first, *rest = [member.receive() for member in self._members]
        for other in rest:
            differing = [key for key in first if first[key] != other.get(key)]
            if differing:
                key = differing[0]
                raise DeviceError(
                    f"The devices do not give the same numbers: {key} is {first[key]} on one and {other.get(key)} on another. "
                    "Name devices of one kind."
                )
        return first

    def score_windows(self, windows: Iterable[Window]) -> Iterator[tuple[Window, WindowResult]]:
        """Each window with its result, in order.

        At most `WINDOWS_EACH` windows a process are read and not yet given back. An error of `windows` comes after all
        results before it, an error of a process in the place of its result.
        """
        waiting: deque = deque()
        source, failure = iter(windows), None
        while True:
            try:
                window = next(source)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            waiting.append((window, self._pool.submit(self._score, window)))
            while waiting and (waiting[0][1].done() or len(waiting) == WINDOWS_EACH * len(self._members)):
                window, future = waiting.popleft()
                yield window, future.result()
        for window, future in waiting:
            yield window, future.result()
        if failure is not None:
            raise failure

    def _score(self, window: Window) -> WindowResult:
        member = self._idle.get()
        try:
            member.send("score_window", window.rows)
            return member.receive()
        finally:
            self._idle.put(member)


class _Member:
    """One process, and the line to it: one question, one answer."""

    def __init__(self, scorer, threads: int | None) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share locks of torch, and CUDA forbids it
        self._line, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, scorer, threads), name="nli-faith-worker", daemon=True)
        self._process.start()
        other.close()  # or its end would never be seen

    def send(self, method: str, *args: object) -> None:
        try:
            self._line.send((method, args))
        except OSError:
            raise self._gone() from None

    def receive(self):
        """The answer; an exception of the other side is raised here."""
        try:
            answer = self._line.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _gone(self) -> DeviceError:
        self._process.join(5)
        code = self._process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"
        why = " (most likely memory ran out: name fewer devices)" if code == -_OUT_OF_HAND else ""
        return DeviceError(f"A process of --devices {how}{why}. Run the same command again: it goes on from finished work.")

    def kill(self) -> None:
        self._process.kill()  # it is deaf to anything milder, see below

    def close(self) -> None:
        self._process.join()
        self._line.close()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Processes begun here never see Ctrl-C or SIGTERM, which terminals and batch systems send to all: one decides."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(line, scorer, threads: int | None) -> None:
    """The life of one process: answers until the other end of the line is closed."""
    if os.name == "nt":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    if threads is not None:
        from nli_faith.devices import use_threads

        use_threads(threads)
    while True:
        try:
            method, args = line.recv()
        except EOFError:
            return
        try:
            answer = getattr(scorer, method)(*args)
        except Exception as error:
            answer = _sendable(error)
        try:
            line.send(answer)
        except OSError:
            return


def _sendable(error: Exception) -> Exception:
    """`error` with its traceback as a note, since a traceback does not travel; what can't be pickled becomes text."""
    if isinstance(error, NliFaithError):
        return error
    note = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
