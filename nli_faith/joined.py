"""`--joined-evidence K`: a claim that no window supports is read once more, against its K best windows as one text.

What a claim says may stand in two chunks, half in each. The windows are chosen for the words of the claim that they
hold together, so that a copy of the first is never the second. A claim that this does not support stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nli_faith.drafts import Draft, window_size
from nli_faith.pairs import Pool, table_of
from nli_faith.scores import ENTAILMENT, Rule
from nli_faith.sentences import split_sentences
from nli_faith.tokens import Encoder
from nli_faith.types import Counts


@dataclass(slots=True)
class _Look:
    """A second look at one claim.

    Attributes:
        claim: its place in `draft.decisions`; windows: the chosen ones of the row, best first.
        premise: number of their joined text; hypotheses: of what is read against it, the parts that nothing supports.
        others: support of the parts that need no second look.
    """

    draft: Draft
    claim: int
    windows: list[int]
    premise: int
    hypotheses: list[int]
    others: list[float] = field(default_factory=list)


def look_again(
    grids: Sequence[tuple[Draft, np.ndarray]], most: int, rule: Rule, reader,
    premises: Pool, hypotheses: Pool, counts: Counts,
) -> None:  # fmt: skip
    """Replace the decisions of claims that joined windows support. All rows share one queue of pairs.

    Args:
        grids: drafts with decisions, each with its float32[h, w, C] as in `drafts.decide`.
        most: windows to join, at least 2.
    """
    looks = [look for draft, grid in grids for look in _looks(draft, grid, most, rule, reader, premises, hypotheses)]
    if not looks:
        return
    width = len(hypotheses.ids)
    keys = np.array([look.premise * width + number for look in looks for number in look.hypotheses], dtype=np.int64)
    distinct, slot = np.unique(keys, return_inverse=True)
    table = table_of(*np.divmod(distinct, width), premises, hypotheses, reader.encoder.specials)
    counts.pairs += len(keys)
    p = reader.probabilities(table, premises.ids, hypotheses.ids, counts)[slot.reshape(-1)]
    ends = np.cumsum([len(look.hypotheses) for look in looks])
    for look, read in zip(looks, np.split(p, ends[:-1])):
        if rule.supports(read).all():
            weakest = read[int(read[:, ENTAILMENT].argmin())]
            chunks = sorted({look.draft.windows[number][0] for number in look.windows})
            look.draft.decisions[look.claim] = replace(
                look.draft.decisions[look.claim],
                verdict="supported",
                support=min(float(weakest[ENTAILMENT]), *look.others, 1.0),
                window=look.windows[0],
                p=weakest,
                joined=tuple(chunks),
            )


def _looks(
    draft: Draft, grid: np.ndarray, most: int, rule: Rule, reader, premises: Pool, hypotheses: Pool
) -> list[_Look]:  # fmt: skip
    """The claims of one row that get a second look; none where there is nothing to join."""
    looks, first = [], 0
    supported = rule.supports(grid).any(axis=1)
    support = grid[..., ENTAILMENT]
    passages = _Passages(draft, reader.encoder)
    for claim, (parts, decision) in enumerate(zip(draft.parts, draft.decisions)):
        own = slice(first, first + len(parts))
        first += len(parts)
        if decision.verdict != "unsupported":
            continue
        ids = np.unique(np.concatenate([hypotheses.ids[number] for number in parts]))
        held = np.array([np.isin(ids, window.ids) for _, window in draft.windows])
        weight = np.log1p(len(held) / np.maximum(1, held.sum(axis=0)))  # as in `pairs.overlap`
        # Of the parts that need more: early exit has read all windows for these, and for the others it has not.
        missing = ~supported[own]
        chosen = choose(held, weight, support[own][missing].max(axis=0), draft.premises, most)
        if len(chosen) < 2:
            continue
        joined = passages.join(chosen, dict(zip(ids.tolist(), weight.tolist())), window_size(reader))
        number = premises.add(joined)
        asked = [part for part, more in zip(parts, missing) if more]
        others = [float(best) for best in support[own][~missing].max(axis=1)]
        looks.append(_Look(draft, claim, chosen, number, asked, others))
    return looks


def choose(held: np.ndarray, weight: np.ndarray, support: np.ndarray, premises: np.ndarray, most: int) -> list[int]:
    """Up to `most` windows, best first: each the one that adds most of the claim's words to those before it.

    Ties go to the window with more of the words in all, then to the higher P(entailment), then to the first. Windows
    with the same ids count once.

    Args:
        held: bool[w, v], which distinct ids of the claim each window holds; weight: float64[v] of these ids.
        support: float32[w], P(entailment); premises: int[w], numbers of the windows' ids.
    """
    chosen: list[int] = []
    missing = np.ones(len(weight), dtype=bool)
    whole = held @ weight
    while len(chosen) < most:
        left = np.flatnonzero(~np.isin(premises, premises[chosen]))
        if not len(left):
            break
        gain = held[left] @ (weight * missing)
        # Sums of the same weights in another order differ in the last digit, and a tie must be one.
        keys = zip(np.round(gain, 9), np.round(whole[left], 9), support[left].tolist(), (-left).tolist())
        best = -max(keys)[-1]
        chosen.append(best)
        missing &= ~held[best]
    return chosen


class _Passages:
    """The windows of one row as sentences, and the ids of some of them as one text."""

    def __init__(self, draft: Draft, encoder: Encoder) -> None:
        self._windows, self._encoder = [window for _, window in draft.windows], encoder
        self._sentences: dict[int, tuple[list[tuple[int, int]], list[np.ndarray]]] = {}
        # Where texts stand apart, the line break between two of them has no token of its own.
        self._break = np.zeros(0, dtype=np.int32) if encoder.joins else encoder.encode(["\n"])[0][:1]

    def join(self, windows: Sequence[int], weights: dict[int, float], size: int) -> np.ndarray:
        """int32 ids, at most `size`: the windows in the order of the chunks, one below the other, each cut to its share.

        Args:
            weights: of the claim's ids; what is kept of a window is the stretch of sentences that holds most of them.
        """
        room = max(0, size - (len(windows) - 1))  # for the line breaks
        shares: dict[int, int] = {}
        # What a short window leaves over goes to the longer ones.
        for left, number in zip(range(len(windows), 0, -1), sorted(windows, key=lambda w: len(self._windows[w].ids))):
            shares[number] = min(len(self._windows[number].ids), room // left)
            room -= shares[number]
        parts = [part for number in sorted(windows) for part in (self._break, self._stretch(number, shares[number], weights))]
        return np.concatenate(parts[1:])[:size]

    def _stretch(self, number: int, share: int, weights: dict[int, float]) -> np.ndarray:
        """At most `share` ids of one window; where it was cut by ids, its own and not those of its whole text."""
        window = self._windows[number]
        if len(window.ids) <= share:
            return window.ids
        if number not in self._sentences:
            spans = split_sentences(window.text)
            self._sentences[number] = spans, self._encoder.encode([window.text[a:b] for a, b in spans])
        spans, ids = self._sentences[number]
        words = [set(own.tolist()) & weights.keys() for own in ids]
        start, end = best_stretch([len(own) for own in ids], words, weights, share)
        text = window.text[spans[start][0] : spans[end - 1][1]]
        if share and end - start == 1 and len(ids[start]) > share:
            text = text[: self._encoder.offsets(text)[share - 1][1]]
        # The ids of a stretch may be one or two more than those of its sentences; a share is never exceeded.
        return self._encoder.encode([text])[0][:share]


def best_stretch(
    lengths: Sequence[int], words: Sequence[set[int]], weights: dict[int, float], share: int
) -> tuple[int, int]:  # fmt: skip
    """(first, end) of the neighbouring sentences of at most `share` tokens that hold most of the claim's ids.

    The earliest of equals. At least one sentence, which may be longer than `share` alone.

    Args:
        lengths: tokens of each sentence; words: the ids of the claim that each holds.
    """
    best, found = (-1.0, 0), (0, 1)
    for first in range(len(lengths)):
        end, used, held = first, 0, set()
        while end < len(lengths) and (end == first or used + lengths[end] <= share):
            used += lengths[end]
            held |= words[end]
            end += 1
        value = round(sum(weights[word] for word in sorted(held)), 9)
        if (value, -first) > best:
            best, found = (value, -first), (first, end)
    return found
