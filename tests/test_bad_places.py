"""Inputs and outputs that can't be where they are asked to be: one sentence, and every file stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_fixtures import folder, run  # noqa: F401
from test_bad_input import one_sentence

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
    ("unfinished work of something else", files(out_jsonl_parts__mine_txt="x"), "in.jsonl -o out.jsonl --overwrite",
     "holds 'mine.txt', and no run of nli-faith wrote that", 1),
    ("parts of something else", files(out_jsonl_parts__data__mine_txt="x"), "in.jsonl -o out.jsonl",
     "holds 'data/mine.txt', and no run of nli-faith wrote that", 1),
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
    ("an empty name of an input", None, ["", "-o", "out.jsonl"], "The name of an input is empty", 1),
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
