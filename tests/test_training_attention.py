"""The faster training pass gives the logits and gradients of the plain one."""

import sys
from pathlib import Path

import pytest
import tiny_models
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from training_attention import speed_up  # noqa: E402

from nli_faith.deberta import DebertaClassifier  # noqa: E402
from nli_faith.deberta_config import DebertaConfig  # noqa: E402

VOCABULARY = 40


def network() -> DebertaClassifier:
    fields = tiny_models.deberta_config(VOCABULARY) | {"max_position_embeddings": 64, "num_hidden_layers": 3}
    made = DebertaClassifier(DebertaConfig.from_dict(fields, 3))
    made.load_state_dict(tiny_models.deberta_state(fields))
    return made


def run(model: DebertaClassifier, lengths: list[int], padded: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    ids = torch.randint(3, VOCABULARY, (len(lengths), padded), generator=torch.Generator().manual_seed(1))
    for row, length in zip(ids, lengths):
        row[length:] = 0
    model.zero_grad()
    logits = model(ids, None if min(lengths) == padded else torch.tensor(lengths))
    torch.nn.functional.cross_entropy(logits, torch.arange(len(lengths)) % 3).backward()
    return logits.detach(), {name: weight.grad.clone() for name, weight in model.named_parameters()}


@pytest.mark.parametrize(("lengths", "padded"), [([32, 32], 32), ([48, 45, 7], 48), ([80, 1], 80), ([5], 16)])
def test_logits_and_gradients_are_those_of_the_plain_pass(lengths, padded):
    plain, fast = network(), network()
    speed_up(fast)
    wanted, got = run(plain, lengths, padded), run(fast, lengths, padded)
    torch.testing.assert_close(got[0], wanted[0], rtol=1e-5, atol=1e-5)
    for name, gradient in wanted[1].items():
        scale = float(gradient.abs().max()) + 1e-3
        torch.testing.assert_close(got[1][name] / scale, gradient / scale, rtol=1e-4, atol=1e-4, msg=lambda text, name=name: f"{name}: {text}")


def test_without_gradients_the_numbers_are_the_same():
    plain, fast = network().eval(), network().eval()
    speed_up(fast)
    ids = torch.randint(3, VOCABULARY, (2, 20))
    with torch.inference_mode():
        torch.testing.assert_close(fast(ids), plain(ids), rtol=1e-5, atol=1e-5)
    assert fast.state_dict().keys() == plain.state_dict().keys()
