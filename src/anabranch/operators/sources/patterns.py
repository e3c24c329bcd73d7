"""Which files a path of a source means: one file, those in a folder, or those that a glob matches.

Names that begin with a dot or an underscore, or end in `.partial`, are no data: files that are being written, marks of
those who wrote the others (`_SUCCESS`), and outputs that a run did not complete. Who names one in full means it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.errors import SourceError
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.sources import objects
from anabranch.operators.sources.glob_matching import is_data, is_matched


def has_pattern(pattern: str | FilePath) -> bool:
    """Whether there may be more files of a source later: it names a folder, or what a glob matches."""
    if isinstance(pattern, Address):
        return objects.has_pattern(pattern)
    path = Path(pattern)
    return path.is_dir() or (glob.has_magic(str(pattern)) and not path.exists())


def as_glob(pattern: str | Path) -> str:
    """The glob of what is in a folder, or the pattern as it is."""
    return str(Path(glob.escape(str(pattern))) / "*") if Path(pattern).is_dir() else str(pattern)


def matching_names(pattern: str | FilePath) -> list[str]:
    """What is in a folder, or what a glob matches, sorted by name; folders too: nothing is asked of what is there."""
    if isinstance(pattern, Address):
        return [each.uri for each in objects.matching(pattern)]
    return sorted(_found(as_glob(pattern)))


def _found(text: str) -> list[str]:
    folder, pattern = os.path.split(text)
    if not glob.has_magic(folder) and pattern != "**":  # as almost always, and there may be very many
        return [name for name in glob.glob(text) if is_data(os.path.basename(name), pattern)]
    parts = Path(text).parts
    return [name for name in glob.glob(text, recursive=True) if is_matched(Path(name).parts, parts)]


def matching_files(pattern: str | FilePath) -> tuple[FilePath, ...]:
    """The file of that name, those in a folder, or those a glob (`*`, `?`, `[…]`, `**`) matches, sorted by name."""
    if isinstance(pattern, Address):
        return objects.matching_files(pattern)
    text = as_glob(pattern)
    path = Path(text)
    if not glob.has_magic(text) or path.exists():
        if not path.exists():
            raise SourceError(
                f"{text}: no such file",
                hint=f"check the path; relative paths start at the current folder, {Path.cwd()}",
            )
        return (path,)
    found = [name for name in matching_names(text) if not Path(name).is_dir()]
    if not found:
        passed_over = next((name for name in sorted(glob.glob(text, recursive=True)) if not Path(name).is_dir()), None)
        raise SourceError(
            f"{text}: no file matches",
            hint=f"check the pattern; relative paths start at the current folder, {Path.cwd()}"
            if passed_over is None
            else f"{passed_over} is passed over for its name; to read it, name it in full",
        )
    return tuple(Path(name) for name in found)


def would_find(pattern: str | FilePath, path: str | FilePath) -> bool:
    """Whether a source would read a file of that path, if there were one."""
    if isinstance(pattern, Address) or isinstance(path, Address):
        return isinstance(pattern, Address) and isinstance(path, Address) and objects.would_find(pattern, path)
    text = as_glob(pattern)
    if not has_pattern(pattern):
        return os.path.realpath(text) == os.path.realpath(path)
    wanted = Path(os.path.normpath(os.path.join(glob.escape(os.getcwd()), text)))
    real = Path(os.path.realpath(path))
    if any(is_matched(Path(os.path.abspath(each)).parts, wanted.parts) for each in (path, real)):
        return True
    return any(  # folders on the way may have other names, by links
        real.is_relative_to(folder) and is_matched(real.relative_to(folder).parts, below)
        for folders, below in _split(wanted)
        for folder in map(os.path.realpath, _found(f"{folders}/"))
    )


def _split(pattern: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """A glob as folders and what is below them: at its first wildcard, and at its last name."""
    first = next(at for at, name in enumerate(pattern.parts) if glob.has_magic(name))
    for at in dict.fromkeys((first, len(pattern.parts) - 1)):
        yield str(Path(*pattern.parts[:at])), pattern.parts[at:]
