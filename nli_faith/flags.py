"""The two flags of a claim: a number that no passage behind it states, and a negation that its passage lacks or has.

They read texts, not probabilities, and change no verdict unless `strict_numbers` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nli_faith.negation import negation_mismatch
from nli_faith.numbers import missing_numbers
from nli_faith.types import ClaimVerdict


@dataclass(frozen=True, slots=True)
class Flags:
    """What stands against a claim.

    Attributes:
        numeric_mismatch: a number, date, time or amount of the claim stands in no chunk that supports it (in the deciding
            chunk, where none does); None where a chunk that was not read might state it.
        negation_mismatch: the deciding passage says nearly the same with a negation more or less.
    """

    numeric_mismatch: bool | None
    negation_mismatch: bool


def flag_claim(claim: str, chunks: Sequence[str], sentences: Sequence[str], exhaustive: bool) -> Flags:
    """The flags of one claim.

    Args:
        claim: as it stands in the answer.
        chunks: those that support it, or else the one that decided; sentences: of the deciding window.
        exhaustive: every window was read.
    """
    missing = bool(missing_numbers(claim, chunks))
    return Flags(None if missing and not exhaustive else missing, negation_mismatch(claim, sentences))


def supporting_chunks(supports: np.ndarray, window: int, chunk: np.ndarray) -> list[int]:
    """The chunks behind a claim, in order: those with a window that supports it, or else the one that decided.

    Args:
        supports: bool[h, w] of the claim's hypotheses against the row's windows; window: the deciding one.
        chunk: int[w], chunk of each window.
    """
    found = np.unique(chunk[supports.any(axis=0)]).tolist()
    return found or [int(chunk[window])]


def apply_flags(verdict: ClaimVerdict, flags: Flags, strict_numbers: bool) -> ClaimVerdict:
    """The verdict with its flags.

    With `strict_numbers` a chunk that does not state the claim's numbers can't support it: `support` of a claim with a numeric
    mismatch is 0, so that `min_support` and `faithful` follow, "supported" becomes "unsupported" and there is no conflict.
    `p_*`, `chunk` and the evidence stay those of the pair that decided, which is what the model said.
    """
    flagged = replace(verdict, numeric_mismatch=flags.numeric_mismatch, negation_mismatch=flags.negation_mismatch)
    if not (strict_numbers and flags.numeric_mismatch):
        return flagged
    said = "unsupported" if verdict.verdict == "supported" else verdict.verdict
    return replace(flagged, verdict=said, support=0.0, conflict=None if verdict.conflict is None else False)
