"""What fixes the numbers of a run, for manifests and file metadata. No times, no paths of a machine."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nli_faith import __version__


def identity(scorer) -> dict:
    """JSON-able description of model, options, versions and the way it runs, of a `Scorer`."""
    reader = scorer.reader
    checkpoint, calibration = getattr(reader, "checkpoint", None), scorer.calibration
    fields = {
        "nli_faith": __version__,
        "model": _model_name(scorer.model_options.model, checkpoint),
        "model_hash": model_hash(reader),
        "labels": label_names(reader),
        "window": scorer.window_size,
        "answer_threshold": scorer.answer_threshold,
        # Of a calibration its content counts, not where it lies.
        "options": asdict(scorer.score_options) | {"calibration": calibration and calibration.identity()},
        "device": str(getattr(reader, "device", "cpu")).partition(":")[0],  # its kind: devices of one kind give the same numbers
        "dtype": getattr(reader, "dtype", "fp32"),
        "attention": getattr(reader, "attention", "none"),
        "budget": getattr(reader, "budget", None),
        "machine": platform.machine(),
        "versions": {name: package_version(name) for name in _packages(reader)},
    }
    if checkpoint:
        import torch

        fields["threads"] = torch.get_num_threads() if reader.device.type == "cpu" else None
        if reader.device.type == "cuda":
            fields["gpu"] = torch.cuda.get_device_name(reader.device)
    return fields


def _model_name(name: str, checkpoint) -> str:
    """The name as given; of a folder its last part, whichever way it was written."""
    if checkpoint is not None and checkpoint.folder == Path(name):
        return Path(os.path.abspath(name)).name
    return name


def _packages(reader) -> tuple[str, ...]:
    attention = getattr(reader, "attention", "")
    kernel = ("disentangled-flash", "triton") if attention.startswith("packed") else ()
    other = ("transformers",) if attention == "transformers" else ()
    return ("torch", "tokenizers", "nltk", "pyarrow", "numpy", *kernel, *other)


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
