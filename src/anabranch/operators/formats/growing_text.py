"""Writes the rows of a stream to one file of text that grows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from anabranch.errors import SinkError
from anabranch.operators.formats.atomic_file import unwritable
from anabranch.operators.formats.growing_file import check_file_has, check_new_file, open_at, open_new
from anabranch.operators.formats.text_writer import TextRows
from anabranch.operators.formats.writer import StreamWriter


class GrowingTextWriter(TextRows, StreamWriter):
    """A position is the length of the file, heading included."""

    _synced = -1
    _lost: SinkError | None = None  # what cost rows that were taken

    def check_new(self, path: Path) -> None:
        check_new_file(path)

    def check_written(self, path: Path, position: Any) -> None:
        check_file_has(path, int(position["bytes"]))

    def resume(self, path: Path, position: Any | None) -> None:
        self.close()
        self._path = path
        self._compress_as(path.name)
        self._failure = self._lost = None
        if position is None:
            self._descriptor, self._offset, self._synced = open_new(path), 0, -1
            try:
                self._pending += self._heading.encode()
                self._flush()
            except BaseException:
                self.close()
                raise
        else:
            self._offset = self._synced = int(position["bytes"])
            self._descriptor = open_at(path, self._offset)

    def sync(self) -> dict[str, int]:
        if self._lost is not None:
            raise self._lost
        self._flush()
        if self._offset != self._synced:
            try:
                os.fsync(self._descriptor)
            except OSError as problem:
                self._lost = unwritable(self._path, problem)  # what a later fsync would say is not to be trusted
                raise self._lost from None
            self._synced = self._offset
        return {"bytes": self._offset}

    def close(self) -> None:
        self._pending = bytearray()
        self._close_quietly()

    def _flush(self) -> None:
        try:
            super()._flush()
        except SinkError as problem:
            self._lost = problem
            raise
