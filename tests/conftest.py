"""Fixtures that several test files share: the bundled tokenizer and tiny random models. No test needs a network."""

from __future__ import annotations

import os

import pytest
import tiny_models
from hypothesis import settings

# The same examples at every run: a suite that fails now and then is read as noise. New ones come with --hypothesis-seed.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the hub's client


@pytest.fixture(scope="session")
def encoder():
    """The bundled tokenizer; its vocabulary may change, so no test names an id."""
    from nli_faith.tokens import Encoder

    return Encoder.from_file(tiny_models.TOKENIZER)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory, encoder):
    """A three-class DeBERTa-v3 of two layers."""
    config = tiny_models.deberta_config(encoder.size)
    return tiny_models.write_checkpoint(
        tmp_path_factory.mktemp("tiny-deberta"), config, tiny_models.deberta_state(config)
    )


@pytest.fixture(scope="session")
def two_class_folder(tmp_path_factory, encoder):
    """The same with the classes not_entailment and entailment."""
    config = tiny_models.deberta_config(encoder.size, tiny_models.TWO)
    return tiny_models.write_checkpoint(
        tmp_path_factory.mktemp("tiny-two-class"), config, tiny_models.deberta_state(config)
    )


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory):
    """A RoBERTa of two layers, which transformers runs."""
    return tiny_models.write_roberta(tmp_path_factory.mktemp("tiny-roberta"))


@pytest.fixture(scope="session")
def tiny_model(tiny_folder):
    """The loaded three-class model in float32 on the CPU. Tests that change it take a copy."""
    from nli_faith.model import NliModel
    from nli_faith.options import ModelOptions

    return NliModel(ModelOptions(str(tiny_folder), device="cpu", dtype="fp32"), probe=False)


@pytest.fixture
def fake():
    """A scorer with length-based numbers."""
    from nli_faith import Scorer

    return Scorer("fake")
