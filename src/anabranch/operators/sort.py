"""`sort`: a buffer of n tuples; when it is full, the smallest leaves."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.graph.values import order_reader
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
    state = ("buffer",)

    def __init__(self, operator: Operator, definition: Sort) -> None:
        super().__init__(operator)
        self.order = order_reader(operator.inputs[0].schema, definition.by)
        self.count = definition.count
        self.buffer: list[Any] = []

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        # `insort_right` puts a tuple behind its equals: ties leave in order of arrival.
        bisect.insort_right(self.buffer, item, key=self.order)
        if len(self.buffer) >= self.count:
            yield 0, self.buffer.pop(0)

    def punctuation(self, port: int) -> Emissions:
        return ()

    def finish(self) -> Iterator[Emission]:
        while self.buffer:
            yield 0, self.buffer.pop(0)
