"""`beacon`: a tuple for each of the numbers 0, 1, 2, …, at most so many per second."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count as count_from
from typing import Any, ClassVar

from anabranch.errors import BuildError, shown
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.graph.values import normalizer
from anabranch.operators.base import Partition, SourceDefinition

_CATCH_UP = 0.01  # seconds: sleeps are inexact, and this much may be made up for afterwards


@dataclass(frozen=True)
class Beacon(SourceDefinition):
    """`fn(i)` for i from 0; `count=None` never ends. `rate` paces the tuples and never changes them."""

    record: ClassVar[Record] = Record(kind="beacon")

    schema: Schema
    fn: Callable[[int], Any]
    count: int | None = None
    rate: float | None = None
    order_by: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise BuildError(
                f"{shown(self.fn)} is not a function", hint=f"give a function from int to {self.schema.name}"
            )
        is_count = type(self.count) is int and self.count >= 0
        if self.count is not None and not is_count:
            raise BuildError(f"count={self.count!r} is not a number of tuples", hint="use an int of 0 or more, or None")
        if self.rate is not None and not _is_positive(self.rate):
            raise BuildError(f"rate={self.rate!r} is not a number of tuples per second", hint="use a number above 0")

    @property
    def is_live(self) -> bool:
        return self.rate is not None

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        return (Partition("beacon", self._read),)

    def _read(self) -> Iterator[Any]:
        normalize = normalizer(self.schema)
        wait = _pacer(self.rate)
        for number in count_from() if self.count is None else range(self.count):
            item = normalize(self.fn(number))
            wait()
            yield item


def _is_positive(rate: object) -> bool:
    return isinstance(rate, int | float) and not isinstance(rate, bool) and rate > 0 and math.isfinite(rate)


def _pacer(rate: float | None) -> Callable[[], None]:
    """A function that returns no more often than `rate` times a second, the first time at once."""
    if rate is None:
        return lambda: None
    interval = 1 / rate
    due = time.monotonic()

    def wait() -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        due = max(due, now - _CATCH_UP) + interval

    return wait
