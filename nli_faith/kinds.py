"""What kind of unit a sentence is: a claim, unless it is plainly something else.

Typing a true claim as anything else hides a hallucination, which is the worse error. So every rule below is anchored, names
its subject ("the documents", "I"), and gives way as soon as the sentence goes on to state something.
"""

from __future__ import annotations

import re

from nli_faith.foreign_refusals import is_foreign_refusal
from nli_faith.refusals import ENDING, EVIDENCE, is_refusal
from nli_faith.tails import HARD_FACT, has_subject_and_verb, states_more
from nli_faith.types import CLAIM
from nli_faith.verbs import has_finite_verb

GREETINGS = [
    re.compile(pattern)
    for pattern in (
        r"(?:hi|hello|hey|greetings|dear|good (?:morning|afternoon|evening|day))(?:[ ,]+[^\s,]+){0,3}",
        r"(?:(?:hi|hello|hey)(?: there)?,? )?(?:many )?(?:thanks|thank you)(?: (?:so |very )?much)?(?: again)?(?: "
        r"for "
        r"(?:asking|reaching out|contacting|clarifying|waiting|your (?:question|message|patience|interest|email|"
        r"e-mail|"
        r"inquiry|query|feedback|understanding|time|order|purchase)).{0,60})?",
        r"you(?:'re| are) (?:very |most )?welcome(?:,? (?:[\w-]+|any ?time|again|to ask|for that))?",
        r"(?:that's |that is |what )?an? (?:great|good|excellent|interesting|very good) question|(?:great|good|"
        r"excellent|"
        r"interesting|very good) question",
        r"(?:sure|certainly|of course|absolutely|definitely|okay|ok|alright|no problem|got it|understood|gladly|my "
        r"pleasure|sure thing|no worries)",
        r"i hope (?:this|that|it|the above|you find this)(?: \w+)? (?:helps?|answers|clarifies|is helpful|was "
        r"helpful|"
        r"helpful|useful|clears).{0,60}",
        r"(?:please )?(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach out|contact|let me know|share|"
        r"clarify|"
        r"follow up|request|message|get in touch)\b.{0,100}",
        r"(?:please |just )?let me know (?:if|how|what|whether|when|which).{1,100}",
        r"(?:if|should) you (?:have|need|require|want|would like|'d like) .{1,80}(?:feel free|let me know|hesitate|"
        r"just "
        r"ask|happy to help|glad to help|here to help|please ask|reach out).{0,60}",
        r"i(?:'m| am|'d be| would be|'ll be) (?:always |more than |very )?(?:here|happy|glad) to (?:help|assist|"
        r"answer|"
        r"clarify|provide more|elaborate).{0,80}|(?:happy|glad) to help.{0,30}",
        r"have an? (?:great|nice|good|wonderful|lovely|safe|pleasant) (?:[\w-]+ )?(?:day|time|weekend|evening|trip|week|one|night|"
        r"morning|afternoon|holidays?|journey|flight|stay|visit|year|season|rest of (?:the|your) \w+)(?: ahead| too)?",
        r"(?:best|kind|warm|warmest|kindest) (?:regards|wishes)\b.{0,40}|(?:best|regards|sincerely|cheers|thanks)(?:, (?:[\w.-]+ ?){1,4})?"
        r"|yours (?:truly|sincerely|faithfully).{0,40}|take care|good luck.{0,40}|goodbye|bye",
        r"(?:i |we )?hope (?:this|that|it|the above)(?: \w+)? (?:helps?|was helpful|is useful)|sorry about (?:that|this|the .{1,30})",
        r"great news|good news|one (?:moment|second|sec)(?:,? please)?|(?:please )?(?:hold on|bear with me)|"
        r"i'll (?:look into (?:this|that|it)|be right back)(?: for you)?|i (?:completely |fully |totally )?understand(?: your| how) .{1,40}|"
        r"welcome(?: to [\w .&'-]{1,40})?|(?:we|i) (?:really |truly |greatly )?(?:appreciate|value) your .{1,40}",
        r"(?:i'm|i am|we're|we are) (?:so |very |really )?sorry (?:to hear|about|for) (?:that|this|the|your|"
        r"any)\b.{0,40}",
        r"(?:(?:i|we) )?(?:sincerely )?apologi[sz]e for (?:the|any) (?:inconvenience|confusion|delay|trouble|"
        r"misunderstanding)",
        r"您好|你好|谢谢.{0,10}|不客气|希望.{0,12}(?:帮助|有用)|こんにちは|ありがとうございま(?:す|した)|مرحبا|أهلا|नमस्ते|¡?hola|¡?(?:muchas "
        r")?gracias|"
        r"hallo|guten tag|danke|bonjour|merci",
    )
]
QUESTION_WORD = re.compile(
    r"\b(?:what|which|who|whom|whose|how|why|when|where|do you|would you|could you|can you|can i|will you|have you|"
    r"are "
    r"you|is it|is there|is this|shall|should i|should we|may i|want me|need help|right)\b"
)
ASKING = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|may|should|must|shall|so|or|and|what|which|"
    r"who|"
    r"whom|whose|how|why|when|where|¿)(?:\b|(?<=¿))"
)
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
        r"(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]? "
        r")?(?!.*\([^()]{40})(?:here(?:'s| is|"
        r" are| you go)|below (?:is|are))\b.{0,160}:",
        rf"(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]? )?(?:here(?:'s| is| are)|below "
        rf"(?:is|are)|the following (?:is|are)) {ITS}{GENERIC}\b(?: (?:of|for|on|about|based on|from) .{{1,80}})?[.:]?",
        # "This is an example of negligence" judges something; a summary is the answer itself.
        rf"this is {ITS}(?:summary|overview|list|breakdown|outline|recap|response)\b(?: (?:of|on|about|based on|from) .{{1,80}})?[.:]?",
        r"(?:(?:sure|certainly|of course|okay)[,!.]? )?here(?:'s| is) what (?:i|the \w+) .{0,60}[.:]?",
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
        rf"i(?:'ll| will| can|'ve| have)(?: now)? (?:provide|provided|list|listed|include|included)(?: you with)? (?:(?:it|them|this|"
        rf"these|the (?:above|following)|{ITS}{GENERIC})\b.{{0,80}}|(?:above|below))",
        rf"(?:this|the above|my|the) (?:summary|answer|response|information) (?:is|was|has been) (?:based (?:solely "
        rf"|only "
        rf")?(?:up)?on|derived from|taken from|drawn from) .{{0,40}}{EVIDENCE}(?: (?!and\b).{{0,40}})?",
        r"(?:(?:key|main|overall|general|additional|final|quick|brief|short|executive|important|more) )?(?:summary|"
        r"overview|takeaways?|points|details|features|attributes|highlights|impressions?|ingredients|instructions|"
        r"directions|steps|conclusion|introduction|background|verdict|findings)",
        r"\(?(?:total )?word count: \d+(?: words)?\)?|\(?\d+ words\)|(?:i hope|hopefully) .{0,20}(?:meets|is "
        r"what).{0,60}",
    )
]
# What is announced is described, with commas and all: "Here's a quick, passage-based recipe for a graph, covering all steps:".
ANNOUNCING = re.compile(r"^(?:[^.;:]{0,80}[,!.] )?(?:here(?:'s| is| are)|below (?:is|are))\b")
SOURCES = re.compile(
    r"(?:data )?(?:sources?|references?|citations?|source documents?|sources used)\s*[:：]\s*(.+)",
    re.S,
)
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
        r"(?:(?:please )?(?:note|be aware|keep in mind) that )?(?:this|the|my|these|some)(?: \w+){0,2} "
        r"(?:information|"
        r"answer|response|details|data) (?:may|might|could)"
        r" (?:(?:(?:not )?(?:always )?be (?:fully |completely |entirely )?(?:accurate|outdated|out of date|incomplete|"
        r"inaccurate|up[ -]to[ -]date|current|complete|wrong|limited|subject to change|relevant)|have changed|contain (?:errors|inaccuracies))\b"
        r"[^,;]{0,40}|(?:vary|change)(?: (?:over time|at any time|without notice|in the future|frequently|depending on [^,;]{1,40}))?)",
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
    if low.endswith(("?", "？", "؟", "?)", "?!")) and not _states_a_fact(low):
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
    if kind == CLAIM or ANNOUNCING.search(bare):
        return kind
    return CLAIM if states_more(bare.rstrip(":： "), _says_nothing) else kind


def _opening_kind(bare: str) -> str:
    """The kind by how the sentence begins and ends; what stands between is looked at by `states_more`."""
    if not HARD_FACT.search(bare):
        if any(pattern.fullmatch(bare) for pattern in GREETINGS) and not _says_more(bare):
            return "greeting"
        if any(pattern.fullmatch(bare) for pattern in HEDGES):
            return "hedge"
    return "meta" if _is_meta(bare) else CLAIM


def _says_nothing(clause: str) -> bool:
    """Whether a later clause is itself a greeting, a remark or a refusal."""
    return _opening_kind(ENDING.sub("", clause)) != CLAIM or is_refusal(clause)


def _states_a_fact(low: str) -> bool:
    """A statement that merely ends in a question mark: it quotes a question, or has figures or much to say and asks nothing."""
    head = re.match(r"(.*\S)\s*(?:[\"“«「]|: )(?=\S)", low, re.S)
    if head and len(head.group(1)) > 1 and has_finite_verb(head.group(1)) and not ASKING.match(low):
        return True
    if not low.isascii() or ASKING.match(low) or QUESTION_WORD.search(low.rsplit(",", 1)[0]):
        return False
    return any(sign.isdigit() for sign in low) or len(low.split()) >= 12


def _says_more(bare: str) -> bool:
    """A greeting word that begins a statement: "Hello Kitty was created", "Dear friends left the house"."""
    greeted = re.match(r"(?:hi|hello|hey|greetings|dear|good|best|regards|sincerely|cheers|welcome)\b", bare) is not None
    return greeted and "thank" not in bare and has_subject_and_verb(bare)


def _is_meta(bare: str) -> bool:
    """A sentence about the answer itself."""
    sources = SOURCES.fullmatch(bare)
    if sources:
        return not has_finite_verb(re.sub(r"https?:\S+", "", sources.group(1)))
    if HARD_FACT.search(bare) and has_finite_verb(re.sub(r"^.{0,20}?\b(?:is|are|here's)\b", "", bare)):
        return False
    if FURTHER.match(bare):
        return not HARD_FACT.search(bare) and not has_subject_and_verb(bare)
    return any(pattern.fullmatch(bare) for pattern in METAS)
