"""The part of a program that a processing element runs: its operators, and the streams that enter and leave it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from anabranch.graph.model import Edge, Graph, Operator, StreamId
from anabranch.graph.schema import Schema


@dataclass(frozen=True)
class Part:
    """Some operators of a graph; sources are outside of every part, sinks as a rule too.

    `inputs` are the streams from outside that operators in here consume, in the order of their consumers' declaration;
    `outputs` are the streams of which a consumer is outside. A stream from outside that is consumed outside as well,
    straight from a source to a sink, passes through if it is listed as both.
    """

    graph: Graph
    operators: tuple[str, ...]
    inputs: tuple[StreamId, ...]
    outputs: tuple[StreamId, ...]

    def operator(self, operator_id: str) -> Operator:
        return self.graph.operator(operator_id)

    def schema(self, stream: StreamId) -> Schema:
        return self.graph.schema(stream)

    def consumers(self, stream: StreamId) -> tuple[Edge, ...]:
        """The edges from a stream to operators in here, in the order they were connected."""
        return tuple(self._edges_in_here.get((stream.operator, stream.port), ()))

    def consumers_before_leaving(self, stream: StreamId) -> int:
        """How many of those have their turn before the first outside."""
        return self._before_leaving.get((stream.operator, stream.port), len(self.consumers(stream)))

    @property
    def has_turns(self) -> bool:
        """Whether it is of interest in which order tuples leave: by several outputs."""
        return len(self.outputs) > 1

    @cached_property
    def _edges_in_here(self) -> dict[tuple[str, int], list[Edge]]:
        inside = dict.fromkeys(self.operators)
        found: dict[tuple[str, int], list[Edge]] = {}
        for edge in self.graph.edges:
            if edge.target in inside:
                found.setdefault((edge.source, edge.source_port), []).append(edge)
        return found

    @cached_property
    def _before_leaving(self) -> dict[tuple[str, int], int]:
        inside = dict.fromkeys(self.operators)
        seen: dict[tuple[str, int], int] = {}
        found: dict[tuple[str, int], int] = {}
        for edge in self.graph.edges:
            stream = edge.source, edge.source_port
            if edge.target in inside:
                seen[stream] = seen.get(stream, 0) + 1
            else:
                found.setdefault(stream, seen.get(stream, 0))
        return found


def part_of(graph: Graph, operators: tuple[str, ...]) -> Part:
    """The part that consists of these operators."""
    inside = dict.fromkeys(operators)
    inputs: dict[StreamId, None] = {}
    outputs: dict[StreamId, None] = {}
    for edge in graph.edges:
        enters, leaves = edge.target in inside, edge.source in inside
        if enters and not leaves:
            inputs[StreamId(edge.source, edge.source_port)] = None
        elif leaves and not enters:
            outputs[StreamId(edge.source, edge.source_port)] = None
    return Part(graph, operators, tuple(inputs), tuple(outputs))
