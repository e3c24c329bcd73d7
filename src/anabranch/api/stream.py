"""`Stream`: what sources give and every operator takes and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from anabranch.api.base import StreamBase, did_you_mean
from anabranch.api.draft import Node
from anabranch.api.relational import RelationalOperators
from anabranch.api.shape import ShapeOperators
from anabranch.api.sinks import SinkOperators
from anabranch.api.transforms import TransformOperators
from anabranch.api.where import caller
from anabranch.api.windows import WindowOperators
from anabranch.errors import BuildError

T = TypeVar("T")


class Stream(
    TransformOperators[T],
    WindowOperators[T],
    RelationalOperators[T],
    ShapeOperators[T],
    SinkOperators[T],
    Generic[T],
):
    """An ordered stream of tuples of one type, inside a program that is being built."""

    @property
    def outputs(self) -> Outputs:
        """The named outputs of the operator this stream comes from.

        They are those an operator declares (`outputs={"name": T}`), `.outputs.dead_letter` for
        `on_error="dead_letter"`, and the one that `late=` of a window names.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> readings = ab.from_items(Reading, [Reading(0.0), Reading(4.0)])
        >>> inverse = readings.map(lambda r: Reading(1 / r.value), out=Reading, on_error="dead_letter")
        >>> failed = inverse.outputs.dead_letter
        >>> ab.run(inverse.collect("out"), failed.collect("failed")).items("failed")[0].item
        'Reading(value=0.0)'
        """
        return Outputs(self._node)


class Outputs:
    """The named output streams of an operator: by attribute, by index, or unpacked in order.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> parts = ab.from_items(Reading, [Reading(1.0)]).split({"low": lambda r: r.value < 5, "high": lambda r: True})
    >>> low, high = parts
    >>> parts
    Outputs(low, high)
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    def _names(self) -> list[str]:
        return [port.name for port in self._node.outputs]

    def __getattr__(self, name: str) -> Stream[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Stream[Any]:
        if name not in self._names():
            raise BuildError(
                f"'{self._node.label}' has no output named '{name}'",
                location=caller().location,
                hint=f"use one of {', '.join(self._names())}" + did_you_mean(name, self._names()),
            )
        return Stream(self._node, self._names().index(name))

    def __iter__(self) -> Iterator[Stream[Any]]:
        return iter([self[name] for name in self._names()])

    def __len__(self) -> int:
        return len(self._node.outputs)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(self._names())})"


# The families' methods return streams; they learn here which class that is, without importing each other.
StreamBase._stream_class = Stream
StreamBase._outputs_class = Outputs
