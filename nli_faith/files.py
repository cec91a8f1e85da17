"""Files in, scored files out: rows -> scorer -> parts -> one file, window by window, resumable at any moment."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from nli_faith import targets
from nli_faith.ahead import read_ahead
from nli_faith.disk import make_folder
from nli_faith.errors import InputError
from nli_faith.joins import finish
from nli_faith.options import FileOptions
from nli_faith.provenance import check_unchanged, footer, make_manifest
from nli_faith.rows import WINDOW_BYTES, WINDOW_ROWS, RowReader, Window
from nli_faith.shards import discard_empty, open_parts, read_done, read_manifest
from nli_faith.summary import GROUPS_COUNTED, Statistics, make_summary
from nli_faith.targets import Target
from nli_faith.types import AnswerScore, Row, WindowResult, added_claim_fields
from nli_faith.workers import Workers
from nli_faith.writers import ClaimWriter, ScoreWriter

_ERRORS_LOGGED = 3


class WindowScorer(Protocol):
    """What `score_file` needs of a scorer."""

    def score_window(self, rows: list[Row], watch: Callable[[int, int], None] | None = None) -> WindowResult:
        """One score per row, in order; rows with `error` set get the status "error" with that sentence.

        `watch` may be called while it goes on, with the pairs read so far and the pairs there are.
        """

    def identity(self) -> dict:
        """JSON-able: model, model_hash, options, dtype, kernel, device, versions. The same at every start; no times."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        rows: scored so far, those of the window at hand by the share of its pairs; resumed: those of an earlier run.
        total: rows in all, when it is known without reading.
        share: of the input that is scored, in [0, 1], when known.
        seconds: since this run began to score; pairs: claim x window pairs scored since then.
    """

    rows: int
    resumed: int
    total: int | None
    share: float | None
    seconds: float
    pairs: int


def score_file(
    scorer: WindowScorer | Workers,
    inputs: str | Sequence[str],
    out: str | None = None,
    options: FileOptions | None = None,
    *,
    log: Callable[[str], None] = lambda line: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    strict: bool = False,
    window_rows: int = WINDOW_ROWS,
    window_bytes: int = WINDOW_BYTES,
) -> dict:
    """Score every row of `inputs`, write the copy with its columns, and return the summary of `summary.make_summary`.

    Interrupted at any moment, the same call goes on after the last finished window and gives the same bytes.

    Args:
        out: local path; its ending sets the format, a trailing "/" keeps the parts as a data set; None for the default.
        log: gets whole lines for people; progress: is called after every batch of pairs and every window.
        strict: stop at the first row that can't be scored, before its window is written.
    Raises:
        InputError, UsageError, ResumeError: with one sentence; unfinished parts stay for the next call.
    """
    options = options or FileOptions()
    sources, target, claims = targets.resolve(inputs, out, options, log)
    reader = RowReader(sources, options, log, window_rows, window_bytes)
    replaces = _may_replace(target, claims, options)
    identity = scorer.identity()  # loads the model, so everything that can be refused has been
    manifest = make_manifest(sources, target, claims, reader.columns, options, identity, window_rows, window_bytes)
    manifest["replaces"] = replaces
    if claims is not None:
        make_folder(claims.path.parent)
        targets.check_writable(claims.path.parent)
    with open_parts(target.parts, manifest, target.path, anew=options.overwrite) as parts:
        if parts.done is not None:  # a crash came between the last rename and the end
            parts.remove()
            if strict and parts.done["error"]:
                raise InputError(
                    f"{target.path} is finished, but {parts.done['error']} of its rows can't be scored; `error` says why. "
                    "Correct them and score again with --overwrite, or run without --strict."
                )
            return parts.done
        if not replaces:  # asked again: before there was a lock, another process may have been about to finish
            targets.check_free(target)
        metadata = json.dumps(footer(manifest), sort_keys=True)
        added = added_claim_fields(identity.get("options") or {})
        writers = {"data": ScoreWriter(target.ending, reader.reader, reader.columns, options, metadata, added)}
        if claims is not None:
            writers["claims"] = ClaimWriter(claims.ending, reader.reader, reader.columns, metadata, added)
        run = _Run(scorer, reader, parts, writers, options.by, log, progress, strict)
        statistics = run.score_all()
        check_unchanged(sources, manifest, log)
        summary = make_summary(statistics, identity, options.by)
        forms = {kind: writer.format for kind, writer in writers.items()}
        finish(parts, run.count, forms, target, claims, summary)
        parts.remove()
    log(f"Wrote {target.path}.")
    return summary


class _Run:
    """The loop: read ahead, score, write, count."""

    def __init__(self, scorer, reader, parts, writers, by, log, progress, strict):
        self._scorer, self._reader, self._parts, self._writers = scorer, reader, parts, writers
        self._by, self._log, self._progress, self._strict = by, log, progress, strict
        self.count = 0  # finished parts
        self._end = 0  # of the last of them, in the input
        self._whole = Statistics()  # of all of them
        self._errors = 0
        self._resumed = self._rows = self._pairs = 0
        self._share: float | None = None
        self._begun = 0.0

    def score_all(self) -> Statistics:
        """Score and write what is not finished yet; the statistics of all parts together."""
        for saved in self._parts.finished():
            if self._strict and saved["first_error"] is not None:
                raise InputError(f"{saved['first_error']} Correct it, or run without --strict.")
            self._add(Statistics.from_dict(saved["statistics"]), saved["end"])
        self._resumed = self._rows = self._whole.tally.rows
        if self.count:
            self._log(f"Going on after {self._rows} finished rows in {self._parts.folder}.")
        self._begun = mark = time.perf_counter()
        windows = self._reader.windows(self._end, self._rows)
        writing = None
        # One part is written while the next window is scored. When the loop ends early, that part is still finished.
        with ThreadPoolExecutor(1, "nli-faith-writer") as pool, read_ahead(windows) as ahead:
            for window, result in self._scored(ahead):
                if writing is not None:
                    writing.result()
                now = time.perf_counter()
                writing = pool.submit(self._write, window, result, now - mark)
                mark = now
                self._tell(window, 1.0, result.counts.pairs)
                self._rows, self._pairs = self._rows + len(window.rows), self._pairs + result.counts.pairs
                self._share = window.share
            if writing is not None:
                writing.result()
        if not self.count:
            empty = Window([], self._reader.reader.empty(), 0, None)
            self._write(empty, WindowResult(()), time.perf_counter() - mark)
        if len(self._whole.groups) == GROUPS_COUNTED:
            self._log(
                f"Warning: the column {self._by!r} of --by has {GROUPS_COUNTED:,} values or more; further ones are not counted."
            )
        return self._whole

    def _scored(self, windows: Iterable[Window]) -> Iterator[tuple[Window, WindowResult]]:
        if isinstance(self._scorer, Workers):
            results = self._scorer.score_windows(windows)
        else:
            results = ((window, self._scorer.score_window(window.rows, partial(self._watch, window))) for window in windows)
        for window, result in results:
            self._check(window, result)
            yield window, result

    def _watch(self, window: Window, read: int, pairs: int) -> None:
        """A batch of `window` has been read. Early exit leaves pairs out, so a share is one at least."""
        if 0 < read < pairs:
            self._tell(window, read / pairs, read)

    def _tell(self, window: Window, part: float, pairs: int) -> None:
        """Report progress with `part` of `window`, and that many of its pairs, scored."""
        rows, total, share = self._rows + part * len(window.rows), self._reader.total, window.share
        if total:
            share = min(1.0, rows / total)  # with --sample the total is an estimate
        elif share is not None:
            before = self._share or 0.0
            share = before + part * (share - before)
        seconds = time.perf_counter() - self._begun
        self._progress(Progress(int(rows), self._resumed, total, share, seconds, self._pairs + pairs))

    def _check(self, window: Window, result: WindowResult) -> None:
        if len(result.scores) != len(window.rows):
            raise RuntimeError(f"the scorer gave {len(result.scores)} scores for {len(window.rows)} rows")
        for row, score in zip(window.rows, result.scores, strict=True):
            if score.status == "error":
                what = _error_of(row, score)
                if self._strict:
                    raise InputError(f"{what} Correct it, or run without --strict.")
                if self._errors < _ERRORS_LOGGED:
                    self._log(what)
                self._errors += 1

    def _write(self, window: Window, result: WindowResult, seconds: float) -> None:
        statistics = Statistics(counts=result.counts, seconds=seconds)
        statistics.count(result.scores, None if self._by is None else window.records.cells(self._by))
        for kind, writer in self._writers.items():
            ending = writer.format.ending
            self._parts.write(
                kind, self.count, ending, lambda path, writer=writer: writer.write(path, window, result.scores)
            )
        scored = zip(window.rows, result.scores, strict=True)
        error = next((_error_of(row, score) for row, score in scored if score.status == "error"), None)
        saved = {"end": window.end, "statistics": statistics.to_dict(), "first_error": error}
        self._parts.finish(self.count, saved)
        self._add(statistics, window.end)

    def _add(self, statistics: Statistics, end: int) -> None:
        """One more part is finished; of its numbers only the sum is kept."""
        self.count += 1
        self._end = end
        self._whole.add(statistics)


def _error_of(row: Row, score: AnswerScore) -> str:
    id = "" if row.id is None else f", id {row.id!s:.80}"
    return f"Row {row.position} (counted from 0{id}) can't be scored: {score.error}"


def _may_replace(target: Target, claims: Target | None, options: FileOptions) -> bool:
    """Whether what stands where the outputs go may be replaced: when asked to, or when interrupted work was asked to.

    Raises:
        InputError: when something stands there that may not.
    """
    saved = None if options.overwrite else read_manifest(target.parts)
    if options.overwrite or (saved is not None and saved.get("replaces")):
        targets.check_replaceable(target)
        return True
    if read_done(target.parts, target.path) is not None:
        return False
    if target.exists():
        discard_empty(target.parts)
    targets.check_free(target)
    # Interrupted work may have put its own file of claims there already.
    before = {} if saved is None else saved.get("options") or {}
    if claims is not None and before.get("claims_out") != str(claims.path.absolute()):
        targets.check_free(claims, "file of --claims-out")
    return False
