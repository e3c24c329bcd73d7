"""A folder of part files whose names, sorted, are the order of their rows. It appears at its place whole."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from anabranch.errors import SinkError
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.atomic_file import writing_to
from anabranch.operators.formats.folder_swap import put_back, put_folder
from anabranch.operators.formats.hidden_places import Reserved, is_leftover, reserve_folder
from anabranch.operators.formats.partial_output import foreign_names, forget_partial, keep_partial

AnyPath = TypeVar("AnyPath", Path, Address, FilePath)
_EVERY = 0.25  # seconds
_MOST_TRIES = 20


class PartsFolder:
    """Parts are written beside the folder, and take its place when all of them are there."""

    def __init__(self, path: Path, suffix: str) -> None:
        self.path = path
        self._suffix = suffix
        self._target = path
        self._reserved: Reserved | None = None

    def open(self) -> None:
        with writing_to(self.path):
            self._target = Path(os.path.realpath(self.path))
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._reserved = reserve_folder(self._target)
            try:
                put_back(self._reserved.place, self._target)
                self._check()
            except BaseException:
                self.discard()
                raise

    @property
    def place(self) -> Path:
        """Where the parts are until they are complete."""
        assert self._reserved is not None, "open first"
        return self._reserved.place

    def part(self, number: int) -> Path:
        return part_in(self.place, number, self._suffix)

    @property
    def is_empty(self) -> bool:
        return not self._parts()

    def missing(self, numbers: Iterable[int]) -> Path | None:
        """The first of these parts that is not there. Each is asked for: a list of a folder may be an old one."""
        return next((part for number in numbers if not (part := self.part(number)).exists()), None)

    def cut(self, last: int) -> None:
        """Remove the parts behind one."""
        for file in self._parts():
            if int(file.name.split(".")[0].removeprefix("part-")) > last:
                file.unlink()

    def _parts(self) -> list[Path]:
        """Without what tasks left that were killed."""
        return [file for file in self.place.iterdir() if not is_leftover(file.name)]

    def commit(self) -> None:
        """Put the folder at its place; a second call does no harm. Where it fails, the parts are where they were."""
        if self._reserved is None:
            return
        with writing_to(self.path):
            self._check()  # a run may take long, and others may have put something there meanwhile
            self._remove_leftovers(self.place)
            before = put_folder(self.place, self._target)
        self._let_go()
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)
        forget_partial(self._target, is_folder=True)

    def keep(self) -> Path | None:
        """Instead of `commit`, for a run that did not succeed: where the parts are now, if there are any."""
        if self._reserved is None:
            return None
        if self.is_empty:
            self.discard()
            return None
        kept = self.place
        with suppress(OSError):  # then they stay where they are
            kept = keep_partial(self.place, self._target)
            self._remove_leftovers(kept)  # tasks of a run that was broken off go on for a moment
        self._let_go()
        return kept

    def discard(self) -> None:
        """Leave no trace. Tasks of a run that was broken off go on for a moment, and may write meanwhile."""
        if self._reserved is None:
            return
        place = self.place
        for _ in range(_MOST_TRIES):
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                break
            time.sleep(_EVERY)
        self._let_go()

    def _let_go(self) -> None:
        reserved, self._reserved = self._reserved, None
        if reserved is not None:
            reserved.let_go()

    def _remove_leftovers(self, folder: Path) -> None:
        for name in filter(is_leftover, os.listdir(folder)):
            (folder / name).unlink(missing_ok=True)

    def _check(self) -> None:
        """A folder may be replaced where it is empty, or holds what an earlier run wrote."""
        if not self._target.exists():
            return
        if not self._target.is_dir():
            raise SinkError(
                f"{self.path}: is a file, and a path that ends with a slash names a folder of files",
                hint="leave the slash out, or choose another path",
            )
        others = foreign_names(self._target)
        if others:
            raise SinkError(
                f"{self.path}: holds '{others[0]}', which is no part of an output, so it is not replaced",
                hint="choose another folder, or empty this one",
            )


def part_in(place: AnyPath, number: int, suffix: str) -> AnyPath:
    return place / f"part-{number:08d}.{suffix}"
