"""`split`: every tuple goes to at most one of several named streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.errors import PlainProblem
from anabranch.graph.model import Operator, Record
from anabranch.operators.base import Emission, Meaning, OperatorDefinition


@dataclass(frozen=True)
class Split(OperatorDefinition):
    """Either predicates, one per name (the first that holds wins), or a function that gives a name."""

    record: ClassVar = Record(kind="split", state="user code", selectivity="1:[0,1]", forwards="all")
    names: tuple[str, ...]
    predicates: tuple[Callable[[Any], Any], ...] = ()
    choose: Callable[[Any], str | None] | None = None

    def meaning(self, operator: Operator) -> Meaning:
        return _SplitMeaning(operator, self)


class _SplitMeaning(Meaning):
    def __init__(self, operator: Operator, definition: Split) -> None:
        super().__init__(operator)
        self.definition = definition

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        choice = self._choose(item)
        if choice is not None:
            yield choice, item

    def _choose(self, item: Any) -> int | None:
        definition = self.definition
        if definition.choose is None:
            for index, predicate in enumerate(definition.predicates):
                if predicate(item):
                    return index
            return None
        name = definition.choose(item)
        if name is None:
            return None
        if name not in definition.names:
            raise PlainProblem(f"it has no stream {name!r}; its streams are {', '.join(definition.names)}")
        return definition.names.index(name)
