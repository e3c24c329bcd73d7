"""Lines from TCP on their way into a stream: kept in files first, so that a batch can be read again.

A connection cannot be asked twice. What was kept is processed once, whatever happens later; what was on its way when
the process died is lost, or sent again by whoever sent it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from anabranch.dataflow.sources.reading import Slice
from anabranch.dataflow.sources.reading.cuts import end_of_rows
from anabranch.dataflow.streams.entries import Entry
from anabranch.dataflow.streams.sealed_files import HEAD, write_sealed, writing_to
from anabranch.errors import SourceError
from anabranch.graph.model import Operator
from anabranch.operators.formats.csv_format import CsvOptions
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.text_lines import BYTE_ORDER_MARK
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.operators.sources.read_tcp import ReadTcp

_AT_ONCE = 1 << 16  # bytes
_LARGEST = 4 << 20  # bytes of a file that is kept
_MOST_WAITING = 64 << 20  # bytes that nobody has processed yet: the sender has to wait


def as_files(source: Operator) -> Operator:
    """The source as one of files, if it is one of TCP: its lines are read from those it was kept in."""
    definition = source.definition
    if not isinstance(definition, ReadTcp):
        return source
    options = {"header": False} if definition.format == "csv" else {}
    return replace(source, definition=ReadFiles(definition.format, definition.schema, definition.address, options))


class TcpSpool:
    """Receives lines in a thread of its own, and gives them out as slices of files."""

    def __init__(self, source: Operator, folder: Path) -> None:
        assert isinstance(source.definition, ReadTcp)
        self.source = source
        self.definition: ReadTcp = source.definition
        self.folder = folder
        self.has_ended = False
        self._number = 0
        self._kept: list[Path] = []  # by an earlier run, which was stopped or killed before it gave them out
        self._waiting = bytearray()
        self._is_first = True  # of what comes from this connection
        self._without_end = 0  # so many bytes were waiting when it was seen that no line ends in them
        self._changed = threading.Condition()
        self._is_closed = False
        self._is_stopped = False
        self._problem: SourceError | None = None
        self._connection: socket.socket | None = None

    def knows(self, entry: Entry) -> None:
        """An entry of a run before this one."""
        if isinstance(entry.piece, Slice):
            self._number = int(Path(entry.piece.path).stem) + 1
        else:
            self.has_ended = True

    def open(self) -> None:
        if self.has_ended:
            return
        with writing_to(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._kept = sorted(path for path in self.folder.glob("*.lines") if int(path.stem) >= self._number)
        if self._kept:
            self._number = int(self._kept[-1].stem) + 1
        with located(self.source):
            self._connection = self.definition.connect()
        threading.Thread(target=self._receive, name=f"anabranch {self.source.id}", daemon=True).start()

    def _receive(self) -> None:
        assert self._connection is not None
        try:
            while not self._is_stopped:
                got = self._connection.recv(_AT_ONCE)
                with self._changed:
                    self._waiting += got
                    if not got:
                        self._is_closed = True
                        return
                    while len(self._waiting) > _MOST_WAITING and not self._is_stopped:
                        self._changed.wait(1.0)
        except OSError as problem:
            reason = (
                f"nothing came for {self.definition.timeout:g} s" if isinstance(problem, TimeoutError) else why(problem)
            )
            self._problem = SourceError(f"{self.definition.address}: {reason}", location=self.source.location)

    def look(self, is_ending: bool) -> Iterator[Entry]:
        """What has come since the last look, kept in a file by now."""
        if self.has_ended:
            return
        while self._kept:
            yield self._entry(self._kept.pop(0))
        with self._changed:
            is_closed, waiting = self._is_closed, len(self._waiting)
            lines = self._taken(is_closed)
            is_all = is_closed or (is_ending and self._end_of_lines() == 0)  # half a line is none
            self._changed.notify_all()
        if lines:
            yield self._entry(self._kept_in_a_file(lines))
        elif self._problem is not None:
            raise self._problem
        elif waiting > _MOST_WAITING:
            raise SourceError(
                f"{self.definition.address}: a line is longer than {_MOST_WAITING:,} bytes, or never ends",
                location=self.source.location,
                hint="each line ends with a newline; in CSV, one that is not inside quotes",
            )
        if is_all:
            self.has_ended = True
            yield Entry(self.source.id, None, time.time())

    def _end_of_lines(self) -> int:
        """Behind the last whole line that is waiting, of not too many; a line that is too long comes alone."""
        if len(self._waiting) == self._without_end:
            return 0
        if self.definition.format == "csv":  # where a newline may stand inside quotes
            end = end_of_rows(bytes(self._waiting), _LARGEST, CsvOptions().delimiter)
        else:
            end = self._waiting.rfind(b"\n", 0, _LARGEST) + 1 or self._waiting.find(b"\n", _LARGEST) + 1
        self._without_end = len(self._waiting) if end == 0 else 0
        return end

    def _taken(self, is_closed: bool) -> bytes:
        """Whole lines; also the last one, without a newline, where the other side is done."""
        end = len(self._waiting) if is_closed else self._end_of_lines()
        lines, self._waiting = bytes(self._waiting[:end]), self._waiting[end:]
        if lines and self._is_first:
            self._is_first = False
            if self.definition.format != "lines":  # where it would be a part of the first
                lines = lines.removeprefix(BYTE_ORDER_MARK)
        return lines

    def _kept_in_a_file(self, lines: bytes) -> Path:
        path = self.folder / f"{self._number:012}.lines"
        self._number += 1
        with writing_to(self.folder):
            write_sealed(path, lines)
        return path

    def _entry(self, path: Path) -> Entry:
        size, width = path.stat().st_size, len(self.definition.schema.attributes)
        piece = Slice(str(path), self.definition.address, HEAD, size, 0, width=width, positions=tuple(range(width)))
        return Entry(self.source.id, piece, time.time(), size - HEAD)

    def forget(self, entry: Entry) -> None:
        """An entry has been processed for good."""
        if isinstance(entry.piece, Slice):
            Path(entry.piece.path).unlink(missing_ok=True)

    def close(self) -> None:
        """Lines that have come are kept for the next start; half a line is a line only where the other side is done."""
        self._is_stopped = True
        if self._connection is None:
            return
        is_closed = self._is_closed
        with suppress(OSError):  # the other side may have gone
            self._connection.shutdown(socket.SHUT_RDWR)  # else the thread that waits for lines would hold it open
        self._connection.close()
        with self._changed:
            while lines := self._taken(is_closed):
                self._kept_in_a_file(lines)
