"""The file of a stream: written in place, so that others may follow it, and cut back to where a stream goes on."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats.atomic_file import writing_to
from anabranch.operators.formats.durability import leaving_no_folder, make_folder, sync_folder


def check_new_file(path: Path) -> None:
    """A `SinkError` where a stream that begins cannot write to `path`, or may not: what stands there is somebody's."""
    with writing_to(path):
        found = _size(path)
        if found:
            raise not_of_this_stream(path)
        target = Path(os.path.realpath(path))  # a link stays
        with leaving_no_folder(target.parent):
            os.close(open_new(path))
            if found is None:
                os.unlink(target)


def open_new(path: Path) -> int:
    """The descriptor of an empty file at `path`, whatever stood there."""
    with writing_to(path):
        _size(path)  # says what is no file
        folder = Path(os.path.realpath(path)).parent
        make_folder(folder)
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666)
        with _closed_on_failure(descriptor):
            os.ftruncate(descriptor, 0)
            sync_folder(folder)
        return descriptor


def check_file_has(path: Path, size: int) -> int | None:
    """How long the file at `path` is; a `SinkError` where it lacks some of the `size` bytes that were written to it."""
    with writing_to(path):
        found = _size(path)
        if (found or 0) < size:
            left = "it is gone" if found is None else f"only {found:,} are there"
            raise lost(path, f"wrote {size:,} bytes to it, and {left}")
        return found


def open_at(path: Path, size: int) -> int:
    """The descriptor of the file at `path`, which had `size` bytes at least; what is behind them is cut off."""
    found = check_file_has(path, size)
    with writing_to(path):
        if found is None:
            return open_new(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        if found > size:
            with _closed_on_failure(descriptor):
                os.ftruncate(descriptor, size)
        return descriptor


def not_of_this_stream(path: Path) -> SinkError:
    return SinkError(
        f"{path} exists, and is not of this stream", hint="move it away, or choose another path for the output"
    )


def lost(path: Path, what: str) -> SinkError:
    """What a stream wrote earlier is not there any more, so that it cannot go on."""
    return SinkError(
        f"{path}: the stream {what}",
        hint="put back what is missing, or begin anew with another checkpoint and another path",
    )


def _size(path: Path) -> int | None:
    """How long a file is, or None where there is none; a `SinkError` where it is something else than a file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise SinkError(f"{path}: is a directory", hint=f"name a file in it: {path}/output")
    if not stat.S_ISREG(found.st_mode):
        what = "a pipe" if stat.S_ISFIFO(found.st_mode) else "a device" if _is_device(found.st_mode) else "a socket"
        raise SinkError(
            f"{path}: is {what}, and what a stream wrote to it cannot be taken back when the stream is restarted",
            hint="write to a file, or use for_each, which may see tuples twice after a restart",
        )
    return found.st_size


def _is_device(mode: int) -> bool:
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


@contextmanager
def _closed_on_failure(descriptor: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(descriptor)
        raise
