"""Floors: a module imports lower floors, or what stands to its left on its own. Heavy libraries stay where they belong."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nli_faith

PACKAGE = Path(nli_faith.__file__).parent

FLOORS = {
    "ground": "errors types options json_text ahead memory",
    "text": "abbreviations verbs periods sentences source_names citation_marks markup tails foreign_refusals refusals greetings questions kinds leads spans fences list_marks table_blocks blocks headings json_answers reading clause_words clause_heads clauses claims language structured evidence",
    "facts": "quantities units number_words dates rates hedges amounts compounds numerals counted same_times versions numbers negation statements flags",
    "tokens": "words tokens long_claims windows pairs batches",
    "decision": "scores",
    "model": "classes checkpoints deberta_config deberta flat devices networks packed parity staging trials backoff fake model",
    "storage": "cells columns sources json_arrays records arrow_readers readers outputs rows formats writers disk locks manifests shards targets provenance joins summary",
    "judged": "proportions figures labels cuts calibrations scored_cells scored scored_runs copies calibrate triage judge report",
    "chain": "waves drafts joined identity in_memory frames tables pipeline workers",
    "top": "files plans preview doctor made_up speed bench display progress pipes prefilter_display prefilter_arguments arguments prefilter_commands cli __main__",
}
ORDER = [name for floor in FLOORS.values() for name in floor.split()]

# Libraries beside the standard one and numpy, and the modules that may import them.
LIBRARIES = {
    "torch": {"deberta", "flat", "devices", "networks", "packed", "staging", "backoff", "model", "identity", "doctor", "speed"},
    "safetensors": {"networks"},
    "disentangled_flash": {"packed"},
    "transformers": {"networks", "speed"},
    "tokenizers": {"words", "tokens", "doctor"},
    "huggingface_hub": {"checkpoints"},
    "nltk": {"periods", "negation"},
    "pyarrow": {"sources", "records", "arrow_readers", "readers", "outputs", "rows", "formats", "writers", "summary", "scored", "copies", "tables", "provenance"},
    "fsspec": {"sources"},
    "datasets": {"sources"},
    "pandas": {"frames"},
    "rich": {"display", "progress"},
}
# Imported inside a function only: the command line imports these modules, and the bundled model needs no transformers.
LATE = {"packed": "disentangled_flash", "identity": "torch", "doctor": "torch", "networks": "transformers", "speed": "transformers", "frames": "pandas", "checkpoints": "huggingface_hub"}


def modules() -> dict[str, ast.Module]:
    return {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob("*.py"))}


MODULES = modules()


def imports(tree: ast.AST) -> set[tuple[str, str | None]]:
    """(top-level package, module of ours or None) of every import in `tree`, those inside functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")[:2]) if "." in alias.name else (alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package"
            top, _, rest = node.module.partition(".")
            if top == "nli_faith" and not rest:
                found |= {(top, alias.name if alias.name in MODULES else None) for alias in node.names}
            else:
                found.add((top, rest.split(".")[0] or None))
    return found


def test_every_module_has_one_floor():
    assert len(ORDER) == len(set(ORDER))
    assert not set(MODULES) - {"__init__"} - set(ORDER), "give a new module its place in FLOORS"


@pytest.mark.parametrize("name", [name for name in ORDER if name in MODULES])
def test_a_module_imports_only_what_stands_below_it(name):
    own = {module for top, module in imports(MODULES[name]) if top == "nli_faith" and module}
    below = set(ORDER[: ORDER.index(name)])
    assert own <= below, f"{name} imports {sorted(own - below)}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_library_is_imported_only_where_it_belongs(name):
    for top in {top for top, _ in imports(MODULES[name])} - {"nli_faith", "numpy"} - set(sys.stdlib_module_names):
        assert name in LIBRARIES.get(top, ()), f"{name} imports {top}"


@pytest.mark.parametrize("name", ["scores", "pairs", "batches", "types", "deberta"])
def test_arithmetic_never_sees_text(name):
    below = set("errors types options tokens deberta_config".split())
    assert {module for top, module in imports(MODULES[name]) if top == "nli_faith"} <= below


@pytest.mark.parametrize("name", sorted(LATE))
def test_heavy_libraries_are_imported_late_where_not_every_run_needs_them(name):
    top_level = [node for node in MODULES[name].body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert LATE[name] not in {top for node in top_level for top, _ in imports(node)}
    assert LATE[name] in {top for top, _ in imports(MODULES[name])}


def loaded_after(code: str) -> set[str]:
    """Top-level modules in `sys.modules` of a fresh interpreter after `code`."""
    script = f"{code}\nimport sys\nsys.stderr.write(' '.join(name for name in sys.modules if '.' not in name))"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_package_is_cheap():
    loaded = loaded_after("import nli_faith")
    assert not loaded & {"torch", "transformers", "nltk", "pyarrow", "pandas", "tokenizers", "rich", "datasets"}


def test_help_does_not_wait_for_torch():
    code = "from nli_faith.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit as end:\n    assert not end.code"
    assert not loaded_after(code) & {"torch", "transformers", "datasets", "pandas"}


def test_a_scorer_that_is_not_used_loads_no_torch():
    assert not loaded_after("import nli_faith\nnli_faith.Scorer()") & {"torch", "transformers", "datasets"}


def test_names_say_what_a_module_makes():
    assert not set(MODULES) & {"utils", "util", "helpers", "common", "misc", "base", "core", "tools"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_error_is_swallowed_blindly(name):
    for node in ast.walk(MODULES[name]):
        if not isinstance(node, ast.ExceptHandler):
            continue
        assert node.type is not None, f"{name}:{node.lineno} catches everything"
        broad = {"Exception", "BaseException"} & {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
        silent = all(isinstance(step, (ast.Pass, ast.Continue)) for step in node.body)
        assert not (broad and silent), f"{name}:{node.lineno} swallows every error"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_environment_variables_decide(name):
    used = {node.attr for node in ast.walk(MODULES[name]) if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")}
    assert not used or name in ("cli", "__main__", "display", "progress"), f"{name} reads the environment"
