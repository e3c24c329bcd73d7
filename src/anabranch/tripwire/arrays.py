"""Large arrays: too much to be hashed again and again, so a worker's own copies of them cannot be written to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from anabranch.errors import OperatorError, RunError
from anabranch.tripwire.reached import Change, Entry

_protected: list[Entry] = []  # in this process


def protect(arrays: Iterable[tuple[Entry, np.ndarray[Any, Any]]]) -> None:
    for entry, array in arrays:
        if array.flags.writeable:
            array.flags.writeable = False
            _protected.append(entry)


def is_write(problem: BaseException) -> bool:
    """Whether an exception in an operator may be that of a write to an array that was protected here."""
    return bool(_protected) and isinstance(problem, ValueError) and "read-only" in str(problem)


def written(error: RunError) -> Change | None:
    """An error of an operator that wrote to a protected array, as what it is."""
    if not isinstance(error, OperatorError) or not is_write(error.cause):
        return None
    own = [entry for entry in _protected if entry.operator == error.operator]
    return Change([*own, *_protected][0], "write")
