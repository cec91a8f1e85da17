"""Text -> token ids, once per distinct text, exactly as the checkpoint's own `tokenizer.json` says.

transformers 5 rebuilds the tokenizer of DeBERTa-v3 and loses its normaliser, so that no-break spaces, ellipses and
ligatures become `[UNK]`; the file itself is read here. A pair is then composed of ids, [CLS] premise [SEP] hypothesis
[SEP], which equals the tokenizer's own pair encoding and costs nothing per pair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from nli_faith.errors import ModelError
from nli_faith.words import WordTable, words_stand_alone

_SURROGATE = re.compile("[\ud800-\udfff]")


class Encoder:
    """Encodes single texts without special tokens.

    Attributes:
        prefix: ids before the premise; middle: between premise and hypothesis; suffix: behind it. int32 each.
        typed: the hypothesis has a token type of its own, as for BERT.
        unknown: id of the unknown piece.
        size: one more than the highest id.
    """

    def __init__(self, tokenizer: Tokenizer, join: str = "pair") -> None:
        """
        Args:
            tokenizer: as read from `tokenizer.json`; padding and truncation that a checkpoint baked in are switched off.
            join: what stands between premise and hypothesis: "pair" (what the tokenizer puts there), "separator" (one
                separator only) or "text" (nothing).
        Raises:
            ModelError: the file defines no pair template to take the special tokens from.
        """
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.size = 1 + max(tokenizer.get_vocab().values())
        self.prefix, self.middle, self.suffix, self.typed = self._template()
        self.middle = {"pair": self.middle, "separator": self.middle[:1], "text": self.middle[:0]}[join]
        added = tokenizer.get_added_tokens_decoder()
        special = {index for index, token in added.items() if token.special}
        unknown = [tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>")]
        unknown = [index for index in unknown if index is not None]
        if not unknown:
            raise ModelError("The tokenizer has no [UNK] or <unk> piece to stand for special tokens inside a text.")
        self.unknown = unknown[0]
        # A byte-level vocabulary always finds pieces of its own; in the others the piece "[SEP]" is an ordinary entry.
        self._is_special = np.zeros(self.size, dtype=bool)
        self._is_special[sorted(special - {self.unknown})] = True
        self._words = WordTable(tokenizer, self._encode) if words_stand_alone(tokenizer) else None

    @classmethod
    def from_file(cls, path: str | Path, join: str = "pair") -> Encoder:
        """Read `tokenizer.json`.

        Raises:
            ModelError: the file is missing or is no tokenizer.
        """
        if not Path(path).is_file():
            raise ModelError(f"{path} does not exist; a checkpoint needs its tokenizer.json (slow tokenizers are not read).")
        try:
            return cls(Tokenizer.from_file(str(path)), join)
        except ModelError:
            raise
        except Exception as error:  # tokenizers raises bare Exception
            raise ModelError(f"{path} can't be read as a tokenizer: {error}.") from error

    def _template(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Special ids around the two texts, and `typed`, found in the tokenizer's own encoding of a pair."""
        pair = self._tokenizer.encode("a", "a")
        mask = np.array(pair.special_tokens_mask, dtype=bool)
        ids = np.array(pair.ids, dtype=np.int32)
        words = np.flatnonzero(~mask)
        gap = np.flatnonzero(np.diff(words) > 1)
        if len(gap) != 1 or words[0] == 0 or words[-1] == len(ids) - 1:
            raise ModelError("The tokenizer has no pair template ([CLS] premise [SEP] hypothesis [SEP]).")
        last, first = words[gap[0]], words[gap[0] + 1]
        typed = pair.type_ids[last] != pair.type_ids[first]
        return ids[: words[0]], ids[last + 1 : first], ids[words[-1] + 1 :], typed

    @property
    def specials(self) -> int:
        """Special tokens of a pair."""
        return len(self.prefix) + len(self.middle) + len(self.suffix)

    @cached_property
    def joins(self) -> bool:
        """Texts that stand apart by white space are encoded as each of them alone, one behind the other.

        True for DeBERTa-v3, whose pieces begin with the space before a word, whether there is one or not; false for
        byte-level vocabularies, which tell the first word of a text from the others.
        """
        texts = ("One two.", "Three, four!", "(5) six", "\u201cSeven\u201d eight", "nine\u2026", "\u00bd ten", "\u4e00\u4e8c\u3002")
        alone = [ids.tolist() for ids in self.encode(texts)]
        return all(
            self.encode([left + gap + right])[0].tolist() == alone[i] + alone[j]
            for gap in (" ", "\n", "\r\n", "\u00a0", "\t ")
            for i, left in enumerate(texts)
            for j, right in enumerate(texts)
        )

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """int32 ids of each text, no special tokens among them: a literal "[SEP]" inside a text becomes [UNK].

        Lone surrogates, which no tokenizer takes, are read as U+FFFD.
        """
        clean = [text if text.isascii() else _well_formed(text) for text in texts]
        return self._encode(clean) if self._words is None else self._words.encode(clean)

    def _encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        arrays = [np.array(encoding.ids, dtype=np.int32) for encoding in encodings]
        for ids in arrays:
            hit = self._is_special[ids]
            if hit.any():
                ids[hit] = self.unknown
        return arrays

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each id of `encode([text])` in `text`, in code points."""
        return self._tokenizer.encode(text if text.isascii() else _well_formed(text), add_special_tokens=False).offsets

    def pair(self, premise: np.ndarray, hypothesis: np.ndarray) -> np.ndarray:
        """int32 ids of [CLS] premise [SEP] hypothesis [SEP]."""
        return np.concatenate([self.prefix, premise, self.middle, hypothesis, self.suffix])


def _well_formed(text: str) -> str:
    """`text` with each lone surrogate replaced by one U+FFFD, so that it can be written as UTF-8 and offsets hold."""
    return _SURROGATE.sub("\ufffd", text)
