"""Walks over a graph: who feeds whom, in which order, and which operators form a loop."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from anabranch.graph.model import Graph


def find_cycle(graph: Graph, *, ignoring_feedback: bool) -> tuple[str, ...]:
    """The operators of some cycle, or nothing."""
    try:
        cycle = nx.find_cycle(as_networkx(graph, without_feedback=ignoring_feedback))
    except nx.NetworkXNoCycle:
        return ()
    return tuple(source for source, *_ in cycle)


def loops(graph: Graph) -> tuple[frozenset[str], ...]:
    """The strongly connected sets of operators that feedback edges make, in order of declaration."""
    if not any(edge.is_feedback for edge in graph.edges):
        return ()
    position = {operator.id: index for index, operator in enumerate(graph.operators)}
    components = nx.strongly_connected_components(as_networkx(graph))
    found = (frozenset(component) for component in components if len(component) > 1)
    return tuple(sorted(found, key=lambda members: min(position[member] for member in members)))


def topological(graph: Graph) -> tuple[str, ...]:
    """Operators so that every one comes after those that feed it; declaration order where free."""
    position = {operator.id: index for index, operator in enumerate(graph.operators)}
    plain = as_networkx(graph, without_feedback=True)
    return tuple(nx.lexicographical_topological_sort(plain, key=position.__getitem__))


def downstream(graph: Graph, start: Iterable[str]) -> frozenset[str]:
    """Every operator that tuples of `start` can reach, `start` included."""
    directed = as_networkx(graph)
    reached: set[str] = set()
    for operator_id in start:
        reached |= {operator_id} | nx.descendants(directed, operator_id)
    return frozenset(reached)


def as_networkx(graph: Graph, *, without_feedback: bool = False) -> nx.DiGraph[str]:
    directed: nx.DiGraph[str] = nx.DiGraph()
    directed.add_nodes_from(operator.id for operator in graph.operators)
    directed.add_edges_from(
        (edge.source, edge.target) for edge in graph.edges if not (without_feedback and edge.is_feedback)
    )
    return directed
