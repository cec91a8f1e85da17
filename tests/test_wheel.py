"""The wheel is whole: installed away from the checkout, it checks an answer with the model that it carries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from nli_faith import __version__

ROOT = Path(__file__).parent.parent


def run(*words: object, **options) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(word) for word in words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The commands of a new environment, which takes all but nli-faith from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", commands / "python")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    lent = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (own / "lent.pth").write_text("\n".join(lent) + "\n")  # comes behind its own packages on sys.path
    return commands


def test_what_the_wheel_carries(wheel):
    assert wheel.name == f"nli_faith-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    model = {"config.json", "model.safetensors", "tokenizer.json", "card.json"}
    assert names >= {f"nli_faith/models/nli-faith-xsmall/{name}" for name in model}
    assert names >= {f"nli_faith/{path.relative_to(ROOT / 'nli_faith')}" for path in (ROOT / "nli_faith").rglob("*.py")}
    assert "nli_faith/data/punkt_english.json" in names and any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {"nli_faith", f"nli_faith-{__version__}.dist-info"}


def test_the_installed_command(installed, tmp_path):
    assert run(installed / "nli-faith", "--version", cwd=tmp_path) == f"nli-faith {__version__}\n"
    answer = "The shop opens at nine in the morning. The shop never closes."
    context = "The shop opens at nine in the morning and closes at six."
    words = ("check", "--answer", answer, "--context", context, "--json")
    score = json.loads(run(installed / "nli-faith", *words, cwd=tmp_path))
    assert [claim["verdict"] == "supported" for claim in score["claims"]] == [True, False]
    code = "import nli_faith.checkpoints as c; print(c.open_checkpoint('nli-faith-xsmall').folder)"
    folder = Path(run(installed / "python", "-c", code, cwd=tmp_path).strip())
    assert installed.parent in folder.parents and ROOT not in folder.parents
