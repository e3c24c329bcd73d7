"""A part of a program as a graph of its own: where streams enter it there is a source, where they leave it a sink."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.part import Part
from anabranch.graph.model import Definition, Edge, Graph, Operator, Port, Record, StreamId
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emission, OperatorDefinition, SinkMeaning


@dataclass(frozen=True)
class Entry(Definition):
    """What stands for an operator outside: only its streams are known here."""

    record: ClassVar = Record(kind="entry")


@dataclass(frozen=True)
class Exit(OperatorDefinition):
    """Keeps what leaves the part on one stream."""

    record: ClassVar = Record(kind="exit")

    def meaning(self, operator: Operator) -> ExitMeaning:
        return ExitMeaning(operator)


@dataclass(eq=False)
class Left:
    """What left since it was last asked for."""

    rows: list[Any] = field(default_factory=list)
    punctuations: list[int] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    punctuation_origins: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    punctuation_turns: list[int] = field(default_factory=list)
    is_last: bool = False
    ended: tuple[int, int] | None = None


class ExitMeaning(SinkMeaning):
    """`clock` holds the number of the input item that is worked on, where origins are asked for.

    Behind it is how much has left by all exits, where there are several (`has_turns`).
    """

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.left = Left()
        self.clock: list[int] | None = None
        self.has_turns = False

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        self.left.rows.append(item)
        if self.clock is not None:
            self.left.origins.append(self.clock[0])
            if self.has_turns:
                self.left.turns.append(self._turn(self.clock))
        return ()

    def punctuation(self, port: int) -> Iterable[Emission]:
        self.left.punctuations.append(len(self.left.rows))
        if self.clock is not None:
            self.left.punctuation_origins.append(self.clock[0])
            if self.has_turns:
                self.left.punctuation_turns.append(self._turn(self.clock))
        return ()

    def end(self, port: int) -> Iterable[Emission]:
        self.left.is_last = True
        if self.clock is not None and self.has_turns:
            self.left.ended = self.clock[0], self._turn(self.clock)
        return ()

    def taken(self, schema: Schema) -> Chunk:
        """What has left since this was last asked for."""
        left, self.left = self.left, Left()
        chunk = Chunk.of_rows(schema, left.rows, punctuations=left.punctuations, is_last=left.is_last)
        if self.clock is not None:
            chunk.origins = np.array(left.origins, np.int64)
            chunk.punctuation_origins = np.array(left.punctuation_origins, np.int64)
        if self.has_turns:
            chunk.turns = np.array(left.turns, np.int64)
            chunk.punctuation_turns = np.array(left.punctuation_turns, np.int64)
            chunk.ended = left.ended
        return chunk

    def _turn(self, clock: list[int]) -> int:
        clock[1] += 1
        return clock[1] - 1


def exit_of(stream: StreamId) -> str:
    """The operator that stands for everything outside that a stream goes to."""
    return f"{stream.operator}.{stream.port} leaves"


def enclosed(part: Part) -> Graph:
    """The operators of a part with an entry for each operator that feeds it and an exit for each output."""
    feeding = dict.fromkeys(stream.operator for stream in part.inputs)
    entries = [_entry(part.operator(operator_id)) for operator_id in feeding]
    exits = [_exit(part, stream) for stream in part.outputs]
    inside = dict.fromkeys(part.operators)
    edges: dict[Edge, None] = {}  # in the order in which they were connected
    for edge in part.graph.edges:
        stream = StreamId(edge.source, edge.source_port)
        if edge.target in inside and (edge.source in inside or edge.source in feeding):
            edges[edge] = None
        elif edge.target not in inside and stream in part.outputs:
            edges[Edge(*_ends(stream))] = None
    for stream in part.outputs:
        edges.setdefault(Edge(*_ends(stream)))
    operators = (*entries, *[operator for operator in part.graph.operators if operator.id in inside], *exits)
    return part.graph.part(operators, tuple(edges))


def _ends(stream: StreamId) -> tuple[str, int, str, int]:
    return stream.operator, stream.port, exit_of(stream), 0


def _entry(outside: Operator) -> Operator:
    return Operator(outside.id, Entry(), (), outside.outputs, outside.location)


def _exit(part: Part, stream: StreamId) -> Operator:
    outside = part.operator(stream.operator)
    port = outside.outputs[stream.port]
    inputs = (Port("in", port.schema, port.is_punctuated),)
    return Operator(exit_of(stream), Exit(), inputs, (), outside.location)
