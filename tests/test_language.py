"""Answers that are plainly not English are counted; English ones and short ones are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.language import unmeasured


@pytest.mark.parametrize(
    "text",
    [
        "Die Rückgabe ist innerhalb von 30 Tagen möglich und das Geld wird auf die Karte zurückgebucht.",
        "La livraison est gratuite pour les commandes dans le pays et ne coûte pas plus pour des paquets.",
        "El reembolso se hace en la misma tarjeta que se usó para la compra del producto.",
        "Il rimborso è sulla carta che è stata usata per il pagamento e non su una del negozio.",
        "De levering is gratis voor een bestelling van het boek en niet voor de kaart.",
        "O reembolso é feito em um prazo de dez dias com o mesmo cartão e não em dinheiro.",
        "Возврат возможен в течение тридцати дней.",
        "払い戻しは三十日以内に可能です。",
        "退款将在三十天内退回原卡。",
        "환불은 30일 이내에 가능합니다.",
        "يمكن استرداد المبلغ خلال ثلاثين يوما.",
        "वापसी तीस दिनों के भीतर संभव है।",
        "Η επιστροφή είναι δυνατή.",
    ],
)
def test_other_languages_and_scripts_are_unmeasured(text):
    assert unmeasured(text)


@pytest.mark.parametrize(
    "text",
    [
        "Returns are possible within 30 days and the money goes back to the card.",
        "The café's naïve façade was rebuilt in São Paulo by Über-architect Müller.",
        "15",
        "",
        "   ",
        "12.5 % – 300 € (2019)",
        "🙂🙂",
        "Paris",
        "La Paz, El Alto",
        "Python 3.12, numpy, pandas",
        "Yes, it is in the box.",
        "The words 退款 and возврат mean that the money is paid back to the customer who bought it.",
        "Los Angeles and Las Vegas are in the west of the country, and El Paso is on the border.",
    ],
)
def test_english_short_and_wordless_answers_are_not_counted(text):
    assert not unmeasured(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_an_answer(text):
    assert unmeasured(text) in (True, False)
