"""What arrives for a stream: slices of its sources, in the order in which they are processed, kept in a file.

The file decides the order for good: after a restart the same slices come in the same order, whatever was found first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anabranch.engines.reading import Slice
from anabranch.engines.spark.sources import Numbers
from anabranch.errors import SourceError


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
        problem = entry.piece.problem
        piece = asdict(replace(entry.piece, problem=None))
        piece["problem"] = [problem.message, problem.hint] if problem is not None else None
    plain = {"source": entry.source, "arrived": entry.arrived, "size": entry.size, "left": entry.left}
    return json.dumps({**plain, "piece": piece})


def from_text(line: str) -> Entry:
    fields = json.loads(line)
    piece = fields["piece"]
    if piece is not None and "numbers" in piece:
        piece = Numbers(*piece["numbers"])
    elif piece is not None:
        problem = piece.pop("problem")
        piece = Slice(**{**piece, "positions": tuple(piece["positions"])})
        if problem is not None:
            piece = replace(piece, problem=SourceError(problem[0], hint=problem[1]))
    return Entry(fields["source"], piece, fields["arrived"], fields["size"], fields["left"])


class EntryLog:
    """The file of entries. One process appends to it; others look at what is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ends = [0]  # in bytes; entry n lies between the nth and the next
        self._sizes = [0]  # in bytes of data, up to here

    def __len__(self) -> int:
        return len(self._ends) - 1

    def look(self) -> None:
        """Take note of what was appended."""
        with self._path.open("rb") as file:
            file.seek(self._ends[-1])
            for line in file:
                if line.endswith(b"\n"):  # else it is not all there yet
                    self._sizes.append(self._sizes[-1] + from_text(line.decode()).size)
                    self._ends.append(self._ends[-1] + len(line))  # the last: another thread may ask how many there are

    def size(self, start: int, stop: int) -> int:
        """Of the data of some entries, in bytes."""
        return self._sizes[stop] - self._sizes[start]

    def entries(self, start: int, stop: int) -> list[Entry]:
        with self._path.open("rb") as file:
            file.seek(self._ends[start])
            lines = file.read(self._ends[stop] - self._ends[start]).decode().splitlines()
        return [from_text(line) for line in lines]

    def mend(self) -> None:
        """For who appends: cut off a line that a killed process did not finish."""
        self._path.touch()
        self.look()
        os.truncate(self._path, self._ends[-1])

    def append(self, entries: Iterable[Entry]) -> None:
        """Entries are there for good before anybody can see them in an offset."""
        lines = [as_text(entry) + "\n" for entry in entries]
        if not lines:
            return
        with self._path.open("a") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        self.look()
