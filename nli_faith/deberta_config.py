"""The shape of a DeBERTa-v3, read from a `config.json`; other variants of DeBERTa are refused by name."""

from __future__ import annotations

from dataclasses import dataclass

from nli_faith.errors import ModelError

POOLERS = ("gelu", "tanh")


@dataclass(frozen=True, slots=True)
class DebertaConfig:
    """The numbers that fix the shape of the network; names as in a published `config.json`.

    Attributes:
        position_buckets: distances up to half of it have a bucket each, longer ones share logarithmic buckets.
        max_relative_positions: distance at which the last bucket begins.
        num_labels: C, the columns of the logits.
    """

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    num_labels: int
    position_buckets: int = 256
    max_relative_positions: int = 512
    layer_norm_eps: float = 1e-7
    pooler_hidden_act: str = "gelu"

    @classmethod
    def from_dict(cls, config: dict, num_labels: int) -> DebertaConfig:
        """The shape from the fields of a `config.json`.

        Raises:
            ModelError: a variant (absolute positions, token types, convolution, unshared keys) that DeBERTa-v3 has not.
        """
        wanted = {
            "position_biased_input": (False, config.get("position_biased_input", True)),
            "type_vocab_size": (0, config.get("type_vocab_size", 0)),
            "share_att_key": (True, config.get("share_att_key", False)),
            "norm_rel_ebd": ("layer_norm", config.get("norm_rel_ebd", "none")),
            "conv_kernel_size": (0, config.get("conv_kernel_size", 0)),
            "hidden_act": ("gelu", config.get("hidden_act", "gelu")),
        }
        odd = [f"{name}={found!r}" for name, (want, found) in wanted.items() if want != found]
        kinds = config.get("pos_att_type", ())
        kinds = kinds.split("|") if isinstance(kinds, str) else kinds
        if sorted(kinds) != ["c2p", "p2c"]:
            odd.append(f"pos_att_type={config.get('pos_att_type')!r}")
        if config.get("pooler_hidden_act", "gelu") not in POOLERS:
            odd.append(f"pooler_hidden_act={config['pooler_hidden_act']!r}")
        if odd:
            raise ModelError(f"The checkpoint is not a DeBERTa-v3: its config says {', '.join(odd)}.")
        longest = config.get("max_relative_positions", -1)
        return cls(
            vocab_size=config["vocab_size"],
            hidden_size=config["hidden_size"],
            num_hidden_layers=config["num_hidden_layers"],
            num_attention_heads=config["num_attention_heads"],
            intermediate_size=config["intermediate_size"],
            num_labels=num_labels,
            position_buckets=config.get("position_buckets", -1),
            max_relative_positions=longest if longest > 0 else config.get("max_position_embeddings", 512),
            layer_norm_eps=config.get("layer_norm_eps", 1e-7),
            pooler_hidden_act=config.get("pooler_hidden_act", "gelu"),
        )
