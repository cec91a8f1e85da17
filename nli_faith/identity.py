"""What fixes the numbers of a run, for manifests and file metadata. No times, no paths of a machine."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

from nli_faith import __version__


def identity(scorer) -> dict:
    """JSON-able description of model, options, versions and the way it runs, of a `Scorer`."""
    reader = scorer.reader
    checkpoint, calibration = getattr(reader, "checkpoint", None), scorer.calibration
    fields = {
        "nli_faith": __version__,
        "model": scorer.model_options.model,
        "model_hash": model_hash(reader),
        "labels": label_names(reader),
        "window": scorer.window_size,
        "answer_threshold": scorer.answer_threshold,
        # Of a calibration its content counts, not where it lies.
        "options": asdict(scorer.score_options) | {"calibration": calibration and calibration.identity()},
        "device": str(getattr(reader, "device", "cpu")),
        "dtype": getattr(reader, "dtype", "fp32"),
        "attention": getattr(reader, "attention", "none"),
        "budget": getattr(reader, "budget", None),
        "machine": platform.machine(),
        "versions": {name: package_version(name) for name in _packages(reader)},
    }
    if checkpoint:
        import torch

        fields["threads"] = torch.get_num_threads() if str(reader.device) == "cpu" else None
    return fields


def _packages(reader) -> tuple[str, ...]:
    kernel = ("disentangled-flash", "triton") if getattr(reader, "attention", "").startswith("packed") else ()
    return ("torch", "tokenizers", "nltk", "pyarrow", "numpy", *kernel)


def model_hash(reader) -> str:
    """The hash of the checkpoint; "fake" for the model without weights."""
    checkpoint = getattr(reader, "checkpoint", None)
    return checkpoint.hash if checkpoint else "fake"


def label_names(reader) -> list[str] | None:
    """Names of the model's outputs, in order; None for the model without weights."""
    checkpoint = getattr(reader, "checkpoint", None)
    return list(checkpoint.labels.names) if checkpoint else None


def package_version(name: str) -> str | None:
    """Installed version, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
