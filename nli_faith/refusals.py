"""Sentences that only say that an answer was not found or will not be given.

Anchored at the start (after "Unfortunately," and the like), about a named subject, and void as soon as the sentence goes on
to state something: "The documents do not mention the fee, but entry costs $5" is a claim.
"""

from __future__ import annotations

import re

from nli_faith.verbs import has_finite_verb

ENDING = re.compile(r"[\s.!…。！,;\"'”’)*\]]+$")
HARD_FACT = re.compile(r"\d|@|https?:|www\.")

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
    r"(?:find|locate|answer|determine|provide|see|know|identify|access|confirm|verify|tell|help|assist|comment|"
    r"respond|"
    r"fulfil|complete|comply|discuss|speculate|do that|say(?! enough)|give (?:you )?(?:an|any|the)|offer (?:an|any)|"
    r"(?:have|possess) (?:access|enough|any|sufficient|information|details|data|an answer|knowledge|the (?:ability|"
    r"answer|information|specific|necessary|exact)|that information|specific|real-time|up-to-date))\b"
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
REFUSALS = [
    re.compile(pattern)
    for pattern in (
        rf"{SUBJECT} {NOT}{SAYING}",
        rf"{SUBJECT} {NOT}{GIVING} {ADJECTIVES}(?:(?:a|an|the|any) )?{ADJECTIVES}(?:[\w-]+ ){{0,3}}{ABOUT}",
        rf"{THE}{MODIFIERS}{MARKED}{MODIFIERS}(?:{NOUN}|{LOOSE}){AFTER_NOUN} {NOT}{GIVING}",
        rf"(?:none|neither) of (?:the |these |those )?{EVIDENCE} {ADVERBS}(?:mention|discuss|state|specify|address|"
        rf"describe|contain|provide|include|say|answer|cover)s?\b",
        rf"{SUBJECT} (?:make|contain|provide|include|offer|give|ha(?:s|ve))s? no {ADJECTIVES}{ABOUT}",
        rf"{SUBJECT} (?:lacks?|(?:is|are) (?:silent|unclear|not clear|insufficient|not sufficient|not enough|"
        rf"unrelated to "
        rf"(?:the|your) question))\b",
        rf"there(?:'s| is| are)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient "
        rf"){ADJECTIVES}(?:mention|"
        rf"information|info|details?){TOPIC}",
        rf"there(?:'s| is| are| was| were)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient "
        rf"){ADJECTIVES}(?:[\w-]+ ){{0,2}}{ABOUT}.{{0,80}}\b{IN_EVIDENCE}",
        rf"there(?:'s| is| are)(?:n't| not) (?:enough|sufficient) {ADJECTIVES}(?:information|info|details?|"
        rf"context)\b",
        rf"(?=.*\b{IN_EVIDENCE}|(?!.*\b(?:was|were|ha(?:s|ve|d) been|disclosed|released|published|revealed|shared|"
        rf"announced|made public)\b))no {ADJECTIVES}(?:information|info|details?|mention)(?: (?:is|are|was|were) "
        rf"(?:given|"
        rf"provided|available|mentioned|found|included|specified))?(?: (?:about|on|regarding|of|concerning|for)\b|"
        rf"[.!]?$| "
        rf"{IN_EVIDENCE})",
        rf"(?:not enough|insufficient) (?:information|context|data|details)(?: (?:is|are|was|were))?(?: (?:provided|"
        rf"given|"
        rf"available|to (?:answer|determine|say|tell)|{IN_EVIDENCE})|[.!]?$)",
        rf"(?:i|we){I_CANNOT} {ADVERBS}{I_VERB}",
        r"i(?:'m| am) (?:currently )?(?:unable|not able) to\b",
        r"(?:unable|not able|impossible|not possible) to (?:answer|determine|find|provide|locate|say|tell)\b",
        r"cannot (?:answer|determine|be (?:determined|answered))\b",
        r"it(?:'s| is)(?: not|n't) possible to (?:answer|determine|say|tell|provide|confirm|know|identify|conclude|"
        r"give)\b",
        rf"it(?:'s| is) (?:impossible|unclear|unknown|not clear|uncertain|not known|not (?:explicitly )?(?:specified|"
        rf"stated|mentioned))\b.{{0,120}}\b{IN_EVIDENCE}",
        r"[^:.]{1,60}: (?:n/a|no information(?: (?:provided|available|given))?|not (?:mentioned|specified|"
        r"stated))(?: in "
        r"the .{1,40})?[.]?$",
        rf"not (?:explicitly )?(?:mentioned|specified|found|provided|stated|given|available) {IN_EVIDENCE}",
    )
]
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
    ["n/a", "i don't know", "i do not know", "unanswerable", "no answer", "cannot answer", "not mentioned", "not specified"]
    + ["no relevant information found", "no information found", "insufficient information", "information not found"]
)
FOREIGN_REFUSALS = re.compile(
    r"(?:抱歉|对不起|很遗憾|不好意思)[，,]?.{0,24}(?:没有|无法|未|不能|找不到)|.{0,10}(?:文档|文件|上下文|资料|文中|文章|材料)(?:中|里|内)?.{0,6}(?:没有|并未|"
    r"未)(?:明确|"
    r"具体)?(?:提到|提及|说明|包含|提供|给出|指出)|我?(?:无法|不能)(?:回答|确定|提供|找到)"
    r"|.{0,80}(?:情報|記載|記述|言及).{0,10}(?:見つかりません|ありません|含まれていません|されていません|見当たりません)|.{0,60}お答え(?:できません|することはできません)"
    r"|(?:leider |die |der |das )*(?:bereitgestellten? |angegebenen? |vorliegenden? )?(?:dokumente?|kontext|text|"
    r"quellen?) (?:enthält|enthalten|erwähn\w+|nenn\w+|gibt|geben) .{0,60}\b(?:keine?|nicht)\b|(?:leider )?(?:kann|"
    r"konnte) ich .{0,60}\b(?:nicht|keine)\b.{0,30}(?:beantworten|finden|sagen)"
    r"|(?:el |los |las? )?(?:documentos?|contexto|texto|fuentes?)(?: proporcionad[oa]s?)? no (?:menciona|contiene|"
    r"especifica|proporciona|incluye|indica)n?\b|lo siento, (?:pero )?no|no (?:pude|puedo|he podido) (?:encontrar|"
    r"responder)|no (?:hay|encontré|se encontró) (?:ninguna )?información (?:sobre|en|acerca)"
    r"|(?:le |les |la )?(?:documents?|contexte|textes?|sources?)(?: fournie?s?)? ne (?:mentionne|contien|précise|"
    r"fourni|"
    r"indique|donne)\w*\b|(?:je suis )?désolée?, (?:mais )?je ne|je ne (?:peux pas répondre|sais pas|trouve pas)|"
    r"je n'ai "
    r"pas trouvé"
)
FOREIGN_TURN = re.compile(
    r"\b(?:mais|pero|aber|jedoch|sin embargo|cependant|toutefois)\b|但|不过|然而|しかし|ただし|[；;]|[がけ]、.*[がけ]、"
)

# Where a refusal may turn into a statement. What follows decides.
TURN = re.compile(
    r"(?:,\s*)?\b(?:but|however|though|although|yet|nevertheless|while|whereas|instead|because|since|even though|"
    r"despite|"
    r"except|other than|apart from|aside from|beyond|besides)\b[,:]?"
    r"|,\s*(?:which|who|whose|where|and|so|as|it|they|he|she|this|the|only)\b|[;:—–]|\s-\s|\.\s|\band (?:the|it|"
    r"they|he|"
    r"she|this|its|their)\b|\b(?:stating|saying|mentioning|noting|only (?:that|mentions?|states?|says?|notes?))\b"
)
BEYOND = re.compile(r"\b(?:except|other than|apart from|aside from|beyond|besides)\b")
OFFER = re.compile(
    r"\W*(?:i|we)(?:'d| would| can| could|'ll| will|'m| am)? (?:be |try|recommend|suggest|offer|happy|glad|help|"
    r"still|"
    r"need|would)|\W*(?:you (?:can|may|might|could|should|would)|please|feel free|if you)\b"
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
    turn = TURN.search(rest)
    while turn:
        said = rest[turn.end() :].strip()
        if turn.group().strip(" ,") == "which" or not OFFER.match(said) or HARD_FACT.search(said):
            named = not said.startswith(("this", "that", "these", "those", "what"))
            if BEYOND.search(turn.group()) and named and len(said.split()) >= 4:
                return True
            if said.startswith(("rather", "instead", "only ", "merely", "simply", "they do", "it does")):
                return True
            subject = turn.group().strip(" ,").split()[-1] if turn.group().strip(" ,") else ""
            clause = f"{subject} {said}" if subject.isalpha() else f"it {said}"
            if has_finite_verb(clause) and not is_refusal(SORRY_BUT.sub("", said, count=1)) and not is_refusal(clause):
                return True
        turn = TURN.search(rest, turn.end())
    return False


def is_foreign_refusal(low: str) -> bool:
    """The same in Chinese, Japanese, German, Spanish and French, for the commonest phrases."""
    found = FOREIGN_REFUSALS.match(low)
    return found is not None and not FOREIGN_TURN.search(low, found.end())
