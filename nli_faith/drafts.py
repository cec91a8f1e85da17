"""A row on its way from text to score: the steps of `pipeline.py`, one function each."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from nli_faith.claims import split_claims
from nli_faith.evidence import Passages
from nli_faith.flags import Flags, apply_flags, chunks_behind, flag_claim
from nli_faith.language import unmeasured
from nli_faith.long_claims import split_long
from nli_faith.options import ScoreOptions
from nli_faith.pairs import Pool, overlap
from nli_faith.scores import ENTAILMENT, Decision, Rule, join_parts, judge
from nli_faith.types import CLAIM, AnswerScore, Claim, ClaimVerdict, Counts, Row
from nli_faith.windows import CLAIM_TOKENS, Window, cut_chunks, has_text

QUESTION_TOKENS = 64


@dataclass(slots=True)
class Draft:
    """A row, its units, and what is known of it so far.

    Attributes:
        claims: positions in `units` of those that count.
        parts: hypothesis numbers of each claim; more than one for a claim that is read in parts.
        windows: (chunk, window) in the order of the chunks; premises: numbers of their ids, int64[w].
        decisions: one for each claim, once the pairs are scored; flags: likewise, where they are asked for.
        passages: what is quoted, by window.
    """

    row: Row
    units: tuple[Claim, ...] = ()
    status: str = "scored"
    error: str | None = None
    claims: list[int] = field(default_factory=list)
    parts: list[list[int]] = field(default_factory=list)
    windows: list[tuple[int, Window]] = field(default_factory=list)
    premises: np.ndarray | None = None
    decisions: list[Decision] = field(default_factory=list)
    flags: list[Flags] = field(default_factory=list)
    passages: dict[int, Passages] = field(default_factory=dict)

    @property
    def hypotheses(self) -> np.ndarray:
        """int64[h], the hypothesis numbers of all parts of all claims."""
        return np.array([number for parts in self.parts for number in parts], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class WindowRead:
    """Some rows as the model reads them, before anything is decided.

    Attributes:
        drafts: one for each row, in order.
        premises, hypotheses: the ids that the numbers in the drafts point to.
        grids: (draft, float32[h, w, C]) of those with the status "scored": every hypothesis against every window; zeros
            where early exit read nothing.
        counts: what it cost.
    """

    drafts: list[Draft]
    premises: Pool
    hypotheses: Pool
    grids: list[tuple[Draft, np.ndarray]]
    counts: Counts


def window_size(reader) -> int:
    """Tokens of a premise window for claims of up to 128 tokens: what fits, or less where the model's card says so."""
    room = max(1, reader.card.max_length - reader.encoder.specials - CLAIM_TOKENS)
    return min(reader.card.window or room, room)


def draft_row(row: Row, granularity: str, short: Set[str], counts: Counts, prefix_pronouns: bool = False) -> Draft:
    """The units of the row and the state it is in before any pair is scored.

    Args:
        short: the questions that may be read before a fragment; see `short_questions`.
    """
    if row.error is not None:
        return Draft(row, status="error", error=row.error)
    if row.answer is None or not has_text(row.answer):
        return Draft(row, status="empty_answer")
    counts.unmeasured_language += unmeasured(row.answer)
    question = row.question if row.question in short else None
    units = split_claims(row.answer, question, granularity, prefix_pronouns)
    draft = Draft(row, units, claims=[i for i, unit in enumerate(units) if unit.kind == CLAIM])
    if not units:
        draft.status = "empty_answer"
    elif not draft.claims:
        draft.status = "no_claims"
    elif not any(has_text(chunk) for chunk in row.chunks):
        draft.status = "no_context"
    return draft


def short_questions(rows: Sequence[Row], reader) -> set[str]:
    """The questions of at most 64 tokens; far more characters can't be so few."""
    asked = {row.question for row in rows if row.question and len(row.question) <= QUESTION_TOKENS * 32}
    ordered = sorted(asked)
    return {text for text, ids in zip(ordered, reader.encoder.encode(ordered)) if len(ids) <= QUESTION_TOKENS}


def read_texts(drafts: Sequence[Draft], reader, premises: Pool, hypotheses: Pool) -> None:
    """Encode every distinct text once, and give the drafts that are to be scored their windows and hypotheses."""
    size = window_size(reader)
    ready = [draft for draft in drafts if draft.status == "scored"]
    texts = list(dict.fromkeys(draft.units[i].hypothesis for draft in ready for i in draft.claims))
    ids = dict(zip(texts, _encode_hypotheses(texts, reader)))
    cut = _cut([draft.row for draft in ready], size, reader)
    room = reader.card.max_length - reader.encoder.specials
    for draft in ready:
        for i in draft.claims:
            pieces = _pieces(draft.units[i].hypothesis, ids, room - size, reader)
            if not pieces:
                unit = draft.units[i]
                draft.status = "error"
                draft.error = (
                    f"The claim at characters {unit.start} to {unit.end} of the answer has {len(ids[unit.hypothesis])} tokens "
                    f"without a place to cut; the model reads {room - size} at once."
                )
                break
            draft.parts.append([hypotheses.add(piece) for piece in pieces])
        if draft.status == "scored":
            draft.windows = [
                (chunk, window) for chunk, text in enumerate(draft.row.chunks) for window in cut[text]
            ]
            draft.premises = np.array([premises.add(window.ids) for _, window in draft.windows], dtype=np.int64)


def _encode_hypotheses(texts: Sequence[str], reader) -> list[np.ndarray]:
    return reader.encoder.encode([reader.card.template.hypothesis.replace("{}", text) for text in texts])


def _cut(rows: Sequence[Row], size: int, reader) -> dict[str, tuple[Window, ...]]:
    """Windows of every distinct chunk."""
    chunks = list(dict.fromkeys(chunk for row in rows for chunk in row.chunks))
    return dict(zip(chunks, cut_chunks(chunks, size, reader.encoder)))


def _pieces(text: str, ids: dict[str, np.ndarray], limit: int, reader) -> list[np.ndarray]:
    """Ids of the hypothesis, or of the parts it is read in when it is longer than `limit`; empty where it can't be cut."""
    if len(ids[text]) <= limit:
        return [ids[text]]
    frame = len(_encode_hypotheses([""], reader)[0])
    pieces = _encode_hypotheses(split_long(text, max(1, CLAIM_TOKENS - frame), reader.encoder), reader)
    return pieces if pieces and max(len(piece) for piece in pieces) <= limit else []


def decide(draft: Draft, grid: np.ndarray, rule: Rule, hypotheses: Pool) -> list[Decision]:
    """One decision for each claim.

    Args:
        grid: float32[h, w, C], every hypothesis of the row against every window.
    """
    chunk = np.array([chunk for chunk, _ in draft.windows])
    windows = [window.ids for _, window in draft.windows]
    own = draft.hypotheses
    decisions = iter(judge(grid, chunk, rule, lambda: overlap([hypotheses.ids[number] for number in own], windows)))
    joined = [[next(decisions) for _ in parts] for parts in draft.parts]
    return [parts[0] if len(parts) == 1 else join_parts(parts) for parts in joined]


def flag_claims(draft: Draft, grid: np.ndarray, rule: Rule) -> list[Flags]:
    """The flags of each claim, once there are decisions. Arguments as in `decide`."""
    chunk = np.array([chunk for chunk, _ in draft.windows])
    supports, flags, first = rule.supports(grid), [], 0
    for i, parts, decision in zip(draft.claims, draft.parts, draft.decisions):
        own = slice(first, first + len(parts))
        first += len(parts)
        behind = decision.joined or chunks_behind(supports[own], chunk)
        sentences = _passages(draft, decision.window).sentences
        rest = float(np.where(supports[own], 0, grid[own, :, ENTAILMENT]).max(axis=1).min())
        flags.append(flag_claim(draft.units[i], draft.row.chunks, behind, sentences, decision.exhaustive, rest))
    return flags


def finish(draft: Draft, options: ScoreOptions, reader, answer_threshold: float) -> AnswerScore:
    """The row as it is put out; `answer_threshold` is the `min_support` from which it is called faithful.

    With early exit `min_support` is a lower bound, and the waves read until it lies on the right side of that threshold.
    """
    verdicts = [
        ClaimVerdict(unit.text, None if unit.hypothesis == unit.text else unit.hypothesis, unit.start, unit.end, unit.kind)
        for unit in draft.units
    ]
    if draft.status == "no_context":
        for i in draft.claims:
            verdicts[i] = replace(verdicts[i], verdict="unsupported", support=0.0, exhaustive=True)
    for i, decision in zip(draft.claims, draft.decisions):
        verdicts[i] = _verdict(draft, verdicts[i], decision)
    for i, flags in zip(draft.claims, draft.flags):
        verdicts[i] = apply_flags(verdicts[i], flags, options.strict_numbers)
    counted = [verdicts[i] for i in draft.claims] if draft.status in ("scored", "no_context") else []
    kinds = [verdict.verdict for verdict in counted]
    lowest = min((verdict.support for verdict in counted), default=None)
    faithfulness = kinds.count("supported") / len(counted) if counted else None
    return AnswerScore(
        faithfulness=options.no_claims if draft.status == "no_claims" else faithfulness,
        faithful=None if lowest is None else lowest >= answer_threshold,
        status=draft.status,
        error=draft.error,
        n_units=len(verdicts),
        n_claims=len(counted),
        n_supported=kinds.count("supported"),
        n_contradicted=None if reader.classes == 2 else kinds.count("contradicted"),
        n_unsupported=kinds.count("unsupported"),
        min_support=lowest,
        claims=tuple(verdicts),
        id=draft.row.id,
        added=options.claim_fields,
    )


def _passages(draft: Draft, number: int) -> Passages:
    if number not in draft.passages:
        chunk, window = draft.windows[number]
        draft.passages[number] = Passages(draft.row.chunks[chunk], window.start, window.end, window.pieces)
    return draft.passages[number]


def _verdict(draft: Draft, unit: ClaimVerdict, decision: Decision) -> ClaimVerdict:
    number, window = draft.windows[decision.window]
    chunk = draft.row.chunks[number]
    start, end = _passages(draft, decision.window).quote(unit.hypothesis or unit.text)
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
        exhaustive=decision.exhaustive,
        joined=decision.joined,
    )
