"""Fixtures of the tests that run commands: import both into a test file."""

from __future__ import annotations

import os

import pytest

from nli_faith import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test runs in a folder of its own, without waiting for disks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command in this process: (status, stdout, stderr)."""

    def run(*words: object):
        status = cli.main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run
