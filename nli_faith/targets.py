"""Where the output goes: its path, its format, and whether something that stands there may be replaced."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nli_faith.disk import sync, writing
from nli_faith.errors import InputError, UsageError
from nli_faith.options import FileOptions
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
        return any(self.path.iterdir()) if self.folder and self.path.is_dir() else os.path.lexists(self.path)


def resolve(
    inputs: str | Sequence[str], out: str | None, options: FileOptions, log: Callable[[str], None]
) -> tuple[list[Source], Target, Target | None]:
    """The files to read, the output, and the file of `--claims-out`."""
    names = [str(inputs)] if isinstance(inputs, (str, Path)) else [str(name) for name in inputs]
    sources = find_sources(names, log)
    target = find_target(None if out is None else str(out), names, sources)
    claims = find_claims_target(options.claims_out, target, sources)
    _check_kinds(target, claims)
    return sources, target, claims


def find_target(out: str | None, inputs: Sequence[str], sources: Sequence[Source]) -> Target:
    """The output that `-o` names, or `<stem>.scored.<same format>` beside a single local file.

    Raises:
        UsageError: when there is no `-o` and no single local file, for a URL, an unknown ending and the working folder.
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
        # A link to a folder stays; what it leads to is replaced.
        target = Target(Path(os.path.realpath(out)), ending, folder=True)
    else:
        target = Target(Path(out), _known_ending(out, "-o"))
    if target.folder and os.path.isdir(target.path) and (same_place(target.path, os.curdir) or os.path.ismount(target.path)):
        raise UsageError(
            f"-o {out} is the working folder or the root of a disk, which can't be replaced as a whole. "
            "Name a folder inside it, or a file."
        )
    for path, what in (
        (target.path, "output"), (target.summary, "summary"), (target.parts, "folder of unfinished work"),
    ):  # fmt: skip
        _check_not_input(path, sources, what)
    return target


def find_claims_target(claims_out: str | None, target: Target, sources: Sequence[Source]) -> Target | None:
    """The file of `--claims-out`, which must not be the output or an input."""
    if claims_out is None:
        return None
    if is_url(claims_out):
        raise UsageError(f"--claims-out {claims_out} is a URL; it must be a local path. Write it here, then copy it.")
    claims = Target(Path(claims_out), _known_ending(claims_out, "--claims-out"))
    if same_place(claims.path, target.path):
        raise UsageError(f"-o and --claims-out are the same file, {claims.path}. Give them different names.")
    if same_place(claims.path, target.summary):
        raise UsageError(f"--claims-out {claims.path} is where the summary goes. Give it another name.")
    for folder in (target.path, target.parts):
        if Path(os.path.realpath(folder)) in Path(os.path.realpath(claims.path)).parents:
            raise UsageError(f"--claims-out {claims.path} is inside {folder}, which this run replaces. Put it elsewhere.")
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


def check_writable(folder: Path) -> None:
    """InputError when no file can be made in `folder`: better now than after a night of scoring."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"No file can be made in the folder {folder.absolute()}. Check its permissions.")


def check_space(needed: Mapping[Path, int]) -> None:
    """InputError when the disks of these folders have no room for that many bytes."""
    disks: dict[int, list] = {}
    for folder, size in needed.items():
        disk = disks.setdefault(os.stat(folder).st_dev, [folder, 0])
        disk[1] += size
    for folder, size in disks.values():
        free = shutil.disk_usage(folder).free
        if free < size:
            raise InputError(
                f"Joining the finished parts needs {size / 1e6:.0f} MB on the disk of {folder.absolute()}, and "
                f"{free / 1e6:.0f} MB are free. Free some space, then run the same command again: nothing is scored twice."
            )


def move_folder(data: Path, target: Path, aside: Path) -> None:
    """Put the folder `data` in the place of `target`; an older one goes to `aside` first."""
    with writing(target):
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
        if source.local and same_place(path, source.path):
            raise InputError(
                f"The {what} {path} is one of the inputs, which are never changed. Give another name with -o."
            )
        if source.local and Path(os.path.realpath(path)) in Path(os.path.realpath(source.path)).parents:
            raise InputError(f"The {what} {path} is a folder of inputs. Give another name with -o.")


def _check_kinds(target: Target, claims: Target | None) -> None:
    """InputError when a folder stands where a file should go, a file where a folder should, or a name can't be one."""
    if target.folder and os.path.lexists(target.path) and not os.path.isdir(target.path):
        raise InputError(f"The output folder {target.path} is a file. Give another name, without a slash at its end.")
    for path in [target.summary] + ([] if claims is None else [claims.path]):
        if os.path.isdir(path):
            raise InputError(f"{path}, where a file should go, is a folder. Give another name.")
        try:
            os.stat(path.with_name(path.name + ".tmp"))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise InputError(f"{path} can't be written: {error.strerror}. Give another name.") from error


def same_place(path: str | Path, other: str | Path) -> bool:
    """Whether both lead to one file, which need not exist yet."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
