"""Names of a model's outputs -> which of its logits is entailment, which neutral, which contradiction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nli_faith.errors import ModelError

ENTAILMENT = frozenset("entailment entailed entail entails supported supports support grounded consistent faithful".split())
NEUTRAL = frozenset("neutral neither not_enough_info nei".split())
CONTRADICTION = frozenset(
    "contradiction contradictory contradicted contradicts contradict refuted refutes refute".split()
)
NOT_ENTAILMENT = frozenset(
    "not_entailment not_entailed non_entailment not_supported unsupported hallucinated hallucination"
    " ungrounded not_grounded inconsistent unfaithful".split()
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Columns of the logits: index of each class; neutral and contradiction are None for two-class models."""

    names: tuple[str, ...]
    entailment: int
    neutral: int | None
    contradiction: int | None

    @property
    def order(self) -> tuple[int, ...]:
        """Columns in the order (entailment, neutral, contradiction), or (entailment, the other one)."""
        if self.neutral is None or self.contradiction is None:
            return self.entailment, 1 - self.entailment
        return self.entailment, self.neutral, self.contradiction


def resolve_labels(names: Sequence[str]) -> Labels:
    """Find the classes by their exact normalised names, never by position and never by a part of a name.

    Raises:
        ModelError: one class only, an unknown name, or a class that is missing or there twice.
    """
    plain = tuple(re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in names)
    said = ", ".join(repr(name) for name in names)
    if len(names) == 1:
        raise ModelError(
            f"The checkpoint has one output ({said}): a regression or ranking head, not one that tells entailment. "
            "Use a model with two or three classes."
        )
    if len(names) not in (2, 3):
        raise ModelError(f"The checkpoint has {len(names)} classes ({said}); an NLI model has two or three.")
    kinds = ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILMENT
    found = [[i for i, name in enumerate(plain) if name in kind] for kind in kinds]
    entailment, neutral, contradiction, other = found
    if len(names) == 3 and [len(entailment), len(neutral), len(contradiction)] == [1, 1, 1]:
        return Labels(plain, entailment[0], neutral[0], contradiction[0])
    if len(names) == 2 and len(entailment) == 1 and len(other) + len(contradiction) == 1:
        return Labels(plain, entailment[0], None, None)
    hint = "entailment,neutral,contradiction" if len(names) == 3 else "not_entailment,entailment"
    raise ModelError(
        f"The checkpoint's labels ({said}) don't say which output is entailment. "
        f"Name them in the order of its outputs, for example --labels {hint}."
    )
