"""Every knob, as frozen dataclasses with units, and the fingerprint that a resumed run compares."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nli_faith.errors import UsageError
from nli_faith.types import added_claim_fields

DEFAULT_MODEL = "nli-faith-xsmall"
GRANULARITIES = ("sentence", "clause", "answer")
DTYPES = ("auto", "fp32", "bf16", "fp16")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which checkpoint reads the pairs, and where.

    Attributes:
        model: "nli-faith-xsmall" (bundled), "fake", a folder, or a Hugging Face id.
        labels: label names in the order of the checkpoint's logits, for checkpoints whose own names say nothing.
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        dtype: "auto" takes fp16 on CUDA, bf16 autocast on CPUs that have it in hardware, else fp32.
        budget: padded tokens of one batch; None takes what suits the device.
    """

    model: str = DEFAULT_MODEL
    labels: tuple[str, ...] | None = None
    device: str = "auto"
    dtype: str = "auto"
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UsageError(f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}.")
        if self.budget is not None and self.budget < 1:
            raise UsageError(f"The batch budget is {self.budget} tokens; give a whole number of at least 1.")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How an answer becomes claims and how probabilities become verdicts.

    Attributes:
        granularity: "sentence" (one unit per sentence), "clause" (a sentence with coordinated predicates is several
            units) or "answer" (the whole answer as one hypothesis).
        threshold: P(entailment) in (0, 1] from which a window supports a claim; None means argmax.
        no_claims: faithfulness of an answer without a claim (a refusal, a greeting): 1.0, 0.0 or None.
        early_exit: stop reading a claim's windows at the first that supports it; same verdicts, `support` a lower bound. What
            leaves `faithful` open is read on.
        calibration: a file of `nli-faith calibrate`, whose threshold replaces argmax (one of claims) or the model's answer
            threshold (one of answers).
        joined_evidence: an unsupported claim is read once more, against so many of its best chunks (windows, of long
            ones) as one text; at least 2, None for no second look.
        prefix_pronouns: read a claim that opens with a pronoun ("It", "They", "This") with the claim before it.
        flags: say of every claim whether a number of it is missing from its evidence, and whether a negation differs.
        strict_numbers: a claim with a number that is missing is not supported; turns `flags` on.
    """

    granularity: str = "sentence"
    threshold: float | None = None
    no_claims: float | None = 1.0
    early_exit: bool = False
    calibration: str | None = None
    joined_evidence: int | None = None
    prefix_pronouns: bool = False
    flags: bool = False
    strict_numbers: bool = False

    def __post_init__(self) -> None:
        if self.granularity not in GRANULARITIES:
            raise UsageError(f"granularity {self.granularity!r} is not one of {', '.join(GRANULARITIES)}.")
        if self.threshold is not None and not 0.0 < self.threshold <= 1.0:
            raise UsageError(f"threshold {self.threshold} is not above 0 and at most 1.")
        if self.no_claims not in (0.0, 1.0, None):
            raise UsageError(f"no_claims {self.no_claims!r} is not 1, 0 or null.")
        if self.joined_evidence is not None and self.joined_evidence < 2:
            raise UsageError(f"joined_evidence {self.joined_evidence} joins nothing; give at least 2.")
        if self.strict_numbers and self.early_exit:
            raise UsageError("strict_numbers has to see every chunk that supports a claim, and early_exit stops at the first.")
        if self.strict_numbers:
            object.__setattr__(self, "flags", True)

    @property
    def claim_fields(self) -> tuple[str, ...]:
        """Fields that these options add to the claims of the output, in order."""
        return added_claim_fields(asdict(self))


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How a file of rows is read and its scored copy is written.

    Attributes:
        question, answer, contexts, id: column names; None lets the names in the README decide.
        limit: rows to score, from the first; None means all.
        sample, seed: share of rows in (0, 1], drawn by a hash of the row's position, so the same rows at every resume.
        by: a column whose values get a mean each in the summary.
        drop_contexts: leave the contexts column out of the output.
        overwrite: begin anew although an output or unfinished work exists.
        overwrite_columns: replace input columns that carry an output column's name.
        claims_out: a second file with one row a claim.
    """

    question: str | None = None
    answer: str | None = None
    contexts: str | None = None
    id: str | None = None
    limit: int | None = None
    sample: float | None = None
    seed: int = 0
    by: str | None = None
    drop_contexts: bool = False
    overwrite: bool = False
    overwrite_columns: bool = False
    claims_out: str | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit {self.limit} leaves no rows; give a whole number of at least 1.")
        if self.sample is not None and not 0.0 < self.sample <= 1.0:
            raise UsageError(f"--sample {self.sample} is not above 0 and at most 1.")

    def fingerprint(self) -> dict:
        """The fields that change what is written; `overwrite` is a permission, not a property of the output."""
        fields = asdict(self)
        fields.pop("overwrite")
        return fields
