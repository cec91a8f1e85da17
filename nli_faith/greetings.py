"""Greetings, thanks, offers and good wishes: what is said to someone rather than about something."""

from __future__ import annotations

import re

from nli_faith.tails import has_subject_and_verb

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
        r"(?:please |just )?let me know (?:if|whether|(?:how|what|when|which)(?: [\w']+){0,2}? (?:you|i|we|this|that|it|else|"
        r"works?)\b).{0,100}",
        r"(?:if|should) you (?:have|need|require|want|would like|'d like) .{1,80}(?:feel free|let me know|hesitate|"
        r"just "
        r"ask|happy to help|glad to help|here to help|please ask|reach out).{0,60}",
        r"i(?:'m| am|'d be| would be|'ll be) (?:always |more than |very )?(?:here|happy|glad) to (?:help|assist|"
        r"answer|"
        r"clarify|provide more|elaborate).{0,80}|(?:happy|glad) to help.{0,30}",
        r"have an? (?:great|nice|good|wonderful|lovely|safe|pleasant) (?:[\w-]+ )?(?:day|time|weekend|evening|trip|week|one|night|"
        r"morning|afternoon|holidays?|journey|flight|stay|visit|year|season|rest of (?:the|your) \w+)(?: ahead| too)?",
        r"(?:best|kind|warm|warmest|kindest) (?:regards|wishes)\b.{0,40}|(?:best|regards|sincerely|cheers|"
        r"thanks)(?:, (?:[\w.-]+ ?){1,4})?"
        r"|yours (?:truly|sincerely|faithfully).{0,40}|take care|good luck.{0,40}|goodbye|bye",
        r"(?:i |we )?hope (?:this|that|it|the above)(?: \w+)? (?:helps?|was helpful|is useful)|sorry about (?:that|this|"
        r"the .{1,30})",
        r"great news|good news|one (?:moment|second|sec)(?:,? please)?|(?:please )?(?:hold on|bear with me)|"
        r"i'll (?:look into (?:this|that|it)|be right back)(?: for you)?|i (?:completely |fully |totally )?understand(?: your|"
        r" how) .{1,40}|"
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
# What greets as well as it names: "Hello Kitty", "Good Morning America", "Welcome to the Jungle".
NAMED = re.compile(r"(?:Hi|Hello|Hey|Dear|Good|Welcome|Goodbye|Best|Cheers|Thanks)\b.*?\s(?!I\b)[A-Z0-9]")


def is_greeting(bare: str) -> bool:
    """Whether a sentence in lower case, without the marks at its end, greets and nothing else."""
    return any(pattern.fullmatch(bare) for pattern in GREETINGS) and not _says_more(bare)


def may_be_a_name(text: str) -> bool:
    """Whether a greeting has a name in it, so that it may be what was asked for: a song, a show, a firm."""
    return NAMED.match(text) is not None


def _says_more(bare: str) -> bool:
    """A greeting word that begins a statement: "Hello Kitty was created", "Dear friends left the house"."""
    greeted = re.match(r"(?:hi|hello|hey|greetings|dear|good|best|regards|sincerely|cheers|welcome)\b", bare) is not None
    return greeted and "thank" not in bare and has_subject_and_verb(bare)
