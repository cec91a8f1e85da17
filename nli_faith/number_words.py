"""English numbers written out: "twelve", "two hundred and five", "nineteen eighty-four", "twenty-first".

Packages that read them were tried: the quick ones know neither years, halves nor dozens, the others take milliseconds for
a sentence. The grammar is small.
"""

from __future__ import annotations

import re

from nli_faith.units import either

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
CARDINALS = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_IRREGULAR = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
              "twelfth": "twelve"}  # fmt: skip
_SUFFIXED = {
    (f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th"): word for word in [*CARDINALS, *_SCALES]
    if word not in _IRREGULAR.values() and word != "zero"
}  # fmt: skip
ORDINALS = _IRREGULAR | _SUFFIXED
DECADES = {f"{word[:-1]}ies": 10 * value for value, word in enumerate(_TENS.split(), start=2)}

_WORD = either([*CARDINALS, *_SCALES])
_LAST = either(ORDINALS.keys() - {"second"})  # "five-second" is a duration
# "and" belongs to a number behind a hundred or a thousand only: "between two and five" has two numbers.
WRITTEN = (
    rf"(?:(?:a|an)[ -](?=hundred|thousand|million|billion|trillion))?(?:{_WORD})"
    rf"(?:(?:[ -]|(?:(?<=dred)|(?<=sand)|(?<=lion)) and )(?:{_WORD})){{0,24}}"
    rf"(?:[ -](?:{_LAST})(?![a-z])|(?<=ty)[ -]second(?![a-z]))?|(?:{either(ORDINALS)})"
)
_PART = re.compile(r"[a-z]+")


def written_values(text: str) -> list[tuple[int, bool]]:
    """(value, is ordinal) of each number in a stretch that `WRITTEN` matched; "one two" is two numbers.

    Args:
        text: in small letters.
    """
    found: list[tuple[int, bool]] = []
    total = current = 0
    last = None  # the value that the next word has to fit below
    for word in _PART.findall(text):
        if word in ("a", "an", "and"):
            continue
        ordinal = word in ORDINALS
        word = ORDINALS.get(word, word)
        value = CARDINALS.get(word)
        if value is None:
            scale = _SCALES[word]
            if scale == 100:
                current = max(1, current) * 100
            else:
                total, current = total + max(1, current) * scale, 0
            last = scale
        elif last is None or last >= 100 or (20 <= last < 100 and last % 10 == 0 and 0 < value < 10):
            current, last = current + value, value
        elif not total and 10 <= current <= 20 and value >= 10:  # nineteen eighty, twenty twenty
            current, last = current * 100 + value, value
        else:
            found.append((total + current, False))
            total, current, last = 0, value, value
        if ordinal:
            break
    else:
        ordinal = False
    return [*found, (total + current, ordinal)]
