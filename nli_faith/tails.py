"""What stands behind a refusal, a greeting or a remark in the same sentence: does it state something?

"I can't confirm the rumor, but the flight departs at noon" refuses and states. A sentence is taken for something else than a
claim only when no part of it behind a turn ("but", a comma, a bracket ...) makes a statement. Behind "but" and the like a
clause is expected, so whatever is no refusal and no offer counts; elsewhere it takes a subject and a verb.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nli_faith.verbs import first_finite_verb, has_finite_verb

HARD_FACT = re.compile(r"\d|@|https?:|www\.")
# What puts a clause behind itself.
CLAUSAL = ("but", "however", "though", "although", "yet", "nevertheless", "whereas", "because", "instead")
TURN = re.compile(
    r"(?:,\s*)?\b(?:but|however|(?:even )?though|although|yet|nevertheless|while|whereas|instead|because(?! of\b)|since|despite|"
    r"except|other than|apart from|aside from|beyond|besides)\b[,:]?"
    r"|,\s*(?:which|who|whose|where)\b|(?:,\s*)?\b(?:and|so)\b|\bas (?!(?:long|soon|far|well|much|many|of|to|an?|you|i|we)\b)"
    r"|[,，;；:：(—–]|\s-\s|\.\s|(?<=[a-z]{3})\.(?=[a-z]{3,}\s)|[-=]>|[\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff]"
    r"|\b(?:stating|saying|mentioning|noting|only (?:that|mentions?|states?|says?|notes?))\b"
)
BESIDES = (",", "，", "(", ":", "：", "—", "–", "-", ";")
SAYING = ("mention", "state", "say", "note", "noting")  # how the verbs in `TURN` begin: what follows is told of "it"
# A figure with what it counts, or an apposition to the last thing that was named: "the dose, 5 mg daily", "the victim, a nurse".
FIGURE = re.compile(
    r"(?:about |around |up to |only )?(?:[$€£]\s?\d|(?!(?:19|20)\d\d\b)\d[\d.,]*\s?(?:%|"
    r"[a-z]+(?<!\bor)(?<!\band)(?<!\bnor)\b))")
APPOSITION = re.compile(r"an? (?!.*\b(?:or|nor|and)\b)[^,;]*[\w-]+ [^,;]*$")
BEYOND = re.compile(r"\b(?:except|other than|apart from|aside from|beyond|besides)\b")
# "such as", "known as": the word before tells that no clause follows.
NO_CLAUSE_AS = re.compile(
    r"\b(?:such|well|long|soon|far|same|much|known|described|defined|referred to|acts?|serves?|used|"
    r"regarded)\s$")
# Where the main clause ends: what is behind may have a verb of its own.
RELATIVE = re.compile(r"\b(?:which|who|whose|whom|where|when|that|if|whether|how|why|what|based (?:\w+ )?(?:up)?on)\b|[,;:()—–]")
ASKED = re.compile(r"\b(?:whether|if|what|which|who|whom|how|why|when|where|that)\b")
CONNECTED = re.compile(
    r"\W*(?:(?:and|or|nor|so|also|then|thus|therefore|hence|but|however|(?:please )?(?:note|be aware|keep in mind)(?: that)?|"
    r"it (?:seems|appears)(?: that)?)\b[\s,]*)*"
)
PARTICIPLE = re.compile(
    r"\w+ing\b(?! (?:is|are|was|were|ha[sd]|have|can|could|will|would|may|might|must|does|do|costs|takes|starts|begins|ends|opens|"
    r"closes|requires|includes|remains|lasts)\b)"
)
NAMED_ONLY = re.compile(r"(?:of|not|neither|nor|no|to|for|in|this|that|these|those|what|how|when|where|why|who|which|whether|if)\b")
CONTACT = (
    r"(?:contact|check|visit|consult|ask|try|refer|reach|look|see|find|call|email|search|provide|share|clarify|rephrase|want|"
    r"need|like|consider|review|verify|speak|talk|seek|confirm|get|wish|also|be able to find)\b"
)
OFFER = re.compile(
    rf"\W*(?:(?:i|we)(?:'d| would| can| could|'ll| will) (?:be |always |certainly |also )*(?:try|happy|glad|help|assist|look|check|"
    rf"search|answer|respond|need|like|love|provide|offer|recommend|suggest)\b|(?:i|we)(?:'m| am| are|'re) (?:happy|glad|here)\b|"
    rf"(?:i|we) (?:would )?(?:recommend|suggest|advise|encourage|need|apologi[sz]e)\b|(?:you|one) (?:can|may|might|could|should|"
    rf"would|will(?: have| need)?)(?: to)? {CONTACT}|"
    rf"please (?!note|be aware|keep in mind)|feel free|don't hesitate|do not hesitate|let me know|"
    rf"it (?:may|might|would|could|is)(?: be)? (?:best|helpful|recommended|advisable|useful|worth)|"
    rf"if you\b.*\b(?:please|i can|i could|i'll|i'd|let me know|feel free|happy to|glad to|share|provide|contact|reach out)\b)"
)


def states_more(rest: str, says_nothing: Callable[[str], bool]) -> bool:
    """Whether some part of `rest`, in lower case, states something.

    Args:
        says_nothing: whether a clause is itself a refusal, a greeting or the like.
    """
    turn = TURN.search(rest)
    while turn:
        if _states(rest, turn, says_nothing):
            return True
        turn = TURN.search(rest, turn.end())
    return False


def _states(rest: str, turn: re.Match, says_nothing: Callable[[str], bool]) -> bool:
    """Whether what follows one turn is a statement."""
    sign = turn.group().strip()
    word = (sign.strip(" ,:.;(").split() or [""])[-1]
    behind = said = rest[turn.end() :].strip()
    relative = word in ("which", "who", "whose", "where")
    if not relative:
        said = said[CONNECTED.match(said).end() :]
        if OFFER.match(said) and not HARD_FACT.search(said):
            return False
    if word == "as" and NO_CLAUSE_AS.search(rest[max(0, turn.start() - 12) : turn.start()]):
        return False
    words = len(said.split())
    if BEYOND.search(sign) and not NAMED_ONLY.match(said) and words >= 2:
        return True
    told = word in ("stating", "saying") or said.startswith(("rather", "they do", "it does"))
    if told or (word in CLAUSAL and said.startswith(("only ", "merely", "simply"))):
        return True
    clause = f"it {said}" if relative or word.startswith(SAYING) else said
    if says_nothing(said) or says_nothing(clause):
        return False
    if sign in BESIDES and (FIGURE.match(behind) or APPOSITION.match(behind)):
        return True
    if word in CLAUSAL:
        return has_finite_verb(f"it {said}") if NAMED_ONLY.match(said) or said[:4] == "it's" else words >= 3
    if PARTICIPLE.match(said) and not relative:
        return False  # "covering all that was described": no subject
    if word in ("and", "") and sign not in (";", ".") and _is_open(rest[: turn.start()]):
        return False
    main = clause if relative else RELATIVE.split(clause, maxsplit=1)[0].strip()
    # Behind a semicolon "the war ended" is a sentence; behind a comma "the form required" is one of several things.
    return has_subject_and_verb(f"{main}." if sign in (";", ".") else main)


def _is_open(before: str) -> bool:
    """Whether an indirect question has no verb yet, so that the next one is its: "how the fee | and the tax are set"."""
    ends = [asked.end() for asked in ASKED.finditer(before)]
    return bool(ends) and not has_subject_and_verb(before[ends[-1] :])


# "it costs", "this covers": whatever the verb, a word in -s behind such a subject is one.
PRONOUN_VERB = re.compile(r"\b(?:it|he|she|this|that|everyone|everything|nobody) [a-z]{2,}(?<![suy]s)s\b")
# A word in -s before an article or a pronoun is hardly a noun.
VERB_OBJECT = re.compile(
    r"[a-z]{2,} [a-z]{3,}(?<![sui])s (?:the|an?|its|his|her|their|your|our|it|them|you|us|well|best|better|"
    r"fine)\b")


def has_subject_and_verb(text: str) -> bool:
    """Whether `text` has a finite verb, as far as words and forms tell, and something before it."""
    found = first_finite_verb(text)
    stripped = len(text) - len(text.lstrip())
    if found is not None and found[0] > stripped:
        return True
    if found is not None:
        # "is open", "can be renewed": the verb of what stands before, but a later one may have a subject.
        return RELATIVE.search(text, found[1]) is not None and has_subject_and_verb(text[found[1] :])
    if not text.isascii() and has_finite_verb(text):
        return True
    return PRONOUN_VERB.search(text) is not None or VERB_OBJECT.search(text) is not None
