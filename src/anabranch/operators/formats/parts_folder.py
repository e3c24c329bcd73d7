"""A folder of part files whose names, sorted, are the order of their rows. It appears at its place whole."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.operators.formats.atomic_file import writing_to

_PART = re.compile(r"part-\d{8,}\.\w+", re.ASCII)


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
            place = target.parent / f".anabranch-{secrets.token_hex(8)}.parts"
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
        return not any(self.place.iterdir())

    def cut(self, last: int) -> None:
        """Remove the parts behind one."""
        for file in self.place.iterdir():
            if int(file.name.split(".")[0].removeprefix("part-")) > last:
                file.unlink()

    def commit(self) -> None:
        """Put the folder at its place; a second call does no harm."""
        if self._place is None:
            return
        target = Path(os.path.realpath(self.path))
        with writing_to(self.path):
            if target.exists():
                before = self._place.with_suffix(".before")
                os.replace(target, before)
                os.replace(self._place, target)
                shutil.rmtree(before, ignore_errors=True)
            else:
                os.replace(self._place, target)
        self._place = None

    def discard(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            with suppress(OSError):
                shutil.rmtree(place)

    def _check(self) -> None:
        """A folder may be replaced where it is empty, or holds what an earlier run wrote."""
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise SinkError(
                f"{self.path}: is a file, and a path that ends with a slash names a folder of files",
                hint="leave the slash out, or choose another path",
            )
        others = [name for name in sorted(os.listdir(self.path)) if not _PART.fullmatch(name)]
        if others:
            raise SinkError(
                f"{self.path}: holds '{others[0]}', which is no part of an output, so it is not replaced",
                hint="choose another folder, or empty this one",
            )


def part_in(place: Path, number: int, suffix: str) -> Path:
    return place / f"part-{number:08d}.{suffix}"
