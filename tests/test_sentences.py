"""Sentence spans of plain text."""

import json
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith import periods
from nli_faith.sentences import split_sentences

PLAIN_GROUPS = {
    "abbreviations", "decimals", "money", "versions", "urls", "emails", "initials", "quotes", "brackets", "ellipsis", "no-stop", "chinese", "japanese", "arabic", "hindi",
}  # fmt: skip


def parts(text):
    return [text[start:end] for start, end in split_sentences(text)]


def test_the_plain_groups_of_the_fixture():
    lines = (Path(__file__).parent / "data" / "answers.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, lines):
        if row["group"] in PLAIN_GROUPS:
            assert parts(row["answer"]) == [unit["text"] for unit in row["units"]], row["id"]


@pytest.mark.parametrize(
    "text",
    [
        "It is in Santa Barbara, CA.|The restaurant is open.",
        "Add 1 c. rice and 2 tsp. salt.|Stir well.",
        "Gen. Pat Lowe spoke.|Nobody answered.",
        "Heat it to 350 degrees F.|Place the dish inside.",
        "The U.S. Postal Service delivers it.|It takes 3 days.",
        "Open 10 a.m.–9 p.m. Monday to Friday.|Closed on Sunday.",
        "Rinse with a rice wash.|Bring it to a boil.",
        "The old bridge fell.|iPhone sales rose.",
        "Yes!|Of course.",
        "He said it was done (see p. 4).|She agreed.",
        "1. Open it.|2. Close it.",
        "Values: 1.5, 2.5, and 3.5.|Units: mm.",
        "The text of line one\nruns on here.|A new one.",
        "The first line has a full stop.|The second too.",
        "A title|The text begins here.",
        "\u200bHidden marks.\u200b|\u200bMore of them.",
        "这是第一句！|这是第二句？|好。",
        "پہلا جملہ۔|دوسرا جملہ۔",
        "See e.g. Smith vs. Jones.|It was settled.",
        "It cost $5. [2]|It was new.",
        "Acme Inc.|Revenue rose 5%.",
        "Acme Inc. Chairman of the board Bo Lee left.|Acme Co. CEO Jo Lee stayed.",
        "Take one every 8 hr.|Do not take more.",
        "Add 8 oz.|Stir in the milk.",
        "Add 8 oz. Cheddar cheese.|Bake it for 30 mins.|Slice it.",
        "It treats colds, flu, etc.|Doctors prescribe it.",
        "He fought in World War I.|Germany lost.",
        "It is a work of art.|12 paintings were sold.",
        "See art. 12 of it.|It is ranked no. 5 there.",
        "The answer is no.|5 people voted.",
        "Is it heated?|No.|2 lanes are open.",
        "How many are there?|12.|Is it heated?",
        "Ask the sales rep.|Discounts apply.",
        "It is under 18 U.S.C. § 1030.|It was upheld (9th Cir. 1999) later.",
        "See Fed. R. Civ. P. 12(b)(6) for this.|The 9th Cir. affirmed it.",
        "Take 1 tab. daily.|Open the tab.|Click it.",
        "Yahoo! Japan is owned by a bank.|They agreed.",
        "The cat is 9 yrs. old.|It fell 3 pts. to 12.|The box is 4 ft. 3 in. long.",
        "We open at 7 a.m. Fridays.|It begins at 6 p.m. Oct. 3 in Rome.",
        "The case is Roe v. One World Inc. of Ohio.|It cites Cal. Penal Code § 12 and Tex. Stat. § 4.",
        "Er kam am 5. Dezember und ging am 2. August.|Es war kalt.",
    ],
)
def test_boundaries(text):
    want = text.split("|")
    for glue in ("\n", " ") if "\n" not in text and "title" not in text and not text[0] == "这" else ("\n",):
        assert parts(glue.join(want)) == want


@pytest.mark.parametrize(
    "text",
    ["It rose 1.2%.|The Dow fell.", "Is it safe?|Yes.", "The fee is $5.|The form is free.", "It is new.✅| It is free.✅| We ship it.", "It closed (in May).|This is new.", "Look at example.com/a?This=1 and b.Then(c) here."],
)
def test_a_forgotten_blank(text):
    assert parts(text.replace("|", "")) == [part.strip() for part in text.split("|")]


def test_a_blank_line_ends_a_sentence():
    assert parts("The plan of the\n\nnext year") == ["The plan of the", "next year"]


def test_who_writes_without_capitals_ends_lines_and_sentences_all_the_same():
    assert parts("i found nothing on it\nthe shop is open. it is new.") == ["i found nothing on it", "the shop is open.", "it is new."]
    assert parts("iPhone sales\nrose. The price of\nthe lamp fell.") == ["iPhone sales\nrose.", "The price of\nthe lamp fell."]


def test_nothing_gives_nothing():
    assert split_sentences("") == split_sentences(" \n\u00a0\r\n") == []


@settings(max_examples=250, deadline=None)
@given(st.text(st.characters() | st.sampled_from(list(".!?…。؟ \n\r\t\u00a0\u200b\"”')]*Aa1")), max_size=60))
def test_every_visible_character_is_in_exactly_one_span(text):
    last = 0
    for start, end in split_sentences(text):
        assert last <= start < end
        assert not text[last:start].strip()
        assert not text[start].isspace() and not text[end - 1].isspace()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize("text", ["." * 100_000, ". " * 100_000, "a" * 1_000_000, "a. " * 66_000, "? " * 100_000, ".[1]" * 50_000, "(“." * 66_000, " " * 1_000_000 + "x", ".\u200b" * 100_000, "1. " * 66_000, "-\n" * 100_000], ids=lambda text: repr(text[:6]))  # fmt: skip
def test_time_is_linear(text):
    begin = time.process_time()
    split_sentences(text)
    assert time.process_time() - begin < 4


def test_a_long_text_takes_time_in_proportion():
    begin = time.process_time()
    assert len(split_sentences("The council met on Monday at 9 a.m. in Room 4. Dr. Lee, of Orchard Inc., spoke first. " * 12_000)) == 24_000
    assert time.process_time() - begin < 8


def test_threads_share_one_tokenizer(monkeypatch):
    monkeypatch.setattr(periods, "_punkt", None)
    periods.period_ends.cache_clear()
    found = []
    threads = [threading.Thread(target=lambda: found.append(parts("The mill closed. Dr. Lee left. Costs fell."))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["The mill closed.", "Dr. Lee left.", "Costs fell."]] * 8


def test_reading_does_not_grow_the_parameters():
    before = len(periods._english().ortho_context)
    parts("Zyxwv. Qwertz. Uvwxyz Inc. Abcdefg.")
    assert len(periods._english().ortho_context) == before
