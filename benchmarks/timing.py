"""What the timing benchmarks share: rows of a file, made-up rows, models of a given shape, and figures that are kept.

    python benchmarks/timing.py --rows 2048 --out rows.jsonl      # made-up rows as a file
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from nli_faith.checkpoints import cards_folder
from nli_faith.deberta import DebertaClassifier
from nli_faith.deberta_config import DebertaConfig
from nli_faith.made_up import made_up_pairs
from nli_faith.model import open_reader
from nli_faith.options import DEFAULT_MODEL, FileOptions, ModelOptions
from nli_faith.rows import RowReader
from nli_faith.sources import find_sources
from nli_faith.speed import disturbed, load, machine
from nli_faith.types import Row

# (layers, hidden, heads, feed-forward) of the DeBERTa-v3 family.
SHAPES = {"xsmall": (12, 384, 6, 1536), "small": (6, 768, 12, 3072), "base": (12, 768, 12, 3072), "large": (24, 1024, 16, 4096)}


class Report:
    """Figures that are on disk after every line: a run that is cut off leaves what it has.

    Attributes:
        figures: JSON-able; `machine`, `date`, `load_before`, `load_after`, `disturbed`, `finished`, and a list for each
            section.
    """

    def __init__(self, out: Path | None, reader) -> None:
        self._out, self._device, before = out, reader.device, load()
        noisy = disturbed(before, None, reader.device)
        self.figures = {"machine": machine(reader), "date": time.strftime("%Y-%m-%d"), "load_before": before,
                        "disturbed": noisy, "finished": False}  # fmt: skip
        if noisy:
            print(f"Other work runs here (load average {before}): these figures will say little.", flush=True)
        self._save()

    def add(self, section: str, line: dict) -> dict:
        """Keep a line of a section, with the load average at its end; one of the same name gives way to it."""
        line = line | {"load": load()}
        lines = self.figures.setdefault(section, [])
        at = next((i for i, old in enumerate(lines) if "name" in line and old["name"] == line["name"]), len(lines))
        lines[at : at + 1] = [line]
        self._save()
        print(json.dumps(line), flush=True)
        return line

    def put(self, **figures) -> None:
        """Keep single figures."""
        self.figures |= figures
        self._save()

    def finish(self, **figures) -> None:
        """The last figures, and whether other work ran beside them, which is also said."""
        after = load()
        noisy = self.figures["disturbed"] or disturbed(None, after, self._device)
        self.put(**figures, load_after=after, disturbed=noisy, finished=True)
        if noisy:
            loads = f"load average {self.figures['load_before']} before, {after} after"
            print(f"DISTURBED: other work ran ({loads}). These figures say little; measure again on an idle machine.", flush=True)

    def _save(self) -> None:
        if self._out is None:
            return
        self._out.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._out.with_name(self._out.name + ".tmp")
        fresh.write_text(json.dumps(self.figures, indent=1) + "\n")
        os.replace(fresh, self._out)


def rows_of(path: str, limit: int | None) -> list[Row]:
    """The first `limit` rows of any input of `nli-faith score`."""
    reader = RowReader(find_sources([path], print), FileOptions(limit=limit), print)
    return [row for window in reader.windows() for row in window.rows]


def made_up_rows(count: int, reader, claims: int = 6, chunks: int = 5, tokens: int = 330) -> list[dict]:
    """Rows shaped like those of RAG: two of three claims are sentences of a chunk; all chunks differ.

    Args:
        tokens: of a pair of a chunk and a claim.
    """
    rows = []
    for number in range(count):
        draw = random.Random(number)
        pairs = made_up_pairs(tokens, chunks, reader, seed=number)
        stated = [draw.choice(premise.split(". ")[:8]).rstrip(".") + "." for premise, _ in pairs]
        told = [stated[i % chunks] if i % 3 else pairs[(i + 1) % chunks][1] for i in range(claims)]
        rows.append({"id": str(number), "answer": " ".join(told), "contexts": [premise for premise, _ in pairs]})
    return rows


def write_shape(name: str, folder: Path, seed: int = 0) -> Path:
    """A checkpoint folder of that shape with weights as before training: it costs what a trained one costs.

    The head's weights are larger, so that probabilities differ from pair to pair. The tokenizer is the bundled one.
    """
    layers, hidden, heads, inner = SHAPES[name]
    bundled = cards_folder() / DEFAULT_MODEL
    config = json.loads((bundled / "config.json").read_text())
    config.pop("quantisation", None)
    config |= {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "intermediate_size": inner,
               "vocab_size": 128100, "pooler_hidden_size": hidden}  # fmt: skip
    with torch.device("meta"):
        tensors = DebertaClassifier(DebertaConfig.from_dict(config, len(config["id2label"]))).state_dict()
    draw = torch.Generator().manual_seed(seed)
    state = {}
    for key, tensor in tensors.items():
        if "LayerNorm" in key or key.endswith("bias"):
            state[key] = torch.full(tensor.shape, float("LayerNorm.weight" in key))
        else:
            state[key] = torch.randn(tensor.shape, generator=draw) * (0.2 if key.startswith("classifier") else 0.02)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_bytes((bundled / "tokenizer.json").read_bytes())
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--chunks", type=int, default=5, help="chunks of a row")
    parser.add_argument("--out", type=Path, required=True, help="JSONL to write")
    args = parser.parse_args()
    with args.out.open("w", encoding="utf-8") as file:
        for row in made_up_rows(args.rows, open_reader(ModelOptions("fake")), chunks=args.chunks):
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
