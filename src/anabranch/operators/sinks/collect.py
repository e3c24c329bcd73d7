"""`collect`: tuples kept in memory, for the program that ran the stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.sinks.base import SinkDefinition


@dataclass(frozen=True)
class Collect(SinkDefinition):
    """Keeps every tuple; `name` is what the result calls them by."""

    record: ClassVar[Record] = Record(kind="collect")

    name: str
    ordered: bool = True

    @property
    def label(self) -> str:
        return self.name

    @property
    def target(self) -> str:
        return f"collect({self.name!r})"

    def meaning(self, operator: Operator) -> CollectMeaning:
        return CollectMeaning(operator)


class CollectMeaning(SinkMeaning):
    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.items: list[Any] = []

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        self.items.append(item)
        return ()
