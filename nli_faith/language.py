"""Is a text in a language the bundled model was measured on (English)? Only counted and said, never acted on."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "the of and to in is are was were that for it with as on be by at this from or an not have has which its but they".split()
)
# Frequent short words of other Latin-script languages that are no English words.
_OTHER = frozenset(
    "der die das und ist nicht ein eine mit für von dem den auf sich auch wird el la los las que en es una para con por del"
    " se le les des et est une dans pour qui sur au ce pas il di che non sono della nel een het van dat niet zijn o os"
    " as um uma não com do da em na är och att som av på det ja ei on se".split()
) - _ENGLISH
_SHORT = 6  # words below which nothing is said
_READ = 600  # characters that decide


def unmeasured(text: str) -> bool:
    """True when the text is plainly not English: mostly another script, or another language's small words."""
    text = text[:_READ]
    if not text.isascii():
        letters = [char for char in text if char.isalpha()]
        if letters and sum(char < "\u0250" for char in letters) < 0.7 * len(letters):
            return True
    words = _WORD.findall(text.lower())
    if len(words) < _SHORT:
        return False
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHER for word in words)
    return other > english and other >= 0.15 * len(words)
