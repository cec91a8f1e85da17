"""Runs that are killed at random moments and run again give the bytes of undisturbed ones; `scripts/soak` sees it when not."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent.parent / "scripts" / "soak"


@pytest.fixture(scope="module")
def soak():
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("soak", str(SOAK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    sys.modules["soak"] = module  # where its data classes look for their annotations
    loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.platform == "win32", reason="forks and SIGKILL")
def test_five_kills():
    done = subprocess.run(
        [sys.executable, SOAK, "--kills", "5", "--rows", "200", "--fork"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ +5  kills in \d runs.*files equal, none different", done.stdout, re.MULTILINE)


def runs_of_a_stub(soak, monkeypatch, spoil):
    """`soak` with a stub for the command: killed at its first start in a folder, done at its second."""

    def run(start, kill, folder, case):
        if folder.name.startswith("round") and not (folder / "out.parquet.parts").exists():
            (folder / "out.parquet.parts").mkdir()
            return -signal.SIGKILL, 0.1, 0
        for name in ("out.parquet", "claims.parquet"):
            (folder / name).write_bytes(b"x")
        (folder / "out.parquet.summary.json").write_text(json.dumps({"rows": 1, "seconds": folder.name}))
        if folder.name.startswith("round"):
            (folder / "out.parquet.parts").rmdir()
            spoil(folder)
        return 0, 0.1, 9

    monkeypatch.setattr(soak, "run", run)
    monkeypatch.setattr(soak, "write_rows", lambda path, rows: None)


def test_the_script_counts(soak, monkeypatch, tmp_path):
    runs_of_a_stub(soak, monkeypatch, lambda folder: None)
    stages, rounds, compared = soak.soak(1, 5, 0, tmp_path, None)
    assert dict(stages) == {"before the first part was finished": 1} and (rounds, compared) == (1, 3)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "out.parquet").write_bytes(b"y"), "out.parquet of .* differs"),
        (lambda folder: (folder / "claims.parquet").write_bytes(b""), "claims.parquet of .* differs"),
        (lambda folder: (folder / "out.parquet.summary.json").write_text('{"rows": 2}'), "summary.json of .* differs"),
        (lambda folder: (folder / "out.parquet.parts").mkdir(), "left .*out.parquet.parts"),
    ],
)
def test_the_script_sees_every_difference(soak, monkeypatch, tmp_path, spoil, said):
    runs_of_a_stub(soak, monkeypatch, spoil)
    with pytest.raises(SystemExit, match=said):
        soak.soak(1, 5, 0, tmp_path, None)
