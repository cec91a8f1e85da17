"""Refusals in other languages, and what a shop or a contract says in the same words."""

from __future__ import annotations

import pytest

from nli_faith.kinds import kind_of

DENIED = {
    "de": ["Die Dokumente erwähnen die Gebühr nicht.", "Ich konnte in den Unterlagen keine Angaben dazu finden.", "Hierzu gibt es keine Informationen.", "Das Datum ist im Text nicht angegeben.", "Der Kontext enthält keine Informationen über die Maße."],
    "fr": ["Le texte ne précise pas la date.", "Désolé, je n'ai trouvé aucune information dans les documents.", "Il n'y a aucune mention du tarif dans le contexte.", "La date n'est pas indiquée dans les sources."],
    "es": ["Los documentos no mencionan la tarifa.", "No he podido encontrar la respuesta en el contexto.", "No hay información sobre la fecha en los textos.", "La fecha no se especifica en el documento."],
    "pt": ["O texto não menciona a data.", "Não consegui encontrar a resposta nos documentos.", "Não há informações sobre a taxa no contexto.", "A taxa não é mencionada no documento."],
    "it": ["Il testo non menziona la data.", "Non sono riuscito a trovare la risposta nei documenti.", "Non ci sono informazioni sulla tariffa nel documento.", "La data non è indicata nel testo."],
    "nl": ["Het document noemt de datum niet.", "Ik heb geen antwoord kunnen vinden in de tekst.", "Er is geen informatie over het tarief in de documenten.", "De datum wordt niet vermeld in de tekst."],
    "zh": ["文档中没有提到费用。", "抱歉，我找不到相关信息。", "根据上下文，无法确定日期。"],
    "ja": ["資料には料金の記載がありません。", "文書に日付に関する情報は見つかりませんでした。"],
}
STATED = [
    "Der Vertrag ist nicht übertragbar.", "Der Text enthält eine Widmung und ist nicht gekürzt.", "Das Dokument enthält kein Datum und ist ungültig.", "Leider kann ich am Montag nicht.", "Die Dokumente erwähnen die Gebühr nicht, aber der Eintritt ist frei.",
    "Désolé, nous ne reprenons pas les soldes.", "Le texte ne précise pas la date, mais le pont date de 1907.", "Lo siento, no devolvemos el dinero.", "No hay descuentos para grupos.", "Não aceitamos cheques.", "Non ci sono sconti.", "Er zijn geen kortingen.",
    "顧客情報は外部に公開されていません。", "没有收据的客人不能换货。", "抱歉，我们周一不营业。", "文档中没有提到费用，但是门票免费。",
]  # fmt: skip


@pytest.mark.parametrize("text", [text for texts in DENIED.values() for text in texts])
def test_refusals(text):
    assert kind_of(text) == "refusal"


@pytest.mark.parametrize("text", STATED)
def test_statements(text):
    assert kind_of(text) == "claim"
