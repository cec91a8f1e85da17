"""A name or folder -> a checkpoint: config, labels, template, weights and their hash. Everything that knows the outside world's formats.

A checkpoint folder holds config.json, tokenizer.json and *.safetensors; pickled weights are refused. A card (one JSON file
in `models/`, or `card.json` in the folder) adds what the config can't say: label order, template, window, threshold, and
the hub revision that holds safetensors where the main one holds pickled weights only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nli_faith.classes import Labels, resolve_labels
from nli_faith.errors import ModelError
from nli_faith.options import DEFAULT_MODEL

_INT8 = "int8-rows"


@dataclass(frozen=True, slots=True)
class Template:
    """How premise and hypothesis become one sequence.

    Attributes:
        hypothesis: format with one `{}` for the claim.
        join: "pair" (the tokenizer's own pair), "separator" (one separator whatever the tokenizer would put) or
            "text" (no special token between: premise and hypothesis are one text).
    """

    hypothesis: str = "{}"
    join: str = "pair"


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a checkpoint beyond its config.

    Attributes:
        labels: label names in logit order. Those of `card.json` in the model's folder hold; those of `models/` only where
            the config's own say nothing, as LABEL_0 does.
        max_length: tokens of a pair; window: tokens of a premise window, None for as many as fit.
        answer_threshold: `min_support` from which an answer is called faithful.
        dtype: "fp32" or "bf16" where half precision is known to overflow, else None.
    """

    labels: tuple[str, ...] | None = None
    template: Template = Template()
    max_length: int = 512
    window: int | None = None
    answer_threshold: float = 0.5
    dtype: str | None = None

    @classmethod
    def from_dict(cls, fields: dict) -> Card:
        """Read the fields that matter for scoring; licence, figures and the like are for people."""
        known = {name: fields[name] for name in ("max_length", "window", "answer_threshold", "dtype") if name in fields}
        labels = fields.get("labels")
        try:
            template = Template(**fields.get("template", {}))
        except TypeError:
            raise ModelError(f"A card's template has {fields['template']!r}; it takes hypothesis and join.") from None
        return cls(tuple(labels) if labels else None, template, **known)


@dataclass(frozen=True)
class Checkpoint:
    """A folder that can be loaded.

    Attributes:
        name: as asked for; folder: where it lies; config: the parsed config.json.
    """

    name: str
    folder: Path
    config: dict
    card: Card
    labels: Labels

    @property
    def weights(self) -> list[Path]:
        """The safetensors files, sorted by name."""
        return sorted(self.folder.glob("*.safetensors"))

    @property
    def quantised(self) -> bool:
        """Weights are int8 with a scale per row."""
        return self.config.get("quantisation") == _INT8

    @cached_property
    def hash(self) -> str:
        """First 16 hex digits of the sha256 over weights, config and tokenizer."""
        digest = hashlib.sha256()
        for path in [*self.weights, self.folder / "config.json", self.folder / "tokenizer.json"]:
            with open(path, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
        return digest.hexdigest()[:16]


def cards_folder() -> Path:
    """The folder of the cards and of the bundled model: inside the installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "models"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "models"


def known_cards() -> dict[str, dict]:
    """Every card in `models/`, by model name."""
    cards = {}
    for path in sorted([*cards_folder().glob("*.json"), *cards_folder().glob("*/card.json")]):
        fields = json.loads(path.read_text(encoding="utf-8"))
        cards[fields["name"]] = fields
    return cards


def open_checkpoint(name: str, labels: Sequence[str] | None = None) -> Checkpoint:
    """Find a checkpoint by the bundled name, a folder, or a Hugging Face id (downloaded, or taken from the local cache).

    Args:
        labels: overrides label names, in logit order.
    Raises:
        ModelError: nothing there, an unreadable config, pickled weights, or labels that can't be told apart.
    """
    fields = known_cards().get(name, {})
    folder = _folder(name, fields.get("revision"))
    config = _read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise ModelError(f"{folder / 'config.json'} is not a JSON object.")
    if not list(folder.glob("*.safetensors")):
        pickled = [path.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for path in folder.glob(pattern)]
        found = f" ({', '.join(pickled)} is pickled and may run code, so it is not read)" if pickled else ""
        raise ModelError(f"{folder} has no *.safetensors weights{found}. Convert the checkpoint to safetensors.")
    own = folder / "card.json"
    if own.exists():
        fields = _read_json(own)
        if not isinstance(fields, dict):
            raise ModelError(f"{own} is not a JSON object.")
    card = Card.from_dict(fields)
    named = _config_labels(config)
    names = labels or (card.labels if own.exists() or not _says_which(named) else None) or named
    count = _outputs(config)
    if count is not None and len(names) != count:
        raise ModelError(f"{len(names)} label names were given for {name}, which has {count} outputs.")
    return Checkpoint(name, folder, config, card, resolve_labels(names))


def _says_which(names: Sequence[str]) -> bool:
    try:
        resolve_labels(names)
    except ModelError:
        return False
    return True


def _config_labels(config: dict) -> list[str]:
    names = config.get("id2label")
    if isinstance(names, dict) and names:
        if not all(str(key).isdecimal() for key in names):
            raise ModelError(f"The checkpoint's id2label has keys that are no numbers ({', '.join(map(str, names))}).")
        return [str(names[key]) for key in sorted(names, key=int)]
    return [f"LABEL_{i}" for i in range(int(config.get("num_labels", 2)))]


def _outputs(config: dict) -> int | None:
    names = config.get("id2label")
    return len(names) if isinstance(names, dict) and names else None


def _read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} does not exist, so {path.parent} is no model folder.") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelError(f"{path} can't be read: {error}.") from None


def _folder(name: str, revision: str | None = None) -> Path:
    if name == DEFAULT_MODEL:
        folder = cards_folder() / name
        if not folder.is_dir():
            raise ModelError(f"The bundled model {name} is not in this installation ({folder} is missing). Reinstall nli-faith.")
        return folder
    path = Path(name)
    if path.is_dir():
        return path
    if path.exists():
        raise ModelError(f"{name} is a file; --model takes a folder, a Hugging Face id, or the bundled {DEFAULT_MODEL}.")
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"The model folder {name} does not exist.")
    return _download(name, revision)


def _download(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

    wanted = ["config.json", "tokenizer.json", "*.safetensors", "card.json"]
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=wanted))
    except (RepositoryNotFoundError, HFValidationError):
        raise ModelError(
            f"{name} is neither a folder here nor a model on the Hugging Face hub. Run `nli-faith models` for known names."
        ) from None
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"{name} is not in the local cache and could not be downloaded ({type(error).__name__}). "
            "Connect to the hub once, or give a folder."
        ) from None
