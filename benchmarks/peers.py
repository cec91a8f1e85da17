"""The peers of the throughput benchmark, as shipped and at their best. They come with `pip install 'nli-faith[bench]'`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import torch

from nli_faith.model import NliModel

Run = Callable[[Sequence[tuple[str, str]]], np.ndarray]


def peers(folder: str, reader: NliModel, names: str) -> dict[str, Callable[[], Run]]:
    """name -> maker of each peer's run, which gives probabilities in our column order. Those of one dtype share their weights."""
    device, order = reader.device, list(reader.checkpoint.labels.order)
    cuda = device.type == "cuda"
    half, sizes = (torch.float16, (32, 128, 512)) if cuda else (torch.bfloat16, (8, 32, 128))
    limit, word = reader.card.max_length, "fp16" if cuda else "bf16"

    @cache
    def encoder_of(dtype: torch.dtype):
        from sentence_transformers import CrossEncoder

        return CrossEncoder(folder, num_labels=len(order), max_length=limit, device=str(device), model_kwargs={"dtype": dtype})

    def cross_encoder(dtype: torch.dtype, size: int) -> Run:
        model = encoder_of(dtype)
        return lambda texts: model.predict(list(texts), batch_size=size, apply_softmax=True, show_progress_bar=False)[:, order]

    @cache
    def loaded(dtype: torch.dtype):
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        network = AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype).to(device).eval()
        return network, AutoTokenizer.from_pretrained(folder)

    def by_pipeline(dtype: torch.dtype, size: int) -> Run:
        from transformers import pipeline

        network, tokenizer = loaded(dtype)
        pipe = pipeline("text-classification", model=network, tokenizer=tokenizer, device=device, top_k=None)
        labels = [network.config.id2label[i] for i in order]

        def run(texts: Sequence[tuple[str, str]]) -> np.ndarray:
            inputs = [{"text": premise, "text_pair": claim} for premise, claim in texts]
            found = pipe(inputs, truncation=True, max_length=limit, batch_size=size)
            return np.array([[{s["label"]: s["score"] for s in line}[name] for name in labels] for line in found])

        return run

    def by_loop(dtype: torch.dtype, size: int) -> Run:
        network, tokenizer = loaded(dtype)

        def run(texts: Sequence[tuple[str, str]]) -> np.ndarray:
            rows = []
            for start in range(0, len(texts), size):
                premises, claims = zip(*texts[start : start + size])
                encoded = tokenizer(list(premises), list(claims), truncation=True, max_length=limit, padding=True, return_tensors="pt")
                with torch.no_grad():
                    rows.append(torch.softmax(network(**encoded.to(device)).logits.float(), -1).cpu().numpy())
            return np.concatenate(rows)[:, order]

        return run

    found: dict[str, Callable[[], Run]] = {"CrossEncoder.predict as shipped (fp32, 32)": lambda: cross_encoder(torch.float32, 32)}
    for size in sizes:
        found[f"CrossEncoder.predict {word}, {size}"] = lambda size=size: cross_encoder(half, size)
    if names == "all":
        found["pipeline as shipped (fp32, 1)"] = lambda: by_pipeline(torch.float32, 1)
        found[f"pipeline {word}, {sizes[1]}"] = lambda: by_pipeline(half, sizes[1])
        found["loop of model cards (fp32, 1)"] = lambda: by_loop(torch.float32, 1)
        found[f"loop of model cards {word}, {sizes[1]}"] = lambda: by_loop(half, sizes[1])
    return found
