"""Train the three-class cross-encoder: from an imported encoder to a checkpoint, in two stages.

    python scripts/import_encoder.py work/encoder
    python scripts/train.py nli --data DATA --start work/encoder --out work/nli
    python scripts/train.py rag --data DATA --start work/nli --out work/rag

DATA holds train/ and eval/ (JSONL, see scripts/training_data.py for the sets and their terms); nothing of eval/ is read.
The first stage learns natural-language inference, the second what retrieved text is like: sentences of real answers
against windows of their contexts. A run that was stopped goes on from its last checkpoint when started again.
Word embeddings stay frozen. On CPUs with bf16 in hardware it runs under bf16 autocast; on CUDA too.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from nli_faith.deberta import DebertaClassifier
from nli_faith.deberta_config import DebertaConfig
from nli_faith.memory import keep_freed_memory
from nli_faith.tokens import Encoder
from training_attention import speed_up
from training_data import LABELS, NOT_ENTAILMENT

EMBEDDINGS = "deberta.embeddings.word_embeddings.weight"


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """What fixes a run.

    Attributes:
        tokens: padded tokens to train on (the budget); the data is cycled or cut to it.
        minutes: the run also ends after so many, dev reports included; the learning rate falls by whichever is nearer.
        batch_tokens: padded tokens of one step.
        max_length: longest pair; longer ones are left out.
        pad_share: share of pairs whose premise gets texts of other pairs before and after it.
        unrelated_share: pairs added in which a hypothesis meets a premise of another group (neutral).
    """

    stage: str
    tokens: int
    learning_rate: float
    minutes: float = 110.0
    final_rate: float = 0.05
    warmup: float = 0.05
    weight_decay: float = 0.01
    batch_tokens: int = 4096
    max_length: int = 384
    pad_share: float = 0.10
    unrelated_share: float = 0.04
    checkpoint_seconds: int = 1200
    seed: int = 13


STAGES = {
    "nli": TrainConfig("nli", tokens=12_000_000, learning_rate=7e-5),
    "rag": TrainConfig("rag", tokens=8_000_000, learning_rate=4e-5, pad_share=0.0, unrelated_share=0.0),
}


@dataclass(frozen=True, slots=True)
class Example:
    """One tokenised pair: int32 ids, a label (see `training_data`), a weight in the loss and the set it came from."""

    premise: np.ndarray
    hypothesis: np.ndarray
    label: int
    weight: float
    dataset: str

    def __len__(self) -> int:
        return len(self.premise) + len(self.hypothesis) + 3


def pair_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Mean negative log-likelihood; `NOT_ENTAILMENT` counts as P(neutral) + P(contradiction).

    Args:
        logits: float32 `[B, 3]` in the order of `LABELS`; labels: int64 `[B]`; weights: float32 `[B]`.
    """
    log_p = torch.log_softmax(logits, dim=-1)
    log_p = torch.cat([log_p, torch.logsumexp(log_p[:, 1:], dim=-1, keepdim=True)], dim=-1)
    return -(log_p.gather(1, labels[:, None])[:, 0] * weights).sum() / weights.sum()


def augment(examples: list[Example], config: TrainConfig, rng: np.random.Generator) -> list[Example]:
    """Pad some premises with texts of other pairs, and add pairs of strangers as neutral."""
    out = []
    for example in examples:
        if rng.random() < config.pad_share and len(example) < 160:
            others = [examples[i].premise for i in rng.integers(0, len(examples), rng.integers(1, 5))]
            others = [ids for ids in others if len(ids) < 160]
            cut = int(rng.integers(0, len(others) + 1))
            premise = np.concatenate([*others[:cut], example.premise, *others[cut:]])
            example = Example(premise, example.hypothesis, example.label, example.weight, example.dataset)
        out.append(example)
    for _ in range(int(config.unrelated_share * len(examples))):
        a, b = rng.integers(0, len(examples), 2)
        if examples[a].dataset == examples[b].dataset or abs(int(a) - int(b)) > 50:
            out.append(Example(examples[a].premise, examples[b].hypothesis, 1, 1.0, "unrelated"))
    return [example for example in out if len(example) <= config.max_length]


def plan(examples: list[Example], config: TrainConfig) -> list[np.ndarray]:
    """Batches of example indices until the token budget is spent: shuffled, sorted by length inside stretches."""
    rng = np.random.default_rng(config.seed + 1)
    lengths = np.array([len(example) for example in examples])
    batches: list[np.ndarray] = []
    spent = 0
    while spent < config.tokens:
        order = rng.permutation(len(examples))
        epoch = []
        for stretch in np.array_split(order, max(1, len(order) // 4096)):
            stretch = stretch[np.argsort(lengths[stretch], kind="stable")]
            start = 0
            while start < len(stretch):
                end = start + 1
                while end < len(stretch) and lengths[stretch[end]] * (end + 1 - start) <= config.batch_tokens:
                    end += 1
                epoch.append(stretch[start:end])
                start = end
        for index in rng.permutation(len(epoch)):
            batches.append(epoch[index])
            spent += int(lengths[epoch[index]].max()) * len(epoch[index])
            if spent >= config.tokens:
                break
    return batches


def collate(examples: list[Example], encoder: Encoder) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(ids `[B, L]`, lengths `[B]`, labels `[B]`, weights `[B]`)."""
    rows = [encoder.pair(example.premise, example.hypothesis) for example in examples]
    lengths = torch.tensor([len(row) for row in rows])
    # Rounded up, so that the shapes repeat: the CPU library compiles a kernel for every new one.
    ids = torch.zeros(len(rows), -(-int(lengths.max()) // 16) * 16, dtype=torch.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.from_numpy(row)
    labels = torch.tensor([example.label for example in examples])
    weights = torch.tensor([example.weight for example in examples], dtype=torch.float32)
    return ids, lengths, labels, weights


@torch.inference_mode()
def probabilities(model: DebertaClassifier, encoder: Encoder, examples: list[Example], device: torch.device) -> np.ndarray:
    """float32 `[P, 3]`, in the order given."""
    model.eval()
    out = np.zeros((len(examples), 3), dtype=np.float32)
    order = sorted(range(len(examples)), key=lambda i: -len(examples[i]))
    for start in range(0, len(order), 32):
        part = order[start : start + 32]
        ids, lengths, _, _ = collate([examples[i] for i in part], encoder)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(ids.to(device), lengths.to(device))
        out[part] = torch.softmax(logits.float(), -1).cpu().numpy()
    model.train()
    return out


def dev_report(model: DebertaClassifier, encoder: Encoder, dev: list[Example], device: torch.device) -> dict[str, float]:
    """Accuracy per held-back set: three-way where the set says three ways, else entailment against the rest."""
    p = probabilities(model, encoder, dev, device)
    right: dict[str, list[bool]] = {}
    for example, row in zip(dev, p):
        binary = example.label == NOT_ENTAILMENT or example.dataset.startswith("rag")
        ok = ((row[0] > 0.5) == (example.label == 0)) if binary else int(row.argmax()) == example.label
        right.setdefault(example.dataset, []).append(bool(ok))
    return {name: round(float(np.mean(hits)), 4) for name, hits in sorted(right.items())}


def save(model: DebertaClassifier, start: Path, out: Path) -> None:
    """A plain checkpoint folder: float32 weights, and the config and tokenizer of `start`."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(start / name, out / name)
    save_file({k: v.detach().float().cpu().contiguous() for k, v in model.state_dict().items()}, out / "model.safetensors")


def load(folder: Path) -> DebertaClassifier:
    """The model of a checkpoint folder, word embeddings frozen."""
    config = json.loads((folder / "config.json").read_text())
    model = DebertaClassifier(DebertaConfig.from_dict(config, len(LABELS)))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    model.deberta.embeddings.word_embeddings.weight.requires_grad_(False)
    return model


def train(examples: list[Example], dev: list[Example], config: TrainConfig, start: Path, out: Path, encoder: Encoder) -> None:
    """Run the plan from its last checkpoint to its end and write `out`."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(config.seed)
    out.mkdir(parents=True, exist_ok=True)
    model = load(start).to(device)
    if device.type == "cpu":
        speed_up(model)
    examples = augment(examples, config, np.random.default_rng(config.seed))
    batches = plan(examples, config)
    progress = out / "checkpoint.safetensors"
    begun, seconds = 0, 0.0
    if progress.exists():
        state = load_file(progress)
        begun, seconds = int(state.pop("step")), float(state.pop("seconds", 0.0))
        model.load_state_dict({k: v.float() for k, v in state.items()}, strict=False)
    decay = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    plain = [p for p in model.parameters() if p.requires_grad and p.ndim == 1]
    groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), fused=True)
    steps = len(batches)
    warmup = max(1, int(config.warmup * steps))

    def rate(step: int, done: float) -> float:
        """Learning rate as a share of the peak: linear up, cosine down over `done`; 50 steps up again after a resume."""
        up = min(1.0, (step + 1) / warmup, (step + 1 - begun) / 50 if begun else 1.0)
        down = 0.5 * (1 + math.cos(math.pi * done))
        return up * (config.final_rate + (1 - config.final_rate) * down)

    log = open(out / "log.jsonl", "a", buffering=1)
    losses: list[float] = []
    pairs = tokens = 0
    started = clock = saved = time.time()
    step = begun - 1
    model.train()
    for step in range(begun, steps):
        done = max(step / steps, (seconds + time.time() - started) / (60 * config.minutes))
        last = step == steps - 1 or done >= 1
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * rate(step, min(done, 1.0))
        ids, lengths, labels, weights = collate([examples[i] for i in batches[step]], encoder)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(ids.to(device), lengths.to(device))
        loss = pair_loss(logits.float(), labels.to(device), weights.to(device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decay + plain, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        losses.append(float(loss.detach()))
        pairs, tokens = pairs + len(labels), tokens + ids.numel()
        now = time.time()
        if step % 50 == 49 or last:
            line = {"step": step + 1, "of": steps, "loss": round(float(np.mean(losses)), 4),
                    "pairs_per_second": round(pairs / (now - clock), 1),
                    "tokens_per_second": round(tokens / (now - clock)), "rate": optimiser.param_groups[0]["lr"]}  # fmt: skip
            losses, pairs, tokens, clock = [], 0, 0, now
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
        if now - saved > config.checkpoint_seconds or last:
            state = {k: v.detach().half().cpu().contiguous() for k, v in model.state_dict().items() if k != EMBEDDINGS}
            state |= {"step": torch.tensor(step + 1), "seconds": torch.tensor(seconds + now - started)}
            save_file(state, out / "checkpoint.tmp")
            (out / "checkpoint.tmp").replace(progress)
            line = {"step": step + 1, "dev": dev_report(model, encoder, dev, device)}
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
            saved = clock = time.time()
        if last:
            break
    counts = Counter(examples[i].dataset for batch in batches[: step + 1] for i in batch)
    record = {"config": asdict(config), "steps": step + 1, "pairs_read": counts, "examples": len(examples)}
    (out / "run.json").write_text(json.dumps(record, indent=2) + "\n")
    save(model, start, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=sorted(STAGES))
    parser.add_argument("--data", type=Path, required=True, help="folder that holds train/ (and eval/, which is not read)")
    parser.add_argument("--start", type=Path, required=True, help="checkpoint folder to start from")
    parser.add_argument("--out", type=Path, required=True, help="folder for log, checkpoints and the finished model")
    for name, kind in (("tokens", int), ("minutes", float), ("learning_rate", float), ("seed", int), ("pad_share", float)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help="overrides the stage's own value")
    args = parser.parse_args()
    keep_freed_memory()
    given = {k: v for k, v in vars(args).items() if k in TrainConfig.__dataclass_fields__ and v is not None}
    config = TrainConfig(**asdict(STAGES[args.stage]) | given)
    encoder = Encoder.from_file(args.start / "tokenizer.json")
    if args.stage == "nli":
        from training_nli import nli_examples as build
    else:
        from functools import partial

        from training_rag import rag_examples

        build = partial(rag_examples, model=load(args.start).to("cuda" if torch.cuda.is_available() else "cpu"))
    examples, dev = build(args.data, encoder, config.max_length)
    print(f"{len(examples)} examples, {len(dev)} held back", flush=True)
    train(examples, dev, config, args.start, args.out, encoder)


if __name__ == "__main__":
    main()
