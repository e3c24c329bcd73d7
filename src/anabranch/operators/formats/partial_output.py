"""Where an output is kept that a run did not complete: beside its path, under a name that says so."""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

from anabranch.operators.formats.hidden_places import is_leftover

PARTIAL = ".partial"
_PART = re.compile(r"part-\d{8,}\.\w+(\.(gz|bz2|xz|zst))?", re.ASCII)


def is_partial(name: str) -> bool:
    """Whether something has the name of an output that a run did not complete."""
    return name.endswith(PARTIAL)


def is_part(name: str) -> bool:
    """Whether a file has the name of one of those in a folder that a run has written."""
    return _PART.fullmatch(name) is not None


def is_partial_of(place: Path, target: Path) -> bool:
    """Whether a file is, or is in, what has the name of an unfinished output of that path."""
    names = re.compile(rf"{re.escape(target.name)}(\.\d+)?{re.escape(PARTIAL)}")
    return any(names.fullmatch(each.name) and each.parent == target.parent for each in (place, place.parent))


def keep_partial(place: Path, target: Path) -> Path:
    """Put what was written at `place` beside `target`; what an earlier run left there is replaced. Where it is then."""
    is_folder = place.is_dir()
    kept = _place_for(target, is_folder=is_folder)
    if is_folder and kept.exists():
        shutil.rmtree(kept)
    os.replace(place, kept)
    return kept


def forget_partial(target: Path, *, is_folder: bool) -> None:
    """Behind a run that has succeeded, what an earlier one did not complete is of no use."""
    with suppress(OSError):
        kept = _place_for(target, is_folder=is_folder)
        if is_folder:
            shutil.rmtree(kept)
        else:
            kept.unlink()


def foreign_names(folder: Path) -> list[str]:
    """What is in a folder that no run has written there as an output."""
    return [name for name in sorted(os.listdir(folder)) if not is_part(name) and not is_leftover(name)]


def _place_for(target: Path, *, is_folder: bool) -> Path:
    """The first of the names for a partial output at which nothing stands that may be somebody's own."""
    for number in count(1):
        kept = target.with_name(f"{target.name}{PARTIAL if number == 1 else f'.{number}{PARTIAL}'}")
        if _is_free(kept, is_folder):
            return kept
    raise AssertionError


def _is_free(kept: Path, is_folder: bool) -> bool:
    try:
        mode = os.lstat(kept).st_mode
    except FileNotFoundError:
        return True
    try:
        return stat.S_ISDIR(mode) and not foreign_names(kept) if is_folder else stat.S_ISREG(mode)
    except PermissionError:  # nobody can say what is in it
        return False
