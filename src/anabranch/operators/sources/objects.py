"""Which files an address of a source means: the same as a path of this machine does (`patterns.py`)."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.errors import SourceError
from anabranch.operators.formats.addresses import Address
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.replacing import INCOMPLETE
from anabranch.operators.sources.glob_matching import is_matched

if TYPE_CHECKING:
    from anabranch.operators.formats.remote_files import Found


def has_pattern(pattern: Address) -> bool:
    """Whether there may be more files later."""
    with _asking(pattern):
        found = _at(pattern)
    return found is not None and found.is_folder if not glob.has_magic(pattern.path) else found is None


def matching(pattern: Address) -> list[Address]:
    """The files in a folder, or those that a glob matches, sorted by name."""
    with _asking(pattern):
        return _matching(pattern)


def matching_files(pattern: Address) -> tuple[Address, ...]:
    """The file of that name, or those that match; a `SourceError` where there is none."""
    with _asking(pattern):
        found = _at(pattern)
        if found is not None and not found.is_folder:
            return (pattern,)
        if found is None and not glob.has_magic(pattern.path):
            raise SourceError(f"{pattern}: no such file", hint="check the address")
        files = _matching(pattern)
    if not files:
        what = f"{pattern}/*" if found is not None else str(pattern)
        raise SourceError(f"{what}: no file matches", hint="check the pattern")
    return tuple(files)


def would_find(pattern: Address, path: Address) -> bool:
    """Whether a source would read a file of that address, if there were one."""
    if replace(pattern, path="") != replace(path, path=""):
        return False
    return pattern == path or any(is_matched(path.parts, each) for each in (pattern.parts, (*pattern.parts, "*")))


def _at(address: Address) -> Found | None:
    from anabranch.operators.formats.remote_files import found_at

    return found_at(address)


def _matching(pattern: Address) -> list[Address]:
    from anabranch.operators.formats.remote_files import files_below

    parts = pattern.parts
    if not glob.has_magic(pattern.path) or _at(pattern) is not None:
        folder, wanted = pattern, (*map(glob.escape, parts), "*")
    else:
        first = next(at for at, name in enumerate(parts) if glob.has_magic(name))
        folder, wanted = replace(pattern, path="/".join(parts[:first])), parts
    below = len(wanted) - len(folder.parts)
    found = files_below(folder, deep=below > 1 or wanted[-1] == "**")
    _must_be_complete(found, wanted)
    return sorted(each for each in found if is_matched(each.parts, wanted))


def _must_be_complete(found: list[Address], wanted: tuple[str, ...]) -> None:
    """Of a folder whose files are being replaced, some are of another run."""
    for mark in found:
        if mark.name == INCOMPLETE and any(
            each.parent == mark.parent and is_matched(each.parts, wanted) for each in found
        ):
            raise SourceError(
                f"{mark.parent}/: a run is putting its files there, or was killed while it did",
                hint="wait until it has ended; if it was killed, run it again",
            )


@contextmanager
def _asking(address: Address) -> Iterator[None]:
    """What a server refuses is an error of the source."""
    try:
        yield
    except OSError as problem:
        raise SourceError(f"{address}: {why(problem)}", hint=getattr(problem, "hint", None)) from None
