"""Sentences that only say that an answer was not found or will not be given.

Anchored at the start (after "Unfortunately," and the like), about a named subject, and void as soon as the sentence goes on
to state something: "The documents do not mention the fee, but entry costs $5" is a claim.
"""

from __future__ import annotations

import re

from nli_faith.tails import states_more
from nli_faith.verbs import has_finite_verb

ENDING = re.compile(r"[\s.!…。！,;\"'”’)*\]]+$")

MODIFIERS = (
    r"(?:(?:provided|given|retrieved|supplied|available|above|search|reference|following|attached|current|relevant|"
    r"two|"
    r"three|\d+) )*"
)
AFTER_NOUN = (
    r"(?: (?:\d+|provided|above|given|supplied|available|retrieved|itself|here|(?:that )?you(?:'ve| have)? "
    r"(?:provided|"
    r"given|shared)|(?:that )?i (?:have|was given|received|found)))*"
)
# Nouns that mean "what was retrieved" by themselves, and those that do so only as "the provided report".
NOUN = (
    r"(?:contexts?|passages?|documents?|documentation|texts?|search results?|excerpts?|snippets?|sources?|articles?|"
    r"chunks?|transcripts?|knowledge base|source materials?|json(?: (?:data|object|file|structure|record))?|structured data)"
)
LOOSE = (
    r"(?:information|data|content|details|materials?|reports?|files?|pages?|records?|facts?|input|results|handbook|"
    r"summary)"
)
MARKED = r"(?:(?:provided|given|retrieved|supplied|attached|above) )"
EVIDENCE = (
    rf"(?:{MODIFIERS}{NOUN}|{MODIFIERS}{MARKED}{MODIFIERS}{LOOSE}|{LOOSE} (?:provided|given|supplied|available|"
    rf"above)|"
    rf"{LOOSE} (?:that )?(?:you|i)(?:'ve| have)? (?:provided|given|shared|have)){AFTER_NOUN}\b(?! of\b)"
)
THE = r"(?:(?:both|all|any|none|neither|either|each)(?: one)?(?: of)? )?(?:the |these |this |those |your |my |our )?"
# "Sources did not agree" is news; "the sources" and "Source 2" are what was retrieved.
SUBJECT = rf"(?!(?:sources?|texts?|articles?|transcripts?)\b(?! \d)){THE}{EVIDENCE}"
IN_EVIDENCE = (
    rf"(?:in|within|by|from|among|anywhere in|based on|using|with|to) (?:(?:any of |either of )?(?:the |these |this |"
    rf"those |your |my ){EVIDENCE}|(?={MARKED}|context\b){EVIDENCE})"
)
FROM_EVIDENCE = IN_EVIDENCE.replace("(?:in|", "(?:from|in|", 1)
ADVERBS = (
    r"(?:(?:actually|explicitly|directly|specifically|clearly|really|fully|even|necessarily|currently|always|yet|"
    r"ever|"
    r"appear to|seem to|go on to) )*"
)
NOT = rf"(?:do|does)(?:n't| not) {ADVERBS}"
SAYING = (
    r"(?:mention|specify|state|say|indicate|discuss|describe|reference|refer to|disclose|clarify|answer|reveal|talk "
    r"about|touch (?:on|upon)|elaborate|explain|detail|name|identify|address|tell|confirm|define|list|note)\b"
)
GIVING = r"(?:contain|include|provide|give|offer|have|cover|present|supply|show)\b"
ABOUT = (
    r"(?:information|info|details?|mention|data|answers?|specifics|anything|explanation|references?|figures?|facts|"
    r"evidence|indication|clarification|definition|description|instructions?|reasons?|steps|comparison|guidance)\b"
)
ADJECTIVES = (
    r"(?:(?:explicit|specific|direct|further|additional|other|relevant|clear|detailed|such|enough|sufficient|any|"
    r"exact|"
    r"concrete|more) )*"
)
TOPIC = r"(?: (?:about|of|on|regarding|concerning|related|relating|as to|that|for|to)\b|[.!,;]?$)"

I_VERB = (
    r"(?:find|locate|answer|determine|provide|see (?=(?:(?:any|an?|the|such|that|this) )?(?:mention|information|details?|"
    r"reference|evidence|answer|anything|data|where|how|what|why|whether)\b)|know|identify|access|confirm|verify|tell|help|assist|"
    r"comment|"
    r"respond|"
    r"fulfil|complete|comply|discuss|speculate|do that|say(?! enough)|give (?:you )?(?:an|any|the)|offer (?:an|any)|"
    r"(?:have|possess) (?:access|enough|any|sufficient|information|details|data|an answer|knowledge|the (?:ability|"
    r"answer|information|specific|necessary|exact)|that information|specific|real-time|up-to-date))\b"
)
# What only a machine says that it is unable to do.
I_TASK = (
    r"(?:process|generate|perform|browse|open|view|read|retrieve|search|translate|create|write|draw|infer|conclude|give|extract|"
    r"summari[sz]e|continue|proceed|share|make (?:a|an|any)|offer)\b"
)
I_CANNOT = (
    r"(?: can(?:not|'t| not)| could(?:n't| not)| do(?:n't| not)| did(?:n't| not)| have(?:n't| not)(?: been able to)?|"
    r"(?:'m| am| was|'re| are| were) (?:currently )?(?:unable|not able) to| (?:was|were)n't able to)"
)

LEAD = re.compile(
    rf"(?:(?:i'm|i am|we're|we are) (?:very |so |really )?(?:sorry|afraid)(?: (?:to say|for [^,.]{{1,40}}))?|(?:my "
    rf")?apologies|i (?:must )?apologi[sz]e(?: for [^,.]{{1,40}})?|sorry|unfortunately|regrettably"
    rf"|however|but|also|additionally|that said|at this time|as an? (?:ai|large language model)[^,]{{0,40}}"
    rf"|(?:based|relying) (?:solely |only |purely |strictly |entirely )?(?:up)?on [^,]{{1,100}}|(?:according to|"
    rf"from|in|"
    rf"given|within|per|as per) (?:the|these|this|your) [^,]{{0,40}}{EVIDENCE}[^,]{{0,40}}"
    rf"|after (?:reviewing|searching|checking|reading|looking|analy[sz]ing)[^,]{{1,80}}|(?:please )?note that|it "
    rf"(?:seems|"
    rf"appears)(?: that)?|therefore|thus|so|and|as a result)"
    r"(?:,? but\b|,? and\b|,? that\b|,|\.|!|:| [-–—])?\s+"
)
# "No information about you is stored" states something; in "no information about how it is stored" the verb is asked for.
STATING = (
    r"(?:(?!\b(?:how|what|which|who|whom|whose|when|where|whether|why|if|that)\b).)*\b(?:is|are|may|can|could|will|must|should)\b"
    r"(?! (?:\w+ly |yet |currently )?(?:given|provided|available|mentioned|found|included|specified|present|contained)\b)"
)
GROUNDED = re.compile(rf"\b{EVIDENCE}|\bprovided\b")
REFUSALS = [
    re.compile(pattern)
    for pattern in (
        rf"{SUBJECT} {NOT}{SAYING}",
        rf"{SUBJECT} {NOT}{GIVING} {ADJECTIVES}(?:(?:a|an|the|any) )?{ADJECTIVES}(?:[\w-]+ ){{0,3}}{ABOUT}",
        # Materials may be without lead, and files without a password.
        rf"{THE}{MODIFIERS}{MARKED}{MODIFIERS}(?:{NOUN}|(?!materials?|files?|input){LOOSE}){AFTER_NOUN} {NOT}(?!show|present|"
        rf"have){GIVING}",
        rf"(?:(?:none|neither) of (?:the |these |those |your )?{EVIDENCE}|(?:neither|no) {EVIDENCE}|nothing {IN_EVIDENCE}) "
        rf"{ADVERBS}(?:mention|discuss|state|specify|specifie|address|addresse|describe|contain|provide|include|say|answer|cover|"
        rf"give|indicate|explain|list|name|identify|identifie|suggest|confirm)s?\b",
        rf"{SUBJECT} (?:fail(?:s|ed)? to {SAYING}|(?:omits?|le(?:ave|ft) out|leaves out)\b)",
        rf"(?:the )?{ADJECTIVES}(?:information|info|details?|data|an answer)(?: (?:about|on|regarding|of|concerning|for|to) "
        rf".{{1,80}}?)? (?:is|are) (?:missing|absent|lacking|unavailable) {FROM_EVIDENCE}",
        # "No refund can be given" is a rule, "no answer can be given" is none.
        rf"no {ADJECTIVES}(?:[\w-]+ ){{0,1}}(?:answers?|conclusions?|comparisons?|determination|inferences?|"
        rf"responses?) can be (?:made|given|drawn|"
        rf"provided|determined|found|reached|identified|confirmed)\b",
        rf"no {ADJECTIVES}(?:information|info|details?|mention) can be (?:found|located|identified)\b",
        rf"no (?:[\w-]+ ){{1,4}}can be (?:made|given|drawn|provided|determined|found|answered|offered|identified|"
        rf"confirmed) {FROM_EVIDENCE}",
        rf"{SUBJECT} (?:make|contain|provide|include|offer|give|ha(?:s|ve))s? no {ADJECTIVES}{ABOUT}",
        rf"{SUBJECT} (?:lacks? {ADJECTIVES}(?:(?:a|an|the|any) )?{ADJECTIVES}(?:[\w-]+ ){{0,2}}{ABOUT}|(?:is|are) (?:silent|"
        rf"unclear|not clear|"
        rf"(?:insufficient|not sufficient|not enough)(?= to (?:answer|determine|say|tell|provide|draw|conclude|make|give)\b|"
        rf"[.!]?$)|"
        rf"unrelated to (?:the|your) question)\b)",
        rf"there(?:'s| is| are)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient "
        rf"){ADJECTIVES}(?:mention|"
        rf"information|info|details?){TOPIC}",
        rf"there(?:'s| is| are| was| were)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient "
        rf"){ADJECTIVES}(?:[\w-]+ ){{0,2}}{ABOUT}.{{0,80}}\b{IN_EVIDENCE}",
        rf"there(?:'s| is| are)(?:n't| not) (?:enough|sufficient) {ADJECTIVES}(?:information|info|details?|"
        rf"context)\b",
        rf"(?=.*\b{IN_EVIDENCE}|(?!.*\b(?:was|were|ha(?:s|ve|d) been|disclosed|released|published|revealed|shared|"
        rf"announced|made public)\b)(?!{STATING}))no {ADJECTIVES}(?:information|info|details?|mention)(?: (?:is|are|was|were) "
        rf"(?:given|"
        rf"provided|available|mentioned|found|included|specified))?(?: (?:about|on|regarding|of|concerning|for)\b|"
        rf"[.!]?$| "
        rf"{IN_EVIDENCE})",
        rf"(?:not enough|insufficient) (?:information|context|data|details)(?: (?:is|are|was|were))?(?: (?:provided|given|"
        rf"available)(?= to (?:answer|determine|say|tell)\b| {IN_EVIDENCE}|[.!]?$)| (?:to (?:answer|determine|say|tell)|"
        rf"{IN_EVIDENCE})|[.!]?$)",
        rf"(?:i|we){I_CANNOT} {ADVERBS}{I_VERB}",
        rf"i(?:'m| am) (?:currently )?(?:unable|not able) to {ADVERBS}(?:{I_VERB}|{I_TASK})",
        rf"i (?:currently )?(?:have|see|find|found|can find|could find|can see) no (?:{ADJECTIVES}{ABOUT}|idea\b)",
        r"(?:unable|not able|impossible|not possible) to (?:answer|determine|find|provide|locate|say|tell)\b",
        r"(?:(?:this|the|your) (?:question|query|request) )?(?:cannot|can't|can not|could not) (?:answer|determine|"
        r"be (?:determined|answered))\b",
        rf"it(?:'s| is) (?:impossible|unclear|unknown|not clear|uncertain|not known|not (?:explicitly )?(?:specified|"
        rf"stated|mentioned))\b.{{0,120}}\b{IN_EVIDENCE}",
        r"[^:.]{1,60}: (?:n/a|no information(?: (?:provided|available|given))?|not (?:mentioned|specified|"
        r"stated))(?: in "
        r"the .{1,40})?[.]?$",
        rf"not (?:explicitly )?(?:mentioned|specified|found|provided|stated|given|available) {IN_EVIDENCE}",
    )
]
# Impersonal, so that it may be about anything: "It is not possible to tell whether a mole is cancerous without a biopsy".
# Refusals only with an answer as their object, or where a lead ("Based on the context, ...") or the end names the evidence.
IMPERSONAL = re.compile(
    r"it(?:'s| is)(?: not|n't) possible to (?:answer|determine|say|tell|provide|confirm|know|identify|conclude|give)\b|"
    r"(it(?:'s| is) (?:impossible|unclear|unknown|not clear|uncertain|not known)\b)"
)
ANSWERED = re.compile(
    r" (?:this|that|the|your|an?|any) (?:[\w-]+ ){0,2}(?:question|query|answer|response|conclusion)\b(?! of\b)"
)
# "There is no mention of X in Y", where Y is no evidence: a statement about Y.
ELSEWHERE = re.compile(
    rf"there(?:'s| is| are)(?:n't| not)? (?:no|not|any) .{{0,20}}\b(?:mention of .{{1,80}}? (?:in|within) (?:the|his|her|its|"
    rf"their|this)\b(?! {EVIDENCE})|"
    rf"(?:mention|information|info|details?) .{{1,80}}? (?:on|in|at) (?:the|his|her|its|their|this) (?:[\w'-]+ ){{0,2}}(?:labels?|"
    rf"packag\w+|box|leaflet|insert|"
    rf"website|site|menu|form|notice|bill|receipts?|invoices?|stickers?|covers?|screen|door|sign)\b)"
)
WE_EVIDENCE = re.compile(
    rf"\b(?:find|locate|answer|determine|see)\b.{{0,100}}\b(?:question|information|{IN_EVIDENCE})"
)
# "X is not mentioned in the context": the subject is anything, so the place must be named or the verb be one of saying.
PASSIVE = re.compile(
    rf"(.{{1,200}}?)\b(?:is|are|was|were|has been|have been)(?:n't| not) {ADVERBS}(?:mentioned|specified|stated|"
    rf"provided|"
    rf"described|discussed|given|included|found|available|covered|addressed|listed|disclosed|detailed"
    rf"|present|indicated|contained|explained|clear|referenced|identified|named|revealed|answered|defined|in)(?: or "
    rf"[a-z]+)?(?: anywhere| at all| directly)? (?:{IN_EVIDENCE}|(?:the|these|any of the) {EVIDENCE})"
)
PASSIVE_SAYING = re.compile(rf"(.{{1,200}}?)\b(?:is|are)(?:n't| not) {ADVERBS}(?:mentioned|specified|stated)[.!]?$")
UNDETERMINED = re.compile(
    rf"(.{{1,200}}?)\b(?:can(?:not|'t| not)|could(?:n't| not)) be {ADVERBS}(?:determined|found|answered|confirmed|"
    rf"verified|inferred|established|identified|concluded|located)\b.{{0,20}}?\b{IN_EVIDENCE}"
)
PASSIVES = (PASSIVE, PASSIVE_SAYING, UNDETERMINED)
WHOLE_REFUSALS = frozenset(
    ["n/a", "i don't know", "i do not know", "unanswerable", "no answer", "cannot answer", "not mentioned", "not specified", "unknown"]
    + ["no relevant information found", "no information found", "insufficient information", "information not found"]
)
SORRY_BUT = re.compile(r"\s*(?:,\s*)?(?:but|and|so|however)?,?\s*")


def is_refusal(low: str) -> bool:
    """Whether the sentence only says that an answer was not found or will not be given."""
    rest = low
    for _ in range(5):
        lead = LEAD.match(rest)
        if not lead:
            break
        rest = rest[lead.end() :]
    bare = ENDING.sub("", rest)
    if bare in WHOLE_REFUSALS:
        return True
    found = IMPERSONAL.match(rest)
    if found:
        grounded = GROUNDED.search(low, 0, len(low) - len(rest)) or re.search(IN_EVIDENCE, rest)
        # "It is unclear whether he stayed" may be what the sources say themselves.
        if grounded or (found.group(1) is None and ANSWERED.match(rest, found.end())):
            return not _turns(rest[found.end() :])
    if ELSEWHERE.match(rest) and not GROUNDED.search(low, 0, len(low) - len(rest)):
        return False
    for pattern in REFUSALS:
        found = pattern.match(rest)
        if found:
            # "We cannot provide refunds" is a company's answer, "we cannot find the answer" is none.
            company = rest.startswith("we") and not WE_EVIDENCE.search(rest)
            return not company and not _turns(rest[found.end() :])
    for pattern in PASSIVES:
        found = pattern.match(rest)
        if found:
            return not _clause_before(found.group(1)) and not _turns(rest[found.end() :])
    return False


def _clause_before(subject: str) -> bool:
    """Whether what stands before "is not mentioned" already states something; "the day when it opened" does not."""
    if ";" in subject or subject.count("(") > subject.count(")"):
        return True
    if not has_finite_verb(subject):
        return False
    joined = re.search(r"[,:]|\b(?:but|and|while|although|though|because|so|as|since)\b", subject) is not None
    return joined or not re.search(r"\b(?:when|where|who|whether|how|why|what|which|that|if)\b", subject)


def _turns(rest: str) -> bool:
    """Whether the sentence goes on, after the refusal, to state something."""
    return states_more(rest, lambda said: is_refusal(SORRY_BUT.sub("", said, count=1)))
