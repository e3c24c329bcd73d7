"""Where in the user's program a call of the API was written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import AnabranchError, Location

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep


@dataclass(frozen=True)
class Caller:
    """The first frame outside this package: its place, and its local names for resolving annotations."""

    location: Location
    local_names: dict[str, Any] = field(compare=False, repr=False)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors raised inside that name no place are shown at the caller's line."""
        try:
            yield
        except AnabranchError as problem:
            if problem.location is None:
                problem.location = self.location
            raise


def caller() -> Caller:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Caller(Location(frame.f_code.co_filename, frame.f_lineno), dict(frame.f_locals))
