"""Checkpoint -> network: safetensors weights, int8 ones too, into our DeBERTa or one of transformers' classifiers."""

from __future__ import annotations

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from nli_faith.checkpoints import Checkpoint
from nli_faith.deberta import DebertaClassifier
from nli_faith.deberta_config import DebertaConfig
from nli_faith.errors import ModelError
from nli_faith.tokens import Encoder


def load_state(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Float weights of the checkpoint; int8 rows become q * scale.

    Raises:
        ModelError: an unreadable file.
    """
    state: dict[str, Tensor] = {}
    for path in checkpoint.weights:
        try:
            state |= load_file(path)
        except Exception as error:  # safetensors raises its own bare error type
            raise ModelError(f"{path} can't be read: {error}. Download or copy the model again.") from None
    if checkpoint.quantised:
        scales = {name.removesuffix(".scale"): state.pop(name) for name in list(state) if name.endswith(".scale")}
        for name, scale in scales.items():
            state[name] = state[name].float() * scale.float().unsqueeze(-1)
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in state.items()}


def masked_logits(net: nn.Module, ids: Tensor, lengths: Tensor | None, **more: Tensor) -> Tensor:
    """Logits of a classifier of transformers, called as `DebertaClassifier` is, with `more` of what it takes."""
    mask = torch.ones_like(ids)
    if lengths is not None:
        mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long()
    return net(input_ids=ids, attention_mask=mask, **more).logits


class _Transformers(nn.Module):
    """Any other sequence classifier of transformers (RoBERTa, BERT, older DeBERTa), behind the call of `DebertaClassifier`."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        from transformers import AutoModelForSequenceClassification

        try:
            self.net, report = AutoModelForSequenceClassification.from_pretrained(
                checkpoint.folder, use_safetensors=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
            )
        except Exception as error:  # a cut-off file raises safetensors' own bare type, through the library
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ModelError(f"{checkpoint.folder} can't be loaded as a sequence classifier: {first}") from None
        missing = sorted(report["missing_keys"])
        if missing:  # the library makes up what is missing, and says so in a warning only
            raise ModelError(f"The weights in {checkpoint.folder} lack {missing[0]}, so it is no trained classifier.")
        self._separator = self._separator_of(checkpoint) if getattr(self.net.config, "type_vocab_size", 0) > 1 else None

    @staticmethod
    def _separator_of(checkpoint: Checkpoint) -> int | None:
        """The id that closes the premise, where the tokenizer gives the hypothesis a token type of its own."""
        encoder = Encoder.from_file(checkpoint.folder / "tokenizer.json", checkpoint.card.template.join)
        return int(encoder.middle[0]) if encoder.typed and len(encoder.middle) else None

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        if self._separator is None:
            return masked_logits(self.net, ids, lengths)
        # No special id is inside a text, so the first separator closes the premise.
        ends = (ids == self._separator).long()
        return masked_logits(self.net, ids, lengths, token_type_ids=(ends.cumsum(1) - ends).clamp(max=1))


def build_network(checkpoint: Checkpoint) -> tuple[nn.Module, str]:
    """(float32 network in eval mode, name of its attention).

    Raises:
        ModelError: weights that don't fit the config, or are not finite.
    """
    if checkpoint.config.get("model_type") != "deberta-v2":
        return _Transformers(checkpoint).eval(), "transformers"
    try:
        config = DebertaConfig.from_dict(checkpoint.config, len(checkpoint.labels.names))
    except ModelError:
        return _Transformers(checkpoint).eval(), "transformers"
    except KeyError as error:
        raise ModelError(f"{checkpoint.folder / 'config.json'} lacks {error}.") from None
    with torch.device("meta"):
        network = DebertaClassifier(config)
    state = {name: tensor for name, tensor in load_state(checkpoint).items() if not name.endswith("position_ids")}
    try:
        network.load_state_dict(state, assign=True)
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        raise ModelError(f"The weights in {checkpoint.folder} don't fit its config: {lines[-1].strip()}") from None
    bad = [name for name, tensor in state.items() if not torch.isfinite(tensor).all()]
    if bad:
        raise ModelError(f"The weights in {checkpoint.folder} hold NaN or infinity ({bad[0]}). Download or copy the model again.")
    return network.eval(), "skewed sdpa"
