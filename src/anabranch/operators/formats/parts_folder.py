"""A folder of part files whose names, sorted, are the order of their rows. It appears at its place whole."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats.atomic_file import beside, is_leftover, writing_to

_PART = re.compile(r"part-\d{8,}\.\w+", re.ASCII)
_EVERY = 0.25  # seconds
_MOST_TRIES = 20


class PartsFolder:
    """Parts are written beside the folder, and take its place when all of them are there."""

    def __init__(self, path: Path, suffix: str) -> None:
        self.path = path
        self._suffix = suffix
        self._place: Path | None = None

    def open(self) -> None:
        with writing_to(self.path):
            self._check()
            target = Path(os.path.realpath(self.path))
            target.parent.mkdir(parents=True, exist_ok=True)
            place = beside(target)
            place.mkdir()
            self._place = place

    @property
    def place(self) -> Path:
        """Where the parts are until they are complete."""
        assert self._place is not None, "open first"
        return self._place

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
        """Put the folder at its place; a second call does no harm."""
        if self._place is None:
            return
        target = Path(os.path.realpath(self.path))
        with writing_to(self.path):
            for name in filter(is_leftover, os.listdir(self._place)):
                (self._place / name).unlink(missing_ok=True)
            if target.exists():
                before = self._place.with_suffix(".before")
                os.replace(target, before)
                os.replace(self._place, target)
                shutil.rmtree(before, ignore_errors=True)
            else:
                os.replace(self._place, target)
        self._place = None

    def discard(self) -> None:
        """Leave no trace. Tasks of a run that was broken off go on for a moment, and may write meanwhile."""
        place, self._place = self._place, None
        if place is None:
            return
        for _ in range(_MOST_TRIES):
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                return
            time.sleep(_EVERY)

    def _check(self) -> None:
        """A folder may be replaced where it is empty, or holds what an earlier run wrote."""
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise SinkError(
                f"{self.path}: is a file, and a path that ends with a slash names a folder of files",
                hint="leave the slash out, or choose another path",
            )
        others = [name for name in sorted(os.listdir(self.path)) if not _PART.fullmatch(name) and not is_leftover(name)]
        if others:
            raise SinkError(
                f"{self.path}: holds '{others[0]}', which is no part of an output, so it is not replaced",
                hint="choose another folder, or empty this one",
            )


def part_in(place: Path, number: int, suffix: str) -> Path:
    return place / f"part-{number:08d}.{suffix}"
