"""`merge_by`: several streams as one, by the smallest head; it waits until every open input has one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.graph.values import check_zone, order_reader
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition


@dataclass(frozen=True)
class MergeBy(OperatorDefinition):
    record: ClassVar = Record(
        kind="merge_by",
        state="stateful",
        selectivity="1:[0,inf)",
        forwards="all",
        punctuation_out=PunctuationOut.REMOVES,
    )
    attribute: str

    def meaning(self, operator: Operator) -> Meaning:
        return _MergeByMeaning(operator, self.attribute)


class _MergeByMeaning(Meaning):
    state = ("waiting", "open", "has_zone")

    def __init__(self, operator: Operator, attribute: str) -> None:
        super().__init__(operator)
        schema = operator.inputs[0].schema
        self.order = order_reader(schema, [attribute])
        self.datetime = attribute if schema[attribute].kind == "datetime" else None
        self.has_zone: bool | None = None  # of that datetime
        self.waiting: list[deque[Any]] = [deque() for _ in operator.inputs]
        self.open = set(range(len(operator.inputs)))

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        if self.datetime is not None:
            self.has_zone = check_zone(getattr(item, self.datetime), self.has_zone, self.datetime)
        self.waiting[port].append(item)
        yield from self._release()

    def punctuation(self, port: int) -> Emissions:
        return ()

    def end(self, port: int) -> Iterator[Emission]:
        self.open.discard(port)
        yield from self._release()

    def _release(self) -> Iterator[Emission]:
        while all(self.waiting[port] for port in self.open):
            ready = [port for port, queue in enumerate(self.waiting) if queue]
            if not ready:
                return
            # `min` keeps the first of equals: ties go in the order of the arguments.
            smallest = min(ready, key=lambda port: self.order(self.waiting[port][0]))
            yield 0, self.waiting[smallest].popleft()
