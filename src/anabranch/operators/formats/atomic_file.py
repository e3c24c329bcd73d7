"""A file that appears at its place complete or not at all: written beside it, then renamed onto it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats.durability import sync_file, sync_folder
from anabranch.operators.formats.failures import why

_BEGIN, _END = ".anabranch-", ".part"
_END_OF_FOLDER = ".parts"


class AtomicFile:
    """The place where a sink's file is written until it is complete.

    A path that exists and is not a regular file (a device, a pipe) is written directly: renaming a file
    onto it would replace it.
    """

    def __init__(self, path: Path) -> None:
        """Reserve a file beside `path`; a `SinkError` says why that cannot be done."""
        self.path = path
        self._target = path
        self._mode: int | None = None
        self._is_moved = False
        with writing_to(path):
            self.is_direct = self._check_target()
            self.place = path if self.is_direct else self._reserve()

    def commit(self, *, durable: bool = False) -> None:
        """Put the file at its place, if asked so that it outlives a crash of the machine.

        A second call after an interrupt does no harm.
        """
        if self.is_direct or (self._is_moved and not self.place.exists()):
            return
        try:
            if durable:
                sync_file(self.place)
            self._is_moved = True  # before it is: an interrupt may come right after
            os.replace(self.place, self._target)
            if durable:
                sync_folder(self._target.parent)
        except OSError as problem:
            self.discard()
            raise unwritable(self.path, problem) from None

    def discard(self) -> None:
        """Leave no trace."""
        if not self.is_direct:
            with suppress(OSError):
                self.place.unlink(missing_ok=True)

    def _check_target(self) -> bool:
        """Whether the path must be written directly."""
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            self._target = Path(os.path.realpath(self.path))
            return False
        if stat.S_ISDIR(mode):
            raise SinkError(f"{self.path}: is a directory", hint=f"name a file in it: {self.path}/output")
        if not os.access(self.path, os.W_OK):
            raise SinkError(f"{self.path}: permission denied")
        self._target = Path(os.path.realpath(self.path))  # a link stays a link; what it points to is replaced
        self._mode = stat.S_IMODE(mode)
        return not stat.S_ISREG(mode)

    def _reserve(self) -> Path:
        folder = self._target.parent
        try:
            if not _is_for_parts(folder.name):
                folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise SinkError(f"{self.path}: {folder} is not a directory") from None
        place = folder / f"{_BEGIN}{secrets.token_hex(8)}{_END}"
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
        try:
            if self._mode is not None:
                with suppress(OSError):  # not ours to change; the content matters more
                    os.fchmod(descriptor, self._mode)
        finally:
            os.close(descriptor)
        return place


def beside(target: Path) -> Path:
    """A place for a folder of files that is to appear at another place when it is complete."""
    return target.parent / f"{_BEGIN}{secrets.token_hex(8)}{_END_OF_FOLDER}"


def _is_for_parts(name: str) -> bool:
    """Whether a folder has the name of such a place. Only who began it makes it.

    Others who write there may be on machines that do not see it, or may not know yet that it was given up.
    """
    return name.startswith(_BEGIN) and name.endswith(_END_OF_FOLDER)


def is_leftover(name: str) -> bool:
    """Whether a file has the name of one that was not completed."""
    return name.startswith(_BEGIN) and name.endswith(_END)


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """What the operating system says against it becomes a `SinkError` that names the path."""
    try:
        yield
    except OSError as problem:
        raise unwritable(path, problem) from None
    except ValueError as problem:  # a null character in the path
        raise SinkError(f"{str(path)!r}: {problem}") from None


def unwritable(path: Path, problem: OSError) -> SinkError:
    reason = "no such folder" if isinstance(problem, FileNotFoundError) else why(problem)
    return SinkError(f"{path}: {reason}")
