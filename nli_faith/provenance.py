"""What a run is made from: its manifest, the footer of its output, and whether the inputs are still what they were."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict

import pyarrow as pa

from nli_faith import __version__
from nli_faith.columns import Columns
from nli_faith.errors import InputError
from nli_faith.options import FileOptions
from nli_faith.sources import Source
from nli_faith.targets import Target


def check_unchanged(sources: Sequence[Source], manifest: dict, log: Callable[[str], None]) -> None:
    """InputError when an input was written while it was read: the parts may be of the old one and of the new one."""
    for source, before in zip(sources, manifest["input"], strict=True):
        if source.local and not os.path.exists(source.path):
            continue  # it was there as long as it was read
        now = source.identity()
        if now | {"changed": None} != before | {"changed": None}:
            raise InputError(
                f"{source.name} was changed while it was scored, so the finished parts may be of two versions of it. "
                "Score it again with --overwrite, when nothing writes to it."
            )
        if now != before:
            log(f"Warning: {source.name} was touched while it was scored; its size, beginning and end are the same.")


def make_manifest(
    sources: Sequence[Source], target: Target, claims: Target | None, columns: Columns, options: FileOptions,
    identity: dict, window_rows: int, window_bytes: int,
) -> dict:  # fmt: skip
    """All that must be the same for unfinished work to go on."""
    fields = options.fingerprint() | {"claims_out": None if claims is None else str(claims.path.absolute())}
    return {
        "input": [source.identity() for source in sources],
        "output": {"ending": target.ending, "folder": target.folder},
        "columns": asdict(columns),
        "options": fields,
        "scorer": identity,
        "window": {"rows": window_rows, "bytes": window_bytes},
        "versions": {"nli-faith": __version__, "pyarrow": pa.__version__},
    }


def footer(manifest: dict) -> dict:
    """What a parquet footer says of its making: no paths and no times, so that equal runs give equal bytes."""
    options = {key: value for key, value in manifest["options"].items() if key != "claims_out"}
    return {key: manifest[key] for key in ("scorer", "columns", "window", "versions")} | {"options": options}
