"""Model folders that can't be trusted, through the command line: one sentence, and no code of theirs runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_fixtures import folder, run  # noqa: F401
from test_bad_input import one_sentence
from test_bad_places import LINE, snapshot


def change(name: str, edit) -> object:
    def make(model: Path) -> None:
        path = model / name
        if edit is None:
            path.unlink()
        elif isinstance(edit, bytes):
            path.write_bytes(edit)
        else:
            path.write_text(json.dumps(edit(json.loads(path.read_text()))))

    return make


def nan_weights(model: Path) -> None:
    from safetensors.torch import load_file, save_file

    state = load_file(model / "model.safetensors")
    state["classifier.bias"] = state["classifier.bias"] * float("nan")
    save_file(state, model / "model.safetensors", {"format": "pt"})


def pickled_weights(model: Path) -> None:
    (model / "model.safetensors").unlink()
    # Unpickling this would make a file; nobody may unpickle it.
    (model / "pytorch_model.bin").write_bytes(b"cos\nmkdir\n(Vunpickled\ntR.")


def remote_code(model: Path) -> None:
    change("config.json", lambda config: config | {
        "auto_map": {"AutoModelForSequenceClassification": "evil.Evil", "AutoConfig": "evil.Evil"}, "model_type": "evil"})(model)  # fmt: skip
    (model / "evil.py").write_text("import os\nos.mkdir('ran')\nclass Evil: pass\n")


MODELS = [
    ("no config", change("config.json", None), "config.json"),
    ("a config that is no JSON", change("config.json", b"{"), "config.json"),
    ("a config that is a list", change("config.json", b"[]"), "not a JSON object"),
    ("no tokenizer", change("tokenizer.json", None), "tokenizer.json"),
    ("a tokenizer that is no tokenizer", change("tokenizer.json", b"{}"), "can't be read as a tokenizer"),
    ("labels that say nothing", change("config.json", lambda config: config | {"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}),
     "--labels"),
    ("labels of a ranking model", change("config.json", lambda config: config | {"id2label": {"0": "relevant"}}), "one output"),
    ("no weights", change("model.safetensors", None), "safetensors"),
    ("weights cut off", lambda model: change("model.safetensors", (model / "model.safetensors").read_bytes()[:5000])(model), "can't be read"),
    ("NaN weights", nan_weights, "NaN or infinity"),
    ("pickled weights", pickled_weights, "safetensors"),
    ("code of its own", remote_code, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spoil", "said"), MODELS, ids=[case[0] for case in MODELS])
def test_a_model_that_is_refused(run, folder, tiny_folder, name, spoil, said):
    (folder / "in.jsonl").write_text(LINE)
    shutil.copytree(tiny_folder, folder / "model")
    spoil(folder / "model")
    before = snapshot(folder)
    status, out, err = run("score", "in.jsonl", "--model", "./model", "--device", "cpu")
    assert said in one_sentence(err) and status == 1 and out == ""
    assert snapshot(folder) == before, "no code of the model ran, and nothing was written"
