"""Inputs and outputs that can't be where they are asked to be: one sentence, and every file stays as it was."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from pathlib import Path

import pytest
from cli_fixtures import folder, run  # noqa: F401
from file_stubs import StubScorer
from test_bad_input import one_sentence

from nli_faith import targets
from nli_faith.errors import InputError
from nli_faith.files import score_file
from nli_faith.options import FileOptions

LINE = '{"answer": "It is so.", "contexts": ["It is so."]}\n'
LONG = "x" * 300


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    """Every path below `folder` with the bytes of files, the target of links and None for the rest."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def files(**texts: str):
    """A maker of files; "__" in a name stands for "/", "_" for "."."""

    def make(folder: Path) -> None:
        for name, text in texts.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return make


def folders(*names: str):
    return lambda folder: [(folder / name).mkdir(parents=True, exist_ok=True) for name in names]


def link(name: str, target: str, hard: bool = False):
    return lambda folder: (os.link if hard else os.symlink)(folder / target if hard else target, folder / name)


# (name, what makes the folder beside in.jsonl, words of the command, words of the sentence, status)
PLACES = [
    # The output is an input, or would take one away.
    ("the input itself", None, "in.jsonl -o in.jsonl", "is one of the inputs", 1),
    ("the input by another path", folders("x"), "in.jsonl -o x/../in.jsonl", "is one of the inputs", 1),
    ("a link to the input", link("out.jsonl", "in.jsonl"), "in.jsonl -o out.jsonl", "is one of the inputs", 1),
    ("a hard link to the input", link("out.jsonl", "in.jsonl", hard=True), "in.jsonl -o out.jsonl --overwrite",
     "is one of the inputs", 1),
    ("claims over the input", None, "in.jsonl --claims-out in.jsonl", "is one of the inputs", 1),
    ("the summary over the input", files(out_jsonl_summary_json=f"[{LINE}]"),
     "out.jsonl.summary.json -o out.jsonl", "is one of the inputs", 1),
    ("an input inside the unfinished work", files(out_jsonl_parts__data__in_jsonl=LINE),
     "out.jsonl.parts/data/in.jsonl -o out.jsonl", "is a folder of inputs", 1),
    ("the folder of the input", files(in__a_jsonl=LINE), "in -o in/ --overwrite", "is a folder of inputs", 1),
    ("a folder above the input", files(in__deep__a_jsonl=LINE), "in/deep/a.jsonl -o in/ --overwrite",
     "is a folder of inputs", 1),
    # Two outputs in one place.
    ("claims over the output", None, "in.jsonl -o out.jsonl --claims-out out.jsonl", "are the same file", 2),
    ("claims over the default output", None, "in.jsonl --claims-out in.scored.jsonl", "are the same file", 2),
    ("claims over the output by another path", folders("x"), "in.jsonl -o out.jsonl --claims-out x/../out.jsonl",
     "are the same file", 2),
    ("claims over the summary", None, "in.jsonl -o out.jsonl --claims-out out.jsonl.summary.json", "the summary", 2),
    ("claims inside the output folder", None, "in.jsonl -o out/ --claims-out out/claims.jsonl", "inside", 2),
    ("claims inside the unfinished work", None, "in.jsonl -o o.jsonl --claims-out o.jsonl.parts/c.jsonl", "inside", 2),
    # Something stands there.
    ("an output that exists", files(out_jsonl="x"), "in.jsonl -o out.jsonl", "exists already", 1),
    ("claims that exist", files(c_jsonl="x"), "in.jsonl --claims-out c.jsonl", "exists already", 1),
    ("claims that exist, beside unfinished work of another run",
     files(c_jsonl="x", in_scored_jsonl_parts__manifest_json='{"options": {"claims_out": null}}'),
     "in.jsonl --claims-out c.jsonl", "exists already", 1),
    ("a folder that is a file", files(out="x"), "in.jsonl -o out/", "is a file", 1),
    ("a folder that is a file, to be replaced", files(out="x"), "in.jsonl -o out/ --overwrite", "is a file", 1),
    ("a folder of something else", files(out__thesis_txt="x"), "in.jsonl -o out/ --overwrite", "'thesis.txt'", 1),
    ("claims that are a folder", folders("c.jsonl"), "in.jsonl --claims-out c.jsonl --overwrite", "is a folder", 1),
    ("a summary that is a folder", folders("out.jsonl.summary.json"), "in.jsonl -o out.jsonl", "is a folder", 1),
    ("unfinished work that is a file", files(out_jsonl_parts="x"), "in.jsonl -o out.jsonl", "can't be made", 1),
    ("a lock that is a folder", folders("out.jsonl.parts/lock"), "in.jsonl -o out.jsonl", "can't be locked", 1),
    # No place at all.
    ("the working folder", None, "in.jsonl -o .", "is the working folder", 2),
    ("the folder above", None, "in.jsonl -o ..", "is a folder of inputs", 1),
    ("the root", None, "in.jsonl -o /", "the root of a disk", 2),
    ("below a file", files(file="x"), "in.jsonl -o file/out.jsonl", "can't be made", 1),
    ("claims below a file", files(file="x"), "in.jsonl --claims-out file/c.jsonl", "can't be made", 1),
    ("a name that is too long", None, f"in.jsonl -o {LONG}.jsonl", "File name too long", 1),
    ("claims whose name is too long", None, f"in.jsonl --claims-out {LONG}.jsonl", "File name too long", 1),
    ("a folder whose name is too long", None, f"in.jsonl -o {LONG}/", "File name too long", 1),
    ("where nothing can be made", None, "in.jsonl -o /proc/nothing/out.jsonl", "can't be made", 1),
    ("a URL", None, "in.jsonl -o s3://bucket/out.jsonl", "must be a local path", 2),
    ("claims at a URL", None, "in.jsonl --claims-out s3://bucket/c.jsonl", "must be a local path", 2),
    ("no known ending", None, "in.jsonl -o out.xlsx", "has no known ending", 2),
    ("an empty name", None, ["in.jsonl", "-o", ""], "has no known ending", 2),
    ("claims without a known ending", None, "in.jsonl --claims-out claims", "has no known ending", 2),
    # Inputs that are not there, or are several things.
    ("no such file", None, "nothing.jsonl", "does not exist", 1),
    ("a dangling link", link("a.jsonl", "nothing"), "a.jsonl", "does not exist", 1),
    ("a pipe", lambda folder: os.mkfifo(folder / "a.jsonl"), "a.jsonl", "does not exist or holds no files", 1),
    ("an empty folder", folders("x"), "x -o out.jsonl", "holds no files", 1),
    ("a folder of other things", files(x__a_txt="x"), "x -o out.jsonl", "holds no file that ends in", 1),
    ("a glob of nothing", None, "*.csv -o out.csv", "does not exist", 1),
    ("two formats", files(a_csv="answer,contexts\na,c\n"), "in.jsonl a.csv -o out.csv", "of different formats", 1),
    ("a file twice", None, "in.jsonl ./in.jsonl -o out.jsonl", "is named twice", 1),
    ("an input whose name is too long", None, f"{LONG}.jsonl", "does not exist", 1),
    ("two inputs without -o", files(a_jsonl=LINE), "in.jsonl a.jsonl", "Name the output with -o", 2),
    ("an unknown protocol", None, "nosuch://a.jsonl -o out.jsonl", "Check the part before '://'", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make", "words", "said", "code"), PLACES, ids=[case[0] for case in PLACES])
def test_a_place_that_is_refused(run, folder, name, make, words, said, code):
    (folder / "in.jsonl").write_text(LINE)
    if make is not None:
        make(folder)
    before = snapshot(folder)
    status, out, err = run("score", *(words.split() if isinstance(words, str) else words), "--model", "fake")
    assert said in one_sentence(err) and out == ""
    assert status == code
    assert snapshot(folder) == before


# Disks that fill up ----------------------------------------------------------------------------------------------


def rows_of(count: int) -> str:
    return "".join(json.dumps({"answer": f"It is so {i}.", "contexts": ["It is so. " * 9], "n": i}) + "\n" for i in range(count))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="limits of a process that Windows lacks")
@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".jsonl.gz", ".csv", "/"])
def test_a_file_that_outgrows_its_limit(run, folder, ending):
    """A real failure of writing, by the limit on the size of a file that a process may write."""
    import resource

    (folder / "in.jsonl").write_text(rows_of(400))
    words = ["score", "in.jsonl", "-o", f"out{ending}", "--claims-out", "c.jsonl", "--model", "fake"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, before[1]))
    try:
        status, out, err = run(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 1 and out == ""
    assert "can't be written: " in one_sentence(err) and "the same command again" in err
    assert snapshot(folder).keys() == {"in.jsonl"}, "nothing was finished, so nothing is left"
    assert run(*words)[0] == 0
    assert not list(folder.glob("*.parts"))


@pytest.mark.parametrize("call", range(0, 60, 3))
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_disk_that_fills_up_at_any_moment(folder, monkeypatch, call, function):
    """One sentence that says to free some space, no half output; afterwards the same call gives the same bytes."""
    (folder / "in.jsonl").write_text(rows_of(40))
    options = FileOptions(claims_out="claims.csv")

    def score(out: str) -> None:
        score_file(StubScorer(), "in.jsonl", out, options, window_rows=9)

    score("whole.jsonl")
    os.rename("claims.csv", "whole.csv")
    calls, real = itertools.count(), getattr(os, function)

    def full(*args):
        if next(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        try:
            score("out.jsonl")
        except InputError as error:
            assert "No space left on device. Free some space, then run the same command again" in str(error)
        else:
            assert next(calls) <= call, "every failure is told"
    if not (folder / "out.jsonl").exists() or list(folder.glob("*.parts")):
        score("out.jsonl")
    assert (folder / "out.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert (folder / "claims.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    assert not list(folder.glob("*.parts"))


def test_the_disks_of_both_outputs_are_asked(folder, monkeypatch):
    """Claims may go to another disk than the output; each is asked for what goes there."""
    devices = {"here": (1, 500), "there": (2, 500)}

    def stat(path):
        return type("Stat", (), {"st_dev": devices[Path(path).name][0]})

    monkeypatch.setattr(targets.os, "stat", stat)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": devices[Path(path).name][1]}))
    targets.check_space({Path("here"): 400, Path("there"): 400})
    with pytest.raises(InputError, match="there"):
        targets.check_space({Path("here"): 400, Path("there"): 600})
    devices["there"] = (1, 500)
    with pytest.raises(InputError, match="nothing is scored twice"):
        targets.check_space({Path("here"): 400, Path("there"): 400})


def test_a_folder_of_claims_that_can_not_be_written_is_said_first(run, folder, monkeypatch):
    (folder / "in.jsonl").write_text(LINE)
    (folder / "locked").mkdir()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked" and real(path, mode))
    status, _, err = run("score", "in.jsonl", "--claims-out", "locked/c.jsonl", "--model", "fake")
    assert status == 1 and "No file can be made in the folder" in one_sentence(err)
    assert sorted(os.listdir(folder)) == ["in.jsonl", "locked"]


def test_a_part_that_can_not_be_read_is_said(folder, monkeypatch):
    """A part that the disk damaged without changing its length."""
    (folder / "in.jsonl").write_text(rows_of(40))
    with monkeypatch.context() as patch:
        patch.setattr(targets, "check_space", lambda needed: None)
        with pytest.raises(RuntimeError):
            score_file(StubScorer(3), "in.jsonl", "out.parquet", window_rows=9)
    part = folder / "out.parquet.parts" / "data" / "part-00001.parquet"
    part.write_bytes(b"\0" * part.stat().st_size)
    with pytest.raises(InputError, match=r"part-00001.parquet.*[Rr]emove"):
        score_file(StubScorer(), "in.jsonl", "out.parquet", window_rows=9)
    part.unlink()
    assert score_file(StubScorer(), "in.jsonl", "out.parquet", window_rows=9)["rows"] == 40


# Links -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_to_a_folder_stays_a_link(run, folder):
    (folder / "in.jsonl").write_text(LINE)
    (folder / "real").mkdir()
    os.symlink("real", folder / "link")
    for _ in range(2):
        status, _, err = run("score", "in.jsonl", "-o", "link/", "--model", "fake", "--overwrite")
        assert status == 0, err
        assert os.readlink(folder / "link") == "real" and os.listdir(folder / "real") == ["part-00000.jsonl"]
    assert not list(folder.glob("*.parts"))


# Models ----------------------------------------------------------------------------------------------------------


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
