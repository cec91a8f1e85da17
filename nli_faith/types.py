"""The nouns that travel down the chain.

    rows -> claims -> tokens -> pairs -> batches -> model -> scores -> shards

Objects where there are few of them (rows, claims, answers), columns where there are many (pairs, tokens).
One capital letter has one meaning in the whole package: P pairs, B sequences in a batch, T tokens, L longest, C labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields

import numpy as np

CLAIM = "claim"
KINDS = (CLAIM, "question", "greeting", "refusal", "hedge", "heading", "code", "meta")
VERDICTS = ("supported", "contradicted", "unsupported")
STATUSES = ("scored", "no_claims", "no_context", "empty_answer", "error")


@dataclass(frozen=True, slots=True)
class Row:
    """One answer with what was retrieved for it.

    Attributes:
        position: 0-based place in the input, which is the identity of the row.
        answer: raw text, or None when the cell is null.
        chunks: the contexts as given, empties included, so that an index into them is an index into the input cell.
        question: raw text, or None.
        id: the user's key, carried along for messages; never checked.
        error: why the row can't be scored (an unreadable cell), else None.
    """

    position: int
    answer: str | None
    chunks: tuple[str, ...]
    question: str | None = None
    id: object = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One unit of an answer.

    Attributes:
        text: `answer[start:end]`, always.
        start, end: Unicode code points in the raw answer.
        kind: one of `KINDS`; only "claim" counts in the score.
        hypothesis: what the model reads (markup gone, lead-in or question put before a fragment); equal to `text`
            when nothing had to change.
    """

    text: str
    start: int
    end: int
    kind: str
    hypothesis: str


def _added_by(option: str):
    """A field of `ClaimVerdict` that stands in the output only when that field of `ScoreOptions` is set."""
    return field(default=None, metadata={"option": option})


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What was decided of one unit, and on which evidence. Units that are no claims have None everywhere below `kind`.

    Attributes:
        text, start, end, kind: as in `Claim`.
        hypothesis: what the model read, None when equal to `text`.
        verdict: one of `VERDICTS`.
        support: max P(entailment) over the scored windows of all chunks, in [0, 1]; a lower bound when not `exhaustive`.
        p_entailment, p_neutral, p_contradiction: of the deciding pair; neutral and contradiction are None for two-class models.
        conflict: supported by one chunk and contradicted by another; None for two-class models or when not `exhaustive`.
        chunk: index into the contexts as given, of the deciding pair.
        evidence, evidence_start, evidence_end: at most 300 characters of that chunk, with offsets into it.
        exhaustive: every window was scored.
        joined: chunks that were read as one text for a second look, when their joined text decided; None otherwise.
        numeric_mismatch, negation_mismatch: see `flags.Flags`; None for a claim that was read against nothing.
    """

    text: str
    hypothesis: str | None
    start: int
    end: int
    kind: str
    verdict: str | None = None
    support: float | None = None
    p_entailment: float | None = None
    p_neutral: float | None = None
    p_contradiction: float | None = None
    conflict: bool | None = None
    chunk: int | None = None
    evidence: str | None = None
    evidence_start: int | None = None
    evidence_end: int | None = None
    exhaustive: bool | None = None
    joined: tuple[int, ...] | None = _added_by("joined_evidence")
    numeric_mismatch: bool | None = _added_by("flags")
    negation_mismatch: bool | None = _added_by("flags")


_ADDED = {field.name: field.metadata["option"] for field in fields(ClaimVerdict) if field.metadata}


def added_claim_fields(options: Mapping[str, object]) -> tuple[str, ...]:
    """Names of the fields of `ClaimVerdict` that stand in the output because an option asks for them, in order.

    Args:
        options: the fields of `ScoreOptions` by their names, as in an identity or a manifest; absent is off.
    """
    return tuple(name for name, option in _ADDED.items() if options.get(option))


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of one row. See the README for what each state means.

    Attributes:
        faithfulness: supported / claims in [0, 1]; None for empty answers and errors.
        faithful: `min_support` reaches the model's answer threshold; None unless scored or no_context.
        status: one of `STATUSES`.
        error: one sentence, for status "error" only.
        n_units: all units; n_claims: those of kind "claim", the sum of the three verdict counts.
        n_contradicted: None for two-class models.
        min_support: the lowest `support` of the row's claims, a lower bound where one of theirs is; None without claims.
        claims: every unit of the answer, in order.
        id: the user's key.
        added: the fields of its claims that an option asked for; the others of that sort are not in `to_dict`.
    """

    faithfulness: float | None
    faithful: bool | None
    status: str
    error: str | None
    n_units: int
    n_claims: int
    n_supported: int
    n_contradicted: int | None
    n_unsupported: int
    min_support: float | None
    claims: tuple[ClaimVerdict, ...] = ()
    id: object = None
    added: tuple[str, ...] = ()

    @property
    def unsupported(self) -> list[ClaimVerdict]:
        """The claims no chunk supports: verdict "unsupported" or "contradicted"."""
        return [claim for claim in self.claims if claim.verdict in ("unsupported", "contradicted")]

    def to_dict(self) -> dict:
        """Plain Python values, ready for `json.dumps`, under the names of the output columns. `id` is left out."""
        plain = asdict(self)
        left_out = _ADDED.keys() - set(plain.pop("added"))
        plain.pop("id")
        plain["claims"] = [
            {name: value for name, value in claim.items() if name not in left_out} for claim in plain["claims"]
        ]
        return plain


@dataclass(frozen=True, slots=True)
class PairTable:
    """Distinct (window, hypothesis) pairs to be scored. Ids are looked up, not stored.

    Attributes:
        premise: int32[P], index into a list of window ids.
        hypothesis: int32[P], index into a list of hypothesis ids.
        length: int32[P], tokens with CLS and both SEP.
    """

    premise: np.ndarray
    hypothesis: np.ndarray
    length: np.ndarray

    def __len__(self) -> int:
        return len(self.length)


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """What crosses into the model: flat ids without padding; a backend that needs padding pads for itself.

    Attributes:
        token_ids: int32[T].
        starts: int32[B+1], cumulative lengths.
        pair: int32[B], the row of the pair table.
    """

    token_ids: np.ndarray
    starts: np.ndarray
    pair: np.ndarray

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        return int(np.diff(self.starts).max())


@dataclass(slots=True)
class Counts:
    """What a run did, added up window by window.

    Attributes:
        pairs: claim x window pairs; pairs_scored: distinct pairs the model read.
        truncated_pairs: pairs longer than the model holds; 0 unless something is wrong, for windows are cut to fit.
        tokens: model tokens without padding; padded_tokens: with it.
        fp32_retries: pairs scored again in float32 after non-finite logits.
        out_of_memory: times the batch budget was halved.
        unmeasured_language: rows in a language the model was not measured on.
    """

    pairs: int = 0
    pairs_scored: int = 0
    truncated_pairs: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    fp32_retries: int = 0
    out_of_memory: int = 0
    unmeasured_language: int = 0

    def add(self, other: Counts) -> None:
        """Add `other` to this one, field by field."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def read(self, pairs: int) -> None:
        """The model has read `pairs` more."""
        self.pairs_scored += pairs


class WatchedCounts(Counts):
    """Counts of a window that is being read; `watch` gets (pairs read, pairs in all) after every batch."""

    def __init__(self, watch: Callable[[int, int], None]) -> None:
        super().__init__()
        self._watch = watch

    def read(self, pairs: int) -> None:
        super().read(pairs)
        self._watch(self.pairs_scored, self.pairs)


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The scores of one window of rows, in row order, with what they cost."""

    scores: tuple[AnswerScore, ...]
    counts: Counts = field(default_factory=Counts)
