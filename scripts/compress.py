"""Make the folder that ships: fewer word pieces, int8 weights, one safetensors file.

    python scripts/compress.py work/rag models/nli-faith-xsmall --data DATA

Vocabulary: the special tokens, every piece of one character, every piece that occurs at least --min-count times in DATA, and
then the pieces of the highest score until --pieces are kept. Text outside still encodes, into smaller pieces.
Weights: int8 = round(w / scale) with scale = max |w| of each output row / 127 (per word piece for the embeddings); vectors
and LayerNorms stay float32.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

WORDS = "deberta.embeddings.word_embeddings.weight"
TEXT_FIELDS = ("premise", "hypothesis", "response", "question")


def texts(data: Path):
    """Every distinct text of the data sets."""
    seen: set[int] = set()
    for path in sorted([*data.glob("train/**/*.jsonl*"), *data.glob("eval/*.jsonl*")]):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                for text in [*(record.get(field) for field in TEXT_FIELDS), *(record.get("contexts") or ())]:
                    if text and hash(text) not in seen:
                        seen.add(hash(text))
                        yield text


def count_pieces(tokenizer: Tokenizer, data: Path) -> Counter[int]:
    """How often each id occurs in the data."""
    counts: Counter[int] = Counter()
    batch: list[str] = []
    for text in texts(data):
        batch.append(text)
        if len(batch) == 2000:
            for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                counts.update(encoding.ids)
            batch = []
    for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
        counts.update(encoding.ids)
    return counts


def choose(vocabulary: list, counts: Counter[int], special: set[str], pieces: int, min_count: int) -> list[int]:
    """Ids to keep, in their old order."""
    keep = set()
    for index, (piece, _) in enumerate(vocabulary):
        bare = piece.removeprefix("\u2581")
        if piece in special or len(bare) <= 1 or counts[index] >= min_count:
            keep.add(index)
    # The file is ordered by score but for the byte pieces, which this model never uses.
    for index, (piece, _) in enumerate(vocabulary):
        if len(keep) >= pieces:
            break
        if not (piece.startswith("<0x") and piece.endswith(">")):
            keep.add(index)
    return sorted(keep)


def cut_tokenizer(source: Path, out: Path, data: Path, pieces: int, min_count: int) -> list[int]:
    """Write the smaller tokenizer.json; returns the old id of each new one."""
    whole = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    whole["truncation"] = whole["padding"] = None
    tokenizer = Tokenizer.from_str(json.dumps(whole))
    vocabulary = whole["model"]["vocab"]
    special = {token["content"] for token in whole["added_tokens"]}
    kept = choose(vocabulary, count_pieces(tokenizer, data), special, pieces, min_count)
    names = {vocabulary[old][0]: new for new, old in enumerate(kept)}
    outside = [token for token in whole["added_tokens"] if token["content"] not in names]
    old_ids = kept + [token["id"] for token in outside]
    for new, token in enumerate(outside, start=len(kept)):
        names[token["content"]] = new
    for token in whole["added_tokens"]:
        token["id"] = names[token["content"]]
    for name, entry in whole["post_processor"]["special_tokens"].items():
        entry["ids"] = [names[name]]
    whole["model"]["vocab"] = [vocabulary[old] for old in kept]
    whole["model"]["unk_id"] = names["[UNK]"]
    (out / "tokenizer.json").write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return old_ids


def quantise(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """int8 matrices with float32 `<name>.scale` per row; everything else as it is."""
    out: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        if tensor.ndim != 2 or "rel_embeddings" in name or name.startswith("classifier"):
            out[name] = tensor.float()
            continue
        scale = tensor.abs().amax(dim=1).clamp(min=1e-12) / 127
        out[name] = torch.round(tensor / scale[:, None]).to(torch.int8)
        out[f"{name}.scale"] = scale.float()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="folder that train.py wrote")
    parser.add_argument("out", type=Path, help="folder to write; its card.json and README.md are left as they are")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/ and eval/, for piece counts")
    parser.add_argument("--pieces", type=int, default=64000)
    parser.add_argument("--min-count", type=int, default=20)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    kept = cut_tokenizer(args.source, args.out, args.data, args.pieces, args.min_count)
    state = load_file(args.source / "model.safetensors")
    state[WORDS] = state[WORDS][torch.tensor(kept)]
    save_file(quantise(state), args.out / "model.safetensors", {"format": "pt"})
    config = json.loads((args.source / "config.json").read_text())
    config |= {"vocab_size": len(kept), "quantisation": "int8-rows", "max_position_embeddings": 512}
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    size = sum(path.stat().st_size for path in args.out.iterdir()) / 2**20
    print(f"{len(kept)} pieces, {size:.1f} MiB in {args.out}")


if __name__ == "__main__":
    main()
