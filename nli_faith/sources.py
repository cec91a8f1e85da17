"""Inputs, as people name them -> the list of files to read: paths, folders, globs, fsspec URLs, `hf://` data sets."""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from nli_faith.errors import InputError

# Ending -> (format, gzip).
ENDINGS = {
    ".parquet": ("parquet", False),
    ".jsonl": ("jsonl", False),
    ".jsonl.gz": ("jsonl", True),
    ".json": ("json", False),
    ".csv": ("csv", False),
    ".csv.gz": ("csv", True),
}
_HIDDEN = (".", "_")  # as Spark and others name what is no data
_SCORED, _SUMMARY = "*.scored.*", "*.summary.json"
# First bytes that no text begins with, what they tell, and what to do. A page header follows the first word of parquet.
_OTHERS = (
    (re.compile(rb"PAR1[^ -~]"), "is a parquet file", "Rename it so that it ends in .parquet."),
    (re.compile(rb"\x1f\x8b"), "is compressed with gzip", "Rename it so that it ends in .gz."),
    (re.compile(rb"PK\x03\x04"), "is a zip archive or a spreadsheet", "Save or unpack it as text."),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "is UTF-16 text", "Convert it to UTF-8."),
)
_MIB = 1 << 20


@dataclass(frozen=True)
class Source:
    """One file of the input, or one split of a Hugging Face data set.

    Attributes:
        name: as shown in messages.
        format: "parquet", "jsonl", "json", "csv" or "hf".
        gzipped: the bytes are compressed.
        files: the fsspec file system; for "hf" the data set itself.
        path: inside `files`.
        local: a path that other libraries may open by themselves.
    """

    name: str
    format: str
    gzipped: bool
    files: Any
    path: str
    local: bool = False

    def open(self) -> BinaryIO:
        """The file from its beginning, as stored (compressed when it is)."""
        try:
            return self.files.open(self.path, "rb")
        except OSError as error:
            raise InputError(f"{self.name} can't be opened: {error}. Check the path and its permissions.") from error

    def text_bytes(self, raw: BinaryIO) -> BinaryIO:
        """The uncompressed bytes of `raw`, which `open` gave; InputError when they begin as another format does."""
        stream = gzip.GzipFile(fileobj=raw, mode="rb") if self.gzipped else io.BufferedReader(raw, _MIB)
        head = stream.peek(8)[:8]
        for magic, what, advice in _OTHERS:
            if magic.match(head):
                raise InputError(f"{self.name} {what} and not {self.format.upper()} in UTF-8. {advice}")
        return stream

    @property
    def size(self) -> int:
        """Bytes as stored; 0 when unknown."""
        return 0 if self.format == "hf" else int(self._info().get("size") or 0)

    def identity(self) -> dict:
        """What tells this input from a changed one: path, size, time, and the hash of its first and last MiB."""
        if self.format == "hf":
            return {"path": self.name, "rows": len(self.files), "hash": getattr(self.files, "_fingerprint", None)}
        info = self._info()
        changed = next((str(info[key]) for key in ("mtime", "LastModified", "updated", "ETag") if info.get(key)), None)
        digest = hashlib.sha256()
        with self.open() as raw:
            digest.update(raw.read(_MIB))
            size = raw.seek(0, io.SEEK_END)
            raw.seek(max(0, size - _MIB))
            digest.update(raw.read(_MIB))
        return {"path": self.path if self.local else self.name, "size": size, "changed": changed,
                "hash": digest.hexdigest()}  # fmt: skip

    def _info(self) -> dict:
        try:
            return self.files.info(self.path)
        except OSError as error:
            raise InputError(f"{self.name} can't be opened: {error}. Check the path and its permissions.") from error


def split_ending(name: str) -> tuple[str, str]:
    """A file name as (stem, known ending); the ending is "" when it is none of `ENDINGS`. Case does not matter."""
    lower = name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if lower.endswith(ending) and len(lower) > len(ending):
            return name[: -len(ending)], ending
    return name, ""


def is_url(name: str) -> bool:
    """True for fsspec URLs and `hf://` names, false for local paths (a drive letter is no protocol)."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)", name) is not None


def find_sources(inputs: Sequence[str], log: Callable[[str], None], scored: bool = False) -> list[Source]:
    """The files to read, in the order of `inputs`, sorted by name inside a folder or glob.

    Scored files, summaries and unfinished work found in a folder or by a glob are left out, with a line in the log.

    Args:
        scored: scored files are what is asked for, so they are read too.
    Raises:
        InputError: when an input does not exist, holds no file that can be read, or the formats differ.
    """
    if not all(str(name).strip() for name in inputs):
        # Taken as a path, it would be the working folder: hardly what an empty variable of a shell should mean.
        raise InputError("The name of an input is empty. Name a file, a folder, a glob or a URL.")
    sources = [source for name in inputs for source in _expand(str(name), log, scored)]
    if not sources:
        raise InputError("No input was given. Name a file, a folder, a glob or a URL.")
    for name, times in Counter((source.format, source.path) for source in sources).items():
        if times > 1 and name[0] != "hf":
            raise InputError(f"The input {name[1]} is named twice. Give every file once.")
    formats = sorted({source.format for source in sources})
    if len(formats) > 1:
        raise InputError(
            f"The inputs are of different formats ({' and '.join(formats)}); one run reads one format. "
            f"Use a glob that matches one of them, such as '*.{formats[-1]}'."
        )
    return sources


def _expand(name: str, log: Callable[[str], None], scored: bool) -> list[Source]:
    if name.startswith("hf://") and not name.startswith(("hf://datasets/", "hf://spaces/", "hf://buckets/")):
        return [_data_set(name)]
    files, path, local = _file_system(name)
    try:
        if files.isfile(path):
            return [_source(name, files, path, local)]
        # find() keeps to files and sorts; a folder of a hive-partitioned table is read whole.
        found, root = sorted(files.find(path)) if files.isdir(path) else [], path.rstrip("/") + "/"
        if not found and any(sign in path for sign in "*?["):
            found = sorted(item for item in files.glob(path) if files.isfile(item))
            root = re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0] + "/"
    except Exception as error:  # the clouds' libraries raise types of their own (no credentials, no such bucket)
        raise InputError(f"{name} can't be listed: {_first_line(error)}. Check the name and your access to it.") from error
    if not found:
        raise InputError(f"{name} does not exist or holds no files. Check the path.")
    asked = path.rpartition("/")[2].startswith(_HIDDEN)  # by a glob such as "_*.jsonl"
    kept, left_out = [], 0
    for item in found:
        inner = item[len(root) :] if item.startswith(root) else item
        label = item if local else files.unstrip_protocol(item)
        if _is_our_output(inner, scored):
            left_out += 1
            log(f"Skipped {label}: it is the output of an earlier run.")
        elif not split_ending(item)[1]:
            continue
        elif any(part.startswith(_HIDDEN) for part in inner.split("/")) and not asked:
            left_out += 1
            log(f"Skipped {label}: names that begin with '.' or '_' are not data. Name it itself to read it.")
        else:
            kept.append(_source(label, files, item, local))
    if not kept:
        what = f" Outputs of earlier runs and hidden files ({left_out} here) are skipped: name one of them itself to read it."
        skipped = what if left_out else ""
        raise InputError(f"{name} holds no file that ends in {known_endings()}. Check the path.{skipped}")
    log(f"Reading {len(kept)} files of {name}.")
    return kept


def _is_our_output(path: str, scored: bool) -> bool:
    parts = path.split("/")
    signs = [_SUMMARY] if scored else [_SCORED, _SUMMARY]
    return any(part.endswith(".parts") for part in parts) or any(fnmatch.fnmatch(parts[-1], sign) for sign in signs)


def _source(name: str, files: Any, path: str, local: bool) -> Source:
    ending = split_ending(path)[1]
    if not ending:
        raise InputError(f"{name} is of no known format. Expected a name that ends in {known_endings()}.")
    format, gzipped = ENDINGS[ending]
    return Source(name, format, gzipped, files, path, local)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def known_endings() -> str:
    """The endings for messages: ".parquet, .jsonl, ... or .csv.gz"."""
    *first, last = ENDINGS
    return f"{', '.join(first)} or {last}"


def _file_system(name: str) -> tuple[Any, str, bool]:
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    try:
        files, path = url_to_fs(name)
    except ImportError as error:
        raise InputError(f"{name} needs a package that is not installed: {error}") from error
    except ValueError as error:
        raise InputError(f"{name} can't be read: {error}. Check the part before '://'.") from error
    return files, path, isinstance(files, LocalFileSystem)


def _data_set(name: str) -> Source:
    """`hf://user/set[/config][:split]`; without a split there must be only one."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise InputError(
            f"{name} needs the package 'datasets', which is not installed. Run: pip install 'nli-faith[hf]'"
        ) from None
    found = re.fullmatch(r"hf://([^/:]+/[^/:]+)(?:/([^/:]+))?(?::(.+))?", name)
    if not found:
        raise InputError(
            f"{name} is no data set name. Write hf://user/set, hf://user/set:split or hf://user/set/config:split."
        )
    path, config, split = found.groups()
    try:
        loaded = load_dataset(path, config, split=split)
    except Exception as error:  # the library has a tree of types, not all under one
        raise InputError(f"{name} can't be loaded: {_first_line(error)}. Check the name and your access to it.") from error
    if isinstance(loaded, dict):
        if len(loaded) > 1:
            raise InputError(f"{name} has the splits {', '.join(loaded)}. Name one: {name}:{next(iter(loaded))}")
        (loaded,) = loaded.values()
    return Source(name, "hf", False, loaded, path)
