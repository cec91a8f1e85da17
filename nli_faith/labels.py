"""Labels of people and of judges, as the common data sets spell them -> faithful or not.

HHEM and LLM-AggreFact write 1 and 0 (1 = supported), HaluBench PASS and FAIL, RAGBench `adherence_score`, RAGTruth a list
of hallucinated spans (an empty one = faithful) or their counts. Nothing is guessed: an unknown spelling is an error.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from numbers import Real

import numpy as np

from nli_faith.columns import lacks
from nli_faith.errors import InputError

# The first of these that is present is taken. `faithful` is missing on purpose: in a scored file it is our own verdict.
ROW_LABELS = (
    "label", "human_faithful", "gold_faithful", "is_faithful", "judge_faithful", "adherence_score", "overall_supported",
    "hallucination_labels_processed", "hallucination_labels", "hallucination_label", "hallucination", "hallucinated",
    "unsupported_response_sentence_keys", "labels",
)  # fmt: skip
CLAIM_LABELS = ("label", "faithful", "supported", "human_label", "gold")
VERDICTS = ("faithful", "label", "verdict")

_YES = frozenset("true 1 yes pass faithful supported consistent grounded entailment entailed factual".split())
_NO = frozenset(
    "false 0 no fail unfaithful unsupported inconsistent hallucinated hallucination ungrounded not_faithful"
    " not_supported not_grounded not_entailment contradicted contradiction refuted".split()
)
# In a column that tells hallucination, yes means unfaithful; words that name a verdict mean the same everywhere.
_TURNED = frozenset("true 1 yes false 0 no".split())
_FAULTS = re.compile(r"hallucinat|unsupported|unfaithful", re.IGNORECASE)
_SHOWN = 8


def pick_column(
    names: Sequence[str], chosen: str | None, known: Sequence[str], flag: str, where: str, named_by: int | None = None
) -> str:
    """The column of the labels: the `chosen` one, or the first of `known` that is present.

    Args:
        where, named_by: as in `columns.find_columns`.

    Raises:
        InputError: it is not there, with the columns that are.
    """
    column = chosen if chosen is not None else next((name for name in known if name in names), None)
    if column in names:
        return column
    missing = f"{chosen!r}, which {flag} names" if chosen else f"of labels ({', '.join(known)})"
    raise InputError(
        f"{lacks(where, named_by)} {missing}. Name one with {flag} COLUMN. Its columns are: {', '.join(names[:40])}."
    )


class LabelReader:
    """Cells of one label column, batch by batch; unknown spellings are collected, so that one error lists them all."""

    def __init__(self, column: str, where: str):
        self._column, self._where = column, where
        self._faults = _FAULTS.search(column) is not None or column == "labels"
        self._unknown: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def read(self, cells: Sequence[object], start: int) -> list[bool | None]:
        """True for faithful, False for not, None for no label. `start` is the row of the first cell."""
        labels = []
        for position, cell in enumerate(cells, start):
            try:
                labels.append(self._label(cell))
            except (ValueError, TypeError, OverflowError):
                text = cell if isinstance(cell, str) else repr(cell)
                self._unknown[text[:60]] += 1
                self._first.setdefault(text[:60], position)
                labels.append(None)
        return labels

    def check(self) -> None:
        """InputError that lists the spellings which are unknown, if there were any."""
        if self._unknown:
            listed = "; ".join(
                f"{text!r} ({count} row{'s' if count > 1 else ''}, first {self._first[text]})"
                for text, count in self._unknown.most_common(_SHOWN)
            )
            more = f"; and {len(self._unknown) - _SHOWN} more" if len(self._unknown) > _SHOWN else ""
            raise InputError(
                f"{self._where}: the column {self._column!r} holds labels that are not known: {listed}{more}. Expected "
                "true/false, 1/0, PASS/FAIL, faithful/unfaithful, supported/unsupported, consistent/hallucinated, or in "
                "a column such as hallucination_labels a list of spans or a count. Rewrite them, or name another column."
            )

    def _label(self, cell: object) -> bool | None:
        if isinstance(cell, np.ndarray):
            cell = cell.tolist()
        if isinstance(cell, str):
            text = cell.strip()
            if text == "" or text.lower() in ("null", "none", "nan"):
                return None
            if text[0] not in "[{":
                return self._word(re.sub(r"[^a-z0-9.]+", "_", text.lower()))
            cell = _parsed(text)
        if cell is None or (isinstance(cell, float) and cell != cell):
            return None
        if isinstance(cell, (bool, np.bool_, Real)):
            return self._word(str(int(cell)) if cell == int(cell) else str(cell))
        if not self._faults:
            raise ValueError("a list of faults in a column that does not say so")
        if isinstance(cell, dict):
            # RAGTruth: how many spans of each kind.
            return not any(int(count) for count in cell.values())
        return len(cell) == 0

    def _word(self, word: str) -> bool:
        word = re.sub(r"\.0*$", "", word)
        if self._faults and word.isdigit():
            return int(word) == 0
        if word not in _YES and word not in _NO:
            raise ValueError(word)
        return (word in _YES) != (self._faults and word in _TURNED)


def _parsed(text: str) -> list | dict:
    """A list or dict as JSON, or as pandas writes it into CSV; ValueError for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = ast.literal_eval(text)
        except (SyntaxError, MemoryError, RecursionError):
            raise ValueError(text) from None
    if not isinstance(value, (list, dict)):
        raise ValueError(text)
    return value
