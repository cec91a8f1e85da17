"""What the README says is so: its commands and Python run, and every flag, column, state and name stands in it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from nli_faith import cli
from nli_faith.arguments import make_parser
from nli_faith.columns import KNOWN_NAMES
from nli_faith.outputs import CLAIM_FILE_NAMES, SCORE_NAMES
from nli_faith.summary import Statistics, make_summary
from nli_faith.types import KINDS, STATUSES, VERDICTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- (not run by the tests: [a-z ]+) -->\n)?```(\w+)\n(.*?)^```$", re.M | re.S)
BLOCKS = [match.groups() for match in BLOCK.finditer(README)]


def parsers() -> dict:
    (choices,) = [action.choices for action in make_parser()._actions if action.dest == "command"]
    return choices


def section(title: str) -> str:
    """The text below a heading, to the next one of any level."""
    return re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", README, re.M | re.S)[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the README's reader has it, shared by the blocks in their order."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(ROOT / "scripts" / "examples" / "answers.jsonl", folder)
    (folder / "chunk.txt").write_text("Full-time employees get 15 days of leave a year.", encoding="utf-8")
    _write_labelled(folder)
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def _write_labelled(folder: Path) -> None:
    """60 labelled answers and a judge's verdicts on them, as somebody brings them who calibrates."""
    rows = [
        {
            "question": f"What does plan {i} cost?",
            "answer": f"Plan {i} costs {20 + i} dollars a month.",
            "contexts": [f"Plan {i} costs {20 + i} dollars a month." if i % 3 else f"Plan {i} is not sold any more."],
            "label": i % 3 != 0,
        }
        for i in range(60)
    ]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    verdicts = [{"row": i, "verdict": "PASS" if row["label"] else "FAIL"} for i, row in enumerate(rows)]
    (folder / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in verdicts), encoding="utf-8")


def commands(block: str) -> list[list[str]]:
    lines = block.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


SHELL = [words for marked, language, text in BLOCKS if language == "bash" and not marked for words in commands(text)]
PYTHON = [text for marked, language, text in BLOCKS if language == "python" and not marked]


@pytest.mark.parametrize("command", SHELL, ids=lambda command: " ".join(command)[:50])
def test_commands_run(folder, capsys, command):
    assert command[0] == "nli-faith"
    assert cli.main(command[1:]) == 0
    out = capsys.readouterr().out
    assert out.strip()
    if "--context" in command and "--json" not in command:
        shown = re.search(r"^```text\n(✓.*?)```", README, re.M | re.S)[1]
        # Probabilities belong to the model; verdicts as obvious as these don't change.
        assert out.splitlines()[1] == shown.splitlines()[1] and out[:11] == shown[:11]


@pytest.mark.parametrize("code", PYTHON, ids=["score", "score_rows", "score_frame"])
def test_python_runs(folder, code):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {})
    assert "scored" in said.getvalue()


def test_every_block_is_run_or_says_why_not():
    assert {language for _, language, _ in BLOCKS} == {"bash", "python", "text"}
    marked = [text for mark, _, text in BLOCKS if mark]
    assert all(re.search(r"scripts/|pip install|--model ORGANISATION/MODEL", text) for text in marked)
    for name in re.findall(r"^(?:bash )?((?:scripts|\.ci)/\w+)", "\n".join(marked), re.M):
        assert os.access(ROOT / name, os.X_OK)


def test_every_command_and_flag_is_documented():
    for name, parser in parsers().items():
        assert f"nli-faith {name}" in README
        own = section(f"nli-faith {name}") if name in ("score", "check") else README
        for action in parser._actions:
            for flag in action.option_strings:
                if flag not in ("-h", "--help"):
                    assert re.search(rf"`{flag}[` ]", own), f"{flag} of {name}"


def test_no_flag_is_documented_that_is_not_there():
    known = {flag for parser in parsers().values() for action in parser._actions for flag in action.option_strings}
    known |= {"--version", "--slow"}
    # Scripts and benchmarks have flags of their own.
    ours = re.sub(r"`(?:benchmarks|scripts)/[^`]*`", "", README)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", ours)) <= known


def test_every_output_is_documented():
    output = section("Output")
    for name in (*SCORE_NAMES, *CLAIM_FILE_NAMES, *STATUSES, *KINDS, *VERDICTS):
        assert f"`{name}`" in output, name
    for name in [*make_summary(Statistics(), {}, "x")]:
        assert f"`{name}`" in output, name


def test_every_input_name_is_documented():
    for role, names in KNOWN_NAMES.items():
        assert re.search(rf"^\| {role}.*\| {', '.join(names)} \|$", section("Input columns"), re.M)


def test_every_exit_status_is_documented():
    stated = {int(number) for number in re.findall(r"^\| (\d+) \|", section("Exit status"), re.M)}
    assert stated == {cli.DONE, cli.FAILED, cli.USAGE, cli.MISSED, cli.INTERRUPTED}


def test_every_module_and_link_is_there():
    for name in re.findall(r"`(\w+\.py)`", README):
        assert (ROOT / "nli_faith" / name).is_file()
    assert re.findall(r"\]\((.*?)\)", README) == ["models/nli-faith-xsmall/README.md", "LICENSE"]
    for name in ("scripts/constraints.txt", "scripts/examples/answers.jsonl", "nli_faith/data/NOTICE"):
        assert f"`{name}`" in README and (ROOT / name).is_file()


def test_no_host_is_named():
    assert not re.search(r"https?://", README)
