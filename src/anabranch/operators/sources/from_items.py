"""`from_items`: tuples that are there when the program is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from anabranch.errors import BuildError, shown
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.graph.values import ValueProblem, key_reader, normalizer
from anabranch.operators.base import Partition, SourceDefinition, Unreadable
from anabranch.operators.sources.item_containers import check_has_order, check_holds_tuples, check_is_no_frame


@dataclass(frozen=True)
class FromItems(SourceDefinition):
    """The items of an iterable, in its order.

    A program can run more than once, so lists and one-shot iterators (generators, files, `map`) are copied
    when the source is built; other iterables are iterated anew by each run. What is endless belongs into
    `generate`.
    """

    record: ClassVar[Record] = Record(kind="from_items", state="key")

    schema: Schema
    items: Iterable[Any] = field(hash=False)
    order_by: str | None = None
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_has_order("items=", self.items)
        check_is_no_frame(self.items, self.schema)
        try:
            is_one_shot = iter(self.items) is self.items
        except TypeError:
            raise BuildError(
                f"items={shown(self.items)} cannot be iterated", hint=f"give a list of {self.schema.name}"
            ) from None
        if not is_one_shot:
            check_holds_tuples(self.items, self.schema)
        if is_one_shot or isinstance(self.items, list):
            object.__setattr__(self, "items", tuple(self.items))

    @property
    def key(self) -> tuple[str, ...]:
        return self.partition_by

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        if not self.partition_by:
            return (Partition("items", lambda: _read(self.schema, enumerate(self.items, 1))),)
        groups = self._groups()
        return tuple(Partition(name, partial(_read, self.schema, group)) for name, group in groups)

    def _groups(self) -> list[tuple[str, list[tuple[int, Any]]]]:
        """Items by key in order of first arrival; one without a key stays with the item before it."""
        normalize, key_of = normalizer(self.schema), key_reader(self.schema, self.partition_by)
        groups: dict[Any, list[tuple[int, Any]]] = {}
        before_all: list[tuple[int, Any]] = []
        current = before_all
        for number, item in enumerate(self.items, 1):
            try:
                key = key_of(normalize(item))
                current = groups.setdefault(key, [])
            except ValueProblem:
                pass  # said at its place, when it is drawn
            current.append((number, item))
        if not groups:
            return [("items", before_all)]
        named = [(f"{', '.join(self.partition_by)} = {key!r}", group) for key, group in groups.items()]
        named[0] = (named[0][0], before_all + named[0][1])
        return named


def _read(schema: Schema, numbered: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    normalize = normalizer(schema)
    for number, item in numbered:
        try:
            normal = normalize(item)
        except ValueProblem as problem:
            normal = unreadable_item(schema, number, item, problem)
        yield normal


def unreadable_item(schema: Schema, number: int, item: Any, problem: ValueProblem) -> Unreadable:
    """What the item of a number is instead of a tuple; one that is of another type is to be made one, not skipped."""
    hint = None if isinstance(item, schema.type) else f"make it one: {schema.name}({_arguments(schema, item)})"
    return Unreadable(str(problem), where=f"item {number}", raw=shown(item), hint=hint)


def _arguments(schema: Schema, item: Any) -> str:
    """How a tuple might be made of an item."""
    if isinstance(item, Mapping):
        return "**item"
    if set(schema.names) <= set(getattr(item, "_fields", ())):
        return ", ".join(f"item.{name}" for name in schema.names)
    if isinstance(item, tuple | list):
        return "*item"
    return "item" if len(schema.names) == 1 and item is not None else "…"
