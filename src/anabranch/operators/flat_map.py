"""`flat_map`: any number of tuples for every tuple in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, Meaning, OperatorDefinition
from anabranch.operators.emissions import each_emission
from anabranch.operators.naming import label_of


@dataclass(frozen=True)
class FlatMap(OperatorDefinition):
    record: ClassVar = Record(kind="flat_map", state="user code", selectivity="user code", forwards="user code")
    fn: Callable[[Any], Any]

    @property
    def label(self) -> str:
        return label_of(self.fn, "flat_map")

    def meaning(self, operator: Operator) -> Meaning:
        return _FlatMapMeaning(operator, self.fn)


class _FlatMapMeaning(Meaning):
    def __init__(self, operator: Operator, fn: Callable[[Any], Any]) -> None:
        super().__init__(operator)
        self.fn = fn

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        yield from each_emission(self.fn(item), self.operator)
