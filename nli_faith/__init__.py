"""nli-faith: are the answers of a RAG system faithful to what was retrieved?

    rows -> claims -> tokens -> pairs -> batches -> model -> scores -> shards

    rows.py      files as windows of rows            batches.py  pairs under a token budget, longest first
    claims.py    answer -> typed units with offsets  model.py    a checkpoint -> probabilities
    windows.py   chunk -> windows that fit           scores.py   probabilities -> verdicts
    tokens.py    text -> ids, once                   shards.py   parts of the output, resumable
    pairs.py     claims x windows, each pair once    pipeline.py the chain in memory; files.py the chain over files
"""

from __future__ import annotations

__version__ = "0.1.0"

from nli_faith.errors import DeviceError, InputError, ModelError, NliFaithError, ResumeError, UsageError
from nli_faith.types import AnswerScore, ClaimVerdict

__all__ = [
    "AnswerScore",
    "ClaimVerdict",
    "DeviceError",
    "InputError",
    "ModelError",
    "NliFaithError",
    "ResumeError",
    "Scorer",
    "UsageError",
    "__version__",
]


def __getattr__(name: str) -> object:
    # The scorer pulls in the splitter and the tokenizer; whoever only catches errors should not wait for them.
    if name == "Scorer":
        from nli_faith.pipeline import Scorer

        return Scorer
    raise AttributeError(f"module 'nli_faith' has no attribute {name!r}")
