"""A claim that is too long for the model -> parts that are read one by one. The claim still counts once."""

from __future__ import annotations

import re

from nli_faith.tokens import Encoder

_CLAUSE = re.compile(r"(?<=[;,:])\s+|\s+(?=(?:and|but|or|while|which|because)\b)|\n+|(?<=[，、；：。！？])")
_SPACE = re.compile(r"\s+")
# Scripts that are written without spaces between words: any two characters may be parted.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_CHARACTER = re.compile(rf"{_UNSPACED.pattern}|(?:(?!{_UNSPACED.pattern}).)+", re.DOTALL)


def split_long(text: str, size: int, encoder: Encoder) -> list[str]:
    """Parts of at most `size` tokens that together hold all of `text` but white space, cut between clauses if possible.

    Returns an empty list when a single word is longer than `size` tokens.
    """
    pieces = _pieces(text, size, encoder)
    lengths = [len(ids) for ids in encoder.encode([piece for piece, _ in pieces])]
    if not pieces or max(lengths) > size:
        return []
    parts, used = [pieces[0][0]], lengths[0]
    for (piece, glue), length in zip(pieces[1:], lengths[1:]):
        # One token of slack: pieces that are joined may be cut a little differently than alone.
        if used + length + 1 <= size:
            parts[-1] += glue + piece
            used += length + 1
        else:
            parts.append(piece)
            used = length
    return parts


def _pieces(text: str, size: int, encoder: Encoder) -> list[tuple[str, str]]:
    """(clause, word or character, what joins it to the one before), the largest of these that fit."""
    pieces: list[tuple[str, str]] = []
    for clause in (part for part in _CLAUSE.split(text) if part.strip()):
        glue = "" if pieces and pieces[-1][0][-1] in "，、；：。！？" and not clause[0].isspace() else " "
        clause = clause.strip()
        if len(encoder.encode([clause])[0]) <= size:
            pieces.append((clause, glue))
            continue
        for word in _SPACE.split(clause):
            if _UNSPACED.search(word) and len(encoder.encode([word])[0]) > size:
                pieces.extend((part, glue if i == 0 else "") for i, part in enumerate(_CHARACTER.findall(word)))
            else:
                pieces.append((word, glue))
            glue = " "
    return pieces
