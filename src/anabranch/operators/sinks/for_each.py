"""`for_each`: a call of the user's function for every tuple."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.errors import BuildError, shown
from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.sinks.base import SinkDefinition


@dataclass(frozen=True)
class ForEach(SinkDefinition):
    """Calls `fn` with every tuple and drops what it returns; what it raises is the operator's error."""

    record: ClassVar[Record] = Record(kind="for_each", state="user code")

    fn: Callable[[Any], object]
    ordered: bool = True

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise BuildError(f"{shown(self.fn)} is not a function", hint="give a function of one tuple")

    def meaning(self, operator: Operator) -> ForEachMeaning:
        return ForEachMeaning(operator, self.fn)


class ForEachMeaning(SinkMeaning):
    def __init__(self, operator: Operator, fn: Callable[[Any], object]) -> None:
        super().__init__(operator)
        self._fn = fn

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        self._fn(item)
        return ()
