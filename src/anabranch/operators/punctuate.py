"""`punctuate`: a window punctuation after every tuple for which a predicate holds, or after every n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.operators.base import PUNCTUATION, Emission, Emissions, Meaning, OperatorDefinition


@dataclass(frozen=True)
class Punctuate(OperatorDefinition):
    """Punctuations that arrive are replaced by the ones made here."""

    record: ClassVar = Record(
        kind="punctuate",
        state="stateful",
        selectivity="1:1",
        forwards="all",
        punctuation_out=PunctuationOut.GENERATES,
    )
    when: Callable[[Any], Any] | None = None
    count: int | None = None

    def meaning(self, operator: Operator) -> Meaning:
        return _PunctuateMeaning(operator, self)


class _PunctuateMeaning(Meaning):
    state = ("seen",)

    def __init__(self, operator: Operator, definition: Punctuate) -> None:
        super().__init__(operator)
        self.definition = definition
        self.seen = 0

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        self.seen += 1
        yield 0, item
        if self._is_due(item):
            yield 0, PUNCTUATION

    def punctuation(self, port: int) -> Emissions:
        return ()

    def _is_due(self, item: Any) -> bool:
        if self.definition.when is not None:
            return bool(self.definition.when(item))
        assert self.definition.count is not None
        return self.seen % self.definition.count == 0
