"""A sentence that opens like a refusal, a greeting, a remark or a hedge is a claim as soon as it states something."""

from __future__ import annotations

import pytest

from nli_faith.kinds import kind_of
from nli_faith.leads import kind_of_heading, kind_of_lead
from nli_faith.tails import has_subject_and_verb, states_more
from nli_faith.types import CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not mention a cure, although the drug relieves pain.",
        "I can't confirm the rumor, but the flight departs at noon.",
        "The documents don't list a phone number; email works best.",
        "The documents do not mention refunds, but you can return unused items to any store.",
        "I don't have information about Canada, but we offer free shipping across the US.",
        "The context does not say when, but please note that the store is closed on Sundays.",
        "I cannot provide a refund as your order was delivered on Monday.",
        "I cannot find your order, your account was closed yesterday.",
        "I don't know the fee, admission is free for children.",
        "The documents do not specify the fee (it is usually $5).",
        "I'm unable to cancel the order as it already shipped.",
        "Thank you for your patience, your refund has been approved.",
        "Thank you for your order, which shipped today from our Ohio warehouse.",
        "I'm happy to help; your refund was approved yesterday and will arrive on Monday.",
        "If you want to cancel, the fee is waived for students; feel free to ask.",
        "Let me know if you want the refund, which is already approved.",
        "I hope this helps; the store closes at nine on weekdays.",
        "Thanks for asking, shipping is free.",
        "You are welcome to bring pets.",
        "Sincerely held beliefs are protected by law.",
        "Have a great view of the bay from the deck.",
        "Feel free to contact our Boston office, which is open on Sundays.",
        "I have provided a full refund to your card.",
        "I've listed your house with an agent in Leeds.",
        "I will try the case before a jury.",
        "Let me clarify that the deposit is not refundable.",
        "Let's see: the fee is waived for seniors.",
        "This is a clear example of negligence by the landlord.",
        "This is the answer for patients with kidney failure.",
        "The information is based on the provided documents and shows that Acme is bankrupt.",
        "For further information, the tenant contacts the landlord.",
        "It is not possible to give blood within two weeks of a tattoo.",
        "It is not possible to determine sex before week ten.",
        "It isn't possible to provide refunds on sale items.",
        "There is no mention of God in the US Constitution.",
        "I'm unable to refund purchases made with gift cards.",
        "The provided data does not show a significant increase in revenue.",
        "I'm not sure how long it takes and the deposit is never refunded.",
        "I'm not sure whether it ships abroad although it ships to France.",
        "Der Text gibt an, dass keine Gebühren anfallen.",
        "文件中没有提到价格，保修期为两年。",
        "I don't see any reason to worry.",
        "The sources do not agree on the date: one says 1905 and the other says 1906.",
        "The documents do not mention any side effects besides mild nausea.",
        "The passage does not name the author, but Tolstoy wrote it.",
        "The passage does not state the date; the war ended that spring.",
        "The documents do not mention the price, however we offer a free plan for students.",
        "We appreciate your business, and your refund has been sent.",
        "Welcome to Paris, the capital of France, which has 2 million people.",
        "Best known as a painter, she also wrote plays.",
        "Good news: the fee was waived.",
        "There may be other documents that the IRS seized in the raid.",
        "This data may change every January.",
        "Here's a summary of the vote: the board fired Lee and hired Park.",
        "Here are the perks of the Gold tier: 3 lounges, 2 bags.",
        "The following are examples of perks: lounges, bags, and towels.",
        "This is a list of the exits: north, south.",
        "No exchange can be made on sale items.",
        "No entry can be made to the log once it is closed.",
        "No information can be given to third parties.",
        "It is not possible to tell whether a wire is live without a meter.",
        "It is not possible to know when the volcano will erupt.",
        "No information about your purchases is kept on our side.",
        "The supplied materials do not contain nickel.",
        "The document lacks a stamp and is therefore void.",
        "The document is not sufficient for a visa.",
        "There is no information about allergens on the label.",
        "Insufficient information was given to the crew before takeoff.",
        "The documents do not mention the fee.Parking costs $4.",
        "The documents do not mention the fee 🙂 parking costs $4 on weekdays",
        "The documents do not mention a fee → parking is free.",
        "The documents do not mention the fee ($4 in 2011).",
        "The text does not state the dose, 9 mg daily for children.",
        "The document does not name the pilot, a 51-year-old father from Leeds.",
        "The autoimmune response may be incomplete in newborns.",
        "This allergic response may be limited in infants.",
        "Let me know when the plumber who fixed your sink is back.",
        "Did you know that Chopin was born in Poland?",
        "The largest city of Turkey is Istanbul, isn't it?",
        "She wrote Do Androids Dream of Electric Sheep?",
        "The sculptor was Rodin (?)",
        "Sources: rain, snow, and fog.",
        "References: one landlord and one employer.",
    ],
)
def test_what_goes_on_to_state_something_is_a_claim(text):
    assert kind_of(text) == CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "I have no information on that.",
        "Unfortunately I have no information on that.",
        "Nothing in the passages addresses this.",
        "Neither document mentions a penalty.",
        "None of the three sources gives a date.",
        "The question cannot be answered.",
        "Could not be determined from the context",
        "Information about pricing is missing from the documents.",
        "The document fails to mention the deadline.",
        "The document omits the fee.",
        "I see no mention of a deposit.",
        "Based on the available context, it is not clear whether pets are allowed.",
        "Unknown",
        "Hope that helps!",
        "Sorry about that!",
        "Great news!",
        "One moment please.",
        "I'll look into this for you.",
        "I understand your frustration.",
        "Welcome to Acme support!",
        "Thanks, Anna",
        "The documents do not mention the price, the delivery time for orders, or the return policy of the store.",
        "The documents do not explain how the fee and the tax are calculated.",
        "I cannot find the price, when it was built, or who owns it.",
        "The passage does not mention what John, the owner, did when he left.",
        "I cannot answer this as the context provided does not include any information about it.",
        "I don't know the answer, so I recommend checking the website.",
        "I cannot provide medical advice, so you should consult a doctor.",
        "The documents do not mention the fee, but you can contact support for help.",
        "The documents do not mention the price, but I can help with other questions.",
        "Unfortunately, the provided context does not contain enough information to answer, and I would need more details.",
        "If you have any other questions or if anything is unclear, please let me know.",
        "Thank you for reaching out, and I apologize for the delay.",
        "I hope this helps, and have a great day!",
        "Let me know if you have questions about the policy, the fee, or how it works.",
        "The context does not provide information about the side effects, risks, and costs of the surgery.",
        "There is no information in the passages about the width, the height, and the depth of the shelf.",
        "It is not possible to determine the exact price from the given information.",
        "Based on the given passages, it is not possible to determine the population.",
        "The documents do not say whether the fee applies and is refundable.",
        "The text does not mention the name of the person who founded it.",
        "I am sorry, but I cannot find the answer in the provided documents.",
        "Let me explain how it works and why it is free.",
        "Here is a summary of the report, based on the provided documents.",
        "Based on the passages provided, here are the main ideas:",
        "According to the documents, here's how to cancel it:",
        "Based on the text, here is the story of \"Note: a lamp\" in short:",
        "Total word count: 98 words",
        "No definitive conclusion can be drawn.",
        "No details can be found in the documents.",
        "It is not possible to answer this question.",
        "No information about whether cats are allowed.",
        "The document lacks information about parking.",
        "The documents are insufficient to determine the date.",
        "The documents do not mention a fee, a deposit, or a discount.",
        "The documents do not mention Windows 10, 11 or 12.",
        "The response may be inaccurate.",
        "Let me know which option you prefer.",
        "Did you know that?",
        "Would you like to know more about this?",
        "You want to return it, right?",
        "Source: handbook.pdf, page 4",
        "Sources: Smith et al., 2019",
    ],
)
def test_what_only_refuses_greets_or_remarks_is_none(text):
    assert kind_of(text) != CLAIM


# Verbs that no word list has: what stands behind "but" is a clause whatever its verb.
@pytest.mark.parametrize("verb", ["grelts", "yodeled", "auto-renews", "vests", "hums"])
@pytest.mark.parametrize("turn", [", but", ", although", ", however,", ", yet", " even though"])
def test_a_clause_behind_a_turn_needs_no_known_verb(verb, turn):
    assert kind_of(f"The documents do not mention the fee{turn} the device {verb} near old towns.") == CLAIM


@pytest.mark.parametrize("more", ["", ", but I can look for it", ", so please contact support", ", nor the date", " and the price", ", the fee, or the date"])
def test_offers_and_further_objects_state_nothing(more):
    assert kind_of(f"The documents do not mention the name{more}.") == "refusal"
    assert not states_more(more.lower(), lambda said: False)


def test_a_question_that_is_still_open_takes_the_next_verb():
    assert not states_more(" how the fee and the tax are set", lambda said: False)
    assert states_more(" how the fee is set and the tax is ten percent", lambda said: False)


@pytest.mark.parametrize(("text", "stated"), [("the shop is open", True), ("is open", False), ("it grelts", True), ("the price", False),
                                              ("can be renewed", False), ("aspirin thins the blood", True)])  # fmt: skip
def test_a_statement_has_a_subject_and_a_verb(text, stated):
    assert has_subject_and_verb(text) is stated


@pytest.mark.parametrize(
    "text",
    [
        "The CEO was fired for the following reasons:", "We paid $5 million in fines last year for the following violations:",
        "The FDA banned the drug for these reasons:", "Acme was acquired by Globex and its plans now include:",
        "The ticket costs the visitor ten dollars and includes:", "Because the drug is banned in the EU, doctors recommend the following:",
        "With a rating of 3.5 stars, customer reviews usually highlight:",
    ],
)  # fmt: skip
def test_a_lead_in_that_states_something_of_its_own_is_a_claim(text):
    assert kind_of_lead(text) == CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "The kit contains the following items:", "It is available in the following colors:", "You should follow these steps:",
        "To reset your password on Windows 10, do the following:", "The main reasons are as follows:", "The warranty covers:",
        "If you are a new user, you need the following:", "Based on the documents, the plan includes:",
        "However, based on the context, you can do it by:", "The prize is awarded in one of these ways:",
    ],
)  # fmt: skip
def test_a_lead_in_that_its_items_complete_is_a_remark(text):
    assert kind_of_lead(text) == "meta"


@pytest.mark.parametrize(("text", "kind"), [("Aspirin thins the blood", CLAIM), ("Acme acquires Globex", CLAIM), ("Shipping costs", "heading"),
                                            ("Items of the entry form", "heading"), ("Key points of the plan", "heading")])  # fmt: skip
def test_a_heading_with_a_verb_is_a_claim(text, kind):
    assert kind_of_heading(text) == kind
