"""The stored file of a calibration: a threshold found on somebody's own labels, and what it holds for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path

from nli_faith.disk import put
from nli_faith.errors import InputError, UsageError
from nli_faith.summary import claim_rule

FORMAT = "nli-faith calibration 1"


@dataclass(frozen=True, slots=True)
class Run:
    """What fixes the supports of a run, and so what a threshold that was found on them holds for.

    Attributes:
        model: its name, which decides nothing; model_hash: its content.
        labels: names of its outputs, in order; None when it has none, or in a file that was written without them.
        window, granularity, joined_evidence, prefix_pronouns, strict_numbers: see the README.
        claim_rule: what `summary.claim_rule` says; None in a file that was written without it.
    """

    model: str | None
    model_hash: str
    window: int | None
    granularity: str | None
    labels: list[str] | None = None
    joined_evidence: int | None = None
    prefix_pronouns: bool = False
    strict_numbers: bool = False
    claim_rule: float | str | None = None

    @classmethod
    def read(cls, made: Mapping, options: Mapping) -> Run:
        """From a summary (`options` are in it too) or a scorer's identity; what neither says has its default.

        Raises:
            KeyError: no hash of a model.
        """
        found = {name: options[name] for name in ("granularity", *_OPTIONS) if options.get(name) is not None}
        rule = options["claim_rule"] if "claim_rule" in options else claim_rule(options)
        return cls(made.get("model"), made["model_hash"], made.get("window"), found.pop("granularity", None),
                   made.get("labels"), claim_rule=rule, **found)  # fmt: skip

    def difference(self, other: Run) -> tuple[str, object, object] | None:
        """(what, here, there) of the first thing for which supports of both can't be compared, or None."""
        for name, what in _COMPARED.items():
            ours, theirs = getattr(self, name), getattr(other, name)
            unknown = name in ("labels", "claim_rule") and None in (ours, theirs)
            # Only these two options read an unsupported claim again, or take its support away.
            no_matter = name == "claim_rule" and not self.strict_numbers and self.joined_evidence is None
            if ours != theirs and not unknown and not no_matter:
                return what, ours, theirs
        return None


_OPTIONS = ("joined_evidence", "prefix_pronouns", "strict_numbers")
_COMPARED = {
    "model_hash": "model hash", "window": "window", "granularity": "granularity", "labels": "order of labels",
    "joined_evidence": "--joined-evidence", "prefix_pronouns": "--prefix-pronouns", "strict_numbers": "--strict-numbers",
    "claim_rule": "rule for claims",
}  # fmt: skip


@dataclass(frozen=True)
class Calibration:
    """A threshold and the labels behind it.

    Attributes:
        level: "row" (the answer threshold behind `faithful`) or "claim" (P(entailment) that replaces argmax).
        threshold: in (0, 1]; a row or claim below it is flagged.
        aim: what was asked for: {"name": "target_precision", "value": 0.9}, or "max_f1" or "balanced" with None.
        n, unfaithful: labels that the threshold decides, and those of them that say unfaithful.
        figures: name -> [value, low, high] or None, cross-fitted; see `figures.measure`.
        states: status -> [faithful, unfaithful] labels; row level only, for the errors that a route leads to.
        curve: "support", "n", "unfaithful": the labels in steps of rising support.
        margins: "margin", "n", "unfaithful": the same by `cuts.margins` from the threshold of the other labels, for errors
            that are not those of the labels it was chosen on; None at claim level and in a file written without it.
        parts: "all" of cross-fitting, and those "without" a threshold; None in a file written without it.
        date: ISO day; labels: where they came from, how they were read, and warnings; left_out: rows without a label, or
            that no threshold decides.
        model, model_hash, window, granularity, joined_evidence, prefix_pronouns, strict_numbers, claim_rule: of the run
            that scored the labels; output_labels: its `Run.labels`. A file that was written without one of them means the
            default, or of `output_labels` and `claim_rule` that they are not known.
    """

    level: str
    threshold: float
    aim: dict
    n: int
    unfaithful: int
    figures: dict[str, list[float]]
    states: dict[str, list[int]]
    curve: dict[str, list]
    date: str
    labels: dict
    left_out: dict[str, int]
    model: str | None
    model_hash: str
    window: int | None
    granularity: str | None
    nli_faith: str
    output_labels: list[str] | None = None
    joined_evidence: int | None = None
    prefix_pronouns: bool = False
    strict_numbers: bool = False
    claim_rule: float | str | None = None
    margins: dict[str, list] | None = None
    parts: dict[str, int] | None = None

    @property
    def run(self) -> Run:
        """The run that scored the labels."""
        return Run(self.model, self.model_hash, self.window, self.granularity, self.output_labels,
                   self.joined_evidence, self.prefix_pronouns, self.strict_numbers, self.claim_rule)  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the file; it appears whole."""
        text = json.dumps({"format": FORMAT} | asdict(self), indent=1, ensure_ascii=False) + "\n"
        put(Path(path), lambda fresh: fresh.write_text(text, encoding="utf-8"))

    def identity(self) -> dict:
        """What a manifest and a footer say of it: enough to see a change, no path of a machine."""
        content = json.dumps(asdict(self), sort_keys=True)
        kept = {name: getattr(self, name) for name in ("level", "threshold", "aim", "n", "date")}
        return kept | {"hash": hashlib.sha256(content.encode()).hexdigest()[:16]}

    def check(self, run: Run, what: str = "this run") -> None:
        """InputError when the supports it was found on are not those of `run`."""
        # A calibration of claims is the rule of the run that it is used for.
        ours = self.run if self.level == "row" else replace(self.run, claim_rule=None)
        different = ours.difference(run)
        if different is not None:
            name, ours, theirs = different
            raise InputError(
                f"The calibration holds for another {name}: its labels were scored with {said(ours)}, {what} has "
                f"{said(theirs)}. Score the labels the same way and run `nli-faith calibrate` on them again."
            )


def load_calibration(path: str | Path) -> Calibration:
    """Read what `save` wrote.

    Raises:
        InputError: it can't be read, is something else, or holds a threshold outside its range.
    """
    try:
        stored = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(f"The calibration {path} can't be read: {error.strerror or error}. Check the path.") from None
    except ValueError as error:
        raise InputError(f"The calibration {path} is not valid JSON: {error}. Make it anew.") from None
    needed = [field.name for field in fields(Calibration) if field.default is MISSING]
    if not isinstance(stored, dict) or stored.get("format") != FORMAT or any(name not in stored for name in needed):
        raise InputError(f"{path} is no calibration of this version. Make one with `nli-faith calibrate LABELS -o FILE`.")
    made = Calibration(**{field.name: stored[field.name] for field in fields(Calibration) if field.name in stored})
    whole = isinstance(made.threshold, (int, float)) and 0.0 < made.threshold <= 1.0 and made.level in ("row", "claim")
    whole = whole and _is_curve(made.curve, "support") and (made.margins is None or _is_curve(made.margins, "margin"))
    whole = whole and isinstance(made.states, dict) and all(map(_is_pair, made.states.values()))
    if not whole:
        raise InputError(
            f"{path} holds level {made.level!r} and threshold {made.threshold!r}, or counts of labels, which can't be. "
            "Make it anew with `nli-faith calibrate`."
        )
    return made


def _is_curve(curve: object, of: str) -> bool:
    columns = [curve.get(name) for name in (of, "n", "unfaithful")] if isinstance(curve, dict) else [None]
    numbers = all(isinstance(column, list) and all(isinstance(x, (int, float)) for x in column) for column in columns)
    return numbers and len(set(map(len, columns))) == 1


def _is_pair(counts: object) -> bool:
    return isinstance(counts, list) and len(counts) == 2 and all(isinstance(count, int) for count in counts)


def said(value: object) -> object:
    """A value of an option for people: "off" for what is not asked for."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return "off" if value in (None, False) else "on" if value is True else value


def check_alone(calibration: Calibration | None, threshold: float | None) -> None:
    """UsageError when two rules for claims are asked for at once."""
    if calibration is not None and calibration.level == "claim" and threshold is not None:
        raise UsageError("--threshold and a calibration of claims can't both set the rule for claims. Give one of them.")
