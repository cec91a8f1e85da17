"""A negation on one side only: caught where claim and sentence say the same otherwise, left alone where that is not sure."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli_faith.negation import negation_mismatch

# (claim, sentence): one denies what the other asserts.
DIFFER = [
    ("The app is available in Germany.", "The app is not available in Germany."),
    ("The app is available in Germany.", "The app isn't available in Germany."),
    ("The app is available in Germany.", "The app is no longer available in Germany."),
    ("The app is available in Germany.", "The app is unavailable in Germany."),
    ("The app is available in the EU.", "The app is available in the US but not in the EU."),
    ("Refunds are given after a week.", "No refunds are given after a week."),
    ("Tickets are refundable.", "Tickets can never be refunded."),
    ("The hotel has parking.", "The hotel has no parking."),
    ("The hotel offers parking.", "The hotel doesn’t offer parking."),
    ("Dogs may enter the garden.", "Dogs cannot enter the garden."),
    ("The red and the blue line stop here on Sundays.", "Neither the red nor the blue line stops here on Sundays."),
    ("The drug is approved for children.", "The drug has not yet been approved for children."),
    ("The samples were contaminated.", "None of the samples were contaminated."),
    ("The committee reached a decision on the budget.", "The committee didn't reach a decision on the budget."),
    ("The tests were conclusive after two weeks.", "The tests were inconclusive after two weeks."),
    ("He was a member of the board.", "He was never a member of the board."),
    ("All rooms have a balcony.", "Not all rooms have a balcony."),
    ("Deposits are refundable.", "Deposits are non-refundable."),
    ("Deposits are refundable.", "Deposits are non refundable."),
    ("The glue is toxic.", "The glue is non-toxic."),
    ("The app is available in Germany.", "The app isnt available in Germany."),
    ("The hotel has parking.", "The hotel lacks parking."),
    ("The engine started.", "The engine failed to start."),
    ("The bank pays the claim.", "The bank refuses to pay the claim."),
    ("The firm was able to deliver the parts.", "The firm was unable to deliver the parts."),
    ("The trip was without problems.", "The trip was not without problems."),
    ("Breakfast is free of charge for children.", "Breakfast is not free of charge for children."),
    ("There is a charge for parking at the hotel.", "Parking is free of charge at the hotel."),
    ("The cream is sugar-free and cheap.", "The cream is not sugar-free and cheap."),
    ("The contract is valid in Spain.", "The contract is invalid in Spain."),
    ("The answer was correct and long.", "The answer was incorrect and long."),
    ("Rain is likely on Monday.", "Rain is unlikely on Monday."),
    ("The staff were willing to help guests.", "The staff were unwilling to help guests."),
    ("The plane took off with the last passenger.", "The plane took off without the last passenger."),
    ("The office is open to visitors.", "The office is no longer open to visitors."),
    ("The blue model is in stock.", "The blue model is out of stock."),
    ("The lift to platform two is in service.", "The lift to platform two is out of service."),
    ("The bridge was inspected by the council.", "The bridge has yet to be inspected by the council."),
    ("Claims can be filed after 60 days.", "Claims cannot be filed after 60 days."),
    ("Claims can be filed within 60 days.", "Claims can't be filed within 60 days."),
    ("Some 24-hour shops are near the station.", "No 24-hour shops are near the station."),
]
# (claim, sentence): no opposition, or none that is plain.
FINE = [
    ("The app is available in the US.", "The app is available in the US but not in the EU."),
    ("The bill passed.", "Although it was not expected to, the bill passed."),
    ("No refunds are given after a week.", "Refunds are not given after a week."),
    ("The hotel does not have parking.", "The hotel has no parking."),
    ("The hotel has no parking.", "The hotel offers no parking."),
    ("It opens on Monday morning.", "It opens not only on Monday morning but also on Friday."),
    ("The shop is open from noon.", "The shop is not open before noon."),
    ("It is available from June.", "It is not available until June."),
    ("The engine failed to start.", "The engine did not start."),
    ("Children are not allowed in the pool.", "Children are banned from the pool."),
    ("It weighs at most 5 kg when packed.", "It weighs no more than 5 kg when packed."),
    ("The plan covers dental care.", "The plan does not cover glasses."),
    ("The museum is closed on Monday.", "The museum is not open on Monday."),
    ("She informed the police.", "The police form was signed by her."),
    ("Ann did not vote.", "Bob voted early."),
    ("Deposits are non-refundable.", "Deposits are not refundable."),
    ("Deposits are nonrefundable.", "Deposits are non-refundable."),
    # Two denials may cancel.
    ("You may not park here without a permit.", "You may park here with a permit."),
    ("Without a permit, you may not park here.", "You may park here with a permit."),
    ("The trip was not without problems.", "The trip had problems."),
    ("The hotel does not lack parking.", "The hotel has parking."),
    ("The engine never fails to start.", "The engine starts."),
    ("It is not uncommon to see deer here.", "It is common to see deer here."),
    ("The form is incomplete without a signature.", "The form is complete with a signature."),
    # No negations, though they look like some.
    ("The advice was invaluable to the team.", "The advice was valuable to the team."),
    ("The gas is inflammable and heavy.", "The gas is flammable and heavy."),
    ("They invite guests to the house.", "They bite guests in the house."),
    ("The song reached No. 1 in the charts.", "The song reached number 1 in the charts."),
    ("The band wanted nothing but the prize.", "The band wanted the prize."),
    ("The lack of rain hurt the crops.", "Rain hurt the crops."),
    ("There is hardly any snow in the valley.", "There is snow in the valley."),
    # Denials in other words.
    ("Breakfast is free of charge for children.", "Breakfast comes at no charge for children."),
    ("Breakfast is free of charge for children.", "Breakfast is served without charge for children."),
    ("The pasta is free from gluten.", "The pasta is without gluten."),
    ("The app isnt available in Germany.", "The app is not available in Germany."),
    ("The hotel lacks parking.", "The hotel has no parking."),
    ("The bank refused to pay the claim.", "The bank would not pay the claim."),
    ("The firm was unable to deliver the parts.", "The firm could not deliver the parts."),
    ("The vaccine has not been licensed in Japan.", "The vaccine has yet to be licensed in Japan."),
    ("The blue model is not in stock.", "The blue model is out of stock."),
    ("The novel is no longer in print.", "The novel is out of print."),
    # The two sides of a limit.
    ("Claims cannot be filed after 60 days.", "Claims can be filed within 60 days."),
    ("Bags over 20 kg are not accepted.", "Bags under 20 kg are accepted."),
    ("Guests may not stay outside the fence.", "Guests may stay inside the fence."),
    # No denials: numbers, and an "or not".
    ("She wears Chanel No 5 at parties.", "She wears Chanel number 5 at parties."),
    ("No 10 Downing Street is the home of the minister.", "10 Downing Street is the home of the minister."),
    ("The fee is due whether or not you attend the course.", "The fee is due regardless of whether you attend the course."),
    ("Members, paid or not, may attend the meeting.", "Members may attend the meeting."),
]


@pytest.mark.parametrize(("claim", "sentence"), DIFFER)
def test_a_negation_on_one_side_is_a_mismatch_either_way(claim, sentence):
    assert negation_mismatch(claim, [sentence])
    assert negation_mismatch(sentence, [claim]) or len(sentence.split()) > len(claim.split()) + 3


@pytest.mark.parametrize(("claim", "sentence"), FINE)
def test_what_is_no_plain_opposition_is_left_alone(claim, sentence):
    assert not negation_mismatch(claim, [sentence])
    assert not negation_mismatch(sentence, [claim])


def test_a_sentence_that_agrees_settles_it():
    claim = "The app is available in Germany."
    assert negation_mismatch(claim, ["It is a good app.", "The app is not available in Germany."])
    assert not negation_mismatch(claim, ["The app is not available in Germany.", "Now the app is available in Germany."])


def test_sentences_about_something_else_say_nothing():
    assert not negation_mismatch("The app is available in Germany.", ["Smoking is not allowed.", "No app is perfect."])
    assert not negation_mismatch("The app is available in Germany.", [])


def test_a_claim_of_one_word_is_not_judged():
    assert not negation_mismatch("It is available.", ["It is not available."])


_SENTENCES = st.sampled_from([text for pair in DIFFER + FINE for text in pair])


@given(st.one_of(_SENTENCES, st.text(max_size=80)), st.lists(_SENTENCES, max_size=3))
def test_a_sentence_never_differs_from_a_passage_that_has_it(claim, others):
    assert not negation_mismatch(claim, [*others, claim])


@given(_SENTENCES, st.lists(_SENTENCES, max_size=4))
def test_the_order_of_the_sentences_does_not_matter(claim, sentences):
    assert negation_mismatch(claim, sentences) == negation_mismatch(claim, sentences[::-1])


@pytest.mark.parametrize("unit", ["not ", "un", "n't ", "a", "not a ", "in-", "!?", "none of ", "non-", "non ", "no. 1", "a-free ", "lacks ", "un-a"])
def test_no_text_is_slow(unit):
    text = (unit * 100_000)[:100_000]
    begun = time.process_time()
    negation_mismatch("The app is available in Germany.", [text])
    negation_mismatch(text, [text])
    assert time.process_time() - begun < 4.0
