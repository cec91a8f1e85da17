"""The two flags of a claim: a number that no passage behind it states, and a negation that its passage lacks or has.

They read texts, not probabilities, and change no verdict unless `strict_numbers` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nli_faith.negation import negation_mismatch
from nli_faith.numbers import missing_numbers
from nli_faith.statements import chunk_statement, claim_statement
from nli_faith.types import Claim, ClaimVerdict


@dataclass(frozen=True, slots=True)
class Flags:
    """What stands against a claim.

    Attributes:
        numeric_mismatch: a number, date, time or amount of the claim stands in no chunk that supports it (in no chunk at
            all, where none does); None where a chunk that was not read might state it.
        negation_mismatch: the deciding passage says nearly the same with a negation more or less.
        strict_support: support of a claim with a numeric mismatch under `strict_numbers`.
    """

    numeric_mismatch: bool | None
    negation_mismatch: bool
    strict_support: float = 0.0


def flag_claim(
    claim: Claim, chunks: Sequence[str], behind: Sequence[int], sentences: Sequence[str], exhaustive: bool, rest: float
) -> Flags:
    """The flags of one claim.

    Args:
        claim: a unit of the answer; what the model reads before it is not its own.
        chunks: of the row; behind: those that may state its numbers, see `chunks_behind`.
        sentences: of the deciding window.
        exhaustive: every window was read.
        rest: the most P(entailment) among windows that do not support the claim, 0 where all do.
    """
    said = claim_statement(claim.text, claim.hypothesis)
    stated = [chunk_statement(chunk) for chunk in chunks]
    negated = negation_mismatch(said, sentences)
    if not missing_numbers(said, [stated[i] for i in behind]):
        return Flags(False, negated)
    nowhere = len(behind) == len(chunks) or missing_numbers(said, stated)
    return Flags(True if exhaustive else None, negated, 0.0 if nowhere else rest)


def chunks_behind(supports: np.ndarray, chunk: np.ndarray) -> list[int]:
    """The chunks that may state a claim's numbers, in order: those with a window that supports it, or else all.

    Were it the one with the deciding window, an irrelevant chunk that decides by a hair could take the support away.

    Args:
        supports: bool[h, w] of the claim's hypotheses against the row's windows.
        chunk: int[w], chunk of each window.
    """
    found = supports.any(axis=0)
    return np.unique(chunk[found] if found.any() else chunk).tolist()


def apply_flags(verdict: ClaimVerdict, flags: Flags, strict_numbers: bool) -> ClaimVerdict:
    """The verdict with its flags.

    With `strict_numbers` a chunk that does not state the claim's numbers can't support it: "supported" becomes "unsupported",
    there is no conflict, and `support` is 0 where no chunk at all states them, else that of the windows which did not support
    the claim anyway. So one more chunk never lowers it. `p_*`, `chunk` and the evidence stay those of the pair that decided,
    which is what the model said.
    """
    flagged = replace(verdict, numeric_mismatch=flags.numeric_mismatch, negation_mismatch=flags.negation_mismatch)
    if not (strict_numbers and flags.numeric_mismatch):
        return flagged
    said = "unsupported" if verdict.verdict == "supported" else verdict.verdict
    return replace(flagged, verdict=said, support=flags.strict_support, conflict=None if verdict.conflict is None else False)
