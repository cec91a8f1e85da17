"""Pairs -> probabilities: batches through the network, out-of-memory back-off, float32 retries, and the probe at load."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from nli_faith.batches import compose, padded_length, plan_batches
from nli_faith.checkpoints import Card, Checkpoint, cards_folder, open_checkpoint
from nli_faith.deberta import DebertaClassifier
from nli_faith.devices import BUDGETS, DTYPES, pick_device, pick_dtype
from nli_faith.errors import DeviceError, ModelError
from nli_faith.fake import FakeModel
from nli_faith.flat import FlatClassifier, open_flat
from nli_faith.networks import build_network
from nli_faith.options import DEFAULT_MODEL, ModelOptions
from nli_faith.packed import PackedClassifier, open_packed, said
from nli_faith.parity import PROBE, difference, fault, mixed_pairs, probed
from nli_faith.scores import softmax_rows
from nli_faith.staging import Staging
from nli_faith.tokens import Encoder
from nli_faith.types import Counts, PairTable, TokenBatch

_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


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
        self._network = network.to(self.device)
        # A GPU multiplies fp16 weights as they are; the float32 ones stay for pairs that overflow.
        self._half = copy.deepcopy(self._network).half() if self.dtype == "fp16" and self.device.type == "cuda" else None
        self._order = list(self.checkpoint.labels.order)
        self.classes = len(self._order)
        self._staging = Staging(self.device)
        self._packed: PackedClassifier | FlatClassifier | None = None
        self.packing = self._pack()
        if probe:
            self._probe()

    def _candidate(self) -> tuple[PackedClassifier | FlatClassifier | None, str]:
        """(a network that reads without padding here, its name) or (None, why there is none)."""
        if self.device.type == "cpu":
            return open_flat(self._network, DTYPES[self.dtype])
        if self.dtype == "fp32":
            return None, "float32 is read padded"
        network = self._half
        if network is None and self.device.type == "cuda":
            network = copy.deepcopy(self._network).to(DTYPES[self.dtype])
        return open_packed(network, self.device, self.card.max_length)

    def _pack(self) -> str:
        """Read packed from now on, if that can be done here and gives the numbers of float32; says what was decided."""
        packed, name = self._candidate()
        if packed is None:
            return f"no: {name}"
        # A CPU takes a second for 16 long pairs in float32, and has no kernel that could fail at some length only.
        pairs = mixed_pairs(256, 4) if self.device.type == "cpu" else mixed_pairs(self.card.max_length, 16)
        counts = Counts()
        reference = self.read_texts(pairs, "fp32")
        self._packed = packed
        try:
            p = self.read_texts(pairs, counts=counts)
            wrong = "its logits are not finite" if counts.fp32_retries else fault(p, reference, self.dtype)
        except Exception as error:  # compilers raise what they like (Triton, a missing gcc), and the padded path is there
            wrong = said(error)
        if wrong is not None:
            self._packed = None
            return f"no: {name} was tried, but {wrong}"
        self.attention = name
        return f"yes: {self.dtype} is within {difference(p, reference):.4f} of padded float32 on {len(pairs)} pairs"

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
        waiting = plan_batches(table.length, self.budget)[::-1]
        done: list[tuple[np.ndarray, Tensor]] = []
        while waiting:
            chosen = waiting.pop()
            batch = compose(table, chosen, premises, hypotheses, self.encoder)
            result = self._try(batch)
            if result is None:
                counts.out_of_memory += 1
                waiting = self._smaller([chosen, *waiting], table)
                continue
            counts.tokens += len(batch.token_ids)
            columns = padded_length(batch.longest) * len(chosen)
            counts.padded_tokens += len(batch.token_ids) if self._packs(self.dtype) else columns
            done.append((chosen, result))
            counts.read(len(chosen))
        for chosen, result in done:  # fetched once, behind the last batch
            logits[chosen] = result.float().cpu().numpy()
        self._mend(logits, table, premises, hypotheses, counts)
        return softmax_rows(logits[:, self._order])

    def _try(self, batch: TokenBatch) -> Tensor | None:
        """Logits of a batch on the device, or None when memory ran out."""
        try:
            return self._forward(batch)
        except torch.OutOfMemoryError:
            pass  # the exception holds the frames that hold the memory: leave it before trying again
        except RuntimeError as error:  # what CPUs and MPS raise has no type of its own
            if not any(words in str(error).lower() for words in _NO_MEMORY):
                raise
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _smaller(self, batches: list[np.ndarray], table: PairTable) -> list[np.ndarray]:
        """Half the budget from now on, and batches within it of all that is left, the failed one (the first) among them."""
        if len(batches[0]) == 1:
            raise DeviceError(
                f"{self.device} has no memory for a single pair of {int(table.length[batches[0][0]])} tokens. "
                "Use a smaller model or --device cpu."
            )
        self.budget = max(1, self.budget // 2)
        left = np.sort(np.concatenate(batches))
        return [left[part] for part in plan_batches(table.length[left], self.budget)[::-1]]

    def _forward(self, batch: TokenBatch, dtype: str | None = None) -> Tensor:
        dtype, send = dtype or self.dtype, self._staging.send
        if self._packs(dtype):
            return self._packed(send(torch.from_numpy(batch.token_ids)), send(torch.from_numpy(batch.starts)), np.diff(batch.starts))
        ids, lengths = pad(batch)
        ids, lengths = send(ids), None if lengths is None else send(lengths)
        with torch.inference_mode():
            if dtype == "fp16" and self._half is not None:
                return self._half(ids, lengths)
            with torch.autocast(self.device.type, DTYPES[dtype], enabled=dtype != "fp32"):
                return self._network(ids, lengths)

    @property
    def reads_first_only(self) -> bool:
        """Whether the last layer is computed for the first token only, as our own networks do."""
        network = self._packed if self._packs(self.dtype) else self._network
        return isinstance(network, (DebertaClassifier, FlatClassifier))

    def _packs(self, dtype: str) -> bool:
        return self._packed is not None and DTYPES[dtype] == self._packed.dtype

    def _mend(self, logits: np.ndarray, table: PairTable, premises, hypotheses, counts: Counts) -> None:
        """Score pairs whose logits are not finite again, in float32."""
        broken = np.flatnonzero(~np.isfinite(logits).all(axis=1))
        if not len(broken):
            return
        for chosen in np.array_split(broken, len(broken)):
            logits[chosen] = self._forward(compose(table, chosen, premises, hypotheses, self.encoder), "fp32").cpu().numpy()
        counts.fp32_retries += len(broken)
        if not np.isfinite(logits[broken]).all():
            raise ModelError(f"{self.checkpoint.name} gives logits that are not finite, in float32 too: its weights are damaged.")

    def _probe(self) -> None:
        """Refuse a model that gets obvious pairs wrong, which is what a wrong label order looks like."""
        right, passed = probed(self.read_texts([(premise, hypothesis) for premise, hypothesis, _ in PROBE]))
        if not passed:
            names = ", ".join(self.checkpoint.labels.names)
            raise ModelError(
                f"{self.checkpoint.name} fails the probe of obvious pairs ({right} of {len(PROBE)} right) with the "
                f"label order {names}. The order is wrong (give --labels), or it is not an NLI model."
            )

    def read_texts(
        self, pairs: Sequence[tuple[str, str]], dtype: str | None = None, counts: Counts | None = None
    ) -> np.ndarray:
        """float32[P, C] for (premise, hypothesis) texts, for probes and doctors; `dtype` overrides the model's own."""
        premises = self.encoder.encode([premise for premise, _ in pairs])
        wrap = self.card.template.hypothesis
        hypotheses = self.encoder.encode([wrap.replace("{}", hypothesis) for _, hypothesis in pairs])
        index = np.arange(len(pairs), dtype=np.int32)
        length = np.array([len(a) + len(b) + self.encoder.specials for a, b in zip(premises, hypotheses)], dtype=np.int32)
        own, self.dtype = self.dtype, dtype or self.dtype
        try:
            return self.probabilities(PairTable(index, index, length), premises, hypotheses, counts or Counts())
        finally:
            self.dtype = own


def pad(batch: TokenBatch) -> tuple[Tensor, Tensor | None]:
    """(int64 `[B, L]` right-padded with 0, int64 `[B]` lengths, or None when all are equally long)."""
    length = np.diff(batch.starts)
    ids = np.zeros((len(length), padded_length(batch.longest)), dtype=np.int64)
    mask = np.arange(ids.shape[1]) < length[:, None]
    ids[mask] = batch.token_ids
    return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(length.astype(np.int64))


def open_reader(options: ModelOptions, probe: bool = True) -> Reader:
    """The model those options name; "fake" reads with the bundled tokenizer, so that its token counts are real."""
    if options.model == "fake":
        return FakeModel(Encoder.from_file(cards_folder() / DEFAULT_MODEL / "tokenizer.json"))
    return NliModel(options, probe)
