"""Labels of people and of judges, as the common data sets spell them -> faithful or not.

HHEM and LLM-AggreFact write 1 and 0 (1 = supported), HaluBench PASS and FAIL, RAGBench `adherence_score`, RAGTruth a list
of hallucinated spans (an empty one = faithful) or their counts. Nothing is guessed: an unknown spelling is an error, and
so is a bare 1, true or yes under a name that does not say what it means.
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
# What these mean depends on the column; words that name a verdict mean the same everywhere.
_BARE = frozenset("true 1 yes false 0 no".split())
# HHEM, LLM-AggreFact and people write 1 for faithful under these names.
_PLAIN = frozenset({"label", "gold", "human_label", "verdict"})
_GOOD = (
    "faithful|support|grounded|consisten|factual|entail|adheren|correct|accura|attributa|attributed|verified|verifiable|"
    "pass(?:ed|es)?$"
)
_FAULT = "hallucinat|contradict|refut|fabricat|baseless|conflict|error|wrong|false|mistake|violat|fail(?:ed|s|ure)?$"
_STEM = re.compile(rf"(?:is|has|are|was)?(not|non|no|un|in|dis|mis)?(?:({_GOOD})|{_FAULT})")
_NEGATORS = frozenset("not no non isnt without never".split())
_SHOWN = 8


class _Unclear(ValueError):
    """A bare value under a name that does not say what it means."""


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


def one_means(column: str) -> bool | None:
    """Whether 1 in a column of this name says faithful; None where the name does not tell.

    `supported` says so, `unsupported`, `not_supported` and `has_errors` say the contrary, `hallucination_free` says so.
    """
    if column.lower() in _PLAIN:
        return True
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower())
    signs = [_sign(word) for word in words]
    around = [0, *signs, 0]
    turned = [around[i + 2] for i, word in enumerate(words) if word in _NEGATORS]
    turned += [around[i] for i, word in enumerate(words) if word == "free"]
    told = set(signs) - {0}
    if len(told) != 1 or len(turned) > 1 or 0 in turned:
        return None
    return told == {-1 if turned else 1}


def _sign(word: str) -> int:
    """1 for a word of a good answer, -1 for one of a fault, 0 for any other."""
    found = _STEM.match(word)
    return 0 if found is None else 1 if (found[1] is None) == (found[2] is not None) else -1


class LabelReader:
    """Cells of one label column, batch by batch; unknown spellings are collected, so that one error lists them all."""

    def __init__(self, column: str, where: str):
        self._column, self._where = column, where
        self._good = one_means(column)
        self._lists = self._good is False or column == "labels"
        self._bare = False
        self._unclear: tuple[str, int] | None = None
        self._unknown: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    @property
    def read_as(self) -> str | None:
        """A sentence on which way bare values were read; None when there were none."""
        if not self._bare:
            return None
        return f"1, true or yes in the column {self._column!r} was read as {'faithful' if self._good else 'unfaithful'}."

    def read(self, cells: Sequence[object], start: int) -> list[bool | None]:
        """True for faithful, False for not, None for no label. `start` is the row of the first cell."""
        labels = []
        for position, cell in enumerate(cells, start):
            try:
                labels.append(self._label(cell))
            except (ValueError, TypeError, OverflowError) as error:
                text = (cell if isinstance(cell, str) else repr(cell))[:60]
                if isinstance(error, _Unclear):
                    self._unclear = self._unclear or (text, position)
                else:
                    self._unknown[text] += 1
                    self._first.setdefault(text, position)
                labels.append(None)
        return labels

    def check(self) -> None:
        """InputError that lists the spellings which are unknown, or names the first that is unclear, if there were any."""
        if self._unclear is not None:
            text, position = self._unclear
            why = "a column of that name is for lists of spans" if self._column == "labels" else "its name does not tell"
            raise InputError(
                f"{self._where}, row {position} (counted from 0): the column {self._column!r} holds {text!r}, which may mean "
                f"faithful or the contrary ({why}). Write faithful/unfaithful, supported/unsupported or PASS/FAIL, or give "
                "the column a name that tells, such as human_faithful or hallucinated."
            )
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
        if not self._lists:
            raise ValueError("a list of faults in a column that does not say so")
        if isinstance(cell, dict):
            # RAGTruth: how many spans of each kind.
            return not any(int(count) for count in cell.values())
        return len(cell) == 0

    def _word(self, word: str) -> bool:
        word = re.sub(r"\.0*$", "", word)
        bare = word in _BARE
        if bare and self._good is None:
            raise _Unclear(word)
        count = self._good is False and word.isdigit()
        if not count and word not in _YES and word not in _NO:
            raise ValueError(word)
        good = int(word) == 0 if count else (word in _YES) != (bare and self._good is False)
        self._bare |= bare
        return good


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
