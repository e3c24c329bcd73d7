"""A folder of part files at an address: the same as `PartsFolder`, but that no object store moves a folder in one step.

Tasks put their parts beside it. When the run has succeeded they are copied one by one, and meanwhile a mark in the
folder says that some are missing: our sources refuse to read it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats import remote_files
from anabranch.operators.formats.addresses import Address
from anabranch.operators.formats.partial_output import is_part
from anabranch.operators.formats.replacing import INCOMPLETE
from anabranch.operators.formats.uploaded_file import putting_to, staged

_STARTED = "_STARTED"
_AT_ONCE = 16  # copies


class RemoteFolder:
    def __init__(self, path: Address, suffix: str) -> None:
        self.path = path
        self._suffix = suffix
        self.place = staged(path)
        self._is_open = False

    def open(self) -> None:
        with putting_to(self.path):
            self._check()
            self._is_open = True
            try:
                _put_mark(self.place / _STARTED)  # only trying tells whether that is allowed
            except BaseException:
                self.discard()
                raise

    def part(self, number: int) -> Address:
        return self.place / f"part-{number:08d}.{self._suffix}"

    @property
    def is_empty(self) -> bool:
        with putting_to(self.path):
            return not self._parts()

    def missing(self, numbers: Iterable[int]) -> Address | None:
        """The first of these parts that is not there."""
        with putting_to(self.path):
            found = {each.name for each in self._parts()}
        return next((part for number in numbers if (part := self.part(number)).name not in found), None)

    def cut(self, last: int) -> None:
        """Remove the parts behind one."""
        with putting_to(self.path):
            for each in self._parts():
                if int(each.name.split(".")[0].removeprefix("part-")) > last:
                    remote_files.delete(each)

    def _parts(self) -> list[Address]:
        return sorted(each for each in remote_files.files_below(self.place, deep=False) if is_part(each.name))

    def commit(self) -> None:
        """Copy the parts to their places; begun a second time, it goes on where it was interrupted."""
        if not self._is_open:
            return
        with putting_to(self.path), ThreadPoolExecutor(_AT_ONCE) as threads:
            before = self._check()
            parts = self._parts()
            mark = self.path / INCOMPLETE
            _put_mark(mark)
            names = {each.name for each in parts}
            list(threads.map(remote_files.delete, [each for each in before if each.name not in names]))
            list(threads.map(lambda each: remote_files.copy(each, self.path / each.name), parts))
            remote_files.delete(mark)
        self.discard()

    def keep(self) -> Address | None:
        """Instead of `commit`, for a run that did not succeed: where the parts are, if there are any."""
        if not self._is_open:
            return None
        with suppress(SinkError, OSError):
            if not self.is_empty:
                remote_files.delete(self.place / _STARTED)
                self._is_open = False
                return self.place
        self.discard()
        return None

    def discard(self) -> None:
        """Leave no trace. Tasks of a run that was broken off go on for a moment, and may put something there."""
        if not self._is_open:
            return
        with suppress(OSError):
            for each in remote_files.files_below(self.place, deep=True):
                remote_files.delete(each)
        self._is_open = False

    def _check(self) -> list[Address]:
        """What is there; it may be replaced where that is what an earlier run wrote."""
        if not self.path.path:
            raise SinkError(f"{self.path}: is a bucket", hint=f"name a folder in it: {self.path}output/")
        found = remote_files.found_at(self.path)
        if found is not None and not found.is_folder:
            raise SinkError(
                f"{self.path}: is a file, and a path that ends with a slash names a folder of files",
                hint="leave the slash out, or choose another path",
            )
        files = [] if found is None else remote_files.files_below(self.path, deep=True)
        for each in files:
            if each.parent != self.path or not (is_part(each.name) or each.name == INCOMPLETE):
                raise SinkError(
                    f"{self.path}/: holds '{each.name}', which is no part of an output, so it is not replaced",
                    hint="choose another folder, or empty this one",
                )
        return [each for each in files if each.name != INCOMPLETE]


def _put_mark(address: Address) -> None:
    with tempfile.NamedTemporaryFile() as empty:
        remote_files.upload(Path(empty.name), address)
