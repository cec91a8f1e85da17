"""Does a stretch of text have a finite verb? A word-list judgement, good enough to tell a fragment from a sentence.

It is asked of short things: headings, list items, lead-in lines, one-unit answers. It leans towards "yes", because a
heading with a verb is scored as a claim, and a claim must not hide behind a "#".
"""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?|[$€£%]")
NO_CASE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\u0590-\u08ff\u0900-\u109f]+")
NO_CASE_UNITS = 8  # ideographs or words from which an unlisted script is taken for a sentence

AUXILIARIES = frozenset(
    "is are was were am isn't aren't wasn't weren't has have had hasn't haven't hadn't does doesn't don't didn't did"
    " can can't cannot could couldn't will won't would wouldn't shall should shouldn't may might must mustn't it's"
    " that's there's he's she's who's what's here's we're they're you're i'm i've you've we've they've i'll you'll"
    " we'll they'll it'll i'd you'd we'd they'd ain't ist sind wird werden wurde wurden kann beträgt dauert kostet"
    " sont était coûte está tiene cuesta fue puede è sono costa é tem pode".split()
)
# Finite by form alone: third person forms that are no usual plural nouns, and irregular pasts that are no participles.
PLAIN = frozenset(
    "includes contains consists comprises requires provides allows enables takes gets gives makes goes comes becomes"
    " remains stays seems appears happens occurs exists belongs depends applies follows says tells writes mentions"
    " describes explains indicates suggests implies specifies confirms argues believes thinks knows finds keeps"
    " brings sends receives accepts rejects refuses begins lasts dies eats drinks grows reduces improves prevents"
    " protects creates produces generates serves sells buys pays earns owns operates employs hires teaches learns"
    " meets leaves flies weighs equals exceeds expires ensures involves refers relates represents reflects reaches"
    " replaces removes adds combines converts connects enters extends entitles fails wins loses permits prohibits"
    " bans forbids recommends advises wants tends has grew fell rose went came became took gave got made said told"
    " wrote knew thought saw began ran stood held kept brought sold bought paid sent led lost met won spent taught"
    " caught drew drove flew threw spoke broke chose woke wore sank swam sang ate drank forgot hid shook stole swore"
    " carries varies relies identifies classifies qualifies verifies satisfies supplies settles resigns announces"
    " sues denies urges warns vows seeks defends criticizes agrees appoints elects approves accuses admits apologizes"
    " confesses pleads discovers reveals unveils proposes considers awaits survives suffers escapes invades collapses"
    " explodes shuts praises emphasizes discusses develops deploys resumes sparks signals advertises threatens"
    " conducts recalls affects raises differs opposes strengthens arrives departs orbits melts accrues relieves delivers"
    " outperforms maintains manages performs possesses introduces excludes governs dominates freezes boils erupts infects"
    " inhibits activates encodes regulates restricts waives reimburses deducts terminates matures acquires migrates absorbs"
    " contributes weakens stimulates determines demonstrates proves renews thins lowers".split()
)
# Nouns as often as verbs: finite only when something like an object follows ("costs $5", not "shipping costs").
DOUBTFUL = frozenset(
    "costs plans offers features works uses needs supports covers returns ships shows measures accounts ranks"
    " processes reports states presents addresses launches releases arrests faces demands highlights passes focuses"
    " increases decreases drops rises falls starts ends stops causes leads runs plays moves drives helps travels cost"
    " found left built reads holds benefits charges prices prints hosts schedules details lists names tests changes"
    " updates stores ranges grants averages targets totals houses rates aims marks sets hits cuts lets joins opens"
    " closes lives stands sits lies".split()
)
# Base forms: finite after a plural or "we", "you", "they".
BASE = frozenset(
    "include contain consist comprise require provide allow enable let take get give make go come become remain stay"
    " seem appear happen exist belong depend apply follow state say tell mention describe explain indicate suggest"
    " specify confirm report argue believe know find keep hold bring send receive accept reject begin end start stop"
    " open close run last lie sit stand live die eat drink grow fall rise drop increase decrease reduce improve"
    " prevent protect cause lead create produce serve sell buy pay earn own operate learn meet join leave move travel"
    " fly weigh measure exceed expire ensure help involve refer represent reach replace remove add connect extend"
    " offer support cover need want tend use work play show have feature cost ship vary differ agree drive charge"
    " range do lack generate return highlight praise cite emphasize focus value enjoy appreciate complain criticize"
    " carry rely result present develop enter affect".split()
)
CLAUSE_OPENERS = frozenset(
    "and but that if when where because so which what how as before after while or until unless".split()
)
OBJECT = frozenset(
    "the a an this that these those it its their his her your our my you them us me him up about around "
    "approximately "
    "only nearly"
    " almost over under between from at by to in on into no not all any each every both some more less most as "
    "for with "
    "well out"
    " off down back until several many some various numerous two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
    " sixty seventy eighty ninety hundred thousand additional best better fine $ € £".split()
)
NO_PAST = frozenset(
    "need feed seed speed bed red hundred shed breed weed deed indeed exceed proceed succeed bleed united limited "
    "unlimited detailed"
    " advanced dedicated integrated automated embed naked sacred wicked rugged kindred infrared biped moped related".split()
)
# A past form after one of these is a participle: "the required form", "newly opened", "by invited guests".
NO_SUBJECT = frozenset(
    "a an the of and or by most more well highly newly recently with for in on to no any all some as not being be "
    "been "
    "previously"
    " your our their his her its my fully partially partly is".split()
)


def has_finite_verb(text: str) -> bool:
    """Whether `text` seems to state something rather than name it. Scripts without case count as soon as they are long."""
    if not text.isascii() and len(NO_CASE.findall(text)) >= NO_CASE_UNITS:
        return True
    return first_finite_verb(text) is not None


def first_finite_verb(text: str) -> tuple[int, int] | None:
    """(start, end) of the first word that seems to be a finite verb; None when the first 600 characters have none."""
    found = list(WORD.finditer(text[:600]))
    words = [word[0] for word in found]
    lows = [word.lower().replace("’", "'") for word in words]
    stopped = text.rstrip().endswith(".")
    for at, low in enumerate(lows):
        if low in AUXILIARIES:
            month = low == "may" and words[at] == "May" and (at + 1 == len(lows) or lows[at + 1][0].isdigit() or at > 0)
            if not (month or (at == 0 and low in ("have", "may"))):
                return found[at].span()
        elif at == 0:
            continue
        elif low in BASE and _has_pronoun_subject(lows, at):
            return found[at].span()
        elif low in BASE and lows[at - 1][-1] == "s" and lows[at - 1][-2:] not in ("ss", "us", "is", "'s"):
            return found[at].span()
        elif low in DOUBTFUL:
            after = lows[at + 1] if at + 1 < len(lows) else ""
            if lows[at - 1] not in NO_SUBJECT and (after in OBJECT or after[:1].isdigit()):
                return found[at].span()
        elif low in PLAIN or low.endswith(("izes", "yzes", "ifies")):
            if lows[at - 1] not in ("a", "an", "the", "of"):
                return found[at].span()
        elif low.endswith("ed") and len(low) > 3 and words[at].islower() and _is_past(lows, at, stopped):
            return found[at].span()
    return None


def _has_pronoun_subject(lows: list[str], at: int) -> bool:
    """Whether lows[at] follows "we" and the like; "you" is an object ("helps you save") unless a clause begins with it."""
    before = lows[at - 1]
    return before in ("i", "we", "they", "who") or (before == "you" and (at == 1 or lows[at - 2] in CLAUSE_OPENERS))


def _is_past(lows: list[str], at: int, stopped: bool) -> bool:
    """Whether lows[at], which ends in -ed, reads as a past tense with its subject before it."""
    before = lows[at - 1]
    if lows[at] in NO_PAST or before in NO_SUBJECT or before.endswith("ly") or before[0].isdigit():
        return False
    # "Services included", "batteries required": at the very end it is a label more often than a sentence, unless a
    # full stop makes it one.
    return at + 1 < len(lows) or stopped or len(lows) > 4
