"""What runs here, how, and what would make it faster: the answer to "why is it slow?" and "is it right?"."""

from __future__ import annotations

import platform

import numpy as np

from nli_faith import __version__
from nli_faith.identity import package_version

# Texts on which tokenizers disagree: a checkpoint's own tokenizer.json decides (a normaliser may be part of it).
TOKENIZER_PROBE = (
    "20\u00a0°C", "1\u202f000", "thin\u2009space", "zero\u200bwidth", "\ufeffBOM", "wait…", "brand™", "½ cup", "5 m²",
    "ﬁrst oﬃce", "ＡＢＣ", "⅓", "Ⅲ", "cafe\u0301", "tab\there", "line\r\nend", "\n\nblank\n\n", "  spaces  ", "emoji 🙂",
    "literal [SEP] and [CLS]", "", "long " * 2000,
)  # fmt: skip


def examine(scorer) -> dict:
    """JSON-able findings: `facts` (name -> value), `checks` (name, ok, detail), `advice` (lines) and `ok` over all.

    Args:
        scorer: a `Scorer`; its model is loaded.
    Raises:
        ModelError, DeviceError: the model can't be loaded at all.
    """
    import torch

    reader = scorer.reader
    checkpoint = getattr(reader, "checkpoint", None)
    device = getattr(reader, "device", torch.device("cpu"))
    facts = {
        "nli-faith": __version__ if package_version("nli-faith") else f"{__version__}, run from its folder",
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "device": _device_line(torch, device),
        "dtype": _dtype_line(reader, device),
    }
    checks = []
    if checkpoint is not None:
        labels = checkpoint.labels
        facts |= {
            "model": f"{checkpoint.name} ({checkpoint.hash}) in {checkpoint.folder}",
            "labels": f"{', '.join(labels.names)}; entailment is output {labels.entailment}",
            "window": f"{scorer.window_size} tokens of {checkpoint.card.max_length}",
            "attention": _attention_line(reader),
            "packed": reader.packing,
            "batch": f"{reader.budget:,} padded tokens",
        }
        checks = [_check_tokenizer(checkpoint, reader.encoder), _check_probe(reader), _check_precision(reader)]
    else:
        facts["model"] = "fake: length-based numbers, for dry runs only"
    return {"facts": facts, "checks": checks, "advice": _advice(torch, device, reader), "ok": all(c["ok"] for c in checks)}


def _device_line(torch, device) -> str:
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        return f"{device}: {properties.name}, {properties.total_memory / 2**30:.0f} GiB"
    if device.type == "cpu":
        return f"cpu: {torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}"
    return str(device)


def _dtype_line(reader, device) -> str:
    dtype = getattr(reader, "dtype", "fp32")
    if device.type != "cpu":
        return dtype
    from nli_faith.devices import cpu_has_bf16

    return f"{dtype} (this CPU {'multiplies' if cpu_has_bf16() else 'does not multiply'} bf16 in hardware)"


def _attention_line(reader) -> str:
    if reader.attention == "transformers":
        return "transformers: the checkpoint is no DeBERTa-v3, so the library's own code runs"
    if reader.attention == "flat":
        return "flat: pairs one behind the other without padding, attention pair by pair with position terms as skewed views"
    if reader.attention.startswith("packed"):
        return f"{reader.attention}: one fused kernel over all pairs of a batch, without padding"
    return f"{reader.attention}: position terms as skewed views, without gathers, handed to fused attention as its bias"


def _check_tokenizer(checkpoint, encoder) -> dict:
    """Encoding equals tokenizer.json's own, special pieces inside text apart, and pairs compose exactly."""
    from tokenizers import Tokenizer

    own = Tokenizer.from_file(str(checkpoint.folder / "tokenizer.json"))
    own.no_padding()
    own.no_truncation()
    wrong = []
    for text in TOKENIZER_PROBE:
        (ids,) = encoder.encode([text])
        expected = np.array(own.encode(text, add_special_tokens=False).ids, dtype=np.int32)
        same = len(ids) == len(expected) and bool(np.all((ids == expected) | (ids == encoder.unknown)))
        pair_same = "[SEP]" in text or checkpoint.card.template.join != "pair" or (
            encoder.pair(ids, ids).tolist() == own.encode(text, text).ids
        )
        if not same or not pair_same:
            wrong.append(text[:20])
    detail = "equal to tokenizer.json on every test text" if not wrong else f"differs on {wrong!r}"
    return {"name": "tokenizer", "ok": not wrong, "detail": detail}


def _check_probe(reader) -> dict:
    from nli_faith.parity import PROBE

    p = reader.read_texts([(premise, hypothesis) for premise, hypothesis, _ in PROBE])
    wanted = np.array([label for *_, label in PROBE])
    right = int((p.argmax(axis=1) == (wanted if p.shape[1] == 3 else wanted > 0)).sum())
    return {"name": "obvious pairs", "ok": right >= len(PROBE) - 1, "detail": f"{right} of {len(PROBE)} right"}


def _check_precision(reader) -> dict:
    """Largest change of a probability against float32 on the obvious pairs (0.01 is allowed in half precision)."""
    from nli_faith.parity import PROBE, TOLERANCE, difference

    pairs = [(premise, hypothesis) for premise, hypothesis, _ in PROBE]
    change, limit = difference(reader.read_texts(pairs), reader.read_texts(pairs, "fp32")), TOLERANCE[reader.dtype]
    return {"name": "precision", "ok": change <= limit, "detail": f"{reader.dtype} is within {change:.4f} of float32 (limit {limit})"}


def _advice(torch, device, reader) -> list[str]:
    advice = []
    if device.type == "cpu":
        if torch.version.cuda is None and not torch.backends.mps.is_available():
            advice.append("This torch is built for CPUs only; with an NVIDIA GPU install a CUDA build for a large gain.")
        elif not torch.cuda.is_available():
            advice.append("No GPU is visible to torch; with one, --device cuda is far faster.")
        if getattr(reader, "dtype", "") == "fp32" and hasattr(reader, "checkpoint"):
            advice.append("float32 is the slow choice; a CPU with AVX-512 BF16 or AMX would use bf16.")
    elif getattr(reader, "dtype", "") == "fp32":
        advice.append("float32 on a GPU is slow; --dtype fp16 is the usual choice.")
    elif "not installed" in getattr(reader, "packing", ""):
        advice.append("pip install 'nli-faith[flash]' adds the packed kernel, which does not compute padding.")
    return advice
