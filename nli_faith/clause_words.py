"""Which words begin a second predicate, and which tie a clause to what stands before it. Used by `clauses.py`."""

from __future__ import annotations

from bisect import bisect_left

from nli_faith.verbs import BASE, DOUBTFUL, NO_PAST, OBJECT, PLAIN, WORD

BE = frozenset("is are was were am isn't aren't wasn't weren't be been being".split())
HAVE = frozenset("has have had hasn't haven't hadn't".split())
MODALS = frozenset(
    "can can't cannot could couldn't will won't would wouldn't shall should shouldn't may might must mustn't do"
    " does did don't doesn't didn't".split()
)
AUXILIARY = (BE | HAVE | MODALS) - {"be", "been", "being"}
PLURAL_ONLY = frozenset("are were have do aren't weren't haven't don't".split())
SINGULAR_ONLY = frozenset("is was has does isn't wasn't hasn't doesn't".split())
# Past forms that are no participles, participles that are no past forms, and forms that are both.
PAST = frozenset(
    "grew fell rose went came became took gave wrote knew saw began ran drew drove flew threw spoke broke chose"
    " woke wore sank swam sang ate drank forgot hid shook stole swore was were".split()
)
PARTICIPLE = frozenset(
    "grown fallen given taken written known seen begun drawn driven flown thrown spoken broken chosen worn sung"
    " eaten forgotten hidden shaken stolen sworn shown done".split()
)
BOTH_PASTS = frozenset(
    "made said told held kept brought sold bought paid sent led lost met won spent taught caught built found left".split()
)
SAME_PASTS = frozenset("set put cut hit shut read beat".split())  # of one form with the base
INTRANSITIVE = frozenset(
    "lived arrived died moved worked returned remained appeared served started ended retired stayed".split()
)
DETERMINERS = frozenset(
    "the a an this that these those its their his her your our my any each every no some all both half several"
    " many two three four five it them him us you me another one such".split()
)
AMOUNTS = frozenset("up about around approximately over nearly almost more less little much enough".split())
PREPOSITIONS = frozenset(
    "in on at to from by with for of into onto over under between among through during within without after"
    " before since until as about near against across along off out per via down up back".split()
)
OPEN = (PREPOSITIONS - {"up", "down", "back", "off", "out", "in", "on", "along", "across"}) | frozenset(
    "the a an its their his her your our my no every try go come".split()
)  # before "and" these still wait for what is behind it
ADVERBS = frozenset(
    "then also later now often never always still even thus therefore soon already once again further instead"
    " sometimes only just usually not".split()
)
NOT_ADVERBS = frozenset(
    "family supply apply reply rely july italy daily early monthly weekly multiply assembly".split()
)
# Words in -s that are no verbs although an article may follow.
FUNCTION = DETERMINERS | AMOUNTS | PREPOSITIONS | ADVERBS | frozenset(
    "and but or nor so yet if less plus towards perhaps besides whereas unless afterwards previous sometimes does has is"
    " was others yes not also all with once than like which who what when where how why because while".split()
)  # fmt: skip
RELATIVE = frozenset(
    "that which who whom whose where when how why what whether because although though while whereas unless if"
    " lest".split()
)
OPENERS = RELATIVE - {"that"} | frozenset("since once until after before as even".split())
# What follows is what somebody says; another clause behind it may be part of that.
ATTRIBUTING = frozenset(
    "say says said state states stated report reports reported claim claims claimed argue argues argued believe"
    " believes believed think thinks thought suggest suggests suggested indicate indicates indicated show shows"
    " showed find finds found note notes noted announce announces announced confirm confirms confirmed warn warns"
    " warned hope hopes hoped expect expects expected know knows knew explain explains explained conclude"
    " concludes concluded reveal reveals revealed estimate estimates estimated predict predicts predicted make"
    " makes made let lets".split()
)
NEGATIVE = frozenset("no none neither nobody nothing few only never hardly there here not".split())
DENYING = frozenset("never hardly rarely seldom scarcely barely longer".split())  # before a verb without auxiliary
PERSONS = frozenset("it they he she".split())
PRONOUNS = PERSONS | frozenset("we you i".split())
SINGULAR = frozenset("a an this it he she every each one".split())
PLURAL = frozenset("they we you i these those both many several all most some".split())
# Verbs in -s that a preposition may follow; with most others the word is a noun ("charges for delivery").
WITH_PREPOSITION = frozenset(
    "opens closes lives runs starts ends stops leads rises falls moves travels stands sits lies focuses".split()
)
NOUNS_TOO = frozenset(
    "offer support cover need want use work play show feature cost ship range charge report value return move"
    " travel end start stop run stand fall rise drop increase decrease lead cause live present result lack praise"
    " measure own state cite need fly hold leave sit lie open close".split()
)


# Verbs in -s that `verbs.PLAIN` lacks, and base forms that a modal governs whatever follows.
THIRD = frozenset(
    "arrives departs flows attracts captures delivers excludes inherits introduces invites maintains manages"
    " monitors obtains occupies participates performs possesses prepares promotes publishes pursues registers"
    " retains selects specializes submits succeeds transmits translates treats undergoes welcomes warns feeds".split()
)
GOVERNED = frozenset(
    "share upload download edit view select choose enter submit cancel request book order pay visit track manage"
    " install save print export import invite switch upgrade delete create bring collect pick avoid return use"
    " wait reserve log sign apply renew transfer withdraw earn see watch hear read write".split()
)
POSTPOSED = frozenset(
    "available nearby alike close open together worldwide abroad online daily free".split()
)


class Words:
    """The words of a sentence, with what stands between them.

    Attributes:
        low: in lower case; raw: as they are; starts, ends: their places.
    """

    def __init__(self, text: str) -> None:
        found = list(WORD.finditer(text))
        self.text = text
        self.raw = [word[0] for word in found]
        self.low = [word.lower().replace("’", "'") for word in self.raw]
        self.starts = [word.start() for word in found]
        self.ends = [word.end() for word in found]

    def __len__(self) -> int:
        return len(self.low)

    def after(self, place: int) -> int:
        """Number of the first word at or behind `place`."""
        return bisect_left(self.starts, place)

    def gap(self, start: int, end: int) -> str:
        """What stands there beside white space and emphasis."""
        return self.text[start:end].strip(" \t\r\n\u00a0*_")

    def next(self, at: int) -> str:
        """The word behind, "\\0" for something closed such as a quotation, "" where the clause pauses or ends."""
        place = self.starts[at + 1] if at + 1 < len(self) else len(self.text)
        gap = self.gap(self.ends[at], place)
        if gap.startswith("\0"):
            return "\0"
        return self.low[at + 1] if not gap and at + 1 < len(self) else ""

    def is_adverb(self, at: int) -> bool:
        low = self.low[at]
        return low in ADVERBS or (low.endswith("ly") and low not in NOT_ADVERBS and len(low) > 4)


def has_object(words: Words, at: int) -> bool:
    """Whether an article, a figure or something quoted follows, as behind a verb and not behind a noun."""
    after = words.next(at)
    return after in DETERMINERS or after in AMOUNTS or after[:1].isdigit() or after in ("$", "€", "£", "\0")


def is_participle(low: str) -> bool:
    """Whether the form alone lets it be a participle."""
    return low in PARTICIPLE or low in BOTH_PASTS or (low.endswith("ed") and len(low) > 3 and low not in NO_PAST)


def verb_form(words: Words, at: int) -> str:
    """What kind of verb stands at a place where a verb may stand.

    Returns:
        "aux", "third" (person singular), "past", "participle", "either" of these two, "base", "bare" (a base form only
        behind a modal), or "" for no verb that is certain enough.
    """
    low, after = words.low[at], words.next(at)
    if not words.raw[at].islower():
        return ""
    if low in AUXILIARY:
        return "aux"
    if low in PAST:
        return "past"
    if low in PARTICIPLE:
        return "participle"
    if is_participle(low) or (low in SAME_PASTS and after in DETERMINERS):
        return "either"
    if low in DOUBTFUL and low.endswith("s"):
        return "third" if _doubtful_verb(words, at, after) else ""
    if low in PLAIN or low in THIRD or low.endswith(("izes", "yzes", "ifies")) or _takes_object(words, at):
        return "third"
    if low == "be" or (low in BASE and (low not in NOUNS_TOO or has_object(words, at))):
        return "base"
    bare = low in GOVERNED or (low.isalpha() and low not in FUNCTION and (after in DETERMINERS or after == "\0"))
    return "bare" if bare else ""


def ends_in_s(low: str) -> bool:
    """Whether the form alone lets a word be a plural noun or a verb in the third person."""
    return low.endswith("s") and not low.endswith(("ss", "us", "is", "'s")) and len(low) > 3 and low not in FUNCTION


def _takes_object(words: Words, at: int) -> bool:
    """A word in -s before an article, a noun or an adverb is hardly a noun: "and sheds its skin", "but excludes floods"."""
    after = words.next(at)
    return ends_in_s(words.low[at]) and (
        (after in DETERMINERS and after != "that") or _is_object(words, at, after) or _is_manner(words, at)
    )


def _is_manner(words: Words, at: int) -> bool:
    """Whether an adverb follows that can't belong to a participle: "bakes evenly", not "reports recently published"."""
    after = words.next(at)
    return after.endswith("ly") and after not in NOT_ADVERBS | {"only"} and not is_participle(words.next(at + 1))


def _is_object(words: Words, at: int, after: str) -> bool:
    """Whether the word behind is a noun or the like, and not the verb of which the word `at` would be the subject."""
    stated = after in BASE or after in PLAIN or after in DOUBTFUL or after in AUXILIARY or after.endswith(("ed", "ly"))
    if not after.isalpha() or stated or after in FUNCTION or after in OBJECT or is_participle(after):
        return False
    if after in POSTPOSED and (not words.next(at + 1).isalpha() or words.next(at + 1) in FUNCTION):
        return False
    return words.next(at + 1) not in DETERMINERS


def _doubtful_verb(words: Words, at: int, after: str) -> bool:
    low = words.low[at]
    if has_object(words, at):
        return True
    if after == "to" and at + 2 < len(words):
        return low in ("plans", "needs", "aims", "helps") and words.low[at + 2] not in DETERMINERS
    if after in PREPOSITIONS:
        return low in WITH_PREPOSITION or (low == "works" and after in ("at", "as", "with"))
    return _is_object(words, at, after)


def is_certain(words: Words, at: int) -> bool:
    """Whether the word at `at` can only be a finite verb, unlike "a pool heated by the sun" and "shipping costs to Rome"."""
    low = words.low[at]
    if low in AUXILIARY or low in PAST or low.partition("'")[0] in PRONOUNS:
        return words.next(at) != "of"
    if low in DOUBTFUL:
        return has_object(words, at) or (low in WITH_PREPOSITION and words.next(at) in PREPOSITIONS)
    if is_participle(low):
        return words.next(at) in DETERMINERS and low not in PARTICIPLE
    return low in PLAIN or low in THIRD or low in BASE or _takes_object(words, at)
