"""`filter`: the tuples for which a predicate holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, Meaning, OperatorDefinition
from anabranch.operators.naming import label_of


@dataclass(frozen=True)
class Filter(OperatorDefinition):
    record: ClassVar = Record(kind="filter", state="user code", selectivity="1:[0,1]", forwards="all")
    predicate: Callable[[Any], Any]

    @property
    def label(self) -> str:
        return label_of(self.predicate, "filter")

    def meaning(self, operator: Operator) -> Meaning:
        return _FilterMeaning(operator, self.predicate)


class _FilterMeaning(Meaning):
    def __init__(self, operator: Operator, predicate: Callable[[Any], Any]) -> None:
        super().__init__(operator)
        self.predicate = predicate

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        if self.predicate(item):
            yield 0, item
