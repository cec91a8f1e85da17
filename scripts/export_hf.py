"""Write a nli-faith folder as a plain Hugging Face folder: float32 safetensors, config.json, tokenizer.json.

    python scripts/export_hf.py models/nli-faith-xsmall OUT

`transformers.AutoModelForSequenceClassification` and sentence-transformers' `CrossEncoder` load OUT as it is. The tokenizer
configuration names the plain fast class: the class of transformers 5 for DeBERTa-v2 would rebuild the normaliser and lose
characters such as no-break spaces and ligatures.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from safetensors.torch import save_file

from nli_faith.checkpoints import open_checkpoint
from nli_faith.networks import load_state

SPECIAL = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]",
           "bos_token": "[CLS]", "eos_token": "[SEP]"}  # fmt: skip


def export(source: Path, out: Path) -> None:
    """Write `out`; raises ModelError for a folder that is no checkpoint."""
    checkpoint = open_checkpoint(str(source))
    out.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.contiguous() for name, tensor in load_state(checkpoint).items()}
    save_file(state, out / "model.safetensors", {"format": "pt"})
    config = {key: value for key, value in checkpoint.config.items() if key != "quantisation"}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shutil.copyfile(checkpoint.folder / "tokenizer.json", out / "tokenizer.json")
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": checkpoint.card.max_length} | SPECIAL
    (out / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    export(args.source, args.out)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
