"""What a record says of its answer: labels and spans of people, and the stored verdicts of judges and detectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from training_data import find, fraction, read_jsonl

PEOPLE = "people"
BEST = "people, best label"
LLM_JUDGES = ("gpt-4o", "gpt-4-turbo", "gpt-3.5-turbo", "o3-mini-high")
DETECTOR_THRESHOLD = 0.5  # of stored scores, as HHEM's authors set it
FEWEST = 20  # verdicts on which a figure is given
# FaithBench's labels, and those of its spans, that make an answer unfaithful.
_UNFAITHFUL = ("Questionable", "Unwanted")
_HARMLESS = ("Benign", "Unlabelled")


def sets_in(data: Path) -> list[str]:
    """Names of the sets in `data/eval`: what stands before `.dev.jsonl(.gz)`."""
    return sorted({path.name.split(".dev.jsonl")[0] for path in (data / "eval").glob("*.dev.jsonl*")})


def load(data: Path, name: str, count: int | None = None) -> list[dict]:
    """The records of a set; with `count`, a part of about that size that keeps the shares of tasks and labels."""
    records = list(read_jsonl(find(data / "eval", f"{name}.dev")))
    if count is None or count >= len(records):
        return records
    strata: dict[tuple, list[dict]] = {}
    for record in records:
        strata.setdefault((record.get("task"), main_label(record)), []).append(record)
    kept: set[str] = set()
    for part in strata.values():
        ordered = sorted(part, key=lambda record: fraction(record["id"], "slice"))
        kept |= {record["id"] for record in ordered[: round(count * len(part) / len(records))]}
    return [record for record in records if record["id"] in kept]


def main_label(record: dict) -> bool | None:
    """People's word where there is one, else that of the first LLM judge with a verdict."""
    said = (record.get("human") or {}).get("faithful")
    if said is not None:
        return bool(said)
    judges = record.get("judges") or {}
    return next((bool(judges[name]) for name in LLM_JUDGES if judges.get(name) is not None), None)


def labels(records: Sequence[dict]) -> dict[str, np.ndarray]:
    """Reference -> float64[n], 1 faithful, 0 unfaithful, NaN unknown: people (FaithBench: by both schemes) and each LLM judge.

    References with fewer than `FEWEST` labels are left out.
    """
    found = {PEOPLE: [(record.get("human") or {}).get("faithful") for record in records], BEST: [_best(r) for r in records]}
    for name in LLM_JUDGES:
        found[name] = [(record.get("judges") or {}).get(name) for record in records]
    columns = {name: np.array([np.nan if v is None else float(v) for v in values]) for name, values in found.items()}
    return {name: column for name, column in columns.items() if (~np.isnan(column)).sum() >= FEWEST}


def detectors(records: Sequence[dict]) -> dict[str, np.ndarray]:
    """Stored judge or detector -> float64[n] score or verdict (0 or 1), NaN where there is none; LLM judges first."""
    names = list(dict.fromkeys(name for record in records for name in (record.get("judges") or {})))
    names.sort(key=lambda name: (name not in LLM_JUDGES, LLM_JUDGES.index(name) if name in LLM_JUDGES else 0, name))
    columns = {}
    for name in names:
        values = [(record.get("judges") or {}).get(name) for record in records]
        column = np.array([np.nan if value is None else float(value) for value in values])
        if (~np.isnan(column)).sum() >= FEWEST:
            columns[name] = column
    return columns


def _best(record: dict) -> bool | None:
    """FaithBench: whether the mildest of the annotators' labels still lets the answer pass."""
    label = str((record.get("human") or {}).get("label"))
    if ";best=" not in label:
        return None
    return label.split(";best=")[1] not in _UNFAITHFUL


def spans(record: dict) -> list[tuple[int, int]] | None:
    """Stretches of the answer that people marked as unfaithful; None where the record doesn't say which."""
    human = record.get("human") or {}
    marked = [s for s in human.get("spans") or [] if str(s.get("label")) not in _HARMLESS]
    found = [(int(span["start"]), int(span["end"])) for span in marked]
    if human.get("faithful") is None or (not human["faithful"] and not found):
        return None
    return [] if human["faithful"] else found


def share_outside(record: dict) -> float:
    """Share of the answer's characters that no span marks; NaN where the spans are unknown."""
    found = spans(record)
    if found is None or not record["response"]:
        return float("nan")
    marked = np.zeros(len(record["response"]), dtype=bool)
    for start, end in found:
        marked[start:end] = True
    return float(1 - marked.mean())


def claims_right(record: dict, places: Sequence[tuple[int, int]]) -> list[float]:
    """For each claim at [start, end): 1 when no span touches it, 0 when one does, NaN where nobody knows.

    An unfaithful answer without spans tells of its claim only when it has one.
    """
    found = spans(record)
    if found is None:
        said = (record.get("human") or {}).get("faithful")
        return [0.0 if said is False and len(places) == 1 else np.nan] * len(places)
    return [float(not any(start < b and a < end for a, b in found)) for start, end in places]
