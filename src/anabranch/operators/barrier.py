"""`barrier`: the n-th tuples of all inputs make the n-th output."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition


@dataclass(frozen=True)
class Barrier(OperatorDefinition):
    record: ClassVar = Record(
        kind="barrier", state="stateful", selectivity="1:[0,1]", punctuation_out=PunctuationOut.REMOVES
    )
    combine: Callable[..., Any]

    def meaning(self, operator: Operator) -> Meaning:
        return _BarrierMeaning(operator, self.combine)


class _BarrierMeaning(Meaning):
    state = ("waiting",)

    def __init__(self, operator: Operator, combine: Callable[..., Any]) -> None:
        super().__init__(operator)
        self.combine = combine
        self.waiting: list[deque[Any]] = [deque() for _ in operator.inputs]

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        self.waiting[port].append(item)
        if all(self.waiting):
            yield 0, self.combine(*[queue.popleft() for queue in self.waiting])

    def punctuation(self, port: int) -> Emissions:
        return ()
