"""The scripts for newcomers: readable by bash, clear when Python is missing or old, right about the example file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "scripts" / "examples" / "answers.jsonl"
SCRIPTS = [*(ROOT / "scripts" / name for name in ("quickstart", "test", "nightly")), ROOT / ".ci" / "run"]


@pytest.fixture
def checkout(tmp_path):
    """The repository as a newcomer has it, big folders as links; with an environment that looks installed."""
    for name in ("nli_faith", "models", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name, command in {"python": "", "nli-faith": "-m nli_faith"}.items():
        program = tmp_path / ".venv" / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        program.chmod(0o755)
    stamp = tmp_path / ".venv" / "installed-test"
    stamp.touch()
    os.utime(stamp, (time.time() + 3600,) * 2)  # whatever is edited while the tests run
    return tmp_path


def bash(script: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHON", "NLI_FAITH_VENV")}
    environment = {"PYTHONPATH": str(ROOT)} | environment
    command = [shutil.which("bash"), str(script), *words]
    return subprocess.run(command, env=inherited | environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("script", [*SCRIPTS, ROOT / "scripts" / "environment.sh"], ids=lambda path: path.name)
def test_bash_can_read_it(script):
    text = script.read_text()
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    assert not re.search(r"https?://|index-url|find-links", text)
    if script in SCRIPTS:
        assert text.startswith("#!/usr/bin/env bash\n") and "\nset -euo pipefail\n" in text
        assert os.access(script, os.X_OK)


def test_the_ci_runs_the_tests_and_then_the_quick_start_in_a_fresh_environment():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines.index("bash scripts/test") < lines.index("bash scripts/quickstart")
    assert 'folder="$(mktemp -d)"' in lines and 'export NLI_FAITH_VENV="$folder/venv"' in lines
    assert "export HF_HUB_OFFLINE=1" in lines


def test_an_old_python_is_named(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2"\nexit 1\n')
    old.chmod(0o755)
    done = bash(ROOT / "scripts" / "quickstart", PYTHON=str(old), NLI_FAITH_VENV=str(tmp_path / "venv"))
    assert done.returncode == 1 and not (tmp_path / "venv").exists()
    assert "needs Python 3.11 or newer" in done.stderr and "Python 3.9.2" in done.stderr


def test_no_python_at_all(tmp_path):
    for name in ("dirname", "basename", "find"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = bash(ROOT / "scripts" / "test", PATH=str(tmp_path), NLI_FAITH_VENV=str(tmp_path / "venv"))
    assert done.returncode == 1 and "no Python was found" in done.stderr and "PYTHON=/path/to/python" in done.stderr


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("x")
    done = bash(ROOT / "scripts" / "quickstart", NLI_FAITH_VENV=str(tmp_path))
    assert done.returncode == 1 and "is no environment" in done.stderr and "NLI_FAITH_VENV=" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_quickstart(checkout):
    done = bash(checkout / "scripts" / "quickstart", HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    out = checkout / "runs" / "quickstart" / "answers.scored.jsonl"
    rows = {row["id"]: row for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert f"is in {out.relative_to(checkout)}" in done.stdout and "installing" not in done.stderr
    assert re.search(r"^rows +13\s*$", done.stdout, re.M) and "Made up" in done.stdout
    # What no model that is worth shipping gets wrong.
    states = {"hr-3": "no_claims", "travel-2": "no_context", "science-3": "empty_answer"}
    assert {key: row["status"] for key, row in rows.items()} == {key: states.get(key, "scored") for key in rows}
    assert rows["shop-1"]["faithfulness"] == 1.0 and rows["travel-2"]["faithfulness"] == 0.0
    assert re.search(r"^  product-1 +\w+ +The battery of the Lumen 3 lasts 12 hours", done.stdout, re.M)
    assert re.search(r"^  hr-2 +\w+ +The company pays for the flight", done.stdout, re.M)


def test_the_test_script_hands_on_its_arguments(checkout):
    (checkout / "tests").mkdir()
    (checkout / "tests" / "test_two.py").write_text(
        "import pytest\n\ndef test_quick():\n    pass\n\n@pytest.mark.slow\ndef test_long():\n    pass\n"
    )
    script = checkout / "scripts" / "test"
    assert "1 passed, 1 deselected" in bash(script).stdout
    assert "2 passed" in bash(script, "--slow", "-p", "no:cacheprovider").stdout
    assert bash(script, "-k", "nothing_of_that_name").returncode == 5  # pytest's own status for an empty selection


def test_the_example_shows_every_state_and_shape():
    rows = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) == 13
    assert all(list(row) == ["id", "topic", "question", "answer", "contexts"] for row in rows)
    answers = [row["answer"] for row in rows]
    assert any(answer.isdigit() for answer in answers) and any("\n- " in answer for answer in answers) and "" in answers
    assert any(not row["contexts"] for row in rows)
    assert any(chunk.startswith("{") and json.loads(chunk) for row in rows for chunk in row["contexts"])
