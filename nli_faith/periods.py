"""Whether a period after a word ends a sentence, judged by the words around it.

Rules of ours settle most cases; what is left is put to NLTK's Punkt with just the two words around the period, so that no
text is long or odd enough to make Punkt slow. The parameters ship with the package; nothing is downloaded.
"""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from nli_faith.abbreviations import (
    AFTER_TIME,
    BEFORE_NUMBER,
    COMPANIES,
    COUNTRIES,
    DURATIONS,
    GERMAN_MONTHS,
    IMPERATIVES,
    IN_LAWS,
    INNER,
    LAWS,
    LEGAL,
    MEASURES,
    MORE_ABBREVIATIONS,
    NEEDS_CONTEXT,
    NOT_LOWER,
    ROLES,
    STARTERS,
    TITLES,
    WORDS_TOO,
)

ROMAN_OR_LETTER = re.compile(r"(?:\d|[IVXLC]+\b|[A-Z]\b)")
DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]$")
INITIAL = re.compile(r"[A-Z]\.")
MID_UPPER, MID_LOWER = 1 << 2, 1 << 5  # Punkt's flags: seen inside of sentences with a capital, without one

_lock = threading.Lock()
_punkt: PunktSentenceTokenizer | None = None


class Around(NamedTuple):
    """What stands around "stem. word".

    Attributes:
        alone: the stem is all there is before the period, as in a list mark "1.".
        bracket: the next text opens with a bracket.
        ellipsis: the mark is "..." or "…".
        counted: a figure stands before the stem: "8 oz."
        led: a word that leads to a place in a text stands before it: "see art."
        runs_on: the word after next begins small: "Revenue rose".
    """

    alone: bool = False
    bracket: bool = False
    ellipsis: bool = False
    counted: bool = False
    led: bool = False
    runs_on: bool = False


@lru_cache(maxsize=1 << 15)
def period_ends(stem: str, word: str, around: Around) -> bool:
    """Whether "stem. word" is two sentences."""
    bracket = around.bracket
    # "CA." and "IT." are no abbreviations of that kind, unless everything is in capitals.
    low = stem if stem.isupper() and stem.isalpha() and len(stem) > 1 and not word.isupper() else stem.lower()
    bare = re.sub(r"[^\w].*", "", word).lower()
    if around.ellipsis:
        return _punkt_ends(stem + "...", word)
    if word[0] == "§" or stem in ("v", "vs") or (low in LAWS and bare in IN_LAWS) or (stem.isdigit() and bare in GERMAN_MONTHS):
        return False
    if around.alone and (stem.isdigit() and len(stem) <= 3 or len(stem) == 1):
        return False
    if stem in NOT_LOWER:
        return True
    if low in LEGAL and (word[0].islower() or INITIAL.match(word) or (low != "fed" and word[0].isdigit())):
        return False
    if around.counted and low in MEASURES and word[0].isupper():
        # "30 mins. Slice it", "8 oz. Stir", but "8 oz. Cheddar".
        return bare in STARTERS or bare in IMPERATIVES or (low in DURATIONS and not _is_name(bare))
    if stem in WORDS_TOO:  # "the sales rep. Discounts apply"
        return not bracket and word[0].isupper() and _is_common(bare)
    if low in INNER or low in TITLES:
        if low == "st":  # "Milpas St. Customers", "St. Louis"
            return bare in STARTERS or _punkt_ends("St.", word)
        return bare in STARTERS and (low in TITLES or low in ("al", "vs", "approx"))
    needs = low in NEEDS_CONTEXT and stem == low and not around.led
    if low.lower() in BEFORE_NUMBER and not needs and ROMAN_OR_LETTER.match(word) and not (bracket and low == "no"):
        return False
    if low in ("a.m", "p.m", "am", "pm"):
        return not bracket and word[0].isupper() and bare not in AFTER_TIME
    if (len(stem) == 1 and stem.isalpha()) or DOTTED.match(stem) or low in MORE_ABBREVIATIONS:
        if bracket or word[0].islower() or word[0].isdigit():
            return False
        if low == "etc":
            return word[0].isupper()
        # "Acme Inc. Revenue rose": a common word with a capital, and small letters after it.
        if around.runs_on and low in COMPANIES and _is_common(bare) and bare not in ROLES:
            return True
        # "U.S. Postal Service", "J. Park": what follows in capitals is a name unless sentences often begin with it.
        return bare in STARTERS or (not (len(stem) == 1 or low in COUNTRIES) and _punkt_ends(stem + ".", word))
    if low != stem.lower():
        return not word[0].islower()
    if bracket and low in _english().abbrev_types:
        return False
    return _punkt_ends(stem + ".", word)


def _is_common(bare: str) -> bool:
    """Whether a word is known in small letters, so that a capital means more than a name."""
    return _english().ortho_context[bare] & MID_LOWER > 0


def _is_name(bare: str) -> bool:
    return _english().ortho_context[bare] & (MID_UPPER | MID_LOWER) == MID_UPPER


def _punkt_ends(stem: str, word: str) -> bool:
    """What Punkt says of these two words. Without a word before the mark there is nothing to ask about."""
    return len(stem) < 2 or _tokenizer().text_contains_sentbreak(f"{stem} {word}")


def _tokenizer() -> PunktSentenceTokenizer:
    """The English tokenizer, made once per process."""
    global _punkt
    if _punkt is None:
        with _lock:
            if _punkt is None:
                _punkt = PunktSentenceTokenizer(_english())
    return _punkt


class _Orthography(defaultdict):
    """Answers 0 for unknown words without storing them: reading must not grow what threads share."""

    def __missing__(self, word: str) -> int:
        return 0


@lru_cache(maxsize=1)
def _english() -> PunktParameters:
    """Parameters from the package data, with our abbreviations added."""
    raw = json.loads(resources.files("nli_faith").joinpath("data/punkt_english.json").read_text("utf-8"))
    parameters = PunktParameters()
    parameters.abbrev_types = set(raw["abbreviations"]) | INNER | TITLES | MORE_ABBREVIATIONS
    parameters.collocations = {tuple(pair) for pair in raw["collocations"]}
    parameters.sent_starters = set(raw["starters"])
    parameters.ortho_context = _Orthography(int)
    for flags, words in raw["orthography"].items():
        parameters.ortho_context.update(dict.fromkeys(words.split(" "), int(flags)))
    return parameters
