"""The commonest refusals in Chinese, Japanese and six European languages; see `refusals.py` for English.

Three patterns each: the documents do not mention it, I could not find it in them, there is nothing about it in them. They
always name what was retrieved, or an answer: "Lo siento, no aceptamos tarjetas" is what a shop says.
"""

from __future__ import annotations

import re

# A word of one of these must be there at all; most sentences have none.
NEGATIONS = re.compile(r"没有|无法|未|不能|找不到|ません|nicht|kein|\bno\b|\bne\b|\bn'|aucune|não|nenhum|\bnon\b|nessun|niet|geen|niets")


def _language(documents: str, told: str, patterns: tuple[str, ...]) -> list[re.Pattern]:
    """Patterns with the words for what was retrieved in place of DOCS and those for what it tells in place of TOLD."""
    return [re.compile(pattern.replace("DOCS", f"(?:{documents})").replace("TOLD", f"(?:{told})")) for pattern in patterns]


FOREIGN_REFUSALS = [
    *_language(
        "文档|文件|上下文|资料|文中|文章|材料|原文|段落|文本",
        "相关(?:信息|内容|资料|答案)|答案|问题|提到|提及",
        (
            r"(?:(?:很)?抱歉|对不起|很遗憾|不好意思)[，,]?.{0,24}(?:没有|无法|未能?|不能|找不到).{0,16}(?:TOLD|找到|回答|确定|判断)",
            r"(?:(?:很)?抱歉|对不起|很遗憾)?[，,]?.{0,10}DOCS(?:中|里|内)?.{0,6}(?:没有|并未|未)(?:明确|具体)?(?:提到|提及|说明|包含|提供|给出|指出)",
            r"我们?(?:无法|不能|没有|找不到).{0,4}(?:回答|确定|找到|判断|相关)|(?:无法|不能|找不到)(?:回答|确定|判断|找到)?.{0,16}TOLD",
            r"(?:根据|基于|从).{0,20}DOCS.{0,6}[，,]?.{0,6}(?:无法|不能)(?:回答|确定|判断|得知|找到)",
        ),
    ),
    *_language(
        "文書|文脈|コンテキスト|ドキュメント|資料|テキスト|本文|記事|文章|提供された(?:情報|文)|検索結果",
        "情報|記載|記述|言及",
        (
            r"(?=.{0,80}DOCS).{0,80}TOLD.{0,10}(?:見つかりません|ありません|含まれていません|されていません|見当たりません)",
            r".{0,60}お答え(?:できません|することはできません)",
        ),
    ),
    *_language(
        r"dokument(?:e|en|s)?|kontext(?:es)?|texte?n?|quellen?|unterlagen|passagen?|artikeln?|auszüge?n?|abschnitte?n?",
        r"informationen|angaben|hinweise?|daten|details|erwähnung|antwort|frage",
        (
            r"(?:leider )?(?:(?:die|der|das|in|den|dem) )*(?:(?:bereitgestellt|angegeben|vorliegend|"
            r"verfügbar)e[nrs]? )?DOCS (?:erwähn\w+|nenn\w+|gibt|geben|"
            r"enthält|enthalten|liefer\w+|mach\w+) (?!an, dass)(?:(?!, dass|\bund\b).){0,60}(?:\bkeine?n? (?:\w+ )?TOLD|"
            r"(?<=\bnicht))\b",
            r"(?:leider )?(?:ich (?:kann|konnte|habe)|(?:kann|konnte|habe) ich)(?=.*\b(?:TOLD|DOCS)\b|"
            r".*beantworten).{0,60}\b(?:nicht|keine?n?)\b.{0,60}"
            r"(?:beantworten|finden|gefunden)",
            r"(?:leider )?(?:dazu|hierzu|darüber|davon) (?:liegen|gibt es|finden sich|"
            r"finde ich)(?: mir)?(?: leider)? keine (?:\w+ )?TOLD",
            r"(?:leider )?(?:es |zu .{1,40} )?(?:gibt es|gibt|liegen|finden sich|sind) (?:leider )?keine (?:\w+ )?TOLD\b.*\bDOCS\b",
            r".{1,60}\b(?:wird|werden|ist|sind) (?:in|im) (?:\w+ ){0,3}DOCS (?:nicht|nirgends) (?:\w+ )?(?:erwähnt|genannt|"
            r"angegeben|enthalten|beschrieben|aufgeführt)",
        ),
    ),
    *_language(
        r"documentos?|contexto|textos?|fuentes?|pasajes?|artículos?|fragmentos?|información proporcionada",
        r"información|detalles|datos|mención|respuesta|referencias?|pregunta",
        (
            r"(?:lo siento, (?:pero )?)?(?:(?:el|los|las?|este|estos) )?DOCS(?: proporcionad[oa]s?)? no (?:(?:menciona|especifica|"
            r"indica|dice)n?\b|"
            r"(?:contiene|incluye|proporciona|da|ofrece)n? (?:ningun[ao] )?TOLD\b)",
            r"(?:lo siento, (?:pero )?)?no (?:pude|puedo|he podido|logré) (?:encontrar|responder|determinar)\b.*\b(?:TOLD|DOCS)\b",
            r"(?:lo siento, (?:pero )?)?no (?:encontré|encuentro|he encontrado|hay|existe|se encontró|"
            r"se encuentra) (?:ninguna )?TOLD\b.*\bDOCS\b",
            r"(?:.{1,80} )?no se (?:menciona|especifica|indica|proporciona|dice)n?\b.*\bDOCS\b",
        ),
    ),
    *_language(
        r"documents?|contexte|textes?|sources?|passages?|articles?|extraits?",
        r"informations?|détails?|mention|données?|indications?|réponse|question",
        (
            r"(?:(?:je suis )?désolée?, (?:mais )?)?(?:(?:les?|la|ces?|cette) )?DOCS(?: fournie?s?)? ne (?:(?:mentionne|précise|"
            r"indique|dit|disent|parle)\w*\b|"
            r"(?:contien|fourni|donne|comporte|inclu)\w* (?:pas|aucune?) (?:d['e] ?|l[a'] ?|les )?TOLD\b)",
            r"(?:(?:je suis )?désolée?, (?:mais )?)?je n(?:e |')(?:ai (?:pas trouvé|pas pu trouver|trouvé aucune?)|trouve pas|"
            r"peux pas (?:répondre|trouver))\b"
            r".*\b(?:TOLD|DOCS)\b|je ne sais pas$",
            r"(?:il n'y a |il n'existe )?(?:aucune?|pas d[e'] ?) ?TOLD\b.*\bDOCS\b",
            r".{1,80}n(?:'est|e sont|'a) pas (?:été )?(?:mentionn|précis|indiqu|spécifi)\w*\b.*\bDOCS\b",
        ),
    ),
    *_language(
        r"documentos?|contextos?|textos?|fontes?|trechos?|artigos?|passagens",
        r"informaç\w+|detalhes?|dados|menç\w+|resposta|pergunta",
        (
            r"(?:desculpe, (?:mas )?)?(?:(?:os?|as?|estes?) )?DOCS(?: fornecid[oa]s?)? não (?:(?:menciona|especifica|indica|"
            r"cita)m?\b|diz(?:em)?\b|"
            r"(?:cont[éê]m|inclu(?:i|em)|fornece[m]?|apresentam?) (?:nenhum[ao]? )?TOLD\b)",
            r"(?:desculpe, (?:mas )?)?(?:eu )?não (?:encontrei|localizei|consegui encontrar|pude encontrar|consigo responder|"
            r"posso responder)\b.*\b(?:TOLD|DOCS)\b",
            r"(?:não há (?:nenhuma )?|nenhuma )TOLD\b.*\bDOCS\b",
            r"(?:.{1,80} )?não (?:é|são|foi|foram|está) (?:mencionad|especificad|indicad|informad)[oa]s?\b.*\bDOCS\b",
        ),
    ),
    *_language(
        r"document[oi]|contesto|test[oi]|font[ei]|passaggi|articol[oi]|estratti",
        r"informazion[ei]|dettagli|dati|menzion[ei]|risposta|domanda",
        (
            r"(?:mi dispiace, (?:ma )?)?(?:(?:i|il|le|la|gli) |l')?DOCS(?: fornit[aeio])? non (?:(?:menziona|specifica|"
            r"indica)(?:no)?\b|dice\b|dicono\b|"
            r"(?:contien|contengono|includ|fornisc)\w* (?:alcuna? )?TOLD\b)",
            r"(?:mi dispiace, (?:ma )?)?non (?:ho trovato|trovo|sono riuscit[ao] a trovare|riesco a trovare|"
            r"posso rispondere)\b.*\b(?:TOLD|DOCS)\b",
            r"(?:non ci sono|non c'è|nessuna) (?:alcuna )?TOLD\b.*\bDOCS\b",
            r"(?:.{1,80} )?non (?:è|sono|viene|vengono) (?:menzionat|specificat|indicat)[aeio]\b.*\bDOCS\b",
        ),
    ),
    *_language(
        r"documenten|document|context|teksten|tekst|bronnen|bron|passages?|artikel(?:en)?|fragmenten",
        r"informatie|gegevens|details|vermelding|antwoord|vraag",
        (
            r"(?:helaas )?(?:(?:de|het|deze|dit) )?(?:(?:verstrekte|gegeven) )?DOCS (?:vermeld|noem|specificeer|"
            r"zeg)\w* (?:.{0,60} )?(?:niet|niets)\b",
            r"(?:helaas )?(?:(?:de|het|deze|dit) )?(?:(?:verstrekte|gegeven) )?DOCS (?:bevat|geef|geven)\w* geen (?:\w+ )?TOLD\b",
            r"(?:helaas )?(?:ik (?:kon|kan|heb)|(?:kon|kan|heb) ik)(?=.*\b(?:TOLD|DOCS)\b).{0,60}\b(?:geen|"
            r"niet)\b.{0,60}(?:vinden|gevonden|beantwoorden)",
            r"(?:helaas )?er (?:is|staat|zijn) (?:geen (?:\w+ )?TOLD|niets)\b.*\bDOCS\b",
            r".{1,60}\b(?:wordt|worden|is|zijn) (?:niet (?:vermeld|genoemd|gespecificeerd) in (?:\w+ ){0,2}DOCS|"
            r"in (?:\w+ ){0,2}DOCS niet (?:vermeld|genoemd|gespecificeerd))",
        ),
    ),
]
FOREIGN_TURN = re.compile(
    r"\b(?:mais|pero|aber|jedoch|sin embargo|cependant|toutefois|mas|porém|no entanto|ma|però|tuttavia|maar|echter)\b|但|不过|然而|しかし|"
    r"ただし|[；;]|[がけ]、.*[がけ]、"
    r"|\b(?:und (?:ist|sind|wird|hat|kann|kostet)|y (?:es|son|está|cuesta)|et (?:est|sont|coûte)|e (?:é|è|são|sono|custa|costa)|"
    r"en (?:is|zijn|kost))\b"
    r"|[,，].*\d|，(?!.{0,40}(?:没有|无法|未|不|无|什么|多少|是否|如何|哪|谁|几|以及|或|和|请)).{4}"
)


def is_foreign_refusal(low: str) -> bool:
    """Whether the sentence only says that an answer was not found or will not be given, and goes on to nothing else."""
    if not NEGATIONS.search(low):
        return False
    found = next((found for pattern in FOREIGN_REFUSALS for found in [pattern.match(low)] if found), None)
    return found is not None and not FOREIGN_TURN.search(low, found.start() if found.end() > 100 else found.end())
