"""Model cards: every card is whole, and each form of input it describes is scored as its authors score it."""

from __future__ import annotations

import json
import shutil
from functools import cache

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from nli_faith.checkpoints import Card, cards_folder, known_cards, open_checkpoint
from nli_faith.classes import resolve_labels
from nli_faith.errors import ModelError
from nli_faith.model import NliModel
from nli_faith.options import DEFAULT_MODEL, ModelOptions
from nli_faith.pipeline import Scorer
from nli_faith.tokens import Encoder

CARDS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(cards_folder().glob("*.json"))}
FIELDS = "name about size labels licence data max_length template answer_threshold head figures sources notes".split()
TOKENIZER = cards_folder() / DEFAULT_MODEL / "tokenizer.json"

PAIRS = [
    ("The shop opens at nine in the morning and closes at six.", "The shop closes at six."),
    ("A first line\nand a second one \n\n with  spaces. ", 'He said "no" to it.'),
    ("Costs rose by 5 % to €1,200 (see table 3)", "Costs fell"),
    ("Café – naïve… ﬁnal", "The final was naïve."),
    ("日本語のテキスト。", "It is Japanese."),
    ("Word " * 300 + "end.", "A long text ends."),
]


@pytest.mark.parametrize("file", CARDS)
def test_a_card_has_every_field(file):
    fields = CARDS[file]
    assert not [name for name in FIELDS if name not in fields]
    assert file == fields["name"].replace("/", "--") + ".json"
    for name in ("about", "size", "licence", "data", "notes"):
        assert fields[name] and isinstance(fields[name], str)
    assert len(fields["about"]) <= 80 and "\n" not in fields["about"]
    assert fields["head"] in ("nli", "support")
    assert fields["sources"] and all(isinstance(source, str) for source in fields["sources"])
    for figure in fields["figures"]:
        assert set(figure) == {"set", "metric", "value", "source", "measured"}
        assert figure["measured"] is False and figure["source"] and 0 < figure["value"] <= 100


def test_the_bundled_card_has_every_field_and_figures_that_were_measured_here():
    fields = known_cards()[DEFAULT_MODEL]
    assert not [name for name in FIELDS if name not in fields]
    assert all(figure["measured"] is True and figure["source"].startswith("benchmarks/") for figure in fields["figures"])
    told = (cards_folder() / DEFAULT_MODEL / "README.md").read_text(encoding="utf-8")
    assert len(fields["figures"]) >= 5
    assert all(f"{figure['value'] / 100:.3f}" in told for figure in fields["figures"]), "the card in words tells the same"


@pytest.fixture(scope="module")
def encoder():
    return Encoder.from_file(TOKENIZER)


@pytest.mark.parametrize("name", known_cards())
def test_a_card_can_be_used(name, encoder):
    card = Card.from_dict(known_cards()[name])
    labels = resolve_labels(card.labels)
    assert sorted(labels.order) == list(range(len(card.labels)))
    assert card.template.hypothesis.count("{}") == 1
    assert card.template.join in ("pair", "separator", "text")
    assert card.dtype in (None, "fp32", "bf16")
    assert 0 < card.answer_threshold < 1
    # Beside a window there is room for the special tokens, the instruction and a claim of some length.
    frame = len(encoder.encode([card.template.hypothesis.replace("{}", "")])[0])
    assert card.window is None or 0 < card.window <= card.max_length - 4 - frame - 64


def test_the_support_heads_have_two_classes():
    for fields in CARDS.values():
        if fields["head"] == "support":
            assert resolve_labels(fields["labels"]).order == (1, 0)


# What the authors' code gives the network, written down from that code and not from the cards: the label order, and how
# document and claim become ids.


def usual_pair(tokenizer, document, claim):
    return tokenizer.encode(document, claim).ids


def factcg(tokenizer, document, claim):
    text = (
        f'{document}\n\nChoose your answer: based on the paragraph above can we conclude that "{claim}"?'
        "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
    )
    return tokenizer.encode(text).ids


def minicheck_deberta(tokenizer, document, claim):
    return tokenizer.encode(f"{document}[SEP]{claim}").ids


def minicheck_roberta(tokenizer, document, claim):
    return tokenizer.encode(f"{document}</s>{claim}").ids


# (columns of entailment, neutral, contradiction or of entailment, the rest), authors' ids, backbone, names of the models
FORMS = {
    "contradiction first": (
        (1, 2, 0), usual_pair, "deberta",
        [f"cross-encoder/nli-deberta-v3-{size}" for size in ("xsmall", "small", "base", "large")],
    ),
    "entailment first": (
        (0, 1, 2), usual_pair, "deberta",
        [
            "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli",
            "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli",
            "MoritzLaurer/DeBERTa-v3-base-mnli",
            "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7",
        ],
    ),
    "entailment or not": ((0, 1), usual_pair, "deberta", ["MoritzLaurer/DeBERTa-v3-xsmall-mnli-fever-anli-ling-binary"]),
    "FactCG": ((1, 0), factcg, "deberta", ["yaxili96/FactCG-DeBERTa-v3-Large"]),
    "MiniCheck DeBERTa": ((1, 0), minicheck_deberta, "deberta", ["lytang/MiniCheck-DeBERTa-v3-Large"]),
    "MiniCheck RoBERTa": ((1, 0), minicheck_roberta, "roberta", ["lytang/MiniCheck-RoBERTa-Large"]),
}  # fmt: skip


def test_every_card_has_a_form_and_models_of_one_form_have_equal_cards():
    known = [fields["name"] for fields in CARDS.values()]
    assert sorted(name for *_, names in FORMS.values() for name in names) == sorted(known)
    for *_, names in FORMS.values():
        cards = [Card.from_dict(known_cards()[name]) for name in names]
        assert len({(card.labels, card.template, card.max_length, card.window) for card in cards}) == 1


@cache
def bundled_tokenizer():
    return Tokenizer.from_file(str(TOKENIZER))


def deberta(classes):
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    tokenizer = bundled_tokenizer()
    config = DebertaV2Config(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=96, max_position_embeddings=512, type_vocab_size=0, layer_norm_eps=1e-7, relative_attention=True,
        max_relative_positions=-1, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type=["p2c", "c2p"], position_biased_input=False, pooler_dropout=0, pooler_hidden_size=64,
        num_labels=classes, initializer_range=0.15,
    )  # fmt: skip
    return tokenizer, DebertaV2ForSequenceClassification(config)


def roberta(classes):
    from transformers import RobertaConfig, RobertaForSequenceClassification

    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text for pair in PAIRS for text in pair], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=96, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        layer_norm_eps=1e-5, num_labels=classes, initializer_range=0.15,
    )  # fmt: skip
    return tokenizer, RobertaForSequenceClassification(config)


def test_a_cut_off_file_of_another_network_is_one_sentence(folders, tmp_path):
    folder = shutil.copytree(folders["MiniCheck RoBERTa"][0], tmp_path / "m")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="can't be loaded as a sequence classifier"):
        NliModel(ModelOptions(str(folder), None, "cpu", "fp32"), probe=False)


def test_a_model_with_token_types_is_told_where_the_hypothesis_begins(tmp_path):
    from transformers import BertConfig, BertForSequenceClassification

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([text for pair in PAIRS for text in pair], trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    labels = ("contradiction", "entailment", "neutral")
    torch.manual_seed(3)
    network = BertForSequenceClassification(BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=96,
        id2label=dict(enumerate(labels)), label2id={name: i for i, name in enumerate(labels)}, initializer_range=0.15,
    )).eval()  # fmt: skip
    network.save_pretrained(tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    read = NliModel(ModelOptions(model=str(tmp_path), device="cpu", dtype="fp32"), probe=False).read_texts(PAIRS)
    for row, pair in zip(read, PAIRS, strict=True):
        both = tokenizer.encode(*pair)
        given = {"input_ids": torch.tensor([both.ids]), "token_type_ids": torch.tensor([both.type_ids])}
        with torch.inference_mode():
            expected, untyped = (network(**inputs).logits.softmax(-1)[0] for inputs in (given, {"input_ids": given["input_ids"]}))
        assert np.abs(row - expected.numpy()[[1, 2, 0]]).max() < 1e-5
        assert (untyped - expected).abs().max() > 1e-3  # else the types decide nothing here


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """For each form a folder with a tiny checkpoint and the card, its tokenizer and transformers' own network."""
    made = {}
    for number, (form, (order, _, backbone, names)) in enumerate(FORMS.items()):
        torch.manual_seed(number)
        tokenizer, network = {"deberta": deberta, "roberta": roberta}[backbone](len(order))
        folder = tmp_path_factory.mktemp("form")
        network.eval().save_pretrained(folder)
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        (folder / "card.json").write_text(json.dumps(known_cards()[names[0]]), encoding="utf-8")
        made[form] = folder, tokenizer, network
    return made


@pytest.fixture(scope="module")
def scorers(folders):
    return {form: Scorer(str(folder), device="cpu", dtype="fp32", probe=False) for form, (folder, *_) in folders.items()}


@pytest.mark.parametrize("form", FORMS)
def test_a_checkpoint_with_its_card_is_read_as_its_authors_read_it(folders, form):
    order, to_ids, *_ = FORMS[form]
    folder, tokenizer, network = folders[form]
    model = NliModel(ModelOptions(model=str(folder), device="cpu", dtype="fp32"), probe=False)
    instruction = model.checkpoint.card.template.hypothesis
    # 2,048 tokens are more than DeBERTa-v3 was pretrained on: distances beyond its positions must agree as well.
    pairs = [*PAIRS, ("Word " * 700 + "end.", "It ends.")] if model.checkpoint.card.max_length > 512 else PAIRS
    expected = []
    with torch.inference_mode():
        for document, claim in pairs:
            ids = to_ids(tokenizer, document, claim)
            expected.append(network(torch.tensor([ids])).logits.softmax(-1)[0, list(order)].numpy())
            premise, hypothesis = model.encoder.encode([document, instruction.replace("{}", claim)])
            assert model.encoder.pair(premise, hypothesis).tolist() == ids
    read = model.read_texts(pairs)
    assert np.abs(read - np.array(expected)).max() < 1e-5
    assert np.ptp(read[:, 0]) > 0.1  # the tiny network does tell the pairs apart


def test_the_instruction_is_part_of_what_is_read(folders, scorers):
    folder, *_ = folders["FactCG"]
    model = scorers["FactCG"].reader
    (folder / "card.json").rename(folder / "card.aside")
    try:
        with pytest.raises(ModelError, match="don't say which output is entailment"):
            open_checkpoint(str(folder))
        bare = NliModel(ModelOptions(str(folder), ("not_entailment", "entailment"), "cpu", "fp32"), probe=False)
    finally:
        (folder / "card.aside").rename(folder / "card.json")
    assert np.abs(model.read_texts(PAIRS) - bare.read_texts(PAIRS)).max() > 1e-3


@pytest.mark.parametrize("form", [form for form, (order, *_) in FORMS.items() if len(order) == 2])
def test_two_classes_leave_neutral_and_contradiction_open(scorers, form):
    contexts = ["The shop opens at nine and closes at six.", "Its owner is called Anna. She bought the house in 1990."]
    score = scorers[form].score("The shop closes at six. Anna sold the house in 2001. The shop is red.", contexts)
    assert score.status == "scored" and score.n_claims == 3
    assert score.n_contradicted is None
    assert score.n_supported + score.n_unsupported == 3
    for claim in score.claims:
        assert claim.p_neutral is None and claim.p_contradiction is None
        assert claim.verdict in ("supported", "unsupported")
        assert claim.support == claim.p_entailment
        assert not claim.conflict


def test_windows_of_a_card_are_cut_to_what_the_model_holds(scorers):
    assert {form: scorer.window_size for form, scorer in scorers.items()} == {
        "contradiction first": 381, "entailment first": 381, "entailment or not": 381,
        "FactCG": 620, "MiniCheck DeBERTa": 400, "MiniCheck RoBERTa": 381,
    }  # fmt: skip


def test_the_hub_revision_of_a_card_is_what_is_downloaded(folders, monkeypatch):
    asked = []

    def download(name, revision=None, allow_patterns=None):
        asked.append((name, revision))
        return str(folders["MiniCheck RoBERTa"][0])

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    open_checkpoint("lytang/MiniCheck-RoBERTa-Large")
    open_checkpoint("someone/else")
    assert asked == [("lytang/MiniCheck-RoBERTa-Large", "refs/pr/1"), ("someone/else", None)]
