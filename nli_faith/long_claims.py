"""A claim that is too long for the model -> parts that are read one by one. The claim still counts once."""

from __future__ import annotations

import re

from nli_faith.tokens import Encoder

_CLAUSE = re.compile(r"(?<=[;,:])\s+|\s+(?=(?:and|but|or|while|which|because)\b)|\n+")
_SPACE = re.compile(r"\s+")


def split_long(text: str, size: int, encoder: Encoder) -> list[str]:
    """Parts of at most `size` tokens that together hold all of `text` but white space, cut between clauses if possible.

    Returns an empty list when a single word is longer than `size` tokens.
    """
    pieces = []
    for clause in (part for part in _CLAUSE.split(text) if part.strip()):
        if len(encoder.encode([clause])[0]) <= size:
            pieces.append(clause)
        else:
            pieces.extend(word for word in _SPACE.split(clause) if word)
    lengths = [len(ids) for ids in encoder.encode(pieces)]
    if not pieces or max(lengths) > size:
        return []
    parts, used = [pieces[0]], lengths[0]
    for piece, length in zip(pieces[1:], lengths[1:]):
        # One token of slack: pieces that are joined may be cut a little differently than alone.
        if used + length + 1 <= size:
            parts[-1] += f" {piece}"
            used += length + 1
        else:
            parts.append(piece)
            used = length
    return parts
