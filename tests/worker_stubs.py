"""Scorers for processes of their own: importable there, without a model, each with one way to go wrong."""

from __future__ import annotations

import os
import signal
import time

from file_stubs import StubScorer

from nli_faith.errors import ModelError


class Troubled(StubScorer):
    """Comes to grief at the window that holds row `at`: raises `kind(argument)`, or is killed when there is no kind."""

    def __init__(self, at: int, kind: type[Exception] | None = None, argument: object = None):
        super().__init__()
        self.at, self.kind, self.argument = at, kind, argument

    def score_window(self, rows, watch=None):
        if rows[0].position <= self.at <= rows[-1].position:
            if self.kind is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise self.kind(self.argument)
        return super().score_window(rows)


class Slow(StubScorer):
    """Takes `seconds` for a window that begins with an even row, none for the others, so that these overtake."""

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds

    def score_window(self, rows, watch=None):
        time.sleep(0 if rows[0].position % 2 else self.seconds)
        return super().score_window(rows)


class Unloadable(StubScorer):
    """Its model can't be loaded."""

    def identity(self):
        raise ModelError("The weights are not of this model.")


class OutOfReach(Exception):
    """Can't be unpickled: its only argument is not what it keeps."""

    def __init__(self, number: int):
        super().__init__(f"number {number + 1}")
