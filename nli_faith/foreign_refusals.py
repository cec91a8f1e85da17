"""The commonest refusals in Chinese, Japanese, German, Spanish and French; see `refusals.py` for English."""

from __future__ import annotations

import re

FOREIGN_REFUSALS = re.compile(
    r"(?:抱歉|对不起|很遗憾|不好意思)[，,]?.{0,24}(?:没有|无法|未|不能|找不到)|.{0,10}(?:文档|文件|上下文|资料|文中|文章|材料)(?:中|里|内)?.{0,6}(?:没有|并未|"
    r"未)(?:明确|"
    r"具体)?(?:提到|提及|说明|包含|提供|给出|指出)|我?(?:无法|不能)(?:回答|确定|提供|找到)"
    r"|.{0,80}(?:情報|記載|記述|言及).{0,10}(?:見つかりません|ありません|含まれていません|されていません|見当たりません)|.{0,60}お答え(?:できません|することはできません)"
    r"|(?:leider |die |der |das )*(?:bereitgestellten? |angegebenen? |vorliegenden? )?(?:dokumente?|kontext|text|"
    r"quellen?) (?:enthält|enthalten|erwähn\w+|nenn\w+|gibt|geben) (?!an, dass|an, das)(?:(?!, dass).){0,60}\b(?:keine?|nicht)\b|(?:leider )?(?:kann|"
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
    r"|[,，].*\d|，(?!.{0,40}(?:没有|无法|未|不|无|什么|多少|是否|如何|哪|谁|几|以及|或|和|请)).{4}"
)


def is_foreign_refusal(low: str) -> bool:
    """Whether the sentence only says that an answer was not found or will not be given, and goes on to nothing else."""
    found = FOREIGN_REFUSALS.match(low)
    return found is not None and not FOREIGN_TURN.search(low, found.end())
