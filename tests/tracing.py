"""One log for a whole program: what passed where, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Trace:
    """`stream.for_each(trace("name"))` notes every tuple of the stream as `name value value …`.

    Values are written with `repr`, so that -0.0 differs from 0.0, and NaN equals NaN.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, name: str) -> Callable[[Any], None]:
        return lambda item: self.lines.append(line(name, item))


def line(name: str, values: Any) -> str:
    return " ".join([name, *[repr(value) for value in values]])
