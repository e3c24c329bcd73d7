"""A graph's edges by operator, and its topological order, computed once."""

from __future__ import annotations

from collections.abc import Collection

from anabranch.graph.model import Edge, Graph
from anabranch.graph.traverse import topological


class GraphIndex:
    """Looks up what passes ask for again and again; feedback edges are left out unless asked for."""

    def __init__(self, graph: Graph) -> None:
        self.topological = topological(graph)
        self.position = {operator_id: index for index, operator_id in enumerate(self.topological)}
        self._leaving: dict[str, list[Edge]] = {operator.id: [] for operator in graph.operators}
        self._entering: dict[str, list[Edge]] = {operator.id: [] for operator in graph.operators}
        for edge in graph.edges:
            self._leaving[edge.source].append(edge)
            self._entering[edge.target].append(edge)
        for edges in self._entering.values():
            edges.sort(key=lambda edge: edge.target_port)

    def leaving(self, operator_id: str) -> tuple[Edge, ...]:
        """Streams out of an operator, feedback included, in the order their consumers were connected."""
        return tuple(self._leaving[operator_id])

    def leaving_all(self, operators: Collection[str]) -> tuple[Edge, ...]:
        """Streams out of several operators to others, in the order of the operators."""
        return tuple(edge for each in operators for edge in self._leaving[each] if edge.target not in operators)

    def entering(self, operator_id: str) -> tuple[Edge, ...]:
        """Streams into an operator, feedback included, by input port."""
        return tuple(self._entering[operator_id])
