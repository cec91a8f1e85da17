"""The NLI and grounded-claim sets that the bundled model may be trained on, with the terms that allow it.

Left out: sets without stated terms, with non-commercial or LDC terms, re-hosts of such sets under another licence (ANLI,
SICK, LogiQA), and small templated ones. Files are those of `DATA/train/nli`; their public origins are named in `NLI.md` there.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILMENT = 3  # index behind LABELS: neutral or contradiction, the source does not say which


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its terms, and how often its pairs are read for each epoch."""

    file: str
    terms: str
    repeat: float = 1.0


SOURCES = (
    Source("mnli_dev", "MultiNLI: OANC terms (MIT re-host)", 3.0),
    Source("snli_dev_test", "CC BY-SA 4.0", 1.5),
    Source("cad_nli", "Apache-2.0", 1.5),
    Source("scitail_dev", "Apache-2.0"),
    Source("conjnli", "MIT", 0.7),
    Source("breaking_nli", "CC BY-SA 4.0"),
    Source("med", "CC BY-SA 4.0", 0.5),
    Source("folio", "CC BY-SA 4.0"),
    Source("infotabs", "Apache-2.0", 1.5),
    Source("scitab", "MIT", 1.5),
    Source("pubhealthtab", "MIT", 2.0),
    Source("fever_dev", "CC BY-SA 3.0"),
    Source("fever_symmetric", "MIT", 2.0),
    Source("fool_me_twice", "Apache-2.0", 2.0),
    Source("factcheck_gpt", "Apache-2.0"),
    Source("factcg_cg2c_doc", "MIT", 2.0),
    Source("summedits", "Apache-2.0"),
    Source("bump", "MIT"),
    Source("factcc_annotated", "Apache-2.0 (BSD-3 upstream)"),
    Source("xsumfaith", "Apache-2.0 (CC BY 4.0 upstream)"),
    Source("begin", "CC BY 4.0 and CDLA-Sharing 1.0", 0.7),
    Source("begin_v1", "CC BY 4.0", 0.7),
    Source("faithdial_audit", "MIT"),
    Source("q2", "Apache-2.0"),
    Source("dialfact_sample", "BSD-3-Clause"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One training pair.

    Attributes:
        label: index into `LABELS`, or `NOT_ENTAILMENT`.
        group: premise (or its source), so that held-back parts share no premise with what is trained on.
    """

    premise: str
    hypothesis: str
    label: int
    dataset: str
    group: str


def read_jsonl(path: Path) -> Iterator[dict]:
    """Records of a `.jsonl` or `.jsonl.gz` file."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as lines:
        for line in lines:
            yield json.loads(line)


def find(folder: Path, stem: str) -> Path:
    """`stem.jsonl` or `stem.jsonl.gz` in `folder`."""
    for ending in (".jsonl", ".jsonl.gz"):
        if (folder / f"{stem}{ending}").exists():
            return folder / f"{stem}{ending}"
    raise SystemExit(f"{folder}/{stem}.jsonl(.gz) is missing; --data names the folder that holds train/ and eval/.")


def fraction(text: str, salt: str) -> float:
    """A number in [0, 1) that depends on the text alone, for splits that stay the same from run to run."""
    digest = hashlib.blake2b(f"{salt}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def load_nli(data: Path) -> list[Pair]:
    """All allowed pairs, each text pair once; pairs that two sources label differently are dropped."""
    index = {name: i for i, name in enumerate((*LABELS, "not_entailment"))}
    seen: dict[tuple[str, str], Pair | None] = {}
    for source in SOURCES:
        for record in read_jsonl(find(data / "train" / "nli", source.file)):
            key = (record["premise"].strip(), record["hypothesis"].strip())
            label = index[record["label"]]
            group = str(record["source_id"] or record["premise"]) if source.file != "mnli_dev" else record["premise"]
            if key not in seen:
                seen[key] = Pair(*key, label, source.file, f"{source.file}:{group}")
                continue
            first = seen[key]
            if first is not None and (first.label == 0) != (label == 0):
                seen[key] = None
    return [pair for pair in seen.values() if pair is not None]


def split_held_back(pairs: list[Pair], share: dict[str, float], default: float) -> tuple[list[Pair], list[Pair]]:
    """(train, held back), by group; `share` gives the held-back part of single sets."""
    train, held = [], []
    for pair in pairs:
        back = fraction(pair.group, "held-back") < share.get(pair.dataset, default)
        (held if back else train).append(pair)
    return train, held
