"""Does a claim deny what its passage asserts, or assert what it denies?

Deliberately narrow: it speaks up only where the passage's sentence has most of the claim's content words, one of the two is
negated, the other is not, and what is negated is a word of both ("is available": "is not available", "never available",
"unavailable", "neither ... nor available", "fails to be available"; "lacks", "without", "free of", "out of stock" and "yet to"
deny what follows them). Where both have a negation, one denies twice ("not ... without"), either has another word that turns
a sentence round ("only", "until", "hardly"), or they speak of the two sides of a limit ("after 30 days", "within 30 days"), it
keeps silent; a missed one costs less than a false alarm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nltk.stem.porter import PorterStemmer

SHARED = 0.7  # of the claim's content words that the sentence must have
FEWEST = 2  # content words of a claim that is judged
_WORD = re.compile(r"(?:non|un)-[^\W\d_]+|[^\W\d_]+-free\b|[^\W_]+(?:['’][^\W\d_]+)?|[,;:.!?()–—]")
_NOT = frozenset("not no never neither nor none cannot without nobody nothing nowhere".split())
_BARE = frozenset(  # people leave out the apostrophe
    "isnt arent wasnt werent dont doesnt didnt couldnt wouldnt shouldnt hasnt havent hadnt mustnt neednt aint cant wont".split()
)
_LACKING = frozenset("lack lacks lacked lacking".split())  # deny what follows; "a lack of" is left alone
_FAILING = frozenset("fail fails failed failing refuse refuses refused refusing decline declines declined unable".split())  # to
_MEANT = (
    (re.compile(r"\b(?:[Nn]o\. ?|No )(?=\d+\b(?!-| years?\b))"), "number "),
    (re.compile(r"\bnon (?=[a-z]{3})", re.I), "non-"),
    (re.compile(r"\bor not\b", re.I), " "),  # "whether or not", "paid or not"
    # What is not in stock is out of stock, in other than "made out of wood" and "3 out of 5".
    (re.compile(r"\bout of (?=(?:stock|print|service|order|use|reach|range|season|network|warranty|sight|focus|bounds|office)\b)",
                re.I), "without "),
)  # fmt: skip
_PRONOUNS = frozenset("nobody nothing nowhere".split())  # what they deny does not stand behind them
# "Not only A but B", "no later than" and "not necessarily" deny nothing, or not quite.
_SOFT = frozenset("only just merely simply necessarily least less fewer more later sooner earlier matter doubt wonder".split())
# Words that turn a statement round, or narrow it, in ways that are not judged here.
_TURNING = frozenset(
    "fail fails failed failing unable lack lacks lacked lacking refuse refuses refused refusing deny denies denied prohibit prohibits"
    " prohibited ban bans banned forbid forbids forbidden prevent prevents prevented avoid avoids avoided exclude excludes"
    " excluded excluding except unless until till only instead rather otherwise if hardly barely rarely seldom scarcely"
    " stopped ceased longer former formerly previously zero absent absence missing few little reject rejects"
    " rejected before false".split()
)
# What is denied beyond a limit may be so within it: "not after 30 days" is "within 30 days".
_BEYOND = frozenset("after beyond outside past over above exceeding exceeds".split())
_WITHIN = frozenset("within inside during under below up".split())
_BREAKS = frozenset(",;:.!?()–—") | {"but", "although", "though", "while", "whereas", "because"}
_LIGHT = frozenset(
    "a an the any some all both each every this that these those it its they them their he she his her him we our you your i"
    " my is are was were be been being am do does did done has have had having will would can could shall should may might must"
    " ought able to of in on at by for from with as and or than there here so very too also still ever really quite fully yet"
    " currently always actually even either get gets got who which".split()
)
# What looks like a negated word and is none: both flammable and inflammable burn.
_NO_PREFIX = frozenset(
    "invaluable inflammable inhabitable inhabitant infamous indifferent implant intent invent indent incident instant impassive"
    " inmate insure invite incite intact impact instance unfolded unveiled unleashed united".split()
)
_PREFIX = re.compile(
    r"(?:un|non)-(?=[a-z]{3})|(?:un|non)(?=[a-z]+(?:ed|able|ible|ful|al|ive|ent|ant|own|old|afe|lear|air|aid|ain|ary|ely|ppy|thy|cky"
    r"|ure|are|rue|ise|mon|ling|ven|fit|iar)$)"
    r"|(?:in|im|ir|il)(?=[a-z]+(?:able|ible|ent|ant|ive|al|ous|ic|plete|rect|ate|ure|ite|alid|lar|act)$)"
)
_stem = lru_cache(maxsize=65536)(PorterStemmer().stem)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The content words of a sentence as stems.

    Attributes:
        words: stem -> stem without a negating prefix, or None.
        negated: stems that stand behind a negation everywhere; denies: there is a negation.
        turns: there is a word of `_TURNING`, or a negation that is none.
        beyond, within: there is a word for the one or the other side of a limit.
    """

    words: dict[str, str | None]
    negated: frozenset[str]
    denies: bool
    turns: bool
    beyond: bool
    within: bool


def negation_mismatch(claim: str, sentences: Sequence[str]) -> bool:
    """Whether one of the sentences that say most of the claim's words differs from it in a negation, and none agrees.

    Args:
        claim: one statement.
        sentences: of the passage that decides about it.
    """
    said = _read(claim)
    if len(said.words) < FEWEST or said.turns:
        return False
    verdicts = [_differs(said, _read(sentence)) for sentence in sentences]
    return True in verdicts and False not in verdicts


def _differs(claim: _Reading, sentence: _Reading) -> bool | None:
    """True or False where the sentence says most of the claim's words, None where it says something else or can't be judged."""
    known = sentence.words.keys() | set(sentence.words.values())
    shared = sum(word in known or (base is not None and base in known) for word, base in claim.words.items())
    if shared < SHARED * len(claim.words) or sentence.turns:
        return None
    if (claim.beyond and sentence.within and not sentence.beyond) or (claim.within and sentence.beyond and not claim.beyond):
        return None
    if _is_double(claim, sentence) or _is_double(sentence, claim):
        return None
    denied = claim.negated | _prefixed(claim, sentence)
    against = sentence.negated | _prefixed(sentence, claim)
    if bool(denied or claim.denies) == bool(against or sentence.denies):
        return False
    return True if (denied & sentence.words.keys()) or (against & claim.words.keys()) else None


def _prefixed(one: _Reading, other: _Reading) -> frozenset[str]:
    """Stems that `one` has with a negating prefix only, and `other` without: "unavailable" beside "available"."""
    return frozenset(
        base for base in one.words.values() if base is not None and base in other.words and base not in one.words
    )


def _is_double(one: _Reading, other: _Reading) -> bool:
    """Whether `one` denies what `other` says with a word and a prefix at once: "not unavailable" beside "available"."""
    return one.denies and not other.denies and bool(_prefixed(one, other))


def _denies_next(token: str, after: str) -> bool:
    if token in _LACKING:
        return after != "of"
    if token == "yet":  # "has yet to be approved"
        return after == "to"
    return token == "without" or (token == "free" and after == "of") or (token in _FAILING and after == "to")


@lru_cache(maxsize=8192)
def _read(sentence: str) -> _Reading:
    for pattern, meant in _MEANT:
        sentence = pattern.sub(meant, sentence)
    tokens = [token.lower().replace("’", "'") for token in _WORD.findall(sentence)]
    words: dict[str, str | None] = {}
    plain, negated = set(), set()
    denials, turns, waiting = 0, False, False
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""]):
        if _denies_next(token, after):
            denials += -1 if waiting else 1  # "not without" is with
            waiting = not waiting
        elif token in _NOT or token in _BARE or token.endswith("n't"):
            denials += 1
            waiting = token not in _PRONOUNS
        elif before in ("no", "not") and token in _SOFT:
            denials, turns, waiting = 0, True, False
        elif before == "no" and token in ("longer", "one"):
            continue
        elif token in _BREAKS:
            turns = turns or (token == "but" and (before in _PRONOUNS or before == "none"))  # "nothing but"
            waiting = False
        elif token in _TURNING or (token == "free" and after == "from"):
            turns = True
        elif token not in _LIGHT and not (waiting and token.endswith("ly")) and token[0].isalnum():
            stem = _stem(token)
            prefix = None if token in _NO_PREFIX else _PREFIX.match(token)
            words[stem] = _stem(token[prefix.end() :]) if prefix else None
            (negated if waiting else plain).add(stem)
            waiting = False
    turns = turns or ("without" in tokens and denials > 1)
    beyond, within = (not limits.isdisjoint(tokens) for limits in (_BEYOND, _WITHIN))
    return _Reading(words, frozenset(negated - plain), denials > 0, turns, beyond, within)
