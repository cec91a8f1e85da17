"""The public names are those that are listed, and each says what it is."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import nli_faith

MODULES = sorted(Path(nli_faith.__file__).parent.glob("*.py"))


def test_the_listed_names_are_sorted_and_there():
    assert nli_faith.__all__ == sorted(set(nli_faith.__all__))
    for name in nli_faith.__all__:
        assert getattr(nli_faith, name) is not None


def test_nothing_else_is_exported():
    public = {
        name
        for name, value in vars(nli_faith).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert public | {"Scorer", "__version__"} == set(nli_faith.__all__)


def test_a_star_import_gives_the_listed_names():
    names: dict = {}
    exec("from nli_faith import *", names)
    assert set(names) - {"__builtins__"} == set(nli_faith.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Scorers'"):
        nli_faith.Scorers  # noqa: B018


def test_errors_are_one_tree():
    errors = [value for name in nli_faith.__all__ if inspect.isclass(value := getattr(nli_faith, name)) and issubclass(value, Exception)]
    assert len(errors) == 6
    assert all(issubclass(error, nli_faith.NliFaithError) for error in errors)


@pytest.mark.parametrize("name", [name for name in nli_faith.__all__ if name != "__version__"])
def test_every_public_name_is_documented(name):
    value = getattr(nli_faith, name)
    assert inspect.getdoc(value)
    for member, function in inspect.getmembers(value, inspect.isfunction):
        if not member.startswith("_"):
            assert inspect.getdoc(function), f"{name}.{member}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_module_says_what_it_is_for(path):
    if path.stem == "__main__":
        return
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
