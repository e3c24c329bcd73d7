"""User-defined operators: `process` (one input) and `connect` (a method per input).

With a key there is one instance of the user's class per key value, made when the key first arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.values import key_reader
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition, Step
from anabranch.operators.emissions import each_emission
from anabranch.operators.naming import label_of


@dataclass(frozen=True)
class RangeKey:
    """Range instead of hash partitioning: made by `ab.ranges`; only routing differs, never the result."""

    attribute: str
    bounds: tuple[Any, ...]


@dataclass(frozen=True)
class Process(OperatorDefinition):
    """`methods` and `keys` go by input port; a port of `process` has the method `process`."""

    record: ClassVar = Record(kind="process", state="user code", selectivity="user code", forwards="user code")
    factory: Callable[[], Any]
    methods: tuple[str, ...] = ("process",)
    keys: tuple[tuple[str, ...], ...] = ((),)
    ranges: RangeKey | None = None

    @property
    def label(self) -> str:
        return label_of(self.factory, "process")

    @property
    def key(self) -> tuple[str, ...]:
        return self.keys[0]

    def meaning(self, operator: Operator) -> Meaning:
        return _ProcessMeaning(operator, self)


@dataclass(frozen=True)
class Connect(Process):
    record: ClassVar = Record(kind="connect", state="user code", selectivity="user code", forwards="user code")


class _ProcessMeaning(Meaning):
    state = ("instances",)

    def __init__(self, operator: Operator, definition: Process) -> None:
        super().__init__(operator)
        self.definition = definition
        self.readers = [
            key_reader(port.schema, names) if names else _no_key
            for port, names in zip(operator.inputs, definition.keys, strict=True)
        ]
        # Insertion order is the order of first arrival, which `finish` and `punctuation` follow.
        self.instances: dict[Any, Any] = {}
        # For engines: whose turn it is there, and, where they ask for it, the output and the key of each tuple given.
        self.current: Any = None
        self.given: list[tuple[int, Any]] | None = None

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        instance = self._instance(self.readers[port](item))
        method = getattr(instance, self.definition.methods[port])
        yield from each_emission(method(item), self.operator)

    def _instance(self, key: Any) -> Any:
        if key not in self.instances:
            self.instances[key] = self.definition.factory()
        return self.instances[key]

    def punctuation(self, port: int) -> Emissions:
        yield from self._every_instance("punctuation")
        yield from self.forward_punctuation()

    def finish(self) -> Emissions:
        return self._every_instance("finish")

    def _every_instance(self, method_name: str) -> Iterator[Step]:
        """A step per instance, in order of the keys' first arrival; without a key there always is one."""
        keys = list(self.instances) if any(self.definition.keys) else [None]
        for key in keys:
            yield partial(self._call, key, method_name)

    def _call(self, key: Any, method_name: str) -> Iterator[Emission]:
        self.current = key
        method = getattr(self._instance(key), method_name, None)
        if method is None:
            return
        for emission in each_emission(method(), self.operator):
            yield emission
            if self.given is not None:
                self.given.append((emission[0], key))

    def sends_letter(self, during: str) -> None:
        if self.given is not None and during != "process":
            self.given.append((self.operator.output("dead_letter"), self.current))


def _no_key(item: Any) -> None:
    return None
