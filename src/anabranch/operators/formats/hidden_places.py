"""Hidden names beside a path, where an output is written until its run has succeeded.

The name follows from that of the output, and who writes there holds it locked: so a run finds what a killed one left,
and removes it, but nothing that another one is writing at the same time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BEGIN, _END = ".anabranch-", ".part"
_END_OF_FOLDER = ".parts"


@dataclass(frozen=True)
class Reserved:
    """A place that is ours until it is let go of."""

    place: Path
    _held: int  # a descriptor

    def let_go(self) -> None:
        with suppress(OSError):  # a second time
            os.close(self._held)


def reserve_file(target: Path) -> Reserved:
    """An empty file beside `target`, or in a folder of parts, to which several may write the same part."""
    if is_for_parts(target.parent.name):
        place = _anew(target, _END)
        return Reserved(place, _make_file(place))
    return _reserve(target, _END, is_folder=False)


def reserve_folder(target: Path) -> Reserved:
    """An empty folder beside `target`."""
    return _reserve(target, _END_OF_FOLDER, is_folder=True)


def is_for_parts(name: str) -> bool:
    """Whether a folder has the name of such a place. Only who began it makes it.

    Others who write there may be on machines that do not see it, or may not know yet that it was given up.
    """
    return name.startswith(_BEGIN) and name.endswith(_END_OF_FOLDER)


def is_leftover(name: str) -> bool:
    """Whether a file has the name of one that was not completed."""
    return name.startswith(_BEGIN) and name.endswith(_END)


def _reserve(target: Path, end: str, *, is_folder: bool) -> Reserved:
    make = _make_folder if is_folder else _make_file
    place = target.parent / f"{_BEGIN}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}{end}"
    _remove_left(place)
    try:
        held = make(place)
    except FileExistsError:  # another run writes there, or nobody can say whether one does
        held = -1
    if held >= 0 and _is_locked(held, place):
        return Reserved(place, held)
    if held >= 0:
        os.close(held)
    place = _anew(target, end)
    held = make(place)
    _is_locked(held, place)
    return Reserved(place, held)


def _anew(target: Path, end: str) -> Path:
    return target.parent / f"{_BEGIN}{secrets.token_hex(8)}{end}"


def _make_file(place: Path) -> int:
    return os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)


def _make_folder(place: Path) -> int:
    place.mkdir()
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _is_locked(held: int, place: Path) -> bool:
    """Whether the lock is ours now, and what it is on still has that name."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(held), os.lstat(place))
    except OSError:  # somebody else has it; or the file system has no locks
        return False


def _remove_left(place: Path) -> None:
    """What a run left that was killed. Nobody has it locked any more."""
    try:
        held = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not _is_locked(held, place):
            return
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            with suppress(OSError):
                place.unlink()
    finally:
        os.close(held)
