"""The state of operators as bytes, whole or only what changed."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from anabranch.errors import RunError, in_words
from anabranch.graph.array_layouts import reduce_array
from anabranch.graph.model import Graph, Operator
from anabranch.graph.nans import NamedNans, NanNames
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import UserAggregate
from anabranch.operators.process import Process


class Saver:
    """Pickles what operators of a graph keep.

    The program is there on both sides, so its classes, which need not be importable (local ones, those of `__main__`),
    its schemas and definitions are written as numbers. So are NaNs, which are known by their identity.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known = list({id(each): each for each in _known(graph)}.values())
        self._numbers = {id(each): number for number, each in enumerate(self._known)}

    def dump(self, operator_id: str, state: dict[str, Any]) -> bytes:
        try:
            return self._bytes(state)
        except Exception as problem:
            raise self._refusal(operator_id, state, problem) from problem

    def load(self, data: bytes) -> Any:
        return _Unpickler(io.BytesIO(data), self._known).load()

    def _bytes(self, value: Any) -> bytes:
        file = io.BytesIO()
        _Pickler(file, self._numbers).dump(value)
        return file.getvalue()

    def _refusal(self, operator_id: str, state: dict[str, Any], problem: Exception) -> RunError:
        """Name what cannot be saved."""
        what = next((name for name, value in _parts(state) if not self._is_savable(value)), None)
        where = f": {what}" if what is not None else ""
        return RunError(
            f"the state of operator '{operator_id}' cannot be saved{where}: {in_words(problem)}",
            location=self._graph.operator(operator_id).location,
            hint="keep what can be pickled: numbers, text, tuples, lists, dictionaries, and objects of such",
        )

    def _is_savable(self, value: Any) -> bool:
        try:
            self._bytes(value)
        except Exception:
            return False
        return True


def _parts(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an operator keeps piece by piece: the attributes of each of a user's instances."""
    for name, value in state.items():
        if name != "instances":
            yield f"`{name}`", value
            continue
        for instance in value.values():
            attributes = getattr(instance, "__dict__", None) or {}
            yield from ((f"`{attribute}` of {type(instance).__name__}", held) for attribute, held in attributes.items())


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: dict[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers
        self._nans = NanNames()

    def persistent_id(self, obj: Any) -> Any:
        return self._nans.name(obj) or self._numbers.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        return reduce_array(obj) if type(obj) is np.ndarray else NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, known: list[Any]) -> None:
        super().__init__(file)
        self._known = known
        self._nans = NamedNans()

    def persistent_load(self, name: Any) -> Any:
        return self._known[name] if isinstance(name, int) else self._nans.find(name)


def _known(graph: Graph) -> Iterator[Any]:
    for operator in graph.operators:
        yield operator.definition
        for port in (*operator.inputs, *operator.outputs):
            yield from _of_schema(port.schema)
        yield from _of_definition(operator)


def _of_definition(operator: Operator) -> Iterator[type]:
    factories: list[Any] = []
    match operator.definition:
        case Process(factory=factory):
            factories = [factory]
        case WindowAggregate(columns=columns):
            factories = [column.factory for _, column in columns if isinstance(column, UserAggregate)]
    for each in factories:
        while not isinstance(each, type) and (inner := getattr(each, "func", getattr(each, "factory", None))):
            each = inner  # a partial, or what makes another's objects
        if isinstance(each, type):
            yield each


def _of_schema(schema: Schema) -> Iterator[Any]:
    yield schema
    yield schema.type
    for attribute in schema.attributes:
        kind: AttributeType | None = attribute.type
        while kind is not None:
            if kind.nested is not None:
                yield from _of_schema(kind.nested)
            kind = kind.element
