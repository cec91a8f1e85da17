"""What kind of unit a sentence is: a claim, unless it is plainly something else.

Typing a true claim as anything else hides a hallucination, which is the worse error. So every rule below is anchored, names
its subject ("the documents", "I"), and gives way as soon as the sentence goes on to state something.
"""

from __future__ import annotations

import re

from nli_faith.types import CLAIM
from nli_faith.verbs import has_finite_verb

MODIFIERS = r"(?:(?:provided|given|retrieved|supplied|available|above|search|reference|following|attached|current|relevant|two|three|\d+) )*"
AFTER_NOUN = r"(?: (?:\d+|provided|above|given|supplied|available|retrieved|itself|here|(?:that )?you(?:'ve| have)? (?:provided|given|shared)|(?:that )?i (?:have|was given|received|found)))*"
# Nouns that mean "what was retrieved" by themselves, and those that do so only as "the provided report".
NOUN = r"(?:contexts?|passages?|documents?|documentation|texts?|search results?|results|excerpts?|snippets?|sources?|articles?|chunks?|transcripts?|knowledge base|source materials?)"
LOOSE = r"(?:information|data|content|details|materials?|reports?|files?|pages?|records?|facts?|input|handbook|summary)"
MARKED = r"(?:(?:provided|given|retrieved|supplied|attached|above) )"
EVIDENCE = rf"(?:{MODIFIERS}{NOUN}|{MODIFIERS}{MARKED}{MODIFIERS}{LOOSE}|{LOOSE} (?:provided|given|supplied|available|above)|{LOOSE} (?:that )?(?:you|i)(?:'ve| have)? (?:provided|given|shared|have)){AFTER_NOUN}"
THE = r"(?:(?:both|all|any|none|neither|either|each)(?: one)?(?: of)? )?(?:the |these |this |those |your |my |our )?"
SUBJECT = rf"{THE}{EVIDENCE}"
IN_EVIDENCE = rf"(?:in|within|by|from|among|anywhere in|based on|using|with|to) (?:any of |either of )?(?:the |these |this |those |your |my )?{EVIDENCE}"
ADVERBS = r"(?:(?:actually|explicitly|directly|specifically|clearly|really|fully|even|necessarily|currently|always|yet|ever|appear to|seem to|go on to) )*"
NOT = rf"(?:do|does|did)(?:n't| not) {ADVERBS}"
SAYING = r"(?:mention|specify|state|say|indicate|discuss|describe|reference|refer to|disclose|clarify|answer|reveal|talk about|touch (?:on|upon)|elaborate|explain|detail|name|identify|address|tell|confirm|define|list|note)\b"
GIVING = r"(?:contain|include|provide|give|offer|have|cover|present|supply|show)\b"
ABOUT = r"(?:information|info|details?|mention|data|answers?|specifics|anything|explanation|references?|figures?|facts|evidence|indication|clarification|definition|description|instructions?|reasons?|steps|comparison|guidance)\b"
ADJECTIVES = r"(?:(?:explicit|specific|direct|further|additional|other|relevant|clear|detailed|such|enough|sufficient|any|exact|concrete|more) )*"
TOPIC = r"(?: (?:about|of|on|regarding|concerning|related|relating|as to|that|for|to)\b|[.!,;]?$)"

I_VERB = r"(?:find|locate|answer|determine|provide|see|know|identify|access|confirm|verify|tell|help|assist|comment|respond|fulfil|complete|comply|discuss|speculate|do that|say|give (?:you )?(?:an|any|the)|offer (?:an|any)|(?:have|possess) (?:access|enough|any|sufficient|information|details|data|an answer|knowledge|the (?:ability|answer|information|specific|necessary|exact)|that information|specific|real-time|up-to-date))\b"
I_CANNOT = r"(?: can(?:not|'t| not)| could(?:n't| not)| do(?:n't| not)| did(?:n't| not)| have(?:n't| not)(?: been able to)?|(?:'m| am| was|'re| are| were) (?:currently )?(?:unable|not able) to| (?:was|were)n't able to)"

LEAD = re.compile(
    rf"(?:(?:i'm|i am|we're|we are) (?:very |so |really )?(?:sorry|afraid)(?: (?:to say|for [^,.]{{1,40}}))?|(?:my )?apologies|i (?:must )?apologi[sz]e(?: for [^,.]{{1,40}})?|sorry|unfortunately|regrettably"
    rf"|however|but|also|additionally|that said|at this time|as an? (?:ai|large language model)[^,]{{0,40}}"
    rf"|(?:based|relying) (?:solely |only |purely |strictly |entirely )?(?:up)?on [^,]{{1,100}}|(?:according to|from|in|given|within|per|as per) (?:the|these|this|your) [^,]{{0,40}}{EVIDENCE}[^,]{{0,40}}"
    rf"|after (?:reviewing|searching|checking|reading|looking|analy[sz]ing)[^,]{{1,80}}|(?:please )?note that|it (?:seems|appears)(?: that)?|therefore|thus|so|and|as a result)"
    r"(?:,? but\b|,? and\b|,? that\b|,|\.|!|:| [-–—])?\s+"
)
REFUSALS = [
    re.compile(pattern)
    for pattern in (
        rf"{SUBJECT} {NOT}{SAYING}",
        rf"{SUBJECT} {NOT}{GIVING} {ADJECTIVES}(?:(?:a|an|the|any) )?{ADJECTIVES}(?:[\w-]+ ){{0,3}}{ABOUT}",
        rf"{THE}{MODIFIERS}{MARKED}{MODIFIERS}(?:{NOUN}|{LOOSE}){AFTER_NOUN} {NOT}{GIVING}",
        rf"(?:none|neither) of (?:the |these |those )?{EVIDENCE} {ADVERBS}(?:mention|discuss|state|specify|address|describe|contain|provide|include|say|answer|cover)s?\b",
        rf"{SUBJECT} (?:make|contain|provide|include|offer|give|ha(?:s|ve))s? no {ADJECTIVES}{ABOUT}",
        rf"{SUBJECT} (?:lacks?|(?:is|are) (?:silent|unclear|not clear|insufficient|not sufficient|not enough|unrelated to (?:the|your) question))\b",
        rf"there(?:'s| is| are)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient ){ADJECTIVES}(?:mention|information|info|details?){TOPIC}",
        rf"there(?:'s| is| are| was| were)(?:n't| not)? (?:no |not |any |enough |sufficient |insufficient ){ADJECTIVES}(?:[\w-]+ ){{0,2}}{ABOUT}.{{0,80}}\b{IN_EVIDENCE}",
        rf"there(?:'s| is| are)(?:n't| not) (?:enough|sufficient) {ADJECTIVES}(?:information|info|details?|context)\b",
        rf"(?!.*\b(?:disclosed|released|published|revealed|shared|announced|made public)\b)no {ADJECTIVES}(?:information|info|details?|mention)(?: (?:is|are|was|were) (?:given|provided|available|mentioned|found|included|specified))?(?: (?:about|on|regarding|of|concerning|for)\b|[.!]?$| {IN_EVIDENCE})",
        rf"(?:not enough|insufficient) (?:information|context|data|details)(?: (?:is|are|was|were))?(?: (?:provided|given|available|to (?:answer|determine|say|tell)|{IN_EVIDENCE})|[.!]?$)",
        rf"(?:i|we){I_CANNOT} {ADVERBS}{I_VERB}",
        r"i(?:'m| am) (?:currently )?(?:unable|not able) to\b",
        r"(?:unable|not able|impossible|not possible) to (?:answer|determine|find|provide|locate|say|tell)\b",
        rf"cannot (?:answer|determine|be (?:determined|answered))\b",
        rf"it(?:'s| is)(?: not|n't) possible to (?:answer|determine|say|tell|provide|confirm|know|identify|conclude|give)\b",
        rf"it(?:'s| is) (?:impossible|unclear|unknown|not clear|uncertain|not known|not (?:explicitly )?(?:specified|stated|mentioned))\b.{{0,120}}\b{IN_EVIDENCE}",
        r"[^:.]{1,60}: (?:n/a|no information(?: (?:provided|available|given))?|not (?:mentioned|specified|stated))(?: in the .{1,40})?[.]?$",
        rf"not (?:explicitly )?(?:mentioned|specified|found|provided|stated|given|available) {IN_EVIDENCE}",
    )
]
WE = re.compile(r"we\b")
WE_EVIDENCE = re.compile(rf"\b(?:find|locate|answer|determine|see)\b.{{0,100}}\b(?:question|information|{IN_EVIDENCE})")
# "X is not mentioned in the context": the subject is anything, so the place must be named or the verb be one of saying.
PASSIVE = re.compile(
    rf"(.{{1,200}}?)\b(?:is|are|was|were|has been|have been)(?:n't| not) {ADVERBS}(?:mentioned|specified|stated|provided|described|discussed|given|included|found|available|covered|addressed|listed|disclosed|detailed"
    rf"|present|indicated|contained|explained|clear|referenced|identified|named|revealed|answered|defined|in)(?: or [a-z]+)?(?: anywhere| at all| directly)? (?:{IN_EVIDENCE}|(?:the|these|any of the) {EVIDENCE})"
)
PASSIVE_SAYING = re.compile(rf"(.{{1,200}}?)\b(?:is|are)(?:n't| not) {ADVERBS}(?:mentioned|specified|stated)[.!]?$")
UNDETERMINED = re.compile(
    rf"(.{{1,200}}?)\b(?:can(?:not|'t| not)|could(?:n't| not)) be {ADVERBS}(?:determined|found|answered|confirmed|verified|inferred|established|identified|concluded|located)\b.{{0,20}}?\b{IN_EVIDENCE}"
)
PASSIVES = (PASSIVE, PASSIVE_SAYING, UNDETERMINED)
WHOLE_REFUSALS = frozenset(
    ["n/a", "i don't know", "i do not know", "unanswerable", "no answer", "cannot answer", "not mentioned", "not specified"]
    + ["no relevant information found", "no information found", "insufficient information", "information not found", "no answer found"]
)
FOREIGN_REFUSALS = re.compile(
    r"(?:抱歉|对不起|很遗憾|不好意思)[，,]?.{0,24}(?:没有|无法|未|不能|找不到)|.{0,10}(?:文档|文件|上下文|资料|文中|文章|材料)(?:中|里|内)?.{0,6}(?:没有|并未|未)(?:明确|具体)?(?:提到|提及|说明|包含|提供|给出|指出)|我?(?:无法|不能)(?:回答|确定|提供|找到)"
    r"|.{0,80}(?:情報|記載|記述|言及).{0,10}(?:見つかりません|ありません|含まれていません|されていません|見当たりません)|.{0,60}お答え(?:できません|することはできません)"
    r"|(?:leider |die |der |das )*(?:bereitgestellten? |angegebenen? |vorliegenden? )?(?:dokumente?|kontext|text|quellen?) (?:enthält|enthalten|erwähn\w+|nenn\w+|gibt|geben) .{0,60}\b(?:keine?|nicht)\b|(?:leider )?(?:kann|konnte) ich .{0,60}\b(?:nicht|keine)\b.{0,30}(?:beantworten|finden|sagen)"
    r"|(?:el |los |las? )?(?:documentos?|contexto|texto|fuentes?)(?: proporcionad[oa]s?)? no (?:menciona|contiene|especifica|proporciona|incluye|indica)n?\b|lo siento, (?:pero )?no|no (?:pude|puedo|he podido) (?:encontrar|responder)|no (?:hay|encontré|se encontró) (?:ninguna )?información (?:sobre|en|acerca)"
    r"|(?:le |les |la )?(?:documents?|contexte|textes?|sources?)(?: fournie?s?)? ne (?:mentionne|contien|précise|fourni|indique|donne)\w*\b|(?:je suis )?désolée?, (?:mais )?je ne|je ne (?:peux pas répondre|sais pas|trouve pas)|je n'ai pas trouvé"
)
FOREIGN_TURN = re.compile(r"\b(?:mais|pero|aber|jedoch|sin embargo|cependant|toutefois)\b|但|不过|然而|しかし|ただし|[；;]|[がけ]、.*[がけ]、")

# Where a refusal may turn into a statement. What follows decides.
TURN = re.compile(
    r"(?:,\s*)?\b(?:but|however|though|although|yet|nevertheless|while|whereas|instead|because|since|even though|despite|except|other than|apart from|aside from|beyond|besides)\b[,:]?"
    r"|,\s*(?:which|who|whose|where|and|so|as|it|they|he|she|this|the|only)\b|[;:—–]|\s-\s|\.\s|\band (?:the|it|they|he|she|this|its|their)\b|\b(?:stating|saying|mentioning|noting|only (?:that|mentions?|states?|says?|notes?))\b"
)
BEYOND = re.compile(r"\b(?:except|other than|apart from|aside from|beyond|besides)\b")
OFFER = re.compile(
    r"\W*(?:i|we)(?:'d| would| can| could|'ll| will|'m| am)? (?:be |try|recommend|suggest|offer|happy|glad|help|still|need|would)|\W*(?:you (?:can|may|might|could|should|would)|please|feel free|if you)\b"
)
SORRY_BUT = re.compile(r"\s*(?:,\s*)?(?:but|and|so|however)?,?\s*")

GREETINGS = [
    re.compile(pattern)
    for pattern in (
        r"(?:hi|hello|hey|greetings|dear|good (?:morning|afternoon|evening|day))(?:[ ,]+[^\s,]+){0,3}",
        r"(?:(?:hi|hello|hey)(?: there)?,? )?(?:many )?(?:thanks|thank you)(?: (?:so |very )?much)?(?: again)?(?: for (?:asking|reaching out|contacting|clarifying|waiting|your (?:question|message|patience|interest|email|e-mail|inquiry|query|feedback|understanding|time|order|purchase)).{0,60})?",
        r"you(?:'re| are) (?:very |most )?welcome(?: .{0,20})?",
        r"(?:that's |that is |what )?an? (?:great|good|excellent|interesting|very good) question|(?:great|good|excellent|interesting|very good) question",
        r"(?:sure|certainly|of course|absolutely|definitely|okay|ok|alright|no problem|got it|understood|gladly|my pleasure|sure thing|no worries)",
        r"i hope (?:this|that|it|the above|you find this)(?: \w+)? (?:helps?|answers|clarifies|is helpful|was helpful|helpful|useful|clears).{0,60}",
        r"(?:please )?(?:feel free|don't hesitate|do not hesitate) to .{1,100}",
        r"(?:please |just )?let me know (?:if|how|what|whether|when|which).{1,100}",
        r"(?:if|should) you (?:have|need|require|want|would like|'d like) .{1,80}(?:feel free|let me know|hesitate|just ask|happy to help|glad to help|here to help|please ask|reach out).{0,60}",
        r"i(?:'m| am|'d be| would be|'ll be) (?:always |more than |very )?(?:here|happy|glad) to (?:help|assist|answer|clarify|provide more|elaborate).{0,80}|(?:happy|glad) to help.{0,30}",
        r"have an? (?:great|nice|good|wonderful|lovely|safe) .{1,30}|(?:best|kind|warm|warmest|kindest) (?:regards|wishes)\b.{0,40}|regards|sincerely.{0,40}|yours (?:truly|sincerely|faithfully).{0,40}|cheers|take care|good luck.{0,40}|goodbye|bye",
        r"您好|你好|谢谢.{0,10}|不客气|希望.{0,12}(?:帮助|有用)|こんにちは|ありがとうございま(?:す|した)|مرحبا|أهلا|नमस्ते|¡?hola|¡?(?:muchas )?gracias|hallo|guten tag|danke|bonjour|merci",
    )
]
QUESTION_WORD = re.compile(
    r"\b(?:what|which|who|whom|whose|how|why|when|where|do you|would you|could you|can you|can i|will you|have you|are you|is it|is there|is this|shall|should i|should we|may i|want me|need help|right)\b"
)
ASKING = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|may|should|must|shall|so|or|and|what|which|who|whom|whose|how|why|when|where|¿)(?:\b|(?<=¿))"
)
GENERIC = r"(?:summary|overview|answer|response|list|breakdown|information|details|explanation|steps?|points|facts|guide|takeaways?|findings|comparison|outline|instructions|reasons|ways|features|examples?|tips|recap|description)"
METAS = [
    re.compile(pattern)
    for pattern in (
        r"(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]? )?(?!.*\([^()]{40})(?:here(?:'s| is| are| you go)|below (?:is|are))\b.{0,160}:",
        rf"(?:(?:sure|certainly|of course|absolutely|okay|ok|yes|great|alright)[,!.]? )?(?:here(?:'s| is| are)|below (?:is|are)|this is|the following (?:is|are)) (?:(?:a|an|the|my|some|your|few|brief|short|concise|detailed|quick|key|main|clear|step-by-step|following) )*{GENERIC}\b(?: (?:of|for|on|about|based on|from) .{{1,80}})?[.:]?",
        r"(?:(?:sure|certainly|of course|okay)[,!.]? )?here(?:'s| is) what (?:i|the \w+) .{0,60}[.:]?",
        rf"(?:based (?:solely |only )?(?:up)?on|according to|from|as per|per|in) [^:,]{{0,60}}{EVIDENCE}[^:,]{{0,60}}(?:, .{{0,40}}(?:answer|summary|response) .{{0,30}})?:",
        r"(?:in (?:summary|short|conclusion|brief|total|other words)|to (?:summari[sz]e|conclude|sum up|recap|answer (?:your|the|this) question)|overall|summary|conclusion|answer|final answer|response|notes?|please note|tl;dr|key (?:points|takeaways)|sources?|references?|citations?)[:.,]?",
        r"(?:let's|let me|let us) (?:break|look|explain|summari[sz]e|go (?:through|over)|walk|take a (?:look|closer look)|dive|start|clarify|see|explore|examine|outline)\b.{0,60}",
        r"i(?:'ll| will| can|'ve| have)(?: now)? (?:answer|summari[sz]e|summari[sz]ed|explain|break|provide|provided|outline|outlined|list|listed|try)\b.{0,80}",
        rf"(?:this|the above|my|the) (?:summary|answer|response|information) (?:is|was|has been) (?:based (?:solely |only )?(?:up)?on|derived from|taken from|drawn from) .{{0,40}}{EVIDENCE}.{{0,40}}",
        r"(?:please )?for (?:more|further|additional|more detailed|detailed) (?:information|details|info|assistance|help|guidance|questions).{0,120}",
        r"(?:(?:key|main|overall|general|additional|final|quick|brief|short|executive|important|more) )?(?:summary|overview|takeaways?|points|details|features|attributes|highlights|impressions?|ingredients|instructions|directions|steps|conclusion|introduction|background|verdict|findings)",
        r"\(?(?:total )?word count: \d+(?: words)?\)?|\(?\d+ words\)|(?:i hope|hopefully) .{0,20}(?:meets|is what).{0,60}",
    )
]
SOURCES = re.compile(r"(?:data )?(?:sources?|references?|citations?|source documents?|sources used)\s*[:：]\s*(.+)", re.S)
HEDGES = [
    re.compile(pattern)
    for pattern in (
        r"(?:it|that|this|the answer)(?: really)? depends(?: on (?:the|various|several|many|a number of|different) (?:other |different )?(?:context|factors|circumstances|situation|things))?",
        r"(?:individual |your |actual )?(?:results|mileage|experiences|opinions) (?:may|might|can) vary",
        r"i(?:'m| am) not (?:entirely |completely |quite |really |100% )?(?:sure|certain)(?: (?:about|of) (?:this|that|it)| (?:if|whether|what|how) (?:(?!\bbut\b)[^,;]){1,80})?",
        r"there (?:may|might|could) be (?:(?:some|other|more|additional|relevant|further|related|specific|useful) )*(?:information|details|documents|sources|data|resources|context|factors)(?: .{0,60})?",
        r"(?:(?:please )?(?:note|be aware|keep in mind) that )?(?:this|the|my|these|some)(?: \w+){0,2} (?:information|answer|response|details|data) (?:may|might|could) (?:not )?(?:be|have|vary|change|contain)\b.{0,60}",
        r"(?:(?:please )?(?:note|be aware|keep in mind) that )?(?:this|it|the above|this information|this answer) (?:is not|isn't|should not be (?:taken|considered) as|does not constitute) (?:intended as )?(?:legal|medical|financial|professional|investment|tax)(?: or \w+)? advice",
        r"(?:i could be wrong|i may be wrong|maybe|perhaps|possibly)",
    )
]
# Without one of these words, or one of these beginnings, no rule above can hold. Most claims stop here.
NEGATIONS = ("not ", "n't", " no ", "unable", "impossible", "insufficient", "unclear", "unknown", "none ", "neither", "lack", "silent", "uncertain")
OPENING = re.compile(
    r"[\"'(*]*(?:i\b|i'|hi|hello|hey|greet|dear|good|great|thank|many|you|that|what|an?\b|sure|certain|of course|absol|defin|ok|alright|no|got|under|glad|my\b|please|feel|don|let|just|if|should|have|best|kind|warm|regard|sincer|yours|cheers|take|bye|happy|cannot|n/a|unanswer"
    r"|excellent|interesting|very|here|below|this|the (?:follow|answer|above|summary|response|information)|based|accord|from|as |per |in |to |overall|summary|concl|answer|final|response|notes?\b|tl;|key|source|reference|citation|data s|for |\d+ words|total|word c|hope"
    r"|it|results|individual|actual|there|these|some|maybe|perhaps|possibly|yes)"
)
ENDING = re.compile(r"[\s.!…。！,;\"'”’)*\]]+$")
FIGURE = re.compile(r"(?<!passage )(?<!document )(?<!source )\d")
LONGEST_TYPED = 1500  # characters; whatever is longer says something
HARD_FACT = re.compile(r"\d|@|https?:|www\.")


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
    if not low.isascii():
        foreign = FOREIGN_REFUSALS.match(low)
        if foreign and not FOREIGN_TURN.search(low, foreign.end()):
            return "refusal"
    elif FOREIGN_REFUSALS.match(low) and not FOREIGN_TURN.search(low):
        return "refusal"
    negated = any(word in low for word in NEGATIONS)
    opens = OPENING.match(low) is not None or (len(low) <= 40 and not low.isascii())
    if not negated and not opens:
        return CLAIM
    if _is_refusal(low):
        return "refusal"
    if not opens:
        return CLAIM
    bare = ENDING.sub("", low)
    bare = re.sub(r"^[^\w(¡]+|[^\w\s)'.:]+$", "", bare).strip()
    if not HARD_FACT.search(bare):
        if any(pattern.fullmatch(bare) for pattern in GREETINGS) and not _says_more(bare):
            return "greeting"
        if any(pattern.fullmatch(bare) for pattern in HEDGES):
            return "hedge"
    return "meta" if _is_meta(bare) else CLAIM


def _states_a_fact(low: str) -> bool:
    """A statement that merely ends in a question mark: it quotes a question, or has a figure or much to say and asks nothing."""
    head = re.match(r"(.*\S)\s*(?:[\"“«「]|: )(?=\S)", low, re.S)
    if head and len(head.group(1)) > 1 and has_finite_verb(head.group(1)) and not ASKING.match(low):
        return True
    if not low.isascii() or ASKING.match(low) or QUESTION_WORD.search(low.rsplit(",", 1)[0]):
        return False
    return any(sign.isdigit() for sign in low) or len(low.split()) >= 12


def _says_more(bare: str) -> bool:
    """A greeting word that begins a statement: "Hello Kitty was created", "Dear friends left the house"."""
    return re.match(r"(?:hi|hello|hey|greetings|dear|good)\b", bare) is not None and "thank" not in bare and has_finite_verb(bare)


def _is_refusal(low: str) -> bool:
    """Whether the sentence only says that an answer was not found or will not be given."""
    sorry = re.match(r"(?:i'm|i am|we're|we are)? ?(?:very |so )?sorry\b|unfortunately", low) is not None
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
            company = WE.match(rest) and not sorry and not WE_EVIDENCE.search(rest)
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
    return re.search(r"[,:]|\b(?:but|and|while|although|though|because|so|as|since)\b", subject) is not None or not re.search(
        r"\b(?:when|where|who|whether|how|why|what|which|that|if)\b", subject
    )


def _turns(rest: str) -> bool:
    """Whether the sentence goes on, after the refusal, to state something."""
    turn = TURN.search(rest)
    while turn:
        said = rest[turn.end() :].strip()
        if turn.group().strip(" ,") == "which" or not OFFER.match(said) or HARD_FACT.search(said):
            if BEYOND.search(turn.group()) and len(said.split()) >= 4 and not said.startswith(("this", "that", "these", "those", "what")):
                return True
            if said.startswith(("rather", "instead", "only ", "merely", "simply", "they do", "it does")):
                return True
            subject = turn.group().strip(" ,").split()[-1] if turn.group().strip(" ,") else ""
            clause = f"{subject} {said}" if subject.isalpha() else f"it {said}"
            if has_finite_verb(clause) and not _is_refusal(SORRY_BUT.sub("", said, count=1)) and not _is_refusal(clause):
                return True
        turn = TURN.search(rest, turn.end())
    return False


def _is_meta(bare: str) -> bool:
    """A sentence about the answer itself."""
    sources = SOURCES.fullmatch(bare)
    if sources:
        return not has_finite_verb(re.sub(r"https?:\S+", "", sources.group(1)))
    if HARD_FACT.search(bare) and has_finite_verb(re.sub(r"^.{0,20}?\b(?:is|are|here's)\b", "", bare)):
        return False
    if bare.startswith("for ") and HARD_FACT.search(bare):
        return False
    return any(pattern.fullmatch(bare) for pattern in METAS)


# The line stops where its object should be: "The warranty covers:", "You need:", "It is available in:".
OPEN_VERB = re.compile(
    r"\b(?:(?:include|cover|contain|highlight|praise|emphasi[sz]e|need|require|support|offer|provide|receive|comprise|list|mention|state|say|note|recommend|suggest|show|accept|allow|involve|use|serve|sell|make|get|find|choose|see"
    r"|know|report|describe|discuss|explain|cite|run|ask|do)(?:s|es|d)?|ha(?:s|ve|d)|found|are|is|was|were|be|can|may|must|should|will|by|to|with|for|of|from|as|in|that|these|this|those|such as)"
    r"(?: (?:the|some|several|many|various|multiple|a few|all))*$"
)
# It only announces what its items say: "The kit contains the following items:", "We offer these plans:", "run this:".
ANNOUNCED = re.compile(r"\b(?:(?:the )?following(?: [\w-]+){0,4}|as follows|(?:given|listed|shown|outlined) below|these(?: [\w-]+){1,3}|(?:run|type|enter|use|do|try|follow)(?: (?:this|it))?(?: [\w-]+)?)$")
LONGEST_LEAD_IN = 16  # words
SHORT_LEAD_IN = 7  # words within which a figure is part of a name ("Review 2 (May 2021):")


def kind_of_lead(text: str) -> str:
    """The kind of a line that ends in a colon and introduces what follows: "heading" (a name), "meta" or a claim.

    It is a claim as soon as it may say something that its items don't say by themselves.
    """
    low = text.lower().replace("’", "'").strip().rstrip(":： ")
    kind = kind_of(f"{low}:")
    words = len(low.split())
    if kind != CLAIM:
        return kind
    if ANNOUNCED.search(low) and words <= LONGEST_LEAD_IN:
        return "meta"
    if words > LONGEST_LEAD_IN or (words > SHORT_LEAD_IN and FIGURE.search(low)):
        return CLAIM
    if OPEN_VERB.search(low):
        return "meta"
    return CLAIM if has_finite_verb(low) else "heading"


def kind_of_heading(text: str) -> str:
    """The kind of a marked heading: a claim when it states a fact, for a claim can't pass by being a heading."""
    low = text.rstrip()
    return "heading" if low.endswith(("?", "？", "؟")) or not has_finite_verb(re.sub(r"^[\d.)(:]+\s*", "", low)) else CLAIM
