"""What is at a path, be it of this machine or an address: opening it, and what is known of it."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from anabranch.operators.formats.addresses import Address, FilePath, file_at


class Status(NamedTuple):
    """Of a file that is open."""

    size: int
    is_regular: bool = True  # and no pipe or device
    version: str | None = None  # at an address: what tells it from another file there
    changed: tuple[int, ...] = ()  # on this machine: what tells it from what it was


def open_bytes(path: FilePath) -> BinaryIO:
    """The bytes of a file, or the `OSError` that says why not."""
    if isinstance(path, Address):
        from anabranch.operators.formats.remote_files import open_remote

        return cast(BinaryIO, open_remote(path))
    return path.open("rb")


def status_of(stream: Any) -> Status:
    """Of what `open_bytes` gives, also where it is decompressed."""
    raw = getattr(stream, "raw", stream)
    raw = getattr(raw, "file", raw)  # what it is decompressed from
    remote = getattr(raw, "raw", raw)
    if hasattr(remote, "version"):
        return Status(remote.size, version=remote.version)
    found = os.fstat(raw.fileno())
    changed = (found.st_ino, found.st_size, found.st_mtime_ns)
    return Status(found.st_size, stat.S_ISREG(found.st_mode), changed=changed)


def status_at(path: FilePath) -> Status | None:
    """The same of a file that is not open; None where it cannot be opened, of which who opens it says why."""
    try:
        with open_bytes(path) as stream:
            return status_of(stream)
    except OSError:
        return None


def version_at(path: FilePath) -> str | None:
    """What tells a file at an address from another one there; None on this machine."""
    status = status_at(path) if isinstance(path, Address) else None
    return None if status is None else status.version


def first_bytes(stream: BinaryIO, count: int) -> bytes:
    """How a file begins that was just opened. Nothing is taken from what can be read only once."""
    if isinstance(stream, io.BufferedReader) and hasattr(stream.raw, "version"):
        return stream.peek(count)[:count]
    try:
        return os.pread(stream.fileno(), count, 0)
    except OSError:
        return b""


def size_of(path: FilePath) -> int | None:
    """How long a file is; None where nobody can say."""
    try:
        if isinstance(path, Address):
            if path.size is not None:
                return path.size
            from anabranch.operators.formats.remote_files import found_at

            found = found_at(path)
            return None if found is None else found.size
        return path.stat().st_size
    except OSError:
        return None


def full_name(path: FilePath) -> str:
    """Text of which `file_at` makes the path again, in another folder too."""
    return path.uri if isinstance(path, Address) else os.path.join(os.getcwd(), path)


def from_full_name(name: str) -> FilePath:
    return file_at(name) if "://" in name and not os.path.isabs(name) else Path(name)
