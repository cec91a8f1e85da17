"""A text put together from its words has the ids of the text encoded as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_models
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from nli_faith import words as words_module
from nli_faith.tokens import Encoder
from nli_faith.words import words_stand_alone

# Characters that lean on their neighbours, are spaces of some kind, vanish, or grow.
ODD = "\u0301\u0308\u200d\u200b\u00a0\u2028\u3000\u0600\u0d4e\ufe0f\u20e3\uff9e\u1160\u0e33\U0001f1e9\U0001f3fd\u00ad\ufeff\u2581\x1c\x85…½ﬁ™é漢नि"


@pytest.fixture(scope="module")
def fresh():
    return Encoder.from_file(tiny_models.TOKENIZER)


def same(encoder: Encoder, texts: list[str]) -> None:
    for text, fast, whole in zip(texts, encoder.encode(texts), encoder._encode(texts)):
        assert fast.dtype == np.int32 and fast.tolist() == whole.tolist(), ascii(text)


texts = st.text(st.one_of(st.sampled_from("ab .,\n\t\r -'"), st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=25)


@settings(max_examples=400, deadline=None)
@given(st.lists(texts, max_size=4))
def test_ids_are_those_of_the_whole_text(fresh, drawn):
    assert fresh._words is not None
    same(fresh, drawn)
    same(fresh, drawn)  # and again from the table


@pytest.mark.parametrize("char", ODD)
@pytest.mark.parametrize("frame", ["a {} b", "{}", "a{} b", "a {}b", "a\n{}b", "{}a b{}", "a {}{} b"])
def test_a_character_that_joins_its_neighbours_is_read_with_them(fresh, char, frame):
    same(fresh, [frame.replace("{}", char)])


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "[SEP]", "a [SEP] b", "a[SEP]b c", "［SEP］ x", "[UNK] a", "x" * 500, "www." + "a" * 90 + " end", "a\x00b c", "a\x0bb"],
)
def test_texts_that_are_not_split_are_encoded_all_the_same(fresh, text):
    same(fresh, [text])


def test_the_table_is_bounded_and_right_beyond_its_bound(fresh, monkeypatch):
    monkeypatch.setattr(words_module, "MOST_WORDS", 50)
    for start in range(0, 400, 40):
        same(fresh, [f"word{n} and wörd{n}" for n in range(start, start + 40)])
        assert len(fresh._words._ids) <= 50 + 81


def test_words_are_encoded_once(fresh, monkeypatch):
    seen: list[str] = []
    table = fresh._words
    own = table._encode
    monkeypatch.setattr(table, "_encode", lambda given: seen.extend(given) or own(given))
    fresh.encode(["quince and medlar", "medlar and quince"])
    fresh.encode(["quince medlar"])
    assert seen.count("quince") == seen.count("medlar") == 1


def test_a_tokenizer_whose_pieces_reach_over_spaces_has_no_table():
    assert not words_stand_alone(tiny_models.byte_tokenizer())
    tokenizer = Tokenizer.from_file(str(tiny_models.TOKENIZER))
    assert words_stand_alone(tokenizer)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    assert not words_stand_alone(tokenizer)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    assert not words_stand_alone(tokenizer)


@pytest.mark.parametrize("normalizer", [None, normalizers.NFKD(), normalizers.Sequence([normalizers.Strip(), normalizers.Prepend("x")])])
def test_a_tokenizer_with_an_unknown_normaliser_has_no_table(normalizer):
    tokenizer = Tokenizer.from_file(str(tiny_models.TOKENIZER))
    tokenizer.normalizer = normalizer
    assert not words_stand_alone(tokenizer)
