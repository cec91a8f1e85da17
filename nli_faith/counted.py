"""What a number counts: "branches" in "12 branches"."""

from __future__ import annotations

import re

from nli_faith.quantities import Quantity

_AFTER = re.compile(r"[ \u00a0-]([a-z]{2,})(?:[ \u00a0-]([a-z]{2,}))?", re.I)
STOP = frozenset(
    "a an the and or but of to in on at by for from with as is are was were be been has have had will would can could may"
    " might must that which who whose this these those it its they their he she his her we our you your not no than then"
    " so if when while after before during since until between among over under about into per each every more less most"
    " least other others such only also still just very later earlier ago away up down out off there here what how all".split()
)


def counted(text: str, number: Quantity) -> frozenset[str]:
    """What the number counts: the one or two words behind it, without their plural; empty before "of", a stop and the like."""
    match = _AFTER.match(text, number.end)
    words = []
    for word in match.groups() if match else ():
        if word is None or word.lower() in STOP:
            break
        words.append(word.lower())
    return frozenset(map(singular, words))


def singular(word: str) -> str:
    return word[:-1] if word[-1] == "s" and word[-2:] != "ss" else word
