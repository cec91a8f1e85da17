"""Where the output goes: its path, its format, and whether something that stands there may be replaced."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nli_faith.errors import InputError, UsageError
from nli_faith.options import FileOptions
from nli_faith.shards import sync
from nli_faith.sources import Source, find_sources, is_url, known_endings, split_ending


@dataclass(frozen=True, slots=True)
class Target:
    """One output.

    Attributes:
        path: of the file, or of the folder that keeps the parts as a data set.
        ending: one of `sources.ENDINGS`; of the part files, for a folder.
        folder: whether it is a folder.
    """

    path: Path
    ending: str
    folder: bool = False

    @property
    def parts(self) -> Path:
        """The folder of work in progress."""
        return self.path.with_name(self.path.name + ".parts")

    @property
    def summary(self) -> Path:
        return self.path.with_name(self.path.name + ".summary.json")

    def exists(self) -> bool:
        """Whether something stands there; an empty folder is nothing."""
        return any(self.path.iterdir()) if self.folder and self.path.is_dir() else self.path.exists()


def resolve(
    inputs: str | Sequence[str], out: str | None, options: FileOptions, log: Callable[[str], None]
) -> tuple[list[Source], Target, Target | None]:
    """The files to read, the output, and the file of `--claims-out`."""
    names = [str(inputs)] if isinstance(inputs, (str, Path)) else [str(name) for name in inputs]
    sources = find_sources(names, log)
    target = find_target(None if out is None else str(out), names, sources)
    return sources, target, find_claims_target(options.claims_out, target, sources)


def find_target(out: str | None, inputs: Sequence[str], sources: Sequence[Source]) -> Target:
    """The output that `-o` names, or `<stem>.scored.<same format>` beside a single local file.

    Raises:
        UsageError: when there is no `-o` and no single local file, for a URL and for an unknown ending.
        InputError: when the output is one of the inputs.
    """
    if out is None:
        one_file = len(inputs) == len(sources) == 1 and sources[0].local and not os.path.isdir(inputs[0])
        if not one_file or is_url(str(inputs[0])) or not os.path.isfile(inputs[0]):
            raise UsageError("Only a single local file has a default output. Name the output with -o OUT.")
        stem, ending = split_ending(str(inputs[0]))
        target = Target(Path(f"{stem}.scored{ending}"), ending)
    elif is_url(out):
        raise UsageError(f"The output {out} is a URL; the output must be a local path. Write it here, then copy it.")
    elif out.endswith(("/", os.sep)) or os.path.isdir(out):
        ending = {"hf": ".parquet", "json": ".jsonl"}.get(sources[0].format, f".{sources[0].format}")
        target = Target(Path(out), ending, folder=True)
    else:
        target = Target(Path(out), _known_ending(out, "-o"))
    _check_not_input(target.path, sources, "output")
    return target


def find_claims_target(claims_out: str | None, target: Target, sources: Sequence[Source]) -> Target | None:
    """The file of `--claims-out`, which must not be the output or an input."""
    if claims_out is None:
        return None
    if is_url(claims_out):
        raise UsageError(f"--claims-out {claims_out} is a URL; it must be a local path. Write it here, then copy it.")
    claims = Target(Path(claims_out), _known_ending(claims_out, "--claims-out"))
    if claims.path.absolute() == target.path.absolute():
        raise UsageError(f"-o and --claims-out are the same file, {claims.path}. Give them different names.")
    _check_not_input(claims.path, sources, "file of --claims-out")
    return claims


def check_free(target: Target, what: str = "output") -> None:
    """InputError when something stands where `target` should go."""
    if target.exists():
        raise InputError(f"The {what} {target.path} exists already. Give another name, or replace it with --overwrite.")


def check_replaceable(target: Target) -> None:
    """InputError when `--overwrite` would take away a folder that holds anything but parts of an earlier run."""
    if target.folder and target.path.is_dir():
        foreign = [name for name in os.listdir(target.path) if not re.fullmatch(r"part-\d+\.(parquet|jsonl|csv)", name)]
        if foreign:
            raise InputError(
                f"The folder {target.path} holds {foreign[0]!r}, which no run of nli-faith wrote, "
                "so it is not replaced. Give another folder with -o."
            )


def check_space(folder: Path, needed: int) -> None:
    """InputError when the disk of `folder` has no room for `needed` bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"Joining the finished parts needs {needed / 1e6:.0f} MB in {folder.parent}, and {free / 1e6:.0f} MB "
            "are free. Free some space, then run the same command again: nothing is scored twice."
        )


def move_folder(data: Path, target: Path, aside: Path) -> None:
    """Put the folder `data` in the place of `target`; an older one goes to `aside` first."""
    if target.is_dir() and any(target.iterdir()):
        if aside.exists():  # a crash came after an earlier move, so what is aside was replaced already
            shutil.rmtree(aside)
        os.rename(target, aside)
    elif target.is_dir():
        target.rmdir()
    os.rename(data, target)
    sync(target.absolute().parent)


def _known_ending(name: str, flag: str) -> str:
    ending = split_ending(name)[1]
    if not ending:
        raise UsageError(f"{flag} {name} has no known ending. Expected a name that ends in {known_endings()}.")
    return ending


def _check_not_input(path: Path, sources: Sequence[Source], what: str) -> None:
    for source in sources:
        if source.local and (path.absolute() == Path(source.path).absolute() or _same_file(path, source.path)):
            raise InputError(
                f"The {what} {path} is one of the inputs, which are never changed. Give another name with -o."
            )
        if source.local and path.resolve() in Path(source.path).resolve().parents:
            raise InputError(f"The {what} {path} is a folder of inputs. Give another name with -o.")


def _same_file(path: Path, other: str) -> bool:
    return path.exists() and os.path.samefile(path, other)
