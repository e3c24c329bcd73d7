"""The figures of operators, from the few numbers that generated code counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.codegen.python.lines import Place
from anabranch.graph.model import Edge, StreamId
from anabranch.graph.traverse import topological
from anabranch.operators.metrics import OperatorMetrics

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator


class Counting:
    """Adds to the figures what was counted: an operator received what those before it emitted, and some emit as much.

    Where an operator failed, the last tuple has not been everywhere: `failed_at` says how far it came.
    """

    def __init__(self, generator: Generator, figures: Mapping[str, OperatorMetrics]) -> None:
        self._generator = generator
        self._figures = figures
        self._arrived: Counter[str] = Counter()
        self._entered: Counter[tuple[str, int]] = Counter()
        self._not_delivered: Counter[Edge] = Counter()
        self._not_emitted: Counter[str] = Counter()
        graph = generator.traversal.graph
        is_entry = {operator.id: operator.kind == "entry" for operator in graph.operators}
        self._hot = [each for each in topological(graph) if not is_entry[each] and generator.is_hot(each)]
        self._into: dict[str, list[Edge]] = {
            each: [
                edge
                for edge in graph.edges
                if edge.target == each
                and not edge.is_feedback
                and (is_entry[edge.source] or generator.is_hot(edge.source))
            ]
            for each in self._hot
        }

    def entered(self, stream: StreamId, count: int) -> None:
        """So many tuples came in on a stream."""
        self._entered[stream.operator, stream.port] += count

    def arrived(self, operator_id: str) -> None:
        """A tuple reached generated code from elsewhere."""
        self._arrived[operator_id] += 1

    def failed_at(self, places: Sequence[Place]) -> None:
        for place in places:
            self._not_delivered.update(place.pending)
        if places and not places[-1].has_emitted:
            self._not_emitted[places[-1].operator] += 1

    def add_up(self) -> None:
        generator = self._generator
        emitted: dict[tuple[str, int], int] = dict(self._entered)
        for operator_id in self._hot:
            received = self._arrived[operator_id]
            for edge in self._into[operator_id]:
                received += emitted.get((edge.source, edge.source_port), 0) - self._not_delivered[edge]
            figures = self._figures[operator_id]
            figures.received += received
            for port in range(len(generator.node(operator_id).operator.outputs)):
                counter = generator.counter(operator_id, port)
                count = received - self._not_emitted[operator_id] if counter is None else generator.counts[counter]
                emitted[operator_id, port] = count
                figures.emitted += count
        generator.counts[:] = [0] * len(generator.counts)
        for counted in (self._entered, self._arrived, self._not_delivered, self._not_emitted):
            counted.clear()
