"""Pairs -> probabilities: how a checkpoint is read here, batches through the network, float32 retries, and the probe at load."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from nli_faith.backoff import in_batches
from nli_faith.batches import padded_length
from nli_faith.checkpoints import Card, cards_folder, open_checkpoint
from nli_faith.deberta import DebertaClassifier
from nli_faith.devices import BUDGETS, DTYPES, attention_kernels, move, pick_device, pick_dtype
from nli_faith.errors import ModelError
from nli_faith.fake import FakeModel
from nli_faith.flat import FlatClassifier, open_flat
from nli_faith.networks import build_network
from nli_faith.options import DEFAULT_MODEL, ModelOptions
from nli_faith.packed import PackedClassifier, open_packed
from nli_faith.parity import PROBE, probed
from nli_faith.scores import softmax_rows
from nli_faith.staging import Staging, pad
from nli_faith.tokens import Encoder
from nli_faith.trials import Trial
from nli_faith.types import Counts, PairTable, TokenBatch

_SAFER = {"fp16": "bf16", "bf16": "fp32"}
_RETRIES = 4  # batches in float32 are so many times smaller


class Reader(Protocol):
    """What scores pairs: a network, or a stand-in for tests of everything around it.

    Attributes:
        classes: C, columns of the probabilities; 3, or 2 for models that only tell entailment from the rest.
    """

    encoder: Encoder
    card: Card
    classes: int

    def probabilities(
        self, table: PairTable, premises: Sequence[np.ndarray], hypotheses: Sequence[np.ndarray], counts: Counts
    ) -> np.ndarray:
        """float32[P, C], columns (entailment, neutral, contradiction) or (entailment, not entailment)."""
        ...


class NliModel:
    """A loaded checkpoint.

    Attributes:
        checkpoint, encoder: what was loaded; device, dtype, attention: how it runs; packing: whether pairs are packed, and why.
        budget: padded tokens of a batch; halved for the rest of the run when memory runs out.
    """

    def __init__(self, options: ModelOptions, probe: bool = True) -> None:
        """
        Raises:
            ModelError: the checkpoint can't be loaded, or fails the probe of obvious pairs.
            DeviceError: the device is not there.
        """
        self.checkpoint = open_checkpoint(options.model, options.labels)
        self.card = self.checkpoint.card
        self.device = pick_device(options.device)
        self.dtype = pick_dtype(options.dtype, self.device, self.card.dtype)
        self.budget = options.budget or BUDGETS[self.device.type]
        self.encoder = Encoder.from_file(self.checkpoint.folder / "tokenizer.json", self.card.template.join)
        rows = self.checkpoint.config.get("vocab_size")
        if not isinstance(rows, int):
            raise ModelError(f"{self.checkpoint.folder / 'config.json'} has no vocab_size; copy the model's own config again.")
        if self.encoder.size > rows:
            raise ModelError(
                f"{self.checkpoint.folder} has a tokenizer of {self.encoder.size} pieces but word vectors for {rows}: "
                "the two files are not of the same model."
            )
        network, self.attention = build_network(self.checkpoint)
        self._network = move(network, self.device)
        if self.device.type == "cuda":
            self.device = next(self._network.parameters()).device  # "cuda" is the current one, which has a number
        self._half = self._halved()
        self._order = list(self.checkpoint.labels.order)
        self.classes = len(self._order)
        self._staging = Staging(self.device)
        self._packed: PackedClassifier | FlatClassifier | None = None
        passed_over = self._settle() if options.dtype == "auto" and self.device.type == "cuda" else []
        self.packing = "; ".join([self._pack(), *passed_over])
        if probe:
            self._probe()

    def _halved(self) -> nn.Module | None:
        """On a GPU the network with its weights in half precision; the float32 ones stay for pairs that overflow."""
        if self.device.type != "cuda" or self.dtype == "fp32":
            return None
        return copy.deepcopy(self._network).to(DTYPES[self.dtype])

    def _settle(self) -> list[str]:
        """Go over to a safer dtype until one gives the numbers of float32. Says what was wrong with those before it."""
        trial, passed_over = Trial(self), []
        while self.dtype != "fp32":
            wrong, _ = trial.run(self)
            if wrong is None:
                break
            passed_over.append(f"{self.dtype} was tried, but {wrong}")
            self.dtype = _SAFER[self.dtype]
            self._half = self._halved()
        return passed_over

    def _candidate(self) -> tuple[PackedClassifier | FlatClassifier | None, str]:
        """(a network that reads without padding here, its name) or (None, why there is none)."""
        if self.device.type == "cpu":
            return open_flat(self._network, DTYPES[self.dtype])
        if self.dtype == "fp32":
            return None, "float32 is read padded"
        return open_packed(self._half, self.device, self.card.max_length)

    def _pack(self) -> str:
        """Read packed from now on, if that can be done here and gives the numbers of float32; says what was decided."""
        packed, name = self._candidate()
        if packed is None:
            return f"no: {name}"
        trial = Trial(self)
        self._packed = packed
        wrong, change = trial.run(self)
        if wrong is not None:
            self._packed = None
            return f"no: {name} was tried, but {wrong}"
        self.attention = name
        if isinstance(packed, PackedClassifier):
            self.budget = min(self.budget, packed.most_tokens)
        return f"yes: {self.dtype} is within {change:.4f} of padded float32 on {len(trial)} pairs"

    def variant(self, *, network: nn.Module | None = None, dtype: str | None = None, padded: bool = True) -> NliModel:
        """The same model run another way, for comparisons; everything else is shared.

        Args:
            network: another one with the same call, on the device; `dtype` "fp32" runs it in the dtype of its weights.
        """
        other = copy.copy(self)
        other.dtype, other._packed = dtype or self.dtype, None if padded else self._packed
        if network is not None:
            other._network, other._half = network, None
        return other

    def probabilities(
        self, table: PairTable, premises: Sequence[np.ndarray], hypotheses: Sequence[np.ndarray], counts: Counts
    ) -> np.ndarray:
        """float32[P, C] for every pair of the table; see `Reader`. Adds to `counts`.

        Raises:
            ModelError: logits that are not finite even in float32.
            DeviceError: no memory for a single pair.
        """
        logits = np.zeros((len(table), len(self._order)), dtype=np.float32)
        texts, done = (table, premises, hypotheses), []
        counts.truncated_pairs += int((table.length > self.card.max_length).sum())
        for chosen, batch, result in in_batches(self, np.arange(len(table)), texts, self.dtype, counts):
            counts.tokens += len(batch.token_ids)
            columns = padded_length(batch.longest) * len(chosen)
            counts.padded_tokens += len(batch.token_ids) if self._packs(self.dtype) else columns
            done.append((chosen, result))
            counts.read(len(chosen))
        for chosen, result in done:  # fetched once, behind the last batch
            logits[chosen] = result.float().cpu().numpy()
        broken = np.flatnonzero(~np.isfinite(logits).all(axis=1))
        for chosen, _, result in in_batches(self, broken, texts, "fp32", counts, _RETRIES):
            logits[chosen] = result.float().cpu().numpy()
        counts.fp32_retries += len(broken)
        if not np.isfinite(logits[broken]).all():
            raise ModelError(f"{self.checkpoint.name} gives logits that are not finite, in float32 too: its weights are damaged.")
        return softmax_rows(logits[:, self._order])

    def forward(self, batch: TokenBatch, dtype: str) -> Tensor:
        """float `[B, C]` on the device, the logits of a batch in the order of the checkpoint."""
        send = self._staging.send
        if self._packs(dtype):
            ids, starts = (send(torch.from_numpy(part)) for part in (batch.token_ids, batch.starts))
            return self._packed(ids, starts, np.diff(batch.starts))
        ids, lengths = pad(batch)
        ids, lengths = send(ids), None if lengths is None else send(lengths)
        with torch.inference_mode(), attention_kernels(self.device):
            network = self._in(dtype)
            if network is not None:
                return network(ids, lengths)
            with torch.autocast(self.device.type, DTYPES[dtype]):
                return self._network(ids, lengths)

    def _in(self, dtype: str) -> nn.Module | None:
        """The padded network whose weights are in that dtype."""
        if dtype == "fp32":
            return self._network
        half = self._half
        return half if half is not None and next(half.parameters()).dtype == DTYPES[dtype] else None

    @property
    def reads_first_only(self) -> bool:
        """Whether the last layer is computed for the first token only, as our own networks do."""
        network = self._packed if self._packs(self.dtype) else self._network
        return isinstance(network, (DebertaClassifier, FlatClassifier))

    def _packs(self, dtype: str) -> bool:
        return self._packed is not None and DTYPES[dtype] == self._packed.dtype

    def _probe(self) -> None:
        """Refuse a model that gets obvious pairs wrong, which is what a wrong label order looks like."""
        right, passed = probed(self.read_texts([(premise, hypothesis) for premise, hypothesis, _ in PROBE]))
        if not passed:
            names = ", ".join(self.checkpoint.labels.names)
            raise ModelError(
                f"{self.checkpoint.name} fails the probe of obvious pairs ({right} of {len(PROBE)} right) with the "
                f"label order {names}. The order is wrong (give --labels), or it is not an NLI model."
            )

    def read_texts(self, pairs: Sequence[tuple[str, str]], dtype: str | None = None) -> np.ndarray:
        """float32[P, C] for (premise, hypothesis) texts, for probes and doctors; `dtype` overrides the model's own."""
        return self.read_ids(*self.encode(pairs), dtype)

    def encode(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """int32 ids of the premises, and of the hypotheses in the card's template."""
        wrap = self.card.template.hypothesis
        hypotheses = [wrap.replace("{}", hypothesis) for _, hypothesis in pairs]
        return self.encoder.encode([premise for premise, _ in pairs]), self.encoder.encode(hypotheses)

    def read_ids(
        self, premises: list[np.ndarray], hypotheses: list[np.ndarray], dtype: str | None = None, counts: Counts | None = None
    ) -> np.ndarray:
        """The same for ids, a hypothesis for each premise."""
        index = np.arange(len(premises), dtype=np.int32)
        length = np.array([len(a) + len(b) + self.encoder.specials for a, b in zip(premises, hypotheses)], dtype=np.int32)
        own, self.dtype = self.dtype, dtype or self.dtype
        try:
            return self.probabilities(PairTable(index, index, length), premises, hypotheses, counts or Counts())
        finally:
            self.dtype = own


def open_reader(options: ModelOptions, probe: bool = True) -> Reader:
    """The model those options name; "fake" reads with the bundled tokenizer, so that its token counts are real."""
    if options.model == "fake":
        return FakeModel(Encoder.from_file(cards_folder() / DEFAULT_MODEL / "tokenizer.json"))
    return NliModel(options, probe)
