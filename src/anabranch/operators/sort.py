"""`sort`: a buffer of n tuples; when it is full, the smallest leaves."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.graph.values import check_zone, order_reader
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition


@dataclass(frozen=True)
class Sort(OperatorDefinition):
    record: ClassVar = Record(
        kind="sort",
        state="stateful",
        selectivity="1:[0,inf)",
        forwards="all",
        punctuation_out=PunctuationOut.REMOVES,
    )
    by: tuple[str, ...]
    count: int

    def meaning(self, operator: Operator) -> Meaning:
        return _SortMeaning(operator, self)


class _SortMeaning(Meaning):
    state = ("buffer", "zones")

    def __init__(self, operator: Operator, definition: Sort) -> None:
        super().__init__(operator)
        schema = operator.inputs[0].schema
        self.order = order_reader(schema, definition.by)
        self.datetimes = [name for name in definition.by if schema[name].kind == "datetime"]
        self.count = definition.count
        self.zones: dict[str, bool | None] = {}  # whether those of an attribute have a zone
        self.buffer: list[Any] = []

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        if self.datetimes:  # even where no two are compared: what fails should not depend on what is in the buffer
            self.zones = {name: check_zone(getattr(item, name), self.zones.get(name), name) for name in self.datetimes}
        # `insort_right` puts a tuple behind its equals: ties leave in order of arrival.
        bisect.insort_right(self.buffer, item, key=self.order)
        if len(self.buffer) >= self.count:
            yield 0, self.buffer.pop(0)

    def punctuation(self, port: int) -> Emissions:
        return ()

    def finish(self) -> Iterator[Emission]:
        while self.buffer:
            yield 0, self.buffer.pop(0)
