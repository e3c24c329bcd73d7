"""A folder put in the place of another one, which is there whole, or the other is, whatever happens meanwhile."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

_HERE = -100  # AT_FDCWD: paths are as usual
_EXCHANGE = 2  # RENAME_EXCHANGE


def put_folder(place: Path, target: Path) -> Path | None:
    """Move a folder to `target`; where that is which was there before. Where it fails, both are as they were."""
    if not os.path.lexists(target):
        os.replace(place, target)
        return None
    if _has_exchanged(place, target):
        return place
    before = place_before(place)
    os.replace(target, before)
    try:
        os.replace(place, target)
    except BaseException:
        os.replace(before, target)
        raise
    return before


def place_before(place: Path) -> Path:
    """Where the folder of an earlier run is for a moment, where folders cannot be exchanged at once."""
    return place.with_suffix(".before")


def put_back(place: Path, target: Path) -> None:
    """After a run that was killed in that moment."""
    before = place_before(place)
    if before.is_dir() and not os.path.lexists(target):
        os.replace(before, target)
    else:
        shutil.rmtree(before, ignore_errors=True)


def _has_exchanged(place: Path, target: Path) -> bool:
    """Exchange two names in one step; False where this system, or this file system, has no such step."""
    rename = _renameat2()
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(place), _HERE, os.fsencode(target), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))


@cache
def _renameat2() -> Any:
    """A call of Linux that Python's library does not have."""
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
