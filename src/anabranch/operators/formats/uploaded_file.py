"""A file that appears at an address complete or not at all: written on this machine, then put there.

An object store writes an object when it is closed. So that all outputs of a run appear or none, each is put beside its
address when it is complete, and copied to it when all are.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats import remote_files
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.partial_output import PARTIAL

_STAGED = re.compile(r".*\.[0-9a-f]{16}" + re.escape(PARTIAL))
_LARGEST_COPIED = 5 * 2**30  # bytes: S3 copies no larger object in one step


class UploadedFile:
    """The same as `AtomicFile`, for an address. `place` is where it is written."""

    is_direct = False

    def __init__(self, path: Address, name: FilePath | None = None) -> None:
        """A `SinkError` where nothing can be put there, which only trying tells."""
        self.path = path
        self.name = name or path
        self._is_part = _STAGED.fullmatch(path.parent.name) is not None
        self._staged = staged(path)
        self._has_staged = False  # something
        self._is_staged = False  # all of it
        self._is_done = False
        with putting_to(self.name):
            descriptor, place = tempfile.mkstemp(prefix="anabranch-", suffix=path.name[-80:])
            os.close(descriptor)
        self.place = Path(place)
        if self._is_part:
            return
        try:
            with putting_to(self.name):
                _must_be_no_folder(path)
                self._stage()
        except BaseException:
            self.discard()
            raise

    def open(self) -> int:
        """A descriptor to write with."""
        return os.open(self.place, os.O_WRONLY | os.O_CLOEXEC)

    def stage(self) -> None:
        """All that can fail before the file takes its place: behind it, only a copy is left to do."""
        if self._is_part:
            self._put_part()
        elif not self._is_staged:
            with putting_to(self.name):
                self._stage()
                self._is_staged = True

    def _put_part(self) -> None:
        """A part is beside the folder, which will say what it is: it needs no other name meanwhile."""
        if not self._is_done:
            with putting_to(self.name):
                _to_its_end(lambda: remote_files.upload(self.place, self.path))
            self._is_done = True
            self._remove()

    def _stage(self) -> None:
        self._has_staged = True  # before it is
        _to_its_end(lambda: remote_files.upload(self.place, self._staged))

    def commit(self, *, durable: bool = False) -> None:
        """Put the file at its place; a second call does no harm."""
        self.stage()
        if self._is_done:
            return
        with putting_to(self.name):
            if self.place.stat().st_size > _LARGEST_COPIED:
                _to_its_end(lambda: remote_files.upload(self.place, self.path))
            else:
                _to_its_end(lambda: remote_files.copy(self._staged, self.path))
        self._is_done = True
        self._remove()

    def forget_partial(self) -> None:
        """Behind `commit`, for an output of a run: what an earlier one did not complete."""
        if not self._is_part:
            with suppress(OSError):
                remote_files.delete(self._partial)

    def keep(self) -> FilePath | None:
        """Instead of `commit`, for a run that did not succeed: where the file is now. Where nothing can be put at the
        address any more, it stays on this machine."""
        if self._is_part:
            with suppress(SinkError):
                self.commit()
            return None
        try:
            _to_its_end(lambda: remote_files.upload(self.place, self._partial))
        except OSError:
            self._remove_staged()
            return self.place
        self._remove()
        return self._partial

    def discard(self) -> None:
        """Leave no trace."""
        if self._is_part and self._is_done:
            with suppress(OSError):
                remote_files.delete(self.path)
        self._remove()

    @property
    def _partial(self) -> Address:
        return self.path.with_name(f"{self.path.name}{PARTIAL}")

    def _remove(self) -> None:
        with suppress(OSError):
            self.place.unlink(missing_ok=True)
        self._remove_staged()

    def _remove_staged(self) -> None:
        if self._has_staged:
            with suppress(OSError):
                remote_files.delete(self._staged)
            self._has_staged = False


def staged(target: Address) -> Address:
    """A name beside a target that nobody else has, and that says that no run has completed it."""
    return target.with_name(f"{target.name}.{secrets.token_hex(8)}{PARTIAL}")


def _must_be_no_folder(path: Address) -> None:
    if not path.path:
        raise SinkError(f"{path}: is a bucket", hint=f"name a file in it: {path}output")
    found = remote_files.found_at(path)
    if found is not None and found.is_folder:
        raise SinkError(f"{path}: is a directory", hint=f"name a file in it: {path}/output")


def _to_its_end(work: Callable[[], None]) -> None:
    """An interrupt in the middle would close, and so complete, an object of which a part is sent."""
    with ThreadPoolExecutor(1, thread_name_prefix="upload") as thread:
        thread.submit(work).result()


@contextmanager
def putting_to(path: FilePath) -> Iterator[None]:
    """What a server refuses is a `SinkError` that names the address."""
    try:
        yield
    except OSError as problem:
        hint = getattr(problem, "hint", None)
        raise SinkError(f"{path}: {why(problem)}", hint=hint) from None
