"""`union`: the tuples of several streams as they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, Meaning, OperatorDefinition


@dataclass(frozen=True)
class Union(OperatorDefinition):
    """Punctuations pass when exactly one input is punctuated (paper 000, section 5.2): the graph's ports say so."""

    record: ClassVar = Record(kind="union", state="stateless", selectivity="1:1", forwards="all")

    def meaning(self, operator: Operator) -> Meaning:
        return _UnionMeaning(operator)


class _UnionMeaning(Meaning):
    def process(self, port: int, item: Any) -> Iterator[Emission]:
        yield 0, item
