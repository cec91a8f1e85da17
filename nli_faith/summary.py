"""The numbers of a run: added up window by window, kept with every part, so that a resumed run tells the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from nli_faith.json_text import to_json
from nli_faith.types import AnswerScore, Counts

GROUPS_SHOWN = 1000
GROUPS_COUNTED = 10_000  # values of --by beyond these are not counted: a column of ids would fill the memory


@dataclass(slots=True)
class Tally:
    """Counts and sums over rows; `mean` rows are scored or no_context, `valued` rows have a faithfulness."""

    rows: int = 0
    scored: int = 0
    no_claims: int = 0
    no_context: int = 0
    empty_answer: int = 0
    error: int = 0
    mean_rows: int = 0
    mean_sum: float = 0.0
    valued_rows: int = 0
    valued_sum: float = 0.0
    claims: int = 0
    supported: int = 0
    contradicted: int = 0
    unsupported: int = 0
    two_class_rows: int = 0
    micro_claims: int = 0
    micro_supported: int = 0

    def count(self, score: AnswerScore) -> None:
        """Add one row."""
        self.rows += 1
        setattr(self, score.status, getattr(self, score.status) + 1)
        self.claims += score.n_claims
        self.supported += score.n_supported
        self.unsupported += score.n_unsupported
        self.contradicted += score.n_contradicted or 0
        self.two_class_rows += score.n_contradicted is None and score.n_claims > 0
        if score.faithfulness is not None:
            self.valued_rows += 1
            self.valued_sum += float(score.faithfulness)
            if score.status in ("scored", "no_context"):
                self.mean_rows += 1
                self.mean_sum += float(score.faithfulness)
                self.micro_claims += score.n_claims
                self.micro_supported += score.n_supported

    def add(self, other: Tally) -> None:
        """Add `other`, field by field."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def numbers(self) -> dict:
        """The fields of the summary; a mean over nothing is None, and so is `contradicted` of two-class models."""
        return {
            "rows": self.rows,
            "scored": self.scored,
            "no_claims": self.no_claims,
            "no_context": self.no_context,
            "empty_answer": self.empty_answer,
            "error": self.error,
            "mean_faithfulness": _ratio(self.mean_sum, self.mean_rows),
            "mean_all": _ratio(self.valued_sum, self.valued_rows),
            "micro_faithfulness": _ratio(self.micro_supported, self.micro_claims),
            "claims": self.claims,
            "supported": self.supported,
            "contradicted": None if self.two_class_rows else self.contradicted,
            "unsupported": self.unsupported,
        }


@dataclass(slots=True)
class Statistics:
    """What one part, or a whole run, did.

    Attributes:
        tally: over all rows; groups: per value of the column `--by` names.
        counts: of the model's work.
        seconds: wall time, reading and writing included; only the time that led to finished parts.
    """

    tally: Tally = field(default_factory=Tally)
    groups: dict[str, Tally] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0

    def count(self, scores: Sequence[AnswerScore], values: Sequence | None) -> None:
        """Add the rows of one window; `values` are the cells of the `--by` column."""
        for score in scores:
            self.tally.count(score)
        if values is not None:
            for value, score in zip(values, scores, strict=True):
                self.groups.setdefault(_label(value), Tally()).count(score)

    def add(self, other: Statistics) -> None:
        """Add `other`; in the order of the parts, so that sums of floats come out the same.

        Groups stop at `GROUPS_COUNTED`: those that were there first go on, new ones are not counted.
        """
        self.tally.add(other.tally)
        for label, tally in other.groups.items():
            if label in self.groups or len(self.groups) < GROUPS_COUNTED:
                self.groups.setdefault(label, Tally()).add(tally)
        self.counts.add(other.counts)
        self.seconds += other.seconds

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: dict) -> Statistics:
        groups = {label: Tally(**tally) for label, tally in saved["groups"].items()}
        return cls(Tally(**saved["tally"]), groups, Counts(**saved["counts"]), saved["seconds"])


def make_summary(whole: Statistics, identity: dict, by: str | None = None) -> dict:
    """The JSON object of a run: what `--json` prints and `<OUT>.summary.json` holds.

    Args:
        identity: of the scorer; `model`, `device`, `dtype` and `kernel` are quoted.
    """
    counts, seconds = whole.counts, whole.seconds
    options = identity.get("options") or {}
    summary = whole.tally.numbers() | {
        "pairs": counts.pairs,
        "pairs_scored": counts.pairs_scored,
        "truncated_pairs": counts.truncated_pairs,
        "padding": 1 - counts.tokens / counts.padded_tokens if counts.padded_tokens else 0.0,
        "seconds": round(seconds, 3),
        "answers_per_second": round(whole.tally.rows / seconds, 3) if seconds else None,
        "pairs_per_second": round(counts.pairs / seconds, 3) if seconds else None,
        "model": identity.get("model"),
        "device": identity.get("device"),
        "dtype": identity.get("dtype"),
        "attention": identity.get("attention", identity.get("kernel")),
        # What a threshold found on this run holds for; CSV and JSONL have no footer that would say it.
        "model_hash": identity.get("model_hash"),
        "window": identity.get("window"),
        "granularity": options.get("granularity"),
        "labels": identity.get("labels"),
        "joined_evidence": options.get("joined_evidence"),
        "prefix_pronouns": options.get("prefix_pronouns", False),
        "strict_numbers": options.get("strict_numbers", False),
        "claim_rule": claim_rule(options),
        "fp32_retries": counts.fp32_retries,
        "out_of_memory": counts.out_of_memory,
        "unmeasured_language": counts.unmeasured_language,
    }
    if by is not None:
        # The largest groups by rows; ties keep the order of their first row.
        ordered = sorted(whole.groups.items(), key=lambda item: -item[1].rows)
        shown = ordered[:GROUPS_SHOWN]
        summary["by"] = {
            "column": by,
            "groups": {label: tally.numbers() for label, tally in shown},
            "groups_left_out": len(ordered) - len(shown),
            "rows_left_out": whole.tally.rows - sum(tally.rows for _, tally in shown),
        }
    return summary


def claim_rule(options: Mapping) -> float | str | None:
    """P(entailment) from which a window supports a claim, or "argmax"; None when the options do not say.

    Args:
        options: of a scorer's identity; `calibration` is None, its path, or its identity.
    """
    calibration = options.get("calibration")
    if isinstance(calibration, Mapping) and calibration.get("level") == "claim":
        return calibration["threshold"]
    if "threshold" not in options:
        return None
    return "argmax" if options["threshold"] is None else options["threshold"]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _label(value: object) -> str:
    return value if isinstance(value, str) else to_json(value)
