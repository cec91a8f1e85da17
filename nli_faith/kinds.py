"""What kind of unit a sentence is: a claim, unless it is plainly something else.

Typing a true claim as anything else hides a hallucination, which is the worse error. So every rule below is anchored, names
its subject ("the documents", "I"), and gives way as soon as the sentence goes on to state something.
"""

from __future__ import annotations

import re

from nli_faith.foreign_refusals import is_foreign_refusal
from nli_faith.greetings import is_greeting
from nli_faith.questions import is_question
from nli_faith.refusals import ENDING, EVIDENCE, is_refusal
from nli_faith.source_names import names_source
from nli_faith.tails import HARD_FACT, has_subject_and_verb, states_more
from nli_faith.types import CLAIM
from nli_faith.verbs import has_finite_verb

GENERIC = (
    r"(?:summary|overview|answer|response|list|breakdown|information|details|explanation|steps?|points|facts|guide|"
    r"takeaways?|findings|comparison|outline|instructions|reasons|ways|features|examples?|tips|recap|description)"
)
ITS = (
    r"(?:(?:a|an|the|my|some|your|few|brief|short|concise|detailed|quick|key|main|clear|step-by-step|following) )*"
)
METAS = [
    re.compile(pattern)
    for pattern in (
        r"(?:(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]?|(?:based (?:solely |only )?(?:up)?on|"
        r"according to|from) "
        r"[^:,\d]{1,80},) )?(?!.*\([^()]{40})(?:here(?:'s| is| are| you go)|below (?:is|are))\b[^:]{0,160}:",
        rf"(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]? )?(?:here(?:'s| is| are)|below "
        rf"(?:is|are)|the following (?:is|are)) {ITS}{GENERIC}\b(?: (?:of|for|on|about|based on|from) [^:]{{1,80}})?[.:]?",
        # "This is an example of negligence" judges something; a summary is the answer itself.
        rf"this is {ITS}(?:summary|overview|list|breakdown|outline|recap|response)\b(?: (?:of|on|about|based on|"
        rf"from) [^:]{{1,80}})?[.:]?",
        r"(?:(?:sure|certainly|of course|okay)[,!.]? )?here(?:'s| is) what (?:i|the \w+) [^:]{0,60}[.:]?",
        rf"(?:based (?:solely |only )?(?:up)?on|according to|from|as per|per|in) "
        rf"[^:,]{{0,60}}{EVIDENCE}[^:,]{{0,60}}(?:, "
        rf".{{0,40}}(?:answer|summary|response) .{{0,30}})?:",
        r"(?:in (?:summary|short|conclusion|brief|total|other words)|to (?:summari[sz]e|conclude|sum up|recap|answer "
        r"(?:your|the|this) question)|overall|summary|conclusion|answer|final answer|response|notes?|please note|"
        r"tl;dr|"
        r"key (?:points|takeaways)|sources?|references?|citations?)[:.,]?",
        r"(?:let's|let me|let us) (?:break|look|explain|summari[sz]e|go (?:through|over)|walk|take a (?:look|closer "
        r"look)|dive|start|clarify|see|explore|examine|outline)\b(?! that\b).{0,60}",
        r"i(?:'ll| will| can|'ve| have)(?: now)? (?:answer|summari[sz]e|summari[sz]ed|explain|break|outline|outlined|"
        r"try (?:to|my best)\b)\b.{0,80}",
        rf"i(?:'ll| will| can|'ve| have)(?: now)? (?:provide|provided|list|listed|include|included)(?: you with)? (?:(?:it|them|"
        rf"this|"
        rf"these|the (?:above|following)|{ITS}{GENERIC})\b.{{0,80}}|(?:above|below))",
        rf"(?:this|the above|my|the) (?:summary|answer|response|information) (?:is|was|has been) (?:based (?:solely "
        rf"|only "
        rf")?(?:up)?on|derived from|taken from|drawn from) .{{0,40}}{EVIDENCE}(?: (?!and\b).{{0,40}})?",
        r"(?:(?:key|main|overall|general|additional|final|quick|brief|short|executive|important|more) )?(?:summary|"
        r"overview|takeaways?|points|details|features|attributes|highlights|impressions?|ingredients|instructions|"
        r"directions|steps|conclusion|introduction|background|verdict|findings)",
        r"\(?\d+ words\)|(?:i hope|hopefully) .{0,20}(?:meets|is "
        r"what).{0,60}",
    )
]
# What is announced is described, with commas and all: "Here's a quick, passage-based recipe for a graph, covering all steps:".
ANNOUNCING = re.compile(r"^(?:[^.;:]{0,80}[,!.] )?(?:here(?:'s| is| are)|below (?:is|are))\b")
SOURCES = re.compile(
    r"(?:data )?(?:sources?|references?|citations?|source documents?|sources used)\s*[:：]\s*(.+)",
    re.S,
)
WORD_COUNT = re.compile(r"\(?(?:total )?word count: \d+(?: words)?\)?")
# What is announced follows at once: "Here are the sizes: small and large."
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
BEHIND_COLON = re.compile(r"[:：]\s.*[^:：\s]$")
FURTHER = re.compile(
    r"(?:please )?for (?:more|further|additional|more detailed|detailed) (?:information|details|info|assistance|help|"
    r"guidance|questions)\b"
)
HEDGES = [
    re.compile(pattern)
    for pattern in (
        r"(?:it|that|this|the answer)(?: really)? depends(?: on (?:the|various|several|many|a number of|different) "
        r"(?:other |different )?(?:context|factors|circumstances|situation|things))?",
        r"(?:individual |your |actual )?(?:results|mileage|experiences|opinions) (?:may|might|can) vary",
        r"i(?:'m| am) not (?:entirely |completely |quite |really |100% )?(?:sure|certain)(?: (?:about|of) (?:this|"
        r"that|"
        r"it)| (?:if|whether|what|how) (?:(?!\bbut\b)[^,;]){1,80})?",
        r"there (?:may|might|could) be (?:(?:some|other|more|additional|relevant|further|related|specific|useful) "
        r")*(?:information|details|documents|sources)(?: (?:about|on|in|available|regarding|elsewhere|"
        r"that (?:may|might|could|can|would|address|contain|provide|cover|discuss|are|is|i|we|you))\b.{0,60})?",
        r"(?:(?:please )?(?:note|be aware|keep in mind) that )?(?:this|the|my|these|some)(?: (?:above|provided|given|available|"
        r"of (?:the|this)))? "
        r"(?:information|answer|response|details|data) (?:may|might|could)"
        r" (?:(?:(?:not )?(?:always )?be (?:fully |completely |entirely )?(?:accurate|outdated|out of date|incomplete|"
        r"inaccurate|up[ -]to[ -]date|current|complete|wrong|subject to change|relevant)|have changed|contain (?:errors|"
        r"inaccuracies))\b"
        r"(?: (?:or|and|to) [^,;]{1,40})?|(?:vary|change)(?: (?:over time|at any time|without notice|in the future|frequently|"
        r"depending on [^,;]{1,40}))?)",
        r"(?:(?:please )?(?:note|be aware|keep in mind) that )?(?:this|it|the above|this information|this answer) "
        r"(?:is "
        r"not|isn't|should not be (?:taken|considered) as|does not constitute) (?:intended as )?(?:legal|medical|"
        r"financial|professional|investment|tax)(?: or \w+)? advice",
        r"(?:i could be wrong|i may be wrong|maybe|perhaps|possibly)",
    )
]
# Without one of these words, or one of these beginnings, no rule above can hold. Most claims stop here.
NEGATIONS = (
    *("not ", "n't", " no ", "none ", "neither", "unable", "impossible", "insufficient", "unclear", "unknown", "lack", "silent"),
    *("uncertain", "nothing", "fail", "omit", "leaves out", "leave out", "left out", "missing", "absent", "unavailable", "no "),
)
OPENING = re.compile(
    r"[\"'(*]*(?:i\b|i'|hi|hello|hey|greet|dear|good|great|thank|many|you|that|what|an?\b|sure|certain|of course|"
    r"absol|"
    r"defin|ok|alright|no|got|under|glad|my\b|please|feel|don|let|just|if|should|have|best|kind|warm|regard|sincer|"
    r"yours|"
    r"cheers|take|bye|happy|cannot|n/a|unanswer|one (?:mom|sec)|hold on|bear with|welcome|we "
    r"|excellent|interesting|very|here|below|this|the (?:follow|answer|above|summary|response|information)|based|"
    r"accord|"
    r"from|as |per |in |to |overall|summary|concl|answer|final|response|notes?\b|tl;|key|source|reference|citation|"
    r"data "
    r"s|for |\d+ words|total|word c|hope|sorry"
    r"|it|results|individual|actual|there|these|some|maybe|perhaps|possibly|yes)"
)
LONGEST_TYPED = 1500  # characters; whatever is longer says something


def kind_of(text: str) -> str:
    """The kind of a sentence.

    Args:
        text: plain text without markup, one sentence.
    """
    if len(text) > LONGEST_TYPED:
        return CLAIM
    low = text.lower().replace("’", "'").strip()
    if is_question(text):
        return "question"
    if is_foreign_refusal(low):
        return "refusal"
    negated = any(word in low for word in NEGATIONS)
    opens = OPENING.match(low) is not None or (len(low) <= 40 and not low.isascii())
    if not negated and not opens:
        return CLAIM
    if is_refusal(low):
        return "refusal"
    if not opens:
        return CLAIM
    bare = ENDING.sub("", low)
    bare = re.sub(r"^[^\w(¡]+|[^\w\s)'.:]+$", "", bare).strip()
    kind = _opening_kind(bare)
    if kind == CLAIM or ANNOUNCING.search(bare) or WORD_COUNT.fullmatch(bare):
        return kind
    return CLAIM if states_more(bare.rstrip(":： "), _says_nothing) else kind


def _opening_kind(bare: str) -> str:
    """The kind by how the sentence begins and ends; what stands between is looked at by `states_more`."""
    if not HARD_FACT.search(bare):
        if is_greeting(bare):
            return "greeting"
        if any(pattern.fullmatch(bare) for pattern in HEDGES):
            return "hedge"
    return "meta" if _is_meta(bare) else CLAIM


def _says_nothing(clause: str) -> bool:
    """Whether a later clause is itself a greeting, a remark or a refusal."""
    return _opening_kind(ENDING.sub("", clause)) != CLAIM or is_refusal(clause)


def _is_meta(bare: str) -> bool:
    """A sentence about the answer itself."""
    if SOURCES.fullmatch(bare):
        return is_sources_line(bare, bare)
    if WORD_COUNT.fullmatch(bare):
        return True
    bare = QUOTED.sub("x", bare)
    if BEHIND_COLON.search(bare):
        return False
    if HARD_FACT.search(bare) and has_finite_verb(re.sub(r"^.{0,20}?\b(?:is|are|here's)\b", "", bare)):
        return False
    if FURTHER.match(bare):
        return not HARD_FACT.search(bare) and not has_subject_and_verb(bare)
    return any(pattern.fullmatch(bare) for pattern in METAS)


def is_sources_line(said: str, text: str) -> bool:
    """Whether a line names its sources ("Source: a.pdf") and states nothing.

    Args:
        said: its plain text.
        text: the same, raw, as links and marks tell that they are sources.
    """
    named = SOURCES.fullmatch(said.lower())
    if not named or has_finite_verb(re.sub(r"https?:\S+", "", named.group(1))):
        return False
    return names_source(text.partition(":")[2] or named.group(1))
