"""The chain, window of rows by window of rows: rows -> claims -> tokens -> pairs -> batches -> model -> scores."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from nli_faith.cells import make_row
from nli_faith.claims import split_claims
from nli_faith.columns import Columns, find_columns
from nli_faith.evidence import quote
from nli_faith.language import unmeasured
from nli_faith.long_claims import split_long
from nli_faith.options import FileOptions, ModelOptions, ScoreOptions
from nli_faith.pairs import CrossPairs, Pool, cross, overlap
from nli_faith.scores import Decision, Rule, join_parts, judge
from nli_faith.types import CLAIM, AnswerScore, Claim, ClaimVerdict, Counts, Row, WindowResult
from nli_faith.windows import CLAIM_TOKENS, Window, cut_chunks

QUESTION_TOKENS = 64
MIN_WINDOW = 64
ROWS_AT_ONCE = 256


@dataclass(slots=True)
class _Draft:
    """A row on its way: its units, the claims among them as hypothesis numbers, and its windows."""

    row: Row
    units: tuple[Claim, ...] = ()
    status: str = "scored"
    error: str | None = None
    claims: list[int] | None = None  # positions in `units`
    parts: list[list[int]] | None = None  # hypothesis numbers of each claim, more than one for a claim read in parts
    windows: list[tuple[int, Window]] | None = None  # (chunk, window)
    premises: np.ndarray | None = None  # numbers of the windows' ids


class Scorer:
    """Scores answers against their contexts. Loads the model at first use; safe to call from several threads.

    Attributes:
        model_options, score_options: as given.
    """

    def __init__(
        self,
        model: str = ModelOptions.model,
        *,
        labels: Sequence[str] | None = None,
        device: str = "auto",
        dtype: str = "auto",
        budget: int | None = None,
        granularity: str = "sentence",
        threshold: float | None = None,
        no_claims: float | None = 1.0,
        probe: bool = True,
    ) -> None:
        """
        Args:
            model: the bundled "nli-faith-xsmall", "fake", a folder, or a Hugging Face id; see `ModelOptions`.
            granularity, threshold, no_claims: see `ScoreOptions`.
            probe: check the model on a few obvious pairs at load; off only for tests and timing.
        Raises:
            UsageError: a value outside its range. The model itself is loaded, and may be refused, at first use.
        """
        self.model_options = ModelOptions(model, tuple(labels) if labels else None, device, dtype, budget)
        self.score_options = ScoreOptions(granularity, threshold, no_claims)
        self._probe = probe
        self._reader = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_reader": None, "_lock": None}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def reader(self):
        """The loaded model.

        Raises:
            ModelError, DeviceError: it can't be loaded.
        """
        with self._lock:
            if self._reader is None:
                self._reader = self._load()
            return self._reader

    def _load(self):
        from nli_faith.model import FakeModel, NliModel  # torch takes a second to import, --help must not wait for it

        if self.model_options.model == "fake":
            return FakeModel(_fake_encoder())
        return NliModel(self.model_options, self._probe)

    def score(self, answer: str | None, contexts: Sequence[str], question: str | None = None) -> AnswerScore:
        """The score of one answer.

        Args:
            contexts: the retrieved chunks; list of str or of dicts with a text key, or one str.
        """
        return self.score_window([make_row(0, answer, contexts, question)]).scores[0]

    def score_rows(self, rows: Iterable[Mapping]) -> Iterator[AnswerScore]:
        """Scores of dicts, in order, batched across rows.

        The keys of the first one decide, as the columns of a file do: `answer`, `contexts`, `question` or any name that
        the README lists. A later row that lacks one of them has the status "error".

        Raises:
            InputError: the first row has no answer or no contexts.
        """
        stream = iter(rows)
        position, columns = 0, None
        while batch := list(islice(stream, ROWS_AT_ONCE)):
            columns = columns or find_columns(list(batch[0]), FileOptions(), "The first row")
            made = [_row(position + i, mapping, columns) for i, mapping in enumerate(batch)]
            position += len(batch)
            yield from self.score_window(made).scores

    def score_frame(self, frame):
        """A copy of a pandas DataFrame with the output columns of `nli-faith score` behind its own.

        Raises:
            InputError: no answer or contexts column, or a column that carries an output column's name.
        """
        from nli_faith.frames import score_frame

        return score_frame(self, frame)

    def score_window(self, rows: Sequence[Row]) -> WindowResult:
        """Scores of some rows, in order, and what they cost. All rows share one queue of pairs."""
        with self._lock:
            counts = Counts()
            drafts = [self._draft(row, counts) for row in rows]
            premises, hypotheses = Pool(), Pool()
            self._read_texts(drafts, premises, hypotheses)
            ready = [draft for draft in drafts if draft.status == "scored"]
            numbers = [np.array([n for parts in draft.parts for n in parts], dtype=np.int64) for draft in ready]
            sides = [(own, draft.premises) for own, draft in zip(numbers, ready)]
            pairs = cross(sides, premises, hypotheses, self.reader.encoder.specials)
            counts.pairs += len(pairs.slot)
            p = self.reader.probabilities(pairs.table, premises.ids, hypotheses.ids, counts)
            decided = self._decide(ready, numbers, pairs, p, hypotheses)
            return WindowResult(tuple(self._finish(draft, decided.get(id(draft))) for draft in drafts), counts)

    def _draft(self, row: Row, counts: Counts) -> _Draft:
        """The units of the row and the state it is in before any pair is scored."""
        if row.error is not None:
            return _Draft(row, status="error", error=row.error)
        if row.answer is None or not row.answer.strip():
            return _Draft(row, status="empty_answer")
        counts.unmeasured_language += unmeasured(row.answer)
        question = row.question if row.question and self._is_short(row.question) else None
        units = split_claims(row.answer, question, self.score_options.granularity)
        draft = _Draft(row, units, claims=[i for i, unit in enumerate(units) if unit.kind == CLAIM])
        if not units:
            draft.status = "empty_answer"
        elif not draft.claims:
            draft.status = "no_claims"
        elif not any(chunk.strip() for chunk in row.chunks):
            draft.status = "no_context"
        return draft

    def _is_short(self, question: str) -> bool:
        """At most 64 tokens; far more characters can't be."""
        if len(question) > QUESTION_TOKENS * 32:
            return False
        return len(self.reader.encoder.encode([question])[0]) <= QUESTION_TOKENS

    @property
    def _max_length(self) -> int:
        checkpoint = getattr(self.reader, "checkpoint", None)
        return checkpoint.card.max_length if checkpoint else 512

    @property
    def window_size(self) -> int:
        """Tokens of a premise window for claims of up to 128 tokens."""
        checkpoint = getattr(self.reader, "checkpoint", None)
        room = max(1, self._max_length - self.reader.encoder.specials - CLAIM_TOKENS)
        return min(checkpoint.card.window or room, room) if checkpoint else room

    def _read_texts(self, drafts: Sequence[_Draft], premises: Pool, hypotheses: Pool) -> None:
        """Encode every distinct text once, and give the drafts their windows and hypotheses."""
        encoder, size = self.reader.encoder, self.window_size
        ready = [draft for draft in drafts if draft.status == "scored"]
        texts = list(dict.fromkeys(draft.units[i].hypothesis for draft in ready for i in draft.claims))
        wrap = self._template
        ids = dict(zip(texts, encoder.encode([wrap.replace("{}", text) for text in texts])))
        frame = len(encoder.encode([wrap.replace("{}", "")])[0]) if wrap != "{}" else 0
        chunks = list(dict.fromkeys(chunk for draft in ready for chunk in draft.row.chunks if chunk.strip()))
        cut = dict(zip(chunks, cut_chunks(chunks, size, encoder)))
        room = self._max_length - encoder.specials
        for draft in ready:
            lengths = [len(ids[draft.units[i].hypothesis]) for i in draft.claims]
            draft.parts = []
            own, own_size = cut, size
            longest = max(lengths)
            if longest > room - size and room - longest >= MIN_WINDOW:
                # A long claim has windows of its own, small enough to stand beside it.
                own_size = room - longest
                distinct = list(dict.fromkeys(chunk for chunk in draft.row.chunks if chunk.strip()))
                own = dict(zip(distinct, cut_chunks(distinct, own_size, encoder)))
            for i in draft.claims:
                text = draft.units[i].hypothesis
                pieces = [ids[text]]
                if len(ids[text]) > room - own_size:
                    parts = split_long(text, max(1, CLAIM_TOKENS - frame), encoder)
                    pieces = encoder.encode([wrap.replace("{}", part) for part in parts]) if parts else []
                if not pieces or max(len(piece) for piece in pieces) > room - own_size:
                    draft.status = "error"
                    draft.error = (
                        f"The claim at characters {draft.units[i].start} to {draft.units[i].end} of the answer has "
                        f"{len(ids[text])} tokens without a place to cut; the model reads {room - own_size} at once."
                    )
                    break
                draft.parts.append([hypotheses.add(piece) for piece in pieces])
            if draft.status == "error":
                continue
            draft.windows = [
                (chunk, window) for chunk, text in enumerate(draft.row.chunks) if text.strip() for window in own[text]
            ]
            draft.premises = np.array([premises.add(window.ids) for _, window in draft.windows], dtype=np.int64)

    @property
    def _template(self) -> str:
        checkpoint = getattr(self.reader, "checkpoint", None)
        return checkpoint.card.template.hypothesis if checkpoint else "{}"

    def _decide(
        self, ready: Sequence[_Draft], numbers: Sequence[np.ndarray], pairs: CrossPairs, p: np.ndarray, hypotheses: Pool
    ) -> dict[int, list[Decision]]:
        """Decisions of each row's claims, by the draft's identity."""
        rule = Rule(self.score_options.threshold)
        decided = {}
        for index, (draft, own) in enumerate(zip(ready, numbers)):
            slots = pairs.slot[pairs.starts[index] : pairs.starts[index + 1]]
            grid = p[slots].reshape(len(own), len(draft.windows), p.shape[-1])
            chunk = np.array([chunk for chunk, _ in draft.windows])
            ids = [window.ids for _, window in draft.windows]
            decisions = judge(grid, chunk, rule, lambda: overlap([hypotheses.ids[n] for n in own], ids))
            stream = iter(decisions)
            joined = [[next(stream) for _ in parts] for parts in draft.parts]
            decided[id(draft)] = [parts[0] if len(parts) == 1 else join_parts(parts) for parts in joined]
        return decided

    def _finish(self, draft: _Draft, decisions: Sequence[Decision] | None) -> AnswerScore:
        """The row as it is put out."""
        verdicts = [
            ClaimVerdict(
                unit.text, None if unit.hypothesis == unit.text else unit.hypothesis, unit.start, unit.end, unit.kind
            )
            for unit in draft.units
        ]
        claims = draft.claims or []
        if draft.status == "no_context":
            for i in claims:
                verdicts[i] = replace(verdicts[i], verdict="unsupported", support=0.0, exhaustive=True)
        for i, decision in zip(claims, decisions or ()):
            verdicts[i] = self._verdict(draft, verdicts[i], decision)
        counted = [verdicts[i] for i in claims] if draft.status in ("scored", "no_context") else []
        kinds = [verdict.verdict for verdict in counted]
        supported, contradicted = kinds.count("supported"), kinds.count("contradicted")
        two_class = any(verdict.p_entailment is not None and verdict.p_neutral is None for verdict in counted)
        lowest = min((verdict.support for verdict in counted), default=None)
        faithfulness = supported / len(counted) if counted else None
        if draft.status == "no_claims":
            faithfulness = self.score_options.no_claims
        return AnswerScore(
            faithfulness=faithfulness,
            faithful=None if lowest is None else lowest >= self.answer_threshold,
            status=draft.status,
            error=draft.error,
            n_units=len(verdicts),
            n_claims=len(claims),
            n_supported=supported,
            n_contradicted=None if two_class else contradicted,
            n_unsupported=kinds.count("unsupported"),
            min_support=lowest,
            claims=tuple(verdicts),
            id=draft.row.id,
        )

    @property
    def answer_threshold(self) -> float:
        """`min_support` from which an answer is called faithful."""
        checkpoint = getattr(self.reader, "checkpoint", None)
        return checkpoint.card.answer_threshold if checkpoint else 0.5

    def _verdict(self, draft: _Draft, unit: ClaimVerdict, decision: Decision) -> ClaimVerdict:
        number, window = draft.windows[decision.window]
        chunk = draft.row.chunks[number]
        start, end = quote(chunk, window.start, window.end, window.pieces, unit.hypothesis or unit.text)
        p = [float(value) for value in decision.p]
        return replace(
            unit,
            verdict=decision.verdict,
            support=decision.support,
            p_entailment=p[0],
            p_neutral=p[1] if len(p) == 3 else None,
            p_contradiction=p[2] if len(p) == 3 else None,
            conflict=decision.conflict,
            chunk=number,
            evidence=chunk[start:end],
            evidence_start=start,
            evidence_end=end,
            exhaustive=True,
        )

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


def _fake_encoder():
    """A word-level stand-in, or the bundled tokenizer where it is there, so that token counts are real."""
    from nli_faith.checkpoints import cards_folder
    from nli_faith.options import DEFAULT_MODEL
    from nli_faith.tokens import Encoder

    return Encoder.from_file(cards_folder() / DEFAULT_MODEL / "tokenizer.json")
