"""Word pieces of whole texts put together from those of their words, each word encoded once.

A tokenizer of the SentencePiece kind never lets a piece reach over white space, so the ids of a text are those of its words
one behind the other. Looking words up is several times faster than encoding them again: texts repeat their words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

LONGEST_WORD = 64  # characters; longer ones (addresses, texts without spaces) hardly come twice
MOST_WORDS = 64_000  # kept at a time, about 20 MB: peak memory must hardly depend on how many rows there are
_SPACE = "\u2581"
_SPLIT = re.compile(r"[^ \t\r\n]+")
# Other control characters are for the normaliser to judge.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# What may change the characters of a word without looking beyond it.
_NORMALISERS = {"Strip", "Precompiled", "Replace"}


def words_stand_alone(tokenizer: Tokenizer) -> bool:
    """No piece of this tokenizer depends on what stands beyond the spaces around its word."""
    if tokenizer.pre_tokenizer is None or tokenizer.normalizer is None:
        return False
    splitters = _members(tokenizer.pre_tokenizer, "pretokenizers")
    metaspace = {"type": "Metaspace", "replacement": _SPACE, "prepend_scheme": "always", "split": True}
    if splitters != [metaspace] or not {part["type"] for part in _members(tokenizer.normalizer, "normalizers")} <= _NORMALISERS:
        return False
    added = tokenizer.get_added_tokens_decoder().values()
    if any(token.lstrip or token.rstrip or token.single_word for token in added):
        return False
    return not any(_SPACE in piece[1:] for piece in tokenizer.get_vocab())


def _members(component, name: str) -> list[dict]:
    """The parts of a normaliser or pre-tokenizer, as `tokenizer.json` writes them."""
    state = json.loads(component.__getstate__())
    return state[name] if state["type"] == "Sequence" else [state]


class WordTable:
    """Ids of words met before. Only for tokenizers of which `words_stand_alone` is true."""

    def __init__(self, tokenizer: Tokenizer, encode: Callable[[Sequence[str]], list[np.ndarray]]) -> None:
        """
        Args:
            encode: int32 ids of whole texts, the rule that this table must equal.
        """
        self._encode = encode
        self._special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        self._ids: dict[str, tuple[int, ...] | None] = {}

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """int32 ids of each text, equal to what `encode` of the constructor gives."""
        split = [self._words(text) for text in texts]
        known = self._learn(set(chain.from_iterable(words for words in split if words is not None)))
        out: list[np.ndarray | None] = []
        for words in split:
            found = None if words is None else [known[word] for word in words]
            out.append(None if found is None or None in found else np.array(list(chain.from_iterable(found)), dtype=np.int32))
        whole = [i for i, ids in enumerate(out) if ids is None]
        for i, ids in zip(whole, self._encode([texts[i] for i in whole])):
            out[i] = ids
        return out

    def _words(self, text: str) -> list[str] | None:
        """The words of a text, or None for one that is encoded as a whole."""
        if _CONTROL.search(text) or any(special in text for special in self._special):
            return None
        # str.split knows more spaces than those of ASCII, and what they become is for the normaliser to say.
        words = text.split() if text.isascii() else _SPLIT.findall(text)
        return words if not words or max(map(len, words)) <= LONGEST_WORD else None

    def _learn(self, words: set[str]) -> dict[str, tuple[int, ...] | None]:
        """The table with all of `words` in it; None for a word that its neighbours change."""
        if len(self._ids) + len(words) > MOST_WORDS:
            self._ids = {}  # a new one: another thread may be reading the old
        known = self._ids
        new = [word for word in words if word not in known]
        # A mark at its beginning, or a letter that leans on what follows, may join with the space beside a word.
        odd = [word for word in new if not word.isascii()]
        left, *between = self._encode(["a", *(f"a {word} a" for word in odd)])
        alone = dict(zip(new, self._encode(new)))
        apart = {word: np.array_equal(ids, np.concatenate([left, alone[word], left])) for word, ids in zip(odd, between)}
        for word, ids in alone.items():
            known[word] = tuple(ids.tolist()) if apart.get(word, True) else None
        return known
