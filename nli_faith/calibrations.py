"""The stored file of a calibration: a threshold found on somebody's own labels, and what it holds for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from nli_faith.errors import InputError, UsageError
from nli_faith.shards import put

FORMAT = "nli-faith calibration 1"


@dataclass(frozen=True)
class Calibration:
    """A threshold and the labels behind it.

    Attributes:
        level: "row" (the answer threshold behind `faithful`) or "claim" (P(entailment) that replaces argmax).
        threshold: in (0, 1]; a row or claim below it is flagged.
        aim: what was asked for: {"name": "target_precision", "value": 0.9}, or "max_f1" or "balanced" with None.
        n, unfaithful: labels that the threshold decides, and those of them that say unfaithful.
        figures: name -> [value, low, high], cross-fitted; see `calibrate.measure`.
        states: status -> [faithful, unfaithful] labels; row level only, for the errors that a route leads to.
        curve: "support", "n", "unfaithful": the labels in steps of rising support.
        date: ISO day; labels: where they came from; left_out: rows without a label, or that no threshold decides.
        model, model_hash, window, granularity: of the run that scored the labels.
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

    def save(self, path: str | Path) -> None:
        """Write the file; it appears whole."""
        text = json.dumps({"format": FORMAT} | asdict(self), indent=1, ensure_ascii=False) + "\n"
        put(Path(path), lambda fresh: fresh.write_text(text, encoding="utf-8"))

    def identity(self) -> dict:
        """What a manifest and a footer say of it: enough to see a change, no path of a machine."""
        content = json.dumps(asdict(self), sort_keys=True)
        kept = {name: getattr(self, name) for name in ("level", "threshold", "aim", "n", "date")}
        return kept | {"hash": hashlib.sha256(content.encode()).hexdigest()[:16]}

    def check(self, model_hash: str, window: int | None, granularity: str | None, what: str = "This run") -> None:
        """InputError when the supports it was found on are not those of a run with this model, window and granularity."""
        pairs = {"model hash": (self.model_hash, model_hash), "window": (self.window, window),
                 "granularity": (self.granularity, granularity)}  # fmt: skip
        for name, (ours, theirs) in pairs.items():
            if ours != theirs:
                raise InputError(
                    f"The calibration holds for another {name}: its labels were scored with {ours}, {what.lower()} "
                    f"has {theirs}. Score the labels the same way and run `nli-faith calibrate` on them again."
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
    names = [field.name for field in fields(Calibration)]
    if not isinstance(stored, dict) or stored.get("format") != FORMAT or any(name not in stored for name in names):
        raise InputError(f"{path} is no calibration of this version. Make one with `nli-faith calibrate LABELS -o FILE`.")
    made = Calibration(**{name: stored[name] for name in names})
    whole = isinstance(made.threshold, (int, float)) and 0.0 < made.threshold <= 1.0 and made.level in ("row", "claim")
    if not whole:
        raise InputError(f"{path} holds level {made.level!r} and threshold {made.threshold!r}, which can't be. Make it anew.")
    return made


def check_alone(calibration: Calibration | None, threshold: float | None) -> None:
    """UsageError when two rules for claims are asked for at once."""
    if calibration is not None and calibration.level == "claim" and threshold is not None:
        raise UsageError("--threshold and a calibration of claims can't both set the rule for claims. Give one of them.")
