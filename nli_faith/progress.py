"""What a run says while it runs, on stderr: log lines and progress."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from nli_faith.display import duration, one_line

_QUIET_SECONDS = 30.0


class Meter:
    """Log lines and progress on stderr: a bar on a terminal, a line every half minute elsewhere, nothing when quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task = None
        self._said = time.monotonic()
        self._first: tuple[float, float] | None = None  # seconds and share after the first batch of this run

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def log(self, line: str) -> None:
        """One whole line for people."""
        if not self._quiet:
            self._console.print(Text(one_line(line)), soft_wrap=True)

    def advance(self, done) -> None:
        """Show a `files.Progress`."""
        if self._quiet:
            return
        fresh = done.rows - done.resumed
        rate = ""
        if done.seconds:
            rate = f"{fresh / done.seconds:,.1f} answers/s, {done.pairs / done.seconds:,.0f} pairs/s"
        if self._first is None and done.share is not None:
            self._first = done.seconds, done.share
        share, seconds = done.share, self._seconds_left(done.seconds, done.share)
        left = "" if seconds is None else f", about {duration(seconds)} left"
        if self._console.is_terminal:
            self._draw(done.rows, share, f"{rate}{left}")
        elif time.monotonic() - self._said > _QUIET_SECONDS:
            self._said = time.monotonic()
            percent = f" ({100 * share:.0f} %)" if share else ""
            print(f"{done.rows:,} rows{percent}, {rate}{left}", file=sys.stderr, flush=True)

    def _seconds_left(self, seconds: float, share: float | None) -> float | None:
        """From the speed since the first batch, which also paid for warming up; None before there are two.

        Not rich's own estimate, which forgets what lies half a minute back: a batch may take that long.
        """
        if share is None or self._first is None or share <= self._first[1]:
            return None
        return (seconds - self._first[0]) / (share - self._first[1]) * max(0.0, 1.0 - share)

    def _draw(self, rows: int, share: float | None, rate: str) -> None:
        if self._bar is None:
            columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rate]}"))
            words = TextColumn("{task.description}")
            self._bar = Progress(words, *columns, console=self._console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=1.0, rate="")
        self._bar.update(self._task, description=f"{rows:,} rows", completed=share or 0.0, rate=rate)
