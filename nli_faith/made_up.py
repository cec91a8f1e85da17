"""Made-up pairs of a given length, in plain English, the same at every run: for timing, where no data is at hand."""

from __future__ import annotations

import random

_WHO = ("Anna", "Omar", "Priya", "Lucas", "Mei", "Ivan", "Sara", "Tom", "Aisha", "Noah", "Elena", "Kofi")
_DID = ("sold", "bought", "repaired", "returned", "ordered", "painted", "packed", "counted")
_WHAT = ("lamps", "chairs", "tickets", "books", "bicycles", "letters", "tables", "baskets", "coats", "cameras")
_WHERE = ("Oslo", "Lima", "Cairo", "Paris", "Delhi", "Quito", "Accra", "Seoul", "Turin", "Perth")
_WHEN = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FILLER = " then"


def made_up_pairs(length: int, count: int, reader, seed: int = 0) -> list[tuple[str, str]]:
    """(premise, hypothesis) texts of `length` tokens with their special tokens, or a few less.

    The hypothesis is in turn a sentence of the premise, that sentence with another number, and one about somebody else.

    Args:
        reader: a `model.Reader`, whose tokenizer counts.
    """
    draw = random.Random(f"{length} {seed}")
    sentences = [_sentence(draw) for _ in range(64)]
    sizes = dict(zip(sentences, map(len, reader.encoder.encode(sentences))))
    pairs = []
    for number in range(count):
        told = draw.sample(sentences, len(sentences))
        hypothesis = (told[0], _other_number(told[0]), told[-1])[number % 3]
        (ids,) = reader.encoder.encode([reader.card.template.hypothesis.replace("{}", hypothesis)])
        room = length - len(ids) - reader.encoder.specials
        chosen, used = [], 0
        while used + sizes[told[len(chosen) % 63]] <= room:
            used += sizes[told[len(chosen) % 63]]
            chosen.append(told[len(chosen) % 63])
        pairs.append((_filled(chosen, room, reader), hypothesis))
    return pairs


def _sentence(draw: random.Random) -> str:
    parts = (draw.choice(_WHO), draw.choice(_DID), str(draw.randint(2, 99)), draw.choice(_WHAT))
    return f"{' '.join(parts)} in {draw.choice(_WHERE)} on {draw.choice(_WHEN)}."


def _other_number(sentence: str) -> str:
    words = sentence.split()
    words[2] = str(int(words[2]) + 1)
    return " ".join(words)


def _filled(sentences: list[str], room: int, reader) -> str:
    """The sentences, and a short word repeated behind them until there are `room` tokens, as nearly as the tokenizer allows."""

    def size(text: str) -> int:
        return len(reader.encoder.encode([text])[0])

    text = " ".join(sentences)
    while sentences and size(text) > room:
        sentences = sentences[:-1]
        text = " ".join(sentences)
    one = max(1, size(text + _FILLER) - size(text))
    filler = max(0, room - size(text)) // one
    while filler and size(text + _FILLER * filler) > room:
        filler -= 1
    return text + _FILLER * filler
