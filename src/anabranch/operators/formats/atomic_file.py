"""A file that appears at its place complete or not at all: written beside it, then renamed onto it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.durability import sync_file, sync_folder
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.hidden_places import Reserved, is_for_parts, reserve_file
from anabranch.operators.formats.partial_output import forget_partial, keep_partial


class AtomicFile:
    """The place where a sink's file is written until it is complete.

    A path that exists and is not a regular file (a device, a pipe) is written directly: renaming a file
    onto it would replace it. So is what this process has open, by a name such as `/dev/stdout`: others write there too.
    """

    def __init__(self, path: Path, name: FilePath | None = None) -> None:
        """Reserve a file beside `path`; a `SinkError` says why that cannot be done.

        In messages it has another name where it is a part of something, whose name users know.
        """
        self.path = path
        self.name = name or path
        self._target = path
        self._mode: int | None = None
        self._own = _own_descriptor(path)
        self._reserved: Reserved | None = None
        self._is_moved = False
        with writing_to(self.name):
            self.is_direct = self._check_target()
            self.place = path if self.is_direct else self._reserve()

    def open(self) -> int:
        """A descriptor to write with."""
        return os.open(self.place, os.O_WRONLY | os.O_CLOEXEC) if self._own is None else os.dup(self._own)

    def stage(self) -> None:
        """All that can fail before the file takes its place is done: it is on the same disk."""

    def commit(self, *, durable: bool = False) -> None:
        """Put the file at its place, if asked so that it outlives a crash of the machine.

        A second call after an interrupt does no harm. Where it fails, the file is still where it was written.
        """
        if self.is_direct or (self._is_moved and not self.place.exists()):
            return
        with writing_to(self.name):
            if durable:
                sync_file(self.place)
            self._is_moved = True  # before it is: an interrupt may come right after
            os.replace(self.place, self._target)
            if durable:
                sync_folder(self._target.parent)
        self._let_go()

    def forget_partial(self) -> None:
        """Behind `commit`, for an output of a run: what an earlier one did not complete."""
        if not self.is_direct and not self._is_part:
            forget_partial(self._target, is_folder=False)

    def keep(self) -> Path | None:
        """Instead of `commit`, for a run that did not succeed: where the file is now, if it is one.

        A part of a folder is put at its place: it is the name of the folder that will say what it is.
        """
        if self.is_direct:
            return None
        if self._is_part:
            with suppress(SinkError):
                self.commit()
            return None
        kept = self.place
        with suppress(OSError):  # then it stays where it is
            kept = keep_partial(self.place, self._target)
        self._let_go()
        return kept if kept.exists() else None

    def discard(self) -> None:
        """Leave no trace."""
        if not self.is_direct:
            with suppress(OSError):
                self.place.unlink(missing_ok=True)
        self._let_go()

    @property
    def _is_part(self) -> bool:
        return is_for_parts(self._target.parent.name)

    def _let_go(self) -> None:
        reserved, self._reserved = self._reserved, None
        if reserved is not None:
            reserved.let_go()

    def _check_target(self) -> bool:
        """Whether the path must be written directly."""
        if self._own is not None:
            return True
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            self._target = Path(os.path.realpath(self.path))
            return False
        if stat.S_ISDIR(mode):
            raise SinkError(f"{self.name}: is a directory", hint=f"name a file in it: {self.path}/output")
        if not os.access(self.path, os.W_OK):
            raise SinkError(f"{self.name}: permission denied")
        self._target = Path(os.path.realpath(self.path))  # a link stays a link; what it points to is replaced
        self._mode = stat.S_IMODE(mode)
        return not stat.S_ISREG(mode)

    def _reserve(self) -> Path:
        folder = self._target.parent
        try:
            if not self._is_part:
                folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise SinkError(f"{self.name}: {folder} is not a directory") from None
        self._reserved = reserve_file(self._target)
        if self._mode is not None:
            with suppress(OSError):  # not ours to change; the content matters more
                os.chmod(self._reserved.place, self._mode)
        return self._reserved.place


def _own_descriptor(path: Path) -> int | None:
    """What a path stands for that names an open file of this process; a link to such a path does, too."""
    name = os.path.abspath(path)
    for _ in range(_MOST_LINKS):
        folder, number = os.path.realpath(os.path.dirname(name)), os.path.basename(name)
        if folder in (f"/proc/{os.getpid()}/fd", "/dev/fd") and number.isdecimal():
            return int(number)
        try:
            name = os.path.join(folder, os.readlink(name))
        except OSError:
            return None
    return None


_MOST_LINKS = 8


@contextmanager
def writing_to(path: FilePath) -> Iterator[None]:
    """What the operating system says against it becomes a `SinkError` that names the path."""
    try:
        yield
    except OSError as problem:
        raise unwritable(path, problem) from None


def unwritable(path: FilePath, problem: OSError) -> SinkError:
    hint = _REMEDIES.get(problem.errno or 0)
    if not isinstance(problem, FileNotFoundError):
        return SinkError(f"{path}: {why(problem)}", hint=hint)
    folder = Path(problem.filename).parent if isinstance(problem.filename, str) else None
    if folder is None or not folder.is_dir():
        return SinkError(f"{path}: no such folder", hint=hint)
    return SinkError(f"{path}: it cannot be written in {folder}", hint="choose another folder")  # as in /proc


_REMEDIES = {
    errno.ENOSPC: "make room on the disk, or write to another one",
    errno.EDQUOT: "delete something, or write to another disk",
}
