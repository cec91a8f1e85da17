"""Windows fit, lie where they say, cover the chunk, and share at most one short sentence."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.windows import OVERLAP_TOKENS, Window, cut_chunks, has_text

WORDS = "the harbour ferry price ticket adult child river bridge opens closes costs weather market 12 3.5 street and of in".split()


def prose(sentences: int, longest: int, seed: int = 1, join: str = " ") -> str:
    draw = random.Random(seed)
    made = (draw.choices(WORDS, k=draw.randint(2, longest)) for _ in range(sentences))
    return join.join(" ".join(words).capitalize() + draw.choice(".!?") for words in made)


NASTY = {
    "prose": prose(120, 25),
    "long sentences": prose(30, 120),
    "lines": prose(80, 12, join="\n\n"),
    "one sentence of 10,000 words": "word " * 10_000,
    "no space": "abcdefghij" * 1_500,
    "one character": "a" * 8_000,
    "cjk": "港の渡船は毎時出発する。" * 250,
    "cjk without a stop": "的" * 3_000,
    "spaces between": ("a" + " " * 40 + "b" + "\n" * 20) * 300,
    "odd spaces": "one\u00a0two\u2009three\u200bfour\ufeff " * 300,
    "ligatures": "ﬁrst ㎒ … ½ Ⅲ ™ " * 300,
    "combining": "cafe\u0301 " * 800,
    "emoji": "🙂👩‍👩‍👧 " * 500,
    "surrogates": "half \ud800 pair. " * 300,
    "marks only": ". ! ? , " * 600,
    "specials": "[SEP] [CLS] one. " * 300,
    "crlf": "A line here.\r\n\r\nAnother one there.\r\n" * 150,
}  # fmt: skip


def spans(windows: tuple[Window, ...]) -> list[tuple[int, int]]:
    """Distinct (start, end), in order; windows cut by ids share theirs."""
    return list(dict.fromkeys((window.start, window.end) for window in windows))


def check_prose(chunk: str, windows: tuple[Window, ...], size: int, encoder) -> None:
    assert windows
    covered = np.zeros(len(chunk), dtype=bool)
    for window in windows:
        assert window.text == chunk[window.start : window.end]
        assert len(window.ids) <= size
        covered[window.start : window.end] = True
    assert all(covered[i] or char.isspace() for i, char in enumerate(chunk))
    places = spans(windows)
    assert places == sorted(places)
    for (_, end), (start, later) in zip(places, places[1:]):
        assert later > end
        if start < end:  # the shared sentence
            assert len(encoder.encode([chunk[start:end]])[0]) <= OVERLAP_TOKENS
    for place in places:
        own = [window.ids for window in windows if (window.start, window.end) == place]
        assert np.concatenate(own).tolist() == encoder.encode([chunk[place[0] : place[1]]])[0].tolist()


@pytest.mark.parametrize("size", [40, 125, 381])
@pytest.mark.parametrize("name", NASTY)
def test_windows_of_prose_keep_every_law(encoder, name, size):
    chunk = NASTY[name]
    (windows,) = cut_chunks([chunk], size, encoder)
    check_prose(chunk, windows, size, encoder)
    assert (len(windows) == 1) == (len(encoder.encode([chunk])[0]) <= size)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab .!?\n。的é🙂1,"), max_size=60), max_size=8).map(" ".join).filter(str.strip),
    st.integers(1, 30),
)
def test_windows_of_any_text_keep_every_law(encoder, chunk, size):
    (windows,) = cut_chunks([chunk], size, encoder)
    check_prose(chunk, windows, size, encoder)


@pytest.mark.parametrize("chunk", ["", " \n", "\u200b" * 3000, "\ufeff\x00", "\u00ad\u00a0", "\u0301", "\u3164", "\u2800"], ids=ascii)
def test_what_can_not_be_seen_has_no_window(encoder, chunk):
    assert not has_text(chunk) and cut_chunks([chunk, "a"], 40, encoder)[0] == ()


@pytest.mark.parametrize("chunk", ["a", "\u200b.", "7", "\u7684", "\U0001f642", "{}", "\ufeff\u00bd", "\u0915\u093f"], ids=ascii)
def test_what_can_be_seen_has_one(encoder, chunk):
    assert has_text(chunk) and len(cut_chunks([chunk], 40, encoder)[0]) == 1


def test_neighbours_share_one_whole_sentence_when_it_is_short(encoder):
    chunk = prose(120, 25)
    (windows,) = cut_chunks([chunk], 125, encoder)
    assert len(windows) > 5
    shared = 0
    for before, after in zip(windows, windows[1:]):
        common = set(before.pieces) & set(after.pieces)
        assert len(common) <= 1
        if after.start < before.end:
            assert common == {(after.start, before.end)}
            shared += 1
    assert shared >= len(windows) // 2


def test_a_long_last_sentence_is_not_shared(encoder):
    long = " ".join(WORDS * 5) + "."
    assert len(encoder.encode([long])[0]) > OVERLAP_TOKENS
    (windows,) = cut_chunks([f"Short one. {long} {long} {long} Short end."], 250, encoder)
    assert len(windows) > 1
    assert all(after.start >= before.end for before, after in zip(windows, windows[1:]))


def test_pieces_are_the_sentences_of_their_window(encoder):
    chunk = prose(60, 20)
    (windows,) = cut_chunks([chunk], 100, encoder)
    for window in windows:
        assert window.pieces[0][0] == window.start and window.pieces[-1][1] == window.end
        assert list(window.pieces) == sorted(window.pieces)


def test_a_long_sentence_is_cut_between_words_where_there_are_words(encoder):
    chunk = NASTY["one sentence of 10,000 words"]
    (windows,) = cut_chunks([chunk], 125, encoder)
    assert all(set(window.text.split()) == {"word"} for window in windows)
    assert len(windows) <= 2 * 10_000 // 125


def test_blank_chunks_have_no_window_and_keep_their_place(encoder):
    cut = cut_chunks(["", "One.", " \n\t\u00a0", "Two."], 50, encoder)
    assert [len(windows) for windows in cut] == [0, 1, 0, 1]
    assert cut_chunks([], 50, encoder) == []


def test_a_chunk_that_fits_is_one_window_as_it_is(encoder):
    (windows,) = cut_chunks([" Two sentences. With space around. "], 50, encoder)
    assert [(w.text, w.start, w.end) for w in windows] == [(" Two sentences. With space around. ", 0, 35)]


def test_windows_of_a_chunk_do_not_depend_on_its_neighbours(encoder):
    chunks = [NASTY["prose"], '{"name": "A", "wifi": true}', NASTY["cjk"], "", NASTY["lines"]]
    together = cut_chunks(chunks, 100, encoder)
    for chunk, windows in zip(chunks, together):
        (alone,) = cut_chunks([chunk], 100, encoder)
        assert alone == windows
        assert [w.ids.tolist() for w in alone] == [w.ids.tolist() for w in windows]


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
RECORD = {
    "name": "Blue Door Cafe",
    "hours": {day: f"{7 + i}:30-{15 + i}:0" for i, day in enumerate(DAYS)},
    "attributes": {"WiFi": "free", "Parking": {"garage": False, "street": True, "valet": None}},
    "reviews": [{"stars": i % 5 + 1, "text": prose(6, 12, i)} for i in range(5)],
}


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
@pytest.mark.parametrize("size", [48, 100, 381])
def test_every_window_of_a_record_says_of_what(encoder, write, size):
    chunk = write(RECORD)
    (windows,) = cut_chunks([chunk], size, encoder)
    assert len(windows) > 1
    for window in windows:
        assert window.text.startswith("name: Blue Door Cafe. ")
        body = window.text.removeprefix("name: Blue Door Cafe. ")
        assert body.split(" / ")[0] in ("hours", "attributes", "reviews")
        assert len(window.ids) <= size
        assert 0 <= window.start < window.end <= len(chunk)
        assert all(0 <= start < end <= len(chunk) for start, end in window.pieces)


def test_the_values_of_a_record_are_all_read(encoder):
    (windows,) = cut_chunks([json.dumps(RECORD)], 160, encoder)
    read = " ".join(window.text for window in windows)
    assert "hours / Monday: 7:30-15:00 (7:30 AM to 3 PM); Tuesday: 8:30-16:00 (8:30 AM to 4 PM)" in read
    assert "Parking / garage: no; street: yes; valet: not given" in read
    for review in RECORD["reviews"]:
        for sentence in review["text"].replace("!", ".").replace("?", ".").split(". "):
            assert sentence.strip(".") in read


def test_a_short_record_is_prose_to_the_model(encoder):
    (windows,) = cut_chunks(["{'hours': {'Mon': '9-5', 'Tue': '9-6'}, 'wifi': None}"], 100, encoder)
    assert [window.text for window in windows] == ["hours / Mon: 9-5; Tue: 9-6. wifi: not given."]
    assert windows[0].ids.tolist() == encoder.encode([windows[0].text])[0].tolist()


def test_a_record_of_nothing_but_its_name_is_read(encoder):
    (windows,) = cut_chunks(['{"name": "Blue Door Cafe"}'], 100, encoder)
    assert [window.text.strip() for window in windows] == ["name: Blue Door Cafe."]


def test_a_record_with_values_beyond_every_window_stays_within_size(encoder):
    record = {"title": "t" * 119, "body": "x" * 3_000, "k" * 400: {"j" * 400: prose(30, 30)}}
    (windows,) = cut_chunks([json.dumps(record)], 60, encoder)
    assert windows and all(len(window.ids) <= 60 for window in windows)


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
def test_what_is_quoted_of_a_long_value_is_in_the_window(encoder, write):
    value = prose(60, 20, 7).replace("ferry", "ferry \u2013 \"Ann\"")
    chunk = write({"name": "Blue Door Cafe", "about": value})
    (windows,) = cut_chunks([chunk], 100, encoder)
    assert len(windows) > 5
    for window in windows:
        title, *pieces = window.pieces
        assert chunk[title[0] : title[1]].endswith(("Cafe\"", "Cafe'"))
        for a, b in pieces:
            assert (json.loads(f'"{chunk[a:b]}"') if write is json.dumps else chunk[a:b]) in window.text
    assert len({window.pieces for window in windows}) == len(windows)


def test_records_line_by_line_are_not_cut_inside_a_value(encoder):
    lines = [json.dumps({"stop": f"Pier {i}", "note": prose(1, 6, i)}) for i in range(20)]
    (windows,) = cut_chunks(["\n".join(lines)], 60, encoder)
    assert len(windows) > 3
    assert all(" / stop: Pier " in window.text or " / note: " in window.text[:12] for window in windows)
