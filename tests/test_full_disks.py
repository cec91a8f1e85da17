"""Disks that fill up, break or can't be written: one sentence, and the same command goes on when there is room again."""

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
from test_bad_places import LINE, snapshot

from nli_faith import cli, copies, targets
from nli_faith.errors import InputError
from nli_faith.files import score_file
from nli_faith.options import FileOptions


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="limits of a process that Windows lacks")
@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".csv"])
def test_triage_and_merge_outgrow_their_limit(run, folder, ending):
    import resource

    (folder / "in.jsonl").write_text(rows_of(400))
    assert run("score", "in.jsonl", "-o", "a.jsonl", "--model", "fake")[0] == 0
    assert run("triage", "a.jsonl", "-o", "t.jsonl", "--budget", 0.5)[0] == 0
    (folder / "v.jsonl").write_text('{"row": 0, "faithful": true}\n')
    labels = [line | {"label": i % 2} for i, line in enumerate(map(json.loads, open("a.jsonl")))]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labels))
    before = snapshot(folder)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    for words in (["triage", "a.jsonl", "-o", f"new{ending}", "--judge-out", "j.jsonl"],
                  ["merge", "t.jsonl", "v.jsonl", "-o", f"new{ending}"],
                  ["calibrate", "labelled.jsonl", "-o", "c.json", "--summary", "a.jsonl.summary.json"]):  # fmt: skip
        resource.setrlimit(resource.RLIMIT_FSIZE, (900, limit[1]))
        try:
            status, out, err = run(*words)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert status == 1 and out == "" and "can't be written: " in one_sentence(err)
        assert snapshot(folder) == before
        place = "/proc/x.json" if words[0] == "calibrate" else "/proc/x.jsonl"
        words[words.index("-o") + 1] = place
        status, _, err = run(*words)
        assert status == 1 and place in one_sentence(err)


def test_a_copy_that_is_killed_leaves_one_folder(run, folder, monkeypatch):
    (folder / "in.jsonl").write_text(rows_of(40))
    assert run("score", "in.jsonl", "-o", "a.jsonl", "--model", "fake")[0] == 0
    before = set(os.listdir(folder))
    for _ in range(3):
        process = os.fork()
        if process == 0:
            monkeypatch.setattr(copies.LineFormat, "join", lambda *args: os._exit(9))
            cli.main(["triage", "a.jsonl", "-o", "t.jsonl"])
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
        assert set(os.listdir(folder)) - before == {"t.jsonl.parts"}
    assert run("triage", "a.jsonl", "-o", "t.jsonl")[0] == 0
    assert set(os.listdir(folder)) - before == {"t.jsonl"}
    # Unfinished work of a run that goes to the same place is not taken away.
    with pytest.raises(RuntimeError):
        score_file(StubScorer(2), "in.jsonl", "u.jsonl", window_rows=9)
    assert "made from something else" in run("triage", "a.jsonl", "-o", "u.jsonl")[2]
    assert score_file(StubScorer(), "in.jsonl", "u.jsonl", window_rows=9)["rows"] == 40


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
