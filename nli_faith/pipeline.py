"""The chain, window of rows by window of rows: rows -> claims -> tokens -> pairs -> batches -> model -> scores."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from os import PathLike

from nli_faith.calibrations import Run, check_alone, load_calibration
from nli_faith.cells import make_row
from nli_faith.columns import Columns, find_columns
from nli_faith.drafts import WindowRead, decide, draft_row, finish, flag_claims, read_texts, short_questions, window_size
from nli_faith.identity import label_names, model_hash
from nli_faith.joined import look_again
from nli_faith.options import DEFAULT_MODEL, FileOptions, ModelOptions, ScoreOptions
from nli_faith.pairs import Pool
from nli_faith.scores import Rule
from nli_faith.types import AnswerScore, Counts, Row, WatchedCounts, WindowResult
from nli_faith.waves import score_all, score_in_waves
from nli_faith.windows import cut_chunks

ROWS_AT_ONCE = 256


class Scorer:
    """Scores answers against their contexts. Loads the model at first use; safe to call from several threads.

    Attributes:
        model_options, score_options: as given; calibration: what is in that file, or None.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        labels: Sequence[str] | None = None,
        device: str = "auto",
        dtype: str = "auto",
        budget: int | None = None,
        granularity: str = "sentence",
        threshold: float | None = None,
        no_claims: float | None = 1.0,
        early_exit: bool = False,
        calibration: str | PathLike | None = None,
        joined_evidence: int | None = None,
        prefix_pronouns: bool = False,
        flags: bool = False,
        strict_numbers: bool = False,
        probe: bool = True,
    ) -> None:
        """
        Args:
            model: the bundled "nli-faith-xsmall", "fake", a folder, or a Hugging Face id; see `ModelOptions`.
            granularity, threshold, no_claims, early_exit, calibration, joined_evidence, prefix_pronouns, flags,
                strict_numbers: see `ScoreOptions`.
            probe: check the model on a few obvious pairs at load; off only for tests and timing.
        Raises:
            UsageError: a value outside its range. The model itself is loaded, and may be refused, at first use.
            InputError: a calibration that can't be read; one that holds for another model is refused at first use.
        """
        self.model_options = ModelOptions(str(model), tuple(labels) if labels else None, device, dtype, budget)
        path = None if calibration is None else str(calibration)
        self.score_options = ScoreOptions(
            granularity, threshold, no_claims, early_exit, path, joined_evidence, prefix_pronouns, flags, strict_numbers
        )
        self.calibration = None if path is None else load_calibration(path)
        check_alone(self.calibration, threshold)
        self._probe = probe
        self._reader = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict:
        # Only what was asked for travels; the other side, or a copy, loads the model anew, for its own device.
        return self.__dict__ | {"_reader": None, "_lock": None}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def on(self, device: str) -> Scorer:
        """The same scorer for another device, not loaded yet."""
        other = copy.copy(self)
        other.model_options = replace(self.model_options, device=device)
        return other

    def over(self, reader) -> Scorer:
        """The same scorer with a model that is loaded already, for comparisons; `reader` is a `model.Reader`."""
        other = copy.copy(self)
        other._reader = reader
        return other

    @property
    def reader(self):
        """The loaded model, a `model.Reader`.

        Raises:
            ModelError, DeviceError: it can't be loaded.
        """
        with self._lock:
            if self._reader is None:
                # torch takes a second to import, which an import of this package must not.
                from nli_faith.model import open_reader

                reader = open_reader(self.model_options, self._probe)
                if self.calibration is not None:
                    made = {"model_hash": model_hash(reader), "window": window_size(reader), "labels": label_names(reader)}
                    self.calibration.check(Run.read(made, asdict(self.score_options)))
                self._reader = reader
            return self._reader

    @property
    def window_size(self) -> int:
        """Tokens of a premise window for claims of up to 128 tokens."""
        return window_size(self.reader)

    @property
    def answer_threshold(self) -> float:
        """`min_support` from which an answer is called faithful."""
        if self.calibration is not None and self.calibration.level == "row":
            return self.calibration.threshold
        return self.reader.card.answer_threshold

    @property
    def claim_threshold(self) -> float | None:
        """P(entailment) from which a window supports a claim; None for argmax."""
        if self.calibration is not None and self.calibration.level == "claim":
            return self.calibration.threshold
        return self.score_options.threshold

    def score(self, answer: str | None, contexts: Sequence[str], question: str | None = None) -> AnswerScore:
        """The score of one answer.

        Args:
            contexts: the retrieved chunks; list of str or of dicts with a text key, or one str.
        """
        return self.score_window([make_row(0, answer, contexts, question)]).scores[0]

    def score_rows(
        self, rows: Iterable[Mapping], *, answer: str | None = None, contexts: str | None = None, question: str | None = None
    ) -> Iterator[AnswerScore]:
        """Scores of dicts, in order, batched across rows.

        The keys of the first one decide, as the columns of a file do: `answer`, `contexts`, `question` or any name that
        the README lists. A later row that lacks one of them has the status "error".

        Args:
            answer, contexts, question: keys to read instead.
        Raises:
            InputError: the first row has no answer or no contexts.
        """
        stream, chosen = iter(rows), FileOptions(question, answer, contexts)
        position, columns = 0, None
        while batch := list(islice(stream, ROWS_AT_ONCE)):
            columns = columns or find_columns(list(batch[0]), chosen, "The first row")
            made = [_row(position + i, mapping, columns) for i, mapping in enumerate(batch)]
            position += len(batch)
            yield from self.score_window(made).scores

    def score_frame(self, frame, *, answer: str | None = None, contexts: str | None = None, question: str | None = None):
        """A copy of a pandas DataFrame with the output columns of `nli-faith score` behind its own.

        Args:
            answer, contexts, question: columns to read instead of those whose names the README lists.
        Raises:
            InputError: no answer or contexts column, or a column that carries an output column's name.
        """
        from nli_faith.frames import score_frame

        return score_frame(self, frame, FileOptions(question, answer, contexts))

    def score_batch(self, batch, *, answer: str | None = None, contexts: str | None = None, question: str | None = None):
        """A pyarrow RecordBatch or Table with the output columns of `nli-faith score` behind its own; of the same type.

        The scorer itself may be called in its place, which is what Ray Data's `map_batches(batch_format="pyarrow")` does.

        Args:
            answer, contexts, question: columns to read instead of those whose names the README lists.
        Raises:
            InputError: no answer or contexts column, or a column that carries an output column's name.
        """
        from nli_faith.tables import score_batch

        return score_batch(self, batch, FileOptions(question, answer, contexts))

    __call__ = score_batch

    def score_window(self, rows: Sequence[Row], watch: Callable[[int, int], None] | None = None) -> WindowResult:
        """Scores of some rows, in order, and what they cost. All rows share one queue of pairs.

        Args:
            watch: called after every batch with the pairs read so far and the pairs there are.
        """
        with self._lock:
            counts = Counts() if watch is None else WatchedCounts(watch)
            read, rule = self.read_window(rows, counts=counts), Rule(self.claim_threshold)
            options, reader = self.score_options, self.reader
            for draft, grid in read.grids:
                draft.decisions = decide(draft, grid, rule, read.hypotheses)
            if options.joined_evidence is not None:
                pools = (read.premises, read.hypotheses)
                look_again(read.grids, options.joined_evidence, rule, reader, *pools, read.counts)
            for draft, grid in read.grids if options.flags else ():
                draft.flags = flag_claims(draft, grid, rule)
            scores = [finish(draft, options, reader, self.answer_threshold) for draft in read.drafts]
            return WindowResult(tuple(scores), read.counts)

    def read_window(self, rows: Sequence[Row], model: bool = True, counts: Counts | None = None) -> WindowRead:
        """Claims, windows and pair probabilities of some rows; without `model` no pair is read and `grids` is empty."""
        with self._lock:
            reader, counts = self.reader, Counts() if counts is None else counts
            premises, hypotheses = Pool(), Pool()
            short = short_questions(rows, reader)
            options = self.score_options
            drafts = [draft_row(row, options.granularity, short, counts, options.prefix_pronouns) for row in rows]
            read_texts(drafts, reader, premises, hypotheses)
            ready = [draft for draft in drafts if draft.status == "scored"] if model else []
            sides = [(draft.hypotheses, draft.premises) for draft in ready]
            if options.early_exit:
                again = options.joined_evidence is not None
                rule, threshold = Rule(self.claim_threshold), self.answer_threshold
                grids = score_in_waves(sides, premises, hypotheses, reader, rule, counts, threshold, again)
            else:
                grids = score_all(sides, premises, hypotheses, reader, counts)
            return WindowRead(drafts, premises, hypotheses, list(zip(ready, grids)), counts)

    def window_counts(self, rows: Sequence[Row]) -> list[int]:
        """How many windows the chunks of each row are cut into."""
        encoder, size = self.reader.encoder, self.window_size
        return [sum(len(cut) for cut in cut_chunks(row.chunks, size, encoder)) for row in rows]

    def identity(self) -> dict:
        """What fixes the numbers: model and its hash, options, versions, device, dtype, attention. No times."""
        from nli_faith.identity import identity

        return identity(self)


def _row(position: int, mapping: Mapping, columns: Columns) -> Row:
    missing = [name for name in (columns.answer, columns.contexts) if name not in mapping]
    if missing:
        error = f"Row {position} has no key {missing[0]!r}, which the first row has."
        return Row(position, None, (), None, mapping.get("id"), error)
    question = mapping.get(columns.question) if columns.question else None
    return make_row(position, mapping[columns.answer], mapping[columns.contexts], question, mapping.get("id"))
