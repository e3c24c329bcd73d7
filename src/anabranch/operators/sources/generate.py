"""`generate`: a user-defined source, a function that returns an iterator of tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from anabranch.errors import BuildError, PlainProblem, shown
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.graph.values import ValueProblem, normalizer
from anabranch.operators.base import Partition, SourceDefinition
from anabranch.operators.sources.item_containers import NO_ORDER, check_has_order, is_unordered


@dataclass(frozen=True)
class Generate(SourceDefinition):
    """What `fn()` yields; with `partition_by`, what `fn(value)` yields for each value of `partitions`.

    The function is called anew by each run. What it raises is the operator's error.
    """

    record: ClassVar[Record] = Record(kind="generate", state="key")

    schema: Schema
    fn: Callable[..., Any]
    order_by: str | None = None
    partition_by: tuple[str, ...] = ()
    parts: Sequence[Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise BuildError(
                f"{shown(self.fn)} is not a function",
                hint="pass the function that makes the tuples, without calling it",
            )
        if bool(self.partition_by) != (self.parts is not None):
            raise BuildError(
                "partition_by= and partitions= belong together",
                hint='partition_by="area", partitions=["A", "B"] calls the function with "A" and with "B"',
            )
        if self.parts is not None:
            check_has_order("partitions=", self.parts)
            object.__setattr__(self, "parts", tuple(self.parts))
            if not self.parts:
                raise BuildError("partitions= is empty", hint="give at least one value to call the function with")

    @property
    def key(self) -> tuple[str, ...]:
        return self.partition_by

    @property
    def is_live(self) -> bool:
        return True

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        if self.parts is None:
            return (Partition("generate", self._read),)
        return tuple(Partition(repr(value), partial(self._read, value)) for value in self.parts)

    def _read(self, *arguments: Any) -> Iterator[Any]:
        normalize = normalizer(self.schema)
        items = self.fn(*arguments)
        if isinstance(items, self.schema.type):  # iterable, but over its attributes
            raise ValueProblem(f"an iterator of {self.schema.name} expected, got one {self.schema.name}")
        if is_unordered(items):
            raise PlainProblem(f"it gave a {type(items).__name__}, {NO_ORDER}: give sorted(…) of it")
        try:
            iterator = iter(items)
        except TypeError:
            raise ValueProblem(f"an iterator of {self.schema.name} expected, got {shown(items)}") from None
        for item in iterator:
            yield normalize(item)
