"""Files of a checkpoint with a checksum over what they hold: they are read as they were written, or refused.

A file that is written at once begins with its checksum. A log that grows has one in each line, over that line and all
before it, so that a line which is lost or changed is noticed at every line behind it. What a process that was killed
leaves is none of this: a file is there as a whole or not at all, and of a log only the end of its last line is missing.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import RunError

_SEAL = b"anabranch sealed "
_DIGITS = 32  # of the checksum of a file
HEAD = len(_SEAL) + _DIGITS + 1  # bytes before what a file holds
FIRST = 0  # the mark of a log without a line
_TEXT_AT, _TEXT_UNTIL = 20, -2  # in a line: ["0123456789abcdef",{…}] and a newline
BEGIN_ANEW = (
    "nothing was changed; restore the folder from a backup, and start again: outputs are cut back to what it says, and "
    "written again. Or begin anew, with another checkpoint and other outputs: then all that is there is read again"
)
MAKE_ROOM = "make room there, and start the stream again: it goes on where it was"


class DamagedCheckpoint(RunError):
    """A file of a checkpoint is not what was written."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: the checkpoint is damaged: {why}", hint=BEGIN_ANEW)
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return RunError, (self.message,)


class NotSealed(DamagedCheckpoint):
    """A file does not even begin with a checksum: damaged, or of a version that wrote none."""


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """What the file system refuses is said with the folder that it is about."""
    try:
        yield
    except OSError as problem:
        is_full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise RunError(
            f"{folder}: the checkpoint cannot be written: {problem.strerror or problem}",
            hint=MAKE_ROOM if is_full else "when that is mended, start the stream again: it goes on where it was",
        ) from problem


def sealed(name: str, content: bytes) -> bytes:
    """A content behind its checksum, for a place of that name and no other."""
    return _SEAL + _checksum(name, content) + b"\n" + content


def is_sealed(name: str, found: bytes | memoryview) -> bool:
    return bytes(found[:HEAD]) == _SEAL + _checksum(name, found[HEAD:]) + b"\n"


def _checksum(name: str, content: bytes | memoryview) -> bytes:
    found = hashlib.blake2b(name.encode(errors="surrogateescape") + b"\0", digest_size=_DIGITS // 2)
    found.update(content)
    return found.hexdigest().encode()


def write_sealed(path: Path, content: bytes) -> None:
    """All of it or nothing, and for good: also after a loss of power."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(sealed(path.name, content))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_sealed(path: Path) -> bytes:
    """What a file holds; an error where it is not what was written."""
    found = path.read_bytes()
    if not found.startswith(_SEAL):
        raise NotSealed(path, "it does not begin with its checksum")
    if not is_sealed(path.name, found):
        raise DamagedCheckpoint(path, "its content does not match its checksum")
    return found[HEAD:]


# Lines of a log -------------------------------------------------------------------------------------------------------


def sealed_line(before: int, text: str) -> tuple[int, bytes]:
    """A line of JSON for a log whose last mark is `before`, and the mark behind it."""
    mark = _mark(before, text.encode())
    return mark, f'["{mark:016x}",{text}]\n'.encode()


def open_line(path: Path, before: int, line: bytes) -> tuple[int, str]:
    """The mark and the text of a whole line of a log; an error where it, or one before it, is not what was written."""
    text = line[_TEXT_AT:_TEXT_UNTIL]
    mark = _mark(before, text)
    if line != b'["%016x",%b]\n' % (mark, text):
        raise DamagedCheckpoint(path, "a line of it does not match its checksum, or lines before that one are missing")
    return mark, text.decode()


def _mark(before: int, text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(before.to_bytes(8) + text, digest_size=8).digest())
