"""In which order tuples are drawn from several sources (design, section 2, "several sources")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, cast

from anabranch.dataflow.sources.source_count import Failed
from anabranch.dataflow.tail.output_overlap import check_inputs_stay
from anabranch.errors import SourceError
from anabranch.graph.model import Graph, Operator
from anabranch.graph.values import key_reader, order_reader
from anabranch.operators.base import FINAL, Partition, SourceDefinition, Unreadable

Drawn = tuple[Operator, Any]  # a tuple, an Unreadable, a Failed, or FINAL when the source has ended


class _Reader:
    """One partition of a source, with a look at its head."""

    def __init__(self, operator: Operator, partition: Partition) -> None:
        definition = cast(SourceDefinition, operator.definition)
        self.operator = operator
        self.name = partition.name
        self._partition = partition
        self._items: Iterator[Any] | None = None
        self._head: list[Any] = []
        self._has_failed = False
        order_by = definition.order_by
        self._order = order_reader(operator.outputs[0].schema, [order_by]) if order_by else None

    def take(self) -> Any:
        return self._head.pop() if self._head else self._read()

    def place(self) -> tuple[int, Any]:
        """Where the head belongs; what has no place of its own (an end, a bad row) goes at once."""
        if not self._head:
            self._head.append(self._read())
        head = self._head[0]
        if head is FINAL or isinstance(head, Unreadable | Failed):
            return (0, ())
        assert self._order is not None
        return (1, self._order(head))

    def _read(self) -> Any:
        if self._has_failed:
            return FINAL
        try:
            if self._items is None:
                self._items = iter(self._partition)
            return next(self._items, FINAL)
        except Exception as cause:
            self._has_failed = True
            return Failed(cause)


def check_sources(graph: Graph) -> None:
    """Say before anything is processed which source cannot be read, where that can be known, or would be replaced."""
    for operator in graph.sources:
        cast(SourceDefinition, operator.definition).check(operator)
    check_inputs_stay(graph)


def draw(sources: Sequence[Operator]) -> Generator[Drawn, None, None]:
    """All items of all sources, each with the source it comes from."""
    readers = []
    for operator in sources:
        definition = cast(SourceDefinition, operator.definition)
        readers += [_Reader(operator, partition) for partition in definition.partitions(operator)]
    is_ordered = len(readers) > 1 and all(
        cast(SourceDefinition, operator.definition).order_by is not None for operator in sources
    )
    guards = {operator.id: PartitionGuard(operator) for operator in sources}
    yield from _drawn(readers, guards, is_ordered=is_ordered)


def draw_rest(
    rest: Sequence[tuple[Operator, Partition]], guards: Mapping[str, PartitionGuard]
) -> Generator[Drawn, None, None]:
    """What is left of sources that all say `order_by`, of which some was drawn before: by whom is all the same."""
    readers = [_Reader(operator, partition) for operator, partition in rest]
    yield from _drawn(readers, guards, is_ordered=len(readers) > 1)


def _drawn(
    readers: list[_Reader], guards: Mapping[str, PartitionGuard], *, is_ordered: bool
) -> Generator[Drawn, None, None]:
    open_partitions = Counter(reader.operator.id for reader in readers)
    for reader in _by_order(readers) if is_ordered else _alternately(readers):
        item = reader.take()
        if item is FINAL:
            readers.remove(reader)
            open_partitions[reader.operator.id] -= 1
            if open_partitions[reader.operator.id] == 0:
                yield reader.operator, FINAL
            continue
        yield reader.operator, guards[reader.operator.id].checked(item, reader.name)


def _by_order(readers: list[_Reader]) -> Iterator[_Reader]:
    """The reader with the smallest head; `min` keeps the first declared of equals."""
    while readers:
        try:
            yield min(readers, key=_Reader.place)
        except TypeError as problem:
            names = ", ".join(f"'{reader.operator.id}'" for reader in readers)
            raise SourceError(
                f"the next tuples of {names} cannot be compared by order_by: {problem}",
                location=readers[0].operator.location,
                hint="order all sources by values that can be compared",
            ) from None


def _alternately(readers: list[_Reader]) -> Iterator[_Reader]:
    """One after the other, in order of declaration; who has ended is passed over."""
    while readers:
        yield from list(readers)


class PartitionGuard:
    """Holds a source to the claim of `partition_by`: a value of the key occurs in one partition only."""

    def __init__(self, operator: Operator, owners: dict[Any, str] | None = None) -> None:
        """`owners` are the partitions that keys have been drawn from already."""
        definition = cast(SourceDefinition, operator.definition)
        self._names = definition.partition_by
        self._key_of = key_reader(operator.outputs[0].schema, self._names) if self._names else None
        self._owner = owners or {}

    def checked(self, item: Any, partition: str) -> Any:
        """The item, or at its place what is wrong with it."""
        if self._key_of is None or isinstance(item, Unreadable | Failed):
            return item
        key = self._key_of(item)
        owner = self._owner.setdefault(key, partition)
        if owner == partition:
            return item
        names = ", ".join(self._names)
        return Unreadable(
            f"partition_by={names!r} is not true: {key!r} occurs in {owner} and in {partition}",
            partition,
            repr(item),
            hint="leave partition_by= out, or keep equal keys in one partition",
        )
