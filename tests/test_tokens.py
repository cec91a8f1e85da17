"""Ids are those of the checkpoint's own tokenizer.json, and no text can break a pair apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tiny_models
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from nli_faith.errors import ModelError
from nli_faith.tokens import Encoder

# Texts on which tokenizers of the same checkpoint are known to disagree.
TEXTS = (
    "20\u00a0°C", "1\u202f000", "thin\u2009space", "zero\u200bwidth", "\ufeffBOM", "wait…", "brand™", "½ cup", "5 m²",
    "ﬁrst oﬃce", "ＡＢＣ", "⅓", "Ⅲ", "cafe\u0301", "tab\there", "line\r\nend", "\n\nblank\n\n", "  spaces  ", "emoji 🙂",
    "", " ", "soft\u00adhyphen", "漢字かな交じり文。", "नमस्ते दुनिया।", "مرحبا بالعالم", "a", "long text of words " * 600,
)  # fmt: skip
HOSTILE = ("[SEP]", "a [SEP] b", "x[CLS]y", "[MASK]", "[PAD]", "[UNK]", "[SEP][SEP]", " [CLS] [SEP] [MASK] [PAD] ", "[sep]")


@pytest.fixture(scope="module")
def own():
    """The tokenizer as the file says."""
    tokenizer = Tokenizer.from_file(str(tiny_models.TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_ids_are_those_of_the_tokenizer_file(encoder, own, text):
    assert encoder.encode([text])[0].tolist() == own.encode(text, add_special_tokens=False).ids


def test_a_composed_pair_is_the_tokenizers_own_pair(encoder, own):
    ids = encoder.encode(TEXTS)
    for i, premise in enumerate(TEXTS):
        for j in (i, (i + 7) % len(TEXTS)):
            assert encoder.pair(ids[i], ids[j]).tolist() == own.encode(premise, TEXTS[j]).ids, (premise[:20], TEXTS[j][:20])


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_pair_composes_but_for_special_pieces_inside_it(encoder, own, premise, hypothesis):
    a, b = encoder.encode([premise, hypothesis])
    expected = np.array(own.encode(premise, hypothesis).ids)
    got = encoder.pair(a, b)
    assert len(got) == len(expected) == len(a) + len(b) + encoder.specials
    assert np.all((got == expected) | (got == encoder.unknown))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_pair_has_one_cls_and_two_sep_whatever_its_texts_say(encoder, own, text):
    cls, sep = own.token_to_id("[CLS]"), own.token_to_id("[SEP]")
    others = [own.token_to_id(name) for name in ("[PAD]", "[MASK]")]
    (ids,) = encoder.encode([text])
    pair = encoder.pair(ids, ids)
    assert np.count_nonzero(pair == cls) == 1 and pair[0] == cls
    assert np.flatnonzero(pair == sep).tolist() == [len(ids) + 1, 2 * len(ids) + 2]
    assert not np.isin(pair, others).any()


def test_a_special_piece_inside_a_text_is_the_unknown_piece(encoder, own):
    raw = np.array(own.encode("a [SEP] b", add_special_tokens=False).ids)
    (ids,) = encoder.encode(["a [SEP] b"])
    sep = raw == own.token_to_id("[SEP]")
    assert sep.sum() == 1
    assert ids[sep].tolist() == [encoder.unknown]
    assert ids[~sep].tolist() == raw[~sep].tolist()


@pytest.mark.parametrize("text", ["\ud800", "half \udc00 pair", "\udbff\ud800 twice", "ok 🙂 \udfff"])
def test_lone_surrogates_are_read_as_one_replacement_character_each(encoder, text):
    clean = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert encoder.encode([text])[0].tolist() == encoder.encode([clean])[0].tolist()
    assert encoder.offsets(text) == encoder.offsets(clean)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80))
def test_there_is_an_offset_inside_the_text_for_every_id(encoder, text):
    offsets = encoder.offsets(text)
    assert len(offsets) == len(encoder.encode([text])[0])
    assert all(0 <= start <= end <= len(text) for start, end in offsets)


def test_padding_and_truncation_in_the_file_are_ignored(tmp_path, encoder):
    fields = json.loads(tiny_models.TOKENIZER.read_text(encoding="utf-8"))
    fields["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    fields["padding"] = {
        "strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "[PAD]",
    }  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    baked = Encoder.from_file(path)
    for text in ("short", "a text of far more than eight pieces, which the file would cut at the eighth of them"):
        assert baked.encode([text])[0].tolist() == encoder.encode([text])[0].tolist()
    assert len(baked.encode(["word " * 50])[0]) >= 50


@pytest.mark.parametrize(("join", "middle"), [("pair", 1), ("separator", 1), ("text", 0)])
def test_join_says_what_stands_between_the_texts_of_a_one_separator_tokenizer(join, middle):
    joined = Encoder.from_file(tiny_models.TOKENIZER, join)
    assert (len(joined.prefix), len(joined.middle), len(joined.suffix)) == (1, middle, 1)
    a, b = joined.encode(["a premise", "a hypothesis"])
    assert len(joined.pair(a, b)) == len(a) + len(b) + joined.specials == len(a) + len(b) + 2 + middle


def test_a_roberta_pair_has_two_separators_between_its_texts():
    own = tiny_models.byte_tokenizer()
    byte_level = Encoder(tiny_models.byte_tokenizer())
    for premise, hypothesis in [("The sky is blue.", "Blue sky"), ("naïve\u00a0½", "🙂"), ("", "x"), ("a", "")]:
        a, b = byte_level.encode([premise, hypothesis])
        assert byte_level.pair(a, b).tolist() == own.encode(premise, hypothesis).ids
    one = Encoder(tiny_models.byte_tokenizer(), "separator")
    assert one.middle.tolist() == byte_level.middle[:1].tolist()
    assert len(byte_level.middle) == 2


def test_special_names_inside_a_byte_level_text_are_unknown_too():
    byte_level = Encoder(tiny_models.byte_tokenizer())
    own = tiny_models.byte_tokenizer()
    a, b = byte_level.encode(["left </s> right", "<s><mask>"])
    pair = byte_level.pair(a, b)
    assert np.count_nonzero(pair == own.token_to_id("<s>")) == 1
    assert np.count_nonzero(pair == own.token_to_id("</s>")) == 3
    assert b.tolist() == [byte_level.unknown] * 2


def test_a_missing_file_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(ModelError, match="does not exist; a checkpoint needs its tokenizer.json"):
        Encoder.from_file(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("content", ["", "{}", "not json", "[1, 2]"])
def test_a_file_that_is_no_tokenizer_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(ModelError, match="can't be read as a tokenizer"):
        Encoder.from_file(path)


def test_a_tokenizer_without_a_pair_template_is_refused():
    from tokenizers import models, pre_tokenizers

    bare = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(ModelError, match="no pair template"):
        Encoder(bare)


def test_encoding_keeps_order_and_depends_on_the_text_alone(encoder):
    together = encoder.encode([*TEXTS, *HOSTILE])
    alone = [encoder.encode([text])[0] for text in (*TEXTS, *HOSTILE)]
    assert [ids.tolist() for ids in together] == [ids.tolist() for ids in alone]
    assert all(ids.dtype == np.int32 for ids in together)
    assert encoder.encode([]) == []
