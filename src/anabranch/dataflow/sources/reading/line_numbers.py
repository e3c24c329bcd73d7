"""How many lines of a file go before a place in it: what a message about a row in the middle has to know."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from anabranch.operators.formats.stored_files import status_of

_PIECE = 2**20
_FILES_KEPT = 100

# Per file, as it was: how far its lines have been counted, and how many there are. Bad rows come in order, so each
# count goes on where the last one ended.
_counted: dict[tuple[object, ...], tuple[int, int]] = {}


def lines_before(stream: BinaryIO, path: str, place: int) -> int:
    status = status_of(stream)
    file = (path, status.version, *status.changed)
    known, count = _counted.get(file, (0, 0))
    if known > place:
        known, count = 0, 0
    count += count_lines(stream, known, place)
    if len(_counted) >= _FILES_KEPT:
        _counted.clear()
    _counted[file] = (place, count)
    return count


def count_lines(stream: BinaryIO, start: int, stop: int) -> int:
    """How many lines end between two places."""
    stream.seek(start)
    count = 0
    while start < stop:
        piece = stream.read(min(_PIECE, stop - start))
        if not piece:  # the file has become shorter
            break
        count += int(np.count_nonzero(np.frombuffer(piece, np.uint8) == ord("\n")))
        start += len(piece)
    return count
