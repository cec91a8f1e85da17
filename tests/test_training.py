"""The scripts that make the bundled model: loss, plan, edits, quantisation, and the export that others load."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

import compress  # noqa: E402
import fit_threshold  # noqa: E402
import train  # noqa: E402
import training_data  # noqa: E402
import training_rag  # noqa: E402
from export_hf import export  # noqa: E402

from nli_faith.checkpoints import cards_folder  # noqa: E402
from nli_faith.tokens import Encoder  # noqa: E402
from nli_faith.windows import cut_chunks  # noqa: E402

BUNDLED = cards_folder() / "nli-faith-xsmall"


def examples(count: int, seed: int = 0) -> list[train.Example]:
    rng = np.random.default_rng(seed)
    return [
        train.Example(rng.integers(5, 99, rng.integers(3, 90)).astype(np.int32), rng.integers(5, 99, 6).astype(np.int32), 0, 1.0, "x")
        for _ in range(count)
    ]


def test_loss_of_a_three_way_label_is_its_negative_log_likelihood():
    logits = torch.tensor([[2.0, 1.0, -1.0]])
    expected = -torch.log_softmax(logits, -1)[0, 1]
    assert train.pair_loss(logits, torch.tensor([1]), torch.ones(1)) == pytest.approx(float(expected))


def test_loss_of_not_entailment_counts_both_other_classes():
    logits = torch.tensor([[2.0, 1.0, -1.0]])
    p = torch.softmax(logits, -1)[0]
    found = train.pair_loss(logits, torch.tensor([training_data.NOT_ENTAILMENT]), torch.ones(1))
    assert float(found) == pytest.approx(float(-torch.log(p[1] + p[2])), abs=1e-6)


def test_an_epoch_reads_every_example_once_and_batches_keep_the_budget():
    made = examples(300)
    total = sum(len(example) for example in made)
    batches = train.plan(made, train.TrainConfig("nli", tokens=10 * total, learning_rate=1e-4, batch_tokens=512))
    lengths = np.array([len(example) for example in made])
    assert all(len(batch) == 1 or lengths[batch].max() * len(batch) <= 512 for batch in batches)
    seen, first = [], 0
    while len(seen) < len(made):
        seen += batches[first].tolist()
        first += 1
    assert sorted(seen) == list(range(len(made)))


def test_a_smaller_budget_is_a_beginning_of_a_larger_one():
    made = examples(200)
    short = train.plan(made, train.TrainConfig("nli", tokens=2000, learning_rate=1e-4, batch_tokens=512))
    long = train.plan(made, train.TrainConfig("nli", tokens=9000, learning_rate=1e-4, batch_tokens=512))
    assert len(short) < len(long)
    assert all(a.tolist() == b.tolist() for a, b in zip(short, long))


def test_padding_keeps_the_premise_whole_and_strangers_are_neutral():
    made = examples(200)
    config = train.TrainConfig("nli", tokens=1, learning_rate=1e-4, pad_share=1.0, unrelated_share=0.5, max_length=384)
    out = train.augment(made, config, np.random.default_rng(0))
    strangers = [example for example in out if example.dataset == "unrelated"]
    assert strangers and all(example.label == 1 for example in strangers)
    for before, after in zip(made, out):
        text, piece = after.premise.tobytes(), before.premise.tobytes()
        assert piece in text
        assert len(after) <= 384


@pytest.mark.parametrize("text", ["The shop opened in 1998 with 12 people.", "Sales increased before June.", "It is open.",
                                  "They met Anna Berg in town."])  # fmt: skip
def test_an_edit_changes_the_sentence(text):
    for seed in range(20):
        changed = training_rag.edit(text, text, ["Carl Moe", "Lyon"], np.random.default_rng(seed))
        assert changed and changed != text


def edits_of(kind: str, text: str, window: str = "", names: tuple[str, ...] = ()) -> set[str | None]:
    return {training_rag._edit_as(kind, text, window, list(names), np.random.default_rng(seed)) for seed in range(100)}


def test_a_name_is_exchanged_with_another_of_the_sentence_of_its_window_or_of_elsewhere():
    window = "In May the firm Orlin bought Tasco, and then Vera Holm left Orlin for Denmark."
    found = edits_of("name", "Orlin bought Tasco in May.", window, ("Quito",))
    assert {"Tasco bought Orlin in May.", "Vera Holm bought Tasco in May.", "Orlin bought Denmark in May.", "Quito bought Tasco in May."} <= found
    assert edits_of("name", "They met Vera Holm.", "They called Vera Holm, and Holm came.") == {None}  # the same person
    listed = edits_of("name", "Both Orlin and Tasco grew.", "At that time Orlin and Tasco grew.")
    assert listed == {None}  # exchanged, they would say the same


def test_a_unit_becomes_another_of_its_kind():
    assert edits_of("unit", "It is 5 km long and weighs 20 kilograms.") == {
        "It is 5 mi long and weighs 20 kilograms.", "It is 5 km long and weighs 20 pounds.",
    }  # fmt: skip
    assert edits_of("unit", "The kilometers were long.") == {None}
    assert all(a != b for a, b in training_rag._NEXT_UNIT.items())


def test_an_edited_number_is_another_number():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        raw = str(int(rng.integers(1, 100000)))
        new = training_rag._other_number(raw, rng)
        assert new != raw and len(new) == len(raw) and not new.startswith("0")


def test_a_sentence_of_a_context_is_entailed_where_it_stands_and_nowhere_else():
    encoder = Encoder.from_file(BUNDLED / "tokenizer.json")
    chunk = " ".join(f"In the year {1900 + i} the town of Orlin had {i + 3} mills beside the old bridge." for i in range(60))
    (windows,) = cut_chunks([chunk], 100, encoder)
    rng = np.random.default_rng(0)
    made = [pair for _ in range(200) if (pair := training_rag._copied(list(windows), ["Quito"], rng))]
    assert {(label, kind) for _, _, label, kind in made} == {(0, "rag_copy"), (3, "rag_elsewhere"), (3, "rag_copy_edit")}
    for window, text, label, _ in made:
        assert (text in window.text) == (label == 0)


def test_held_back_groups_are_not_trained_on():
    pairs = [training_data.Pair(f"p{i % 40}", f"h{i}", 0, "s", f"g{i % 40}") for i in range(400)]
    kept, held = training_data.split_held_back(pairs, {}, 0.2)
    assert held and kept and not {p.group for p in kept} & {p.group for p in held}


def test_quantised_rows_are_within_half_a_step():
    torch.manual_seed(0)
    weight = torch.randn(40, 64) * torch.rand(40, 1)
    out = compress.quantise({"a.weight": weight, "a.bias": torch.randn(40), "rel_embeddings.weight": torch.randn(8, 64)})
    assert out["a.weight"].dtype == torch.int8
    assert out["rel_embeddings.weight"].dtype == out["a.bias"].dtype == torch.float32
    back = out["a.weight"].float() * out["a.weight.scale"][:, None]
    assert ((back - weight).abs() <= out["a.weight.scale"][:, None] / 2 + 1e-7).all()


def test_the_smaller_vocabulary_keeps_special_pieces_single_characters_and_frequent_ones():
    vocabulary = [["[PAD]", 0], ["[UNK]", 0], ["<0x00>", 0], ["\u2581the", -1], ["\u2581rare", -9], ["\u2581seldom", -10], ["x", -11]]
    kept = compress.choose(vocabulary, {4: 0, 5: 7, 3: 0, 6: 0, 0: 0, 1: 0, 2: 0}, {"[PAD]", "[UNK]"}, 5, 3)
    assert kept == [0, 1, 3, 5, 6]


def test_the_bundled_vocabulary_reads_other_scripts_without_losing_all():
    encoder = Encoder.from_file(BUNDLED / "tokenizer.json")
    for text in ("日本語のテキスト", "مرحبا بالعالم", "नमस्ते दुनिया", "Grüße aus Köln", "résumé naïve", "E = mc²"):
        (ids,) = encoder.encode([text])
        assert (ids != encoder.unknown).any(), text


def test_the_threshold_separates_what_can_be_separated():
    score = np.array([0.1, 0.2, 0.3, 0.7, 0.8])
    faithful = np.array([False, False, False, True, True])
    cut = fit_threshold.best_threshold(score, faithful)
    assert 0.3 < cut <= 0.7
    assert fit_threshold.balanced_accuracy(score >= cut, faithful) == 1.0


def test_the_bundled_folder_is_small_enough_to_live_in_the_repository():
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) < 52 * 2**20


def test_transformers_loads_the_export_and_gives_the_same_probabilities(tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from nli_faith.model import NliModel
    from nli_faith.options import ModelOptions

    export(BUNDLED, tmp_path)
    assert "quantisation" not in json.loads((tmp_path / "config.json").read_text())
    network = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    pairs = [("The museum is closed on Mondays.", "The museum opens every day."), ("20\u00a0°C in the ﬁrst oﬃce…", "It is 20 °C.")]
    encoded = tokenizer([a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt")
    with torch.inference_mode():
        theirs = torch.softmax(network(encoded["input_ids"], attention_mask=encoded["attention_mask"]).logits, -1).numpy()
    reader = NliModel(ModelOptions(device="cpu", dtype="fp32"))
    ours = reader.read_texts(pairs)
    np.testing.assert_allclose(ours, theirs[:, list(reader.checkpoint.labels.order)], atol=1e-5)


def test_cross_encoder_loads_the_export(tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    export(BUNDLED, tmp_path)
    model = sentence_transformers.CrossEncoder(str(tmp_path), device="cpu")
    pair = ("The museum is closed on Mondays.", "The museum is closed on Mondays.")
    p = model.predict([pair], apply_softmax=True)
    assert p.shape == (1, 3) and p[0].argmax() == 0
