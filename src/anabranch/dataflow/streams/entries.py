"""What arrives for a stream: slices of its sources, in the order in which they are processed, kept in a file.

The file decides the order for good: after a restart the same slices come in the same order, whatever was found first.
Each line has a checksum over itself and all before it.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from anabranch.dataflow.sources.reading import Slice
from anabranch.dataflow.sources.source_slices import Numbers
from anabranch.dataflow.streams.sealed_files import FIRST, open_line, sealed_line, writing_to


@dataclass(frozen=True)
class Entry:
    """A slice of a source, and when it arrived; without a piece the source ends here."""

    source: str
    piece: Slice | Numbers | None
    arrived: float  # in seconds since 1970
    size: int = 0  # in bytes, about: by this batches are limited
    left: int = 0  # slices of the same file that follow


def as_text(entry: Entry) -> str:
    """A line for the file."""
    piece: dict[str, Any] | None = None
    if isinstance(entry.piece, Numbers):
        piece = {"numbers": [entry.piece.start, entry.piece.stop]}
    elif entry.piece is not None:
        piece = asdict(entry.piece)
        assert piece.pop("problem") is None  # it would stay, whatever the file is by then
    plain = {"source": entry.source, "arrived": entry.arrived, "size": entry.size, "left": entry.left}
    return json.dumps({**plain, "piece": piece})


def from_text(line: str) -> Entry:
    fields = json.loads(line)
    piece = fields["piece"]
    if piece is not None and "numbers" in piece:
        piece = Numbers(*piece["numbers"])
    elif piece is not None:
        piece = Slice(**{**piece, "positions": tuple(piece["positions"])})
    return Entry(fields["source"], piece, fields["arrived"], fields["size"], fields["left"])


class EntryLog:
    """The file of entries. One process appends to it; others look at what is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._marks = array("Q", [FIRST])  # the checksum of each entry and all before it
        self._ends = array("q", [0])  # in bytes; entry n lies between the nth and the next
        self._sizes = array("q", [0])  # in bytes of data, up to here

    def __len__(self) -> int:
        return len(self._ends) - 1

    def look(self) -> None:
        """Take note of what was appended."""
        with self._path.open("rb") as file:
            file.seek(self._ends[-1])
            for line in file:
                if not line.endswith(b"\n"):  # it is not all there yet, and its rest is no line
                    break
                mark, text = open_line(self._path, self._marks[-1], line)
                self._marks.append(mark)
                self._sizes.append(self._sizes[-1] + from_text(text).size)
                self._ends.append(self._ends[-1] + len(line))  # the last: another thread may ask how many there are

    def size(self, start: int, stop: int) -> int:
        """Of the data of some entries, in bytes."""
        return self._sizes[stop] - self._sizes[start]

    def entries(self, start: int, stop: int) -> list[Entry]:
        return list(self.each(start, stop))

    def each(self, start: int, stop: int) -> Iterator[Entry]:
        """One by one: all that has ever arrived is too much to hold."""
        with self._path.open("rb") as file:
            file.seek(self._ends[start])
            for number, line in enumerate(islice(file, stop - start), start):
                yield from_text(open_line(self._path, self._marks[number], line)[1])

    def mend(self) -> None:
        """For who appends: cut off a line that a killed process did not finish."""
        self._path.touch()
        self.look()
        os.truncate(self._path, self._ends[-1])

    def append(self, entries: Iterable[Entry]) -> None:
        """Entries are there for good before anybody can see them in an offset."""
        left, mark = b"", self._marks[-1]
        for entry in entries:
            mark, line = sealed_line(mark, as_text(entry))
            left += line
        if not left:
            return
        with writing_to(self._path.parent):
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
            try:
                while left:  # in one go, as a rule
                    left = left[os.write(file, left) :]
                os.fsync(file)
            finally:
                os.close(file)
        self.look()
