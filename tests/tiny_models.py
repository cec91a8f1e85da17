"""Checkpoint folders with tiny random weights, written by the tests themselves: nothing is downloaded.

The numbers mean nothing, but they differ from pair to pair, so that a wrong order, mask or position shows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from nli_faith.checkpoints import cards_folder
from nli_faith.options import DEFAULT_MODEL

TOKENIZER = cards_folder() / DEFAULT_MODEL / "tokenizer.json"
# Not the order in which probabilities come out, so that a reader that goes by position is caught.
THREE = ("contradiction", "entailment", "neutral")
TWO = ("not_entailment", "entailment")
SHAPE = {
    "model_type": "deberta-v2",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 96,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "max_position_embeddings": 512,
    "max_relative_positions": -1,
    "position_buckets": 32,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
    "relative_attention": True,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "pad_token_id": 0,
    "pooler_dropout": 0,
    "pooler_hidden_act": "gelu",
    "pooler_hidden_size": 64,
}


def deberta_config(vocab_size: int, labels: Sequence[str] = THREE) -> dict:
    """A `config.json` as published checkpoints have it."""
    return SHAPE | {
        "vocab_size": vocab_size,
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
    }


def deberta_state(config: dict, seed: int = 7) -> dict:
    """Seeded weights for `config`, large enough that attention and positions matter."""
    import torch

    from nli_faith.deberta import DebertaClassifier
    from nli_faith.deberta_config import DebertaConfig

    with torch.device("meta"):
        shapes = DebertaClassifier(DebertaConfig.from_dict(config, len(config["id2label"]))).state_dict()
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, tensor in shapes.items():
        noise = torch.randn(tensor.shape, generator=generator)
        if "LayerNorm" in name:
            state[name] = 0.1 * noise + (1.0 if name.endswith("weight") else 0.0)
        elif "embeddings" in name:
            state[name] = noise
        elif name.endswith("bias"):
            state[name] = 0.1 * noise
        else:
            state[name] = noise * (2.0 if name.startswith("classifier") else 1.0) / tensor.shape[1] ** 0.5
    return state


def write_checkpoint(folder: Path, config: dict, state: dict, card: dict | None = None) -> Path:
    """A folder that `open_checkpoint` takes, with the tokenizer of the bundled model."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copyfile(TOKENIZER, folder / "tokenizer.json")
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    if card is not None:
        (folder / "card.json").write_text(json.dumps(card))
    return folder


def byte_tokenizer():
    """A byte-level BPE without merges, with RoBERTa's special tokens and pair template."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in names[:5]])
    return tokenizer


def write_roberta(folder: Path) -> Path:
    """A tiny RoBERTa with a three-class head."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    tokenizer = byte_tokenizer()
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=514, type_vocab_size=1, initializer_range=0.5,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
        id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
        label2id={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        RobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
