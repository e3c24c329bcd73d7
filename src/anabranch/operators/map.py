"""`map`: one tuple out for every tuple in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, Meaning, OperatorDefinition
from anabranch.operators.naming import label_of


@dataclass(frozen=True)
class Map(OperatorDefinition):
    record: ClassVar = Record(kind="map", state="user code", selectivity="1:1", forwards="user code")
    fn: Callable[[Any], Any]

    @property
    def label(self) -> str:
        return label_of(self.fn, "map")

    def meaning(self, operator: Operator) -> Meaning:
        return _MapMeaning(operator, self.fn)


class _MapMeaning(Meaning):
    def __init__(self, operator: Operator, fn: Callable[[Any], Any]) -> None:
        super().__init__(operator)
        self.fn = fn

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        yield 0, self.fn(item)
