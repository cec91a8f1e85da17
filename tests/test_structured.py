"""A chunk that is a JSON object or a Python literal becomes its leaves; anything else stays prose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nli_faith.structured import places, read_leaves

RECORD = {
    "name": "Blue Door",
    "address": {"street": "4 Mill Lane", "postal_code": "93101"},
    "hours": {"Monday": "9:0-17:0", "Sunday": None},
    "wifi": True,
    "outdoorSeating": False,
    "stars": 4.5,
    "tags": ["cafe", "bakery"],
}


def texts(chunk: str) -> list[str]:
    leaves = read_leaves(chunk)
    assert leaves is not None
    return [leaf.text for leaf in leaves]


@pytest.mark.parametrize("write", [json.dumps, repr, lambda value: json.dumps(value, indent=2)], ids=["json", "python", "indented"])
def test_a_record_is_read_with_its_keys_before_every_value(write):
    assert texts(write(RECORD)) == [
        "name: Blue Door",
        "address / street: 4 Mill Lane",
        "address / postal code: 93101",
        "hours / Monday: 9:00-17:00 (9 AM to 5 PM)",
        "hours / Sunday: not given",
        "wifi: yes",
        "outdoor Seating: no",
        "stars: 4.5",
        "tags: cafe, bakery",
    ]


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("8:0-22:0", "8:00-22:00 (8 AM to 10 PM)"),
        ("11:30-0:0", "11:30-0:00 (11:30 AM to 12 AM)"),
        ("12:05 - 24:00", "12:05-24:00 (12:05 PM to 12 AM)"),
        ("7:5", "7:05 (7:05 AM)"),
        ("0:0-0:0", "0:00-0:00"),
        ("25:00", "25:00"),
        ("9:75", "9:75"),
        ("10:30:15", "10:30:15"),
        ("at 9:0", "at 9:0"),
    ],
)
def test_times_of_day_are_written_out(raw, read):
    assert texts(json.dumps({"opening": raw})) == [f"opening: {read}"]


@pytest.mark.parametrize("name", ["open", "closingTime", "Monday", "check_in", "start"])
def test_one_time_of_day_is_known_by_its_name(name):
    assert texts(json.dumps({name: "7:5"}))[0].endswith(": 7:05 (7:05 AM)")
    assert texts(json.dumps({name: {"bar": ["7:5"]}}))[0].endswith(": 7:05 (7:05 AM)")


@pytest.mark.parametrize("value", ["16:9", "3:1", "1:4"])
def test_ratios_and_scores_are_no_times(value):
    assert texts(json.dumps({"aspect ratio": value, "score": value})) == [f"aspect ratio: {value}", f"score: {value}"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("bakeTime", "1:15"), ("prep_time", "0:45"), ("half_time", "3:1"), ("full time", "4:2"), ("total_time", "2:05"),
     ("travel time", "3:30"), ("lap_times", "1:32")],
)  # fmt: skip
def test_durations_and_scores_are_no_times_of_day(name, value):
    assert texts(json.dumps({name: value})) == [f"{name.replace('_', ' ').replace('bakeTime', 'bake Time')}: {value}"]


def test_a_range_is_one_of_times_whatever_its_name():
    assert texts('{"total": "9:30-17:0"}') == ["total: 9:30-17:00 (9:30 AM to 5 PM)"]


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
def test_records_line_by_line_are_counted_from_one(write):
    chunk = "\n".join([write({"bay": 4, "open": {"from": "8:0"}}), "", write({"bay": 5}), ""])
    assert texts(chunk) == ["1 / bay: 4", "1 / open / from: 8:00 (8 AM)", "2 / bay: 5"]
    assert read_leaves(chunk + "tail}") is None and read_leaves(chunk.replace("\n", " ")) is None


@pytest.mark.parametrize("write", [json.dumps, lambda value: json.dumps(value, ensure_ascii=False), repr])
def test_the_characters_of_a_value_are_found_in_the_chunk(write):
    value = "caf\u00e9 \U0001f642 \"two\"\nlines \\ end"
    chunk = write({"remark": value, "stars": 3})
    leaf, other = read_leaves(chunk)
    at = places(chunk, leaf)
    assert len(at) == len(value) + 1 and at == sorted(at)
    assert chunk[at[0] : at[3]] == "caf" and chunk[at[-4] : at[-1]] == "end" and chunk[at[-1]] in "\"'"
    assert places(chunk, other) is None


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
def test_records_in_a_list_are_counted_from_one(write):
    assert texts(write([{"a": 1}, {"a": 2, "b": {"c": 3}}])) == ["1 / a: 1", "2 / a: 2", "2 / b / c: 3"]


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
def test_records_under_a_key_carry_the_key_and_their_number(write):
    chunk = write({"reviews": [{"text": "Good."}, {"text": "Bad."}]})
    assert texts(chunk) == ["reviews / 1 / text: Good.", "reviews / 2 / text: Bad."]


def test_false_null_and_true_stay_apart_in_both_spellings():
    assert texts('{"a": true, "b": false, "c": null}') == ["a: yes", "b: no", "c: not given"]
    assert texts("{'a': True, 'b': False, 'c': None, 'd': nan}") == ["a: yes", "b: no", "c: not given", "d: not given"]


def test_words_that_are_quoted_are_not_translated():
    assert texts('{"a": "true", "b": "null"}') == ["a: true", "b: null"]


def test_an_empty_list_or_object_under_a_key_is_said_to_be_none():
    assert texts('{"a": [], "b": {}, "c": 1}') == ["a: none", "b: none", "c: 1"]


def test_quotes_escapes_and_line_ends_in_strings():
    assert texts(repr({"a": "it's", "b": 'say "hi"', "c": "two\nlines"})) == ["a: it's", 'b: say "hi"', "c: two\nlines"]
    assert texts('{"a": "caf\\u00e9", "b": "x\\/y"}') == ["a: café", "b: x/y"]
    assert texts('{"a": "raw\nline end"}') == ["a: raw\nline end"]


def test_a_trailing_comma_and_space_around_are_allowed():
    assert texts(" \n{'a': 1,\n 'b': [1, 2,],}\n ") == ["a: 1", "b: 1, 2"]


@pytest.mark.parametrize(
    "chunk",
    [
        "", "{", "{}", "[]", "[1]", "[see note 4]", "[1, 2, 3]", '["a", "b"]', "[[1, 2], [3, 4]]", "[[1]]",
        "{curly remark}", '{"a"}', '{"a": }', '{"a": 1} tail', 'head {"a": 1}', '{"a": 1]', '[{"a": 1}', '{"a": 1 "b": 2}',
        '{"a": trueish}', '{"a": "open}', "{'a': datetime(2020, 1, 1)}", "{% if a %}b{% endif %}", "{x: 1 for x in y}",
        "The menu says {soup}.", '{"a": {"b": 1}', '{"a":: 1}', '{"a": 1,, "b": 2}',
    ],
)  # fmt: skip
def test_what_only_looks_like_a_record_stays_prose(chunk):
    assert read_leaves(chunk) is None


@pytest.mark.parametrize("depth", [70, 5000, 100_000])
def test_nesting_beyond_reason_stays_prose_and_never_crashes(depth):
    assert read_leaves('{"a":' * depth + "1" + "}" * depth) is None
    assert read_leaves("[" * depth + "1" + "]" * depth) is None


def test_deep_but_sane_nesting_is_read():
    assert texts('{"a":' * 40 + "1" + "}" * 40) == [" / ".join("a" * 40) + ": 1"]


def test_a_leaf_lies_where_its_key_and_value_stand():
    chunk = json.dumps(RECORD, indent=1)
    raw = {leaf.path: chunk[leaf.start : leaf.end] for leaf in read_leaves(chunk)}
    assert raw["name",] == '"name": "Blue Door"'
    assert raw["hours", "Sunday"] == '"Sunday": null'
    assert raw["stars",] == '"stars": 4.5'
    assert raw["tags",].startswith('"tags": [') and raw["tags",].endswith("]")


SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12)
KEYS = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
RECORDS = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12),
    min_size=1,
    max_size=5,
)


def scalars(value: object) -> list[str]:
    """What a reader must find, in order."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in scalars(item)] if value else ["none"]
    if isinstance(value, list):
        return [text for item in value for text in scalars(item)] if value else ["none"]
    return [{None: "not given", True: "yes", False: "no"}[value] if value is None or value is True or value is False else str(value)]


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.sampled_from([lambda value: json.dumps(value, ensure_ascii=False), json.dumps, repr]))
def test_every_scalar_of_any_record_is_in_a_leaf_in_order_with_its_place(record, write):
    chunk = write(record)
    leaves = read_leaves(chunk)
    assert leaves is not None
    assert ", ".join(leaf.value for leaf in leaves) == ", ".join(scalars(record))
    ends = [0]
    for leaf in leaves:
        assert leaf.path
        assert 0 <= leaf.start < leaf.end <= len(chunk)
        assert leaf.start >= ends[-1]  # in order, and none inside another
        ends.append(leaf.end)


@settings(max_examples=150, deadline=None)
@given(st.text("{}[]\"':,\\ 1a\ntrue", max_size=40))
def test_garbage_of_brackets_and_quotes_never_crashes(chunk):
    for leaf in read_leaves(chunk) or ():
        assert 0 <= leaf.start < leaf.end <= len(chunk)
