"""Where generated code is kept between runs: a folder that belongs to one user, with an entry for each module."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VARIABLE = "ANABRANCH_CACHE"

_ENTRY = re.compile(r"code_[0-9a-f]{32}")
_UNFINISHED = re.compile(r"(building|removing)_code_\w+")
_LONGEST_BUILD = 3600.0  # seconds: what is unfinished and older was left behind by a process that was killed
_LONGEST_UNUSED = 90 * 86400.0


@dataclass(frozen=True)
class Entry:
    """A module with its machine code."""

    path: Path
    size: int  # bytes


# Which folder -------------------------------------------------------------------------------------------------------


def wanted_folder() -> Path | None:
    """The folder that the user chose, or the usual place; None where there is no home."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "anabranch"
    home = Path(os.path.expanduser("~"))
    return home / ".cache" / "anabranch" if home.is_absolute() else None


def temporary_folder() -> Path:
    """Takes the place of the wanted folder where that cannot be used."""
    return Path(tempfile.gettempdir()) / f"anabranch-{os.getuid()}"


def usable_folders() -> Iterator[Path]:
    """Folders to keep code in, the best first; they are made if they are not there yet."""
    for folder in (wanted_folder(), temporary_folder()):
        if folder is not None and problem_with(folder) is None:
            yield folder
    with suppress(OSError):
        yield _folder_of_this_process()


def lasting_folders() -> list[Path]:
    """Folders that code may have been kept in by earlier processes."""
    wanted, temporary = wanted_folder(), temporary_folder()
    known = ([wanted] if wanted is not None else []) + ([temporary] if temporary.exists() else [])
    return [folder for folder in known if problem_with(folder) is None]


def problem_with(folder: Path) -> str | None:
    """Why code cannot be kept in a folder. It is loaded and run, so nobody else may be able to put some there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as problem:
        return f"it cannot be made: {problem.strerror}"
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if status.st_mode & 0o022:
        return "others can write to it"
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return "it cannot be written"
    return None


@cache
def _folder_of_this_process() -> Path:
    _folders_of_this_process.append(tempfile.TemporaryDirectory(prefix="anabranch-"))
    return Path(_folders_of_this_process[-1].name)


_folders_of_this_process: list[tempfile.TemporaryDirectory[str]] = []  # each is removed when the process ends


# What is in it ------------------------------------------------------------------------------------------------------


def entries(folder: Path) -> list[Entry]:
    """The entries of a folder, by name; anything else that may be there is none of ours."""
    try:
        paths = sorted(path for path in folder.iterdir() if _ENTRY.fullmatch(path.name))
    except OSError:
        return []
    return [Entry(path, _size(path)) for path in paths]


def _size(entry: Path) -> int:
    total = 0
    for path in entry.rglob("*"):
        with suppress(OSError):  # another process may be removing it
            total += path.lstat().st_size
    return total


def new_place(folder: Path, name: str) -> Path:
    """An empty folder for an entry that is being built; nobody looks for entries there."""
    return Path(tempfile.mkdtemp(prefix=f"building_{name}_", dir=folder))


def remove_entry(entry: Path) -> None:
    """All at once for everybody else: half an entry is never seen."""
    aside = entry.with_name(f"removing_{entry.name}_{os.getpid()}_{time.monotonic_ns()}")
    with suppress(OSError):
        entry.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def clear(folder: Path) -> None:
    """Removes all entries, and what was left unfinished. A process that is building one copes with that."""
    for entry in entries(folder):
        remove_entry(entry.path)
    _remove_unfinished(folder, older_than=0.0)


def tidy(folder: Path) -> None:
    """Removes what killed processes left behind, and entries that nobody has used for long."""
    _remove_unfinished(folder, older_than=_LONGEST_BUILD)
    for entry in folder.iterdir():
        if _ENTRY.fullmatch(entry.name) and _age(entry) > _LONGEST_UNUSED:
            remove_entry(entry)


def _remove_unfinished(folder: Path, *, older_than: float) -> None:
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if _UNFINISHED.fullmatch(path.name) and _age(path) >= older_than:
                shutil.rmtree(path, ignore_errors=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
