"""Pair probabilities on disk, so that rules, thresholds and aggregations are tried without the model.

    <folder>/<model hash>-<key>/options.json               what the key stands for
    <folder>/<model hash>-<key>/<set>/part-00000.parquet   some answers: units, chunks of the windows, probabilities

A part is written whole once its answers are read, so an interrupted run goes on behind the last one. What the package does
with a text before the model sees it may change while the model stays: parts name the code that made them, and rows of
other code are split and encoded anew and kept only where the model would be shown the same ids. (A change of the
network's arithmetic is not seen; then remove the folder of the model.)
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

import nli_faith
from nli_faith import Scorer
from nli_faith.cells import make_row
from nli_faith.checkpoints import Card, open_checkpoint
from nli_faith.disk import put
from nli_faith.errors import InputError
from nli_faith.types import Row
from read_rows import ReadRow, from_table, read_rows, seen_digest, text_digest, to_table

ROWS_A_PART = 64

Log = Callable[[str], None]


class PairStore:
    """The stored answers of one model and granularity.

    Attributes:
        scorer: loads the model when something is missing; model_hash, card: of its checkpoint.
        options: what the folder is named after; folder: of this model.
        precisions: number formats of the rows given out so far ("auto" may be another one on another machine).
    """

    def __init__(
        self, folder: Path, model: str, dtype: str = "auto", granularity: str = "sentence", device: str = "auto",
        probe: bool = True,
    ) -> None:  # fmt: skip
        """
        Args:
            folder: of all models; the others as for `Scorer`.
        Raises:
            ModelError: no such model.
        """
        self.scorer = Scorer(model, dtype=dtype, granularity=granularity, device=device, probe=probe)
        checkpoint = None if model == "fake" else open_checkpoint(model)
        self.model_hash = checkpoint.hash if checkpoint else "fake"
        self.card = checkpoint.card if checkpoint else Card()
        self.precisions: set[str] = set()
        template = self.card.template
        self.options = {
            "model": self.model_hash, "labels": list(checkpoint.labels.names) if checkpoint else None, "dtype": dtype,
            "granularity": granularity, "max_length": self.card.max_length, "window": self.card.window,
            "template": [template.hypothesis, template.join],
        }  # fmt: skip
        key = hashlib.blake2b(json.dumps(self.options, sort_keys=True).encode(), digest_size=4).hexdigest()
        self.folder = folder / f"{self.model_hash}-{key}"

    def rows(self, name: str, records: Sequence[dict], log: Log = lambda line: None) -> list[ReadRow]:
        """The records of one set as the model read them, in order; what is not stored is read now.

        Args:
            records: each with id, response, contexts and question.
        Raises:
            InputError: an id that is there twice.
        """
        if len({record["id"] for record in records}) != len(records):
            raise InputError(f"The set {name} has the same id more than once; give every answer its own.")
        folder = self.folder / name
        stored = self._stored(folder, records, log)
        missing = [record for record in records if record["id"] not in stored]
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            put(self.folder / "options.json", lambda path: path.write_text(json.dumps(self.options, indent=1) + "\n"))
        begun = time.perf_counter()
        for first in range(0, len(missing), ROWS_A_PART):
            part = missing[first : first + ROWS_A_PART]
            read = read_rows(self.scorer.read_window([row_of(record) for record in part]), part)
            self._write(folder, read, getattr(self.scorer.reader, "dtype", "fp32"))
            stored |= {row.id: row for row in read}
            done, spent = first + len(part), time.perf_counter() - begun
            log(f"{name}: {done} of {len(missing)} answers read, {spent / done * (len(missing) - done) / 60:.0f} min to go")
        return [stored[record["id"]] for record in records]

    def _stored(self, folder: Path, records: Sequence[dict], log: Log) -> dict[str, ReadRow]:
        """Rows whose texts are those of the records and that today's code would show to the model in the same way."""
        wanted = {record["id"]: record for record in records}
        digests = {key: text_digest(record) for key, record in wanted.items()}
        good: dict[str, ReadRow] = {}
        checked = kept = 0
        parts = []
        for path in sorted(folder.glob("part-*.parquet")):
            table = pq.read_table(path)
            code, dtype = (table.schema.metadata[name].decode() for name in (b"code", b"dtype"))
            parts.append((code != code_digest(), path, dtype, from_table(table)))
        for outdated, path, dtype, rows in sorted(parts, key=lambda part: part[:2]):
            asked = [row for row in rows if digests.get(row.id) == row.text and row.id not in good]
            if outdated:
                checked += len(asked)
                asked = self._unchanged(asked, wanted)
                kept += len(asked)
                if asked:
                    self._write(folder, asked, dtype)
                if all(row.id in wanted for row in rows):  # others are checked when they are asked for
                    path.unlink()
            if asked:
                self.precisions.add(dtype)
            good |= {row.id: row for row in asked}
        if checked:
            log(f"{folder.name}: the package has changed; {kept} of {checked} stored answers are still read in the same way.")
        return good

    def _unchanged(self, rows: Sequence[ReadRow], records: dict[str, dict]) -> list[ReadRow]:
        now = self.scorer.read_window([row_of(records[row.id]) for row in rows], model=False)
        digests = [seen_digest(draft, now.premises, now.hypotheses) for draft in now.drafts]
        return [row for row, digest in zip(rows, digests, strict=True) if row.seen == digest]

    def _write(self, folder: Path, rows: Sequence[ReadRow], dtype: str) -> None:
        taken = [int(path.stem.split("-")[1]) for path in folder.glob("part-*.parquet")]
        table = to_table(rows).replace_schema_metadata({"code": code_digest(), "dtype": dtype})
        path = folder / f"part-{max(taken, default=-1) + 1:05d}.parquet"
        put(path, lambda fresh: pq.write_table(table, fresh, compression="zstd"))
        self.precisions.add(dtype)


@cache
def code_digest() -> str:
    """Digest of the package's own source files."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(nli_faith.__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def row_of(record: dict) -> Row:
    """The record as the scorer takes it."""
    return make_row(0, record["response"], record["contexts"], record.get("question"), record["id"])
