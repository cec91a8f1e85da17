"""Fast ways to read are tried at load: half precision, and networks that compute no padding, must give float32's numbers."""

from __future__ import annotations

import math

import numpy as np

from nli_faith.packed import said, trial_lengths
from nli_faith.parity import difference, fault, mixed_pairs
from nli_faith.types import Counts

_COPIES = 32


class Trial:
    """Pairs, and their probabilities as `model` gives them in float32 when this is made; it must read padded then.

    Off the CPU every family of lengths has a batch of its own, equally long pairs: kernels are compiled for a family, which
    fails at some of them only, and had better fail here than in the middle of a run.

    Args:
        model: a `model.NliModel`.
    """

    def __init__(self, model) -> None:
        self._batches: list[tuple[list[np.ndarray], list[np.ndarray], int]] = []  # premises, hypotheses, how often
        longest = model.card.max_length
        if model.device.type == "cpu":  # which takes a second for 16 long pairs in float32, and compiles nothing
            self._batches.append((*_mixed(min(256, longest), 4, model), 1))
        else:
            self._batches.append((*_mixed(longest, 16, model), 1))
            self._batches += [(*_pair_of(length, model), _COPIES) for length in trial_lengths(longest)]
        self._references = [model.read_ids(*sides, "fp32") for *sides, _ in self._batches]

    def __len__(self) -> int:
        """Distinct pairs."""
        return sum(len(premises) for premises, *_ in self._batches)

    def run(self, model) -> tuple[str | None, float]:
        """(what is wrong with the model as it reads now, or None; the largest difference of a probability)."""
        worst = 0.0
        try:
            for (premises, hypotheses, copies), reference in zip(self._batches, self._references, strict=True):
                counts = Counts()
                p = model.read_ids(premises * copies, hypotheses * copies, counts=counts)
                reference = np.tile(reference, (copies, 1))
                wrong = "its logits are not finite" if counts.fp32_retries else fault(p, reference, model.dtype)
                if wrong is not None:
                    return wrong, math.inf
                worst = max(worst, difference(p, reference))
        except Exception as error:  # compilers raise what they like (Triton, a missing gcc), and padded float32 is there
            return said(error), math.inf
        return None, worst


def _mixed(longest: int, count: int, model) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Ids of unequally long pairs, none longer than `longest`: a token beyond a model's last position can end a GPU's process."""
    premises, hypotheses = model.encode(mixed_pairs(longest, count))
    room = longest - model.encoder.specials
    return [ids[: room - len(hypothesis)] for ids, hypothesis in zip(premises, hypotheses)], hypotheses


def _pair_of(length: int, model) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(ids of one premise, of one hypothesis) that make `length` tokens."""
    (long,), (hypothesis,) = model.encode(mixed_pairs(2 * length, 2)[1:])
    room = max(1, length - len(hypothesis) - model.encoder.specials)
    return [np.resize(long, room)], [hypothesis]
