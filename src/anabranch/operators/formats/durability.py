"""What must outlive a crash of the machine: files and the names of files, forced out to the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Some file systems cannot force a folder out, and a folder may be writable without being readable: there the name is
# as durable as it gets.
_CANNOT = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: those that were made, and those that were taken away."""
    try:
        sync_file(folder)
    except OSError as problem:
        if problem.errno not in _CANNOT:
            raise


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, durably."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


@contextmanager
def leaving_no_folder(folder: Path) -> Iterator[None]:
    """For who only tries: a folder that is not there, and those above it, are not there afterwards either."""
    missing = [each for each in (folder, *folder.parents) if not os.path.exists(each)]
    try:
        yield
    finally:
        for each in missing:
            with suppress(OSError):  # it was not made, or somebody else has put something there
                each.rmdir()
