"""Which run scored a file: what its footer or its summary says of it."""

from __future__ import annotations

import json
from pathlib import Path

from nli_faith.calibrations import Run, said
from nli_faith.errors import InputError
from nli_faith.readers import Reader
from nli_faith.sources import Source


def read_run(source: Source, reader: Reader, summary: str | None = None) -> Run:
    """The run that scored a file: from the parquet footer, or from `summary`, or from the summary beside it.

    Raises:
        InputError: none of them says which model it was, or `summary` is of another run than the footer.
    """
    footer = ((reader.schema.metadata if reader.schema is not None else None) or {}).get(b"nli_faith")
    beside = Path(f"{source.path}.summary.json")
    if summary is None and footer is None and source.local and beside.exists():
        summary = str(beside)
    if summary is None and footer is None:
        raise InputError(
            f"{source.name} does not say which model scored it, and {beside.name} is not beside it. "
            "Name the summary of the run that scored it with --summary FILE."
        )
    named = None if summary is None else _of_summary(summary)
    if footer is None:
        return named
    found = _of_footer(footer, source)
    different = None if named is None else found.difference(named)
    if different is not None:
        name, here, there = different
        raise InputError(
            f"{summary} is of another run than {source.name}: the {name} is {said(there)} in it and {said(here)} in the "
            "footer of the file. Leave --summary out."
        )
    return found


def _of_footer(footer: bytes, source: Source) -> Run:
    try:
        made = json.loads(footer)["scorer"]
        return Run.read(made, made.get("options") or {})
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(
            f"The footer of {source.name} is not that of a run of this version ({type(error).__name__}: {error}). "
            "Score the file again."
        ) from None


def _of_summary(path: str) -> Run:
    try:
        made = json.loads(Path(path).read_text("utf-8"))
        return Run.read(made, made)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(
            f"{path} is no summary of a run of this version ({type(error).__name__}: {error}). "
            "Give the file <OUT>.summary.json that `nli-faith score` wrote with --summary FILE."
        ) from None
