"""Labels are found by name, pickles are never opened, and every damage is said in a sentence."""

from __future__ import annotations

import itertools
import json
import shutil

import numpy as np
import pytest
import tiny_models

from nli_faith.checkpoints import Card, Template, known_cards, open_checkpoint
from nli_faith.classes import resolve_labels
from nli_faith.errors import ModelError
from nli_faith.options import DEFAULT_MODEL

# Label names of published checkpoints, in the order of their outputs, with the columns (entailment, neutral, contradiction).
PUBLISHED = [
    (("contradiction", "entailment", "neutral"), (1, 2, 0)),  # cross-encoder/nli-deberta-v3-*
    (("entailment", "neutral", "contradiction"), (0, 1, 2)),  # MoritzLaurer, ynie
    (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), (2, 1, 0)),  # microsoft/deberta-*-mnli, roberta-large-mnli
    (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (0, 2, 1)),  # tals/albert-*-vitaminc
    (("Entailed", "Neutral", "Contradict"), (0, 1, 2)),  # forks of tasksource
    (("entailment", "neutral", "contradictory"), (0, 1, 2)),  # XNLI's other spelling
    (("entailment", "not_entailment"), (0, 1)),
    (("not_entailment", "entailment"), (1, 0)),
    (("unsupported", "supported"), (1, 0)),
    (("grounded", "hallucinated"), (0, 1)),
    (("hallucinated", "consistent"), (1, 0)),
    (("entailment", "contradiction"), (0, 1)),
    (("NOT-ENTAILMENT", " Entailment "), (1, 0)),
]


@pytest.mark.parametrize(("names", "order"), PUBLISHED, ids=lambda value: "-".join(map(str, value)))
def test_the_label_orders_of_published_checkpoints(names, order):
    assert resolve_labels(names).order == order


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order_of_three_classes_is_found_by_name(order):
    names = [""] * 3
    for column, name in zip(order, ("entailment", "neutral", "contradiction")):
        names[column] = name
    labels = resolve_labels(names)
    assert labels.order == order
    assert (labels.entailment, labels.neutral, labels.contradiction) == order


def test_two_class_models_have_no_neutral_and_no_contradiction():
    for names in (("entailment", "not_entailment"), ("contradiction", "entailment")):
        labels = resolve_labels(names)
        assert labels.neutral is None and labels.contradiction is None


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1"),
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("0", "1", "2"),
        ("positive", "negative"),
        ("entailment", "neutral"),
        ("neutral", "contradiction"),
        ("not_entailment", "not_supported"),
        ("entailment", "entailment"),
        ("entailment", "entails", "neutral"),
        ("entailment", "contradiction", "contradiction"),
        ("entailment", "neutral", "neutral"),
        ("entailment", "not_entailment", "neutral"),
        # A name inside a longer one says nothing.
        ("textual_entailment_score", "neutral", "contradiction"),
        ("nonentailment_not", "entailment_2"),
        ("unentailment", "disentailment"),
        ("entailment_label", "not_entailment"),
    ],
    ids=lambda names: "-".join(names),
)
def test_names_that_do_not_tell_entailment_demand_the_flag(names):
    with pytest.raises(ModelError, match="don't say which output is entailment.*--labels"):
        resolve_labels(names)


def test_not_entailment_is_never_taken_for_entailment():
    assert resolve_labels(("not_entailment", "entailment")).entailment == 1
    assert resolve_labels(("not_supported", "supported")).entailment == 1
    assert resolve_labels(("unfaithful", "faithful")).entailment == 1
    assert resolve_labels(("inconsistent", "consistent")).entailment == 1


def test_one_output_is_refused_as_a_ranking_head():
    with pytest.raises(ModelError, match="one output.*regression or ranking head"):
        resolve_labels(("LABEL_0",))


@pytest.mark.parametrize("names", [(), ("entailment", "neutral", "contradiction", "other")])
def test_other_numbers_of_classes_are_refused(names):
    with pytest.raises(ModelError, match=f"has {len(names)} classes"):
        resolve_labels(names)


def copy(folder, out, **changes):
    """A copy of a checkpoint folder with fields of its config changed; None removes one."""
    shutil.copytree(folder, out)
    config = json.loads((out / "config.json").read_text())
    for name, value in changes.items():
        if value is None:
            config.pop(name, None)
        else:
            config[name] = value
    (out / "config.json").write_text(json.dumps(config))
    return out


def test_a_folder_is_opened_with_its_own_labels(tiny_folder):
    checkpoint = open_checkpoint(str(tiny_folder))
    assert checkpoint.labels.names == tiny_models.THREE
    assert checkpoint.labels.order == (1, 2, 0)
    assert not checkpoint.quantised
    assert [path.name for path in checkpoint.weights] == ["model.safetensors"]


def test_labels_are_read_by_their_number_not_by_their_place_in_the_file(tiny_folder, tmp_path):
    folder = copy(tiny_folder, tmp_path / "m", id2label={"2": "neutral", "0": "contradiction", "1": "entailment"})
    assert open_checkpoint(str(folder)).labels.order == (1, 2, 0)


def test_given_labels_replace_those_of_the_config(tiny_folder):
    names = ("entailment", "neutral", "contradiction")
    assert open_checkpoint(str(tiny_folder), names).labels.order == (0, 1, 2)


def test_labels_that_say_nothing_are_refused_until_they_are_given(tiny_folder, tmp_path):
    folder = copy(tiny_folder, tmp_path / "m", id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    with pytest.raises(ModelError, match="--labels"):
        open_checkpoint(str(folder))
    assert open_checkpoint(str(folder), ("neutral", "entailment", "contradiction")).labels.order == (1, 0, 2)


@pytest.mark.parametrize("names", [("entailment", "not_entailment"), ("a", "b", "c", "d"), ("entailment",)])
def test_a_wrong_number_of_labels_is_refused(tiny_folder, names):
    with pytest.raises(ModelError, match=f"{len(names)} label names were given .* has 3 outputs"):
        open_checkpoint(str(tiny_folder), names)


def test_a_card_in_the_folder_adds_what_the_config_cannot_say(tiny_folder, tmp_path):
    folder = copy(tiny_folder, tmp_path / "m", id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    card = {
        "labels": ["neutral", "contradiction", "entailment"], "max_length": 256, "window": 100, "answer_threshold": 0.7,
        "template": {"hypothesis": "The text says: {}", "join": "text"}, "licence": "for people",
    }  # fmt: skip
    (folder / "card.json").write_text(json.dumps(card))
    checkpoint = open_checkpoint(str(folder))
    assert checkpoint.labels.order == (2, 0, 1)
    assert checkpoint.card == Card(
        ("neutral", "contradiction", "entailment"), Template("The text says: {}", "text"), 256, 100, 0.7
    )
    assert open_checkpoint(str(folder), tiny_models.THREE).labels.order == (1, 2, 0)


def test_a_card_of_ours_gives_way_to_labels_that_the_config_tells(tiny_folder, tmp_path, monkeypatch):
    cards = {"someone/model": {"labels": ["neutral", "contradiction", "entailment"]}}
    monkeypatch.setattr("nli_faith.checkpoints.known_cards", lambda: cards)
    monkeypatch.setattr("nli_faith.checkpoints._folder", lambda name, revision: folder)
    folder = tiny_folder
    assert open_checkpoint("someone/model").labels.order == (1, 2, 0)
    folder = copy(tiny_folder, tmp_path / "m", id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    assert open_checkpoint("someone/model").labels.order == (2, 0, 1)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.pth", "last.ckpt"])
def test_pickled_weights_are_refused_unread(tiny_folder, tmp_path, name):
    folder = copy(tiny_folder, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(b"\x80\x04not even a pickle")
    with pytest.raises(ModelError, match=f"no \\*.safetensors weights.*{name} is pickled and may run code"):
        open_checkpoint(str(folder))


def test_a_folder_without_weights_is_refused(tiny_folder, tmp_path):
    folder = copy(tiny_folder, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no \\*.safetensors weights. Convert"):
        open_checkpoint(str(folder))


def test_a_folder_without_a_config_is_no_model_folder(tiny_folder, tmp_path):
    folder = copy(tiny_folder, tmp_path / "m")
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match="config.json does not exist, so .* is no model folder"):
        open_checkpoint(str(folder))


@pytest.mark.parametrize(("content", "says"), [(b"{", "can't be read"), (b"\xff\xfe{}", "can't be read"), (b"[]", "not a JSON object")])
def test_a_damaged_config_is_refused(tiny_folder, tmp_path, content, says):
    folder = copy(tiny_folder, tmp_path / "m")
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ModelError, match=says):
        open_checkpoint(str(folder))


def test_a_file_in_place_of_a_folder_is_refused(tiny_folder):
    with pytest.raises(ModelError, match="is a file; --model takes a folder"):
        open_checkpoint(str(tiny_folder / "model.safetensors"))


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "a/b/c", "~/models"])
def test_a_path_that_is_not_there_is_no_hub_name(name):
    with pytest.raises(ModelError, match="does not exist"):
        open_checkpoint(name)


def test_a_hub_name_without_network_and_cache_is_said_so(monkeypatch, tmp_path):
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def offline(name, **_):
        raise LocalEntryNotFoundError(f"no {name} here")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ModelError, match="someone/model is not in the local cache and could not be downloaded"):
        open_checkpoint("someone/model")


def test_a_hub_name_takes_what_is_needed_and_nothing_pickled(monkeypatch, tiny_folder):
    import huggingface_hub

    asked = {}

    def download(name, allow_patterns, **_):
        asked[name] = allow_patterns
        return str(tiny_folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert open_checkpoint("someone/model").labels.names == tiny_models.THREE
    (patterns,) = asked.values()
    assert {"config.json", "tokenizer.json", "*.safetensors"} <= set(patterns)
    assert not any(pattern.endswith((".bin", ".pt", "*")) for pattern in patterns)


def test_the_hash_changes_with_weights_config_and_tokenizer_and_with_nothing_else(tiny_folder, tmp_path):
    first = open_checkpoint(str(tiny_folder)).hash
    assert len(first) == 16 and int(first, 16) >= 0
    same = copy(tiny_folder, tmp_path / "same")
    (same / "config.json").write_bytes((tiny_folder / "config.json").read_bytes())
    (same / "README.md").write_text("words")
    assert open_checkpoint(str(same)).hash == first
    seen = {first}
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        other = copy(same, tmp_path / name)
        data = (other / name).read_bytes()
        (other / name).write_bytes(data[:-1] + (b" " + data[-1:] if name.endswith(".json") else bytes([data[-1] ^ 1])))
        seen.add(open_checkpoint(str(other)).hash)
    assert len(seen) == 4


def test_weights_in_several_files_are_one_checkpoint(tiny_folder, tmp_path):
    from safetensors.torch import load_file, save_file

    from nli_faith.networks import load_state

    folder = copy(tiny_folder, tmp_path / "m")
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(state)
    for part, own in enumerate((names[::2], names[1::2])):
        save_file({name: state[name] for name in own}, folder / f"model-0000{part + 1}-of-00002.safetensors")
    loaded = load_state(open_checkpoint(str(folder)))
    assert sorted(loaded) == names
    assert all((loaded[name] == state[name]).all() for name in names)


def test_int8_rows_are_read_as_the_scaled_rows_they_stand_for(tiny_folder, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    from nli_faith.networks import load_state

    folder = copy(tiny_folder, tmp_path / "m", quantisation="int8-rows")
    state = load_file(folder / "model.safetensors")
    stored, wanted = {}, {}
    for name, tensor in state.items():
        if tensor.ndim == 2 and "rel_embeddings" not in name and not name.startswith("classifier"):
            scale = tensor.abs().amax(dim=1) / 127
            rows = torch.round(tensor / scale[:, None])
            stored |= {name: rows.to(torch.int8), f"{name}.scale": scale}
            wanted[name] = rows * scale[:, None]
            assert (wanted[name] - tensor).abs().amax() <= scale.amax() * 0.51
        else:
            stored[name] = wanted[name] = tensor
    save_file(stored, folder / "model.safetensors")
    checkpoint = open_checkpoint(str(folder))
    assert checkpoint.quantised
    loaded = load_state(checkpoint)
    assert sorted(loaded) == sorted(state)
    for name, tensor in loaded.items():
        assert tensor.dtype == torch.float32
        np.testing.assert_allclose(tensor.numpy(), wanted[name].numpy(), rtol=1e-6, atol=0)


def test_a_classifier_without_its_trained_head_is_refused(roberta_folder, tmp_path):
    from safetensors.torch import load_file, save_file

    from nli_faith.networks import build_network

    network, attention = build_network(open_checkpoint(str(roberta_folder)))
    assert attention == "transformers" and not network.training
    folder = copy(roberta_folder, tmp_path / "m")
    state = load_file(folder / "model.safetensors")
    del state["classifier.out_proj.weight"]
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match="lack classifier.out_proj.weight, so it is no trained classifier"):
        build_network(open_checkpoint(str(folder)))


def test_half_precision_weights_are_widened(tiny_folder, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    from nli_faith.networks import load_state

    folder = copy(tiny_folder, tmp_path / "m")
    state = {name: tensor.half() for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(state, folder / "model.safetensors")
    loaded = load_state(open_checkpoint(str(folder)))
    assert all(tensor.dtype == torch.float32 and (tensor == state[name].float()).all() for name, tensor in loaded.items())


def test_every_card_can_be_read_and_has_labels_that_resolve():
    cards = known_cards()
    assert DEFAULT_MODEL in cards
    for name, fields in cards.items():
        card = Card.from_dict(fields)
        assert fields["name"] == name
        assert card.template.hypothesis.count("{}") == 1, name
        assert card.template.join in ("pair", "separator", "text"), name
        assert 0 < card.answer_threshold < 1, name
        assert card.window is None or card.window < card.max_length, name
        if card.labels is not None:
            resolve_labels(card.labels)
