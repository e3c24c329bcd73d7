"""A stream that comes to a place again, for other operators than before, after others had their turns.

For the code of the place it is another stream, which comes from an operator of its own.
"""

from __future__ import annotations

from dataclasses import replace

from anabranch.graph.model import Graph, Operator, StreamId
from anabranch.graph.places import Arrival, Elsewhere, Layout


def as_entered(layout: Layout, place: str) -> tuple[Graph, tuple[StreamId, ...]]:
    """The graph as a place sees it, and the streams that come there."""
    graph, streams = layout.graph, []
    for arrival in layout.items(place):
        if arrival.again:
            graph = _told_apart(layout, graph, arrival)
        streams.append(_as_seen(arrival))
    return graph, tuple(streams)


def _as_seen(arrival: Arrival) -> StreamId:
    if not arrival.again:
        return arrival.stream
    return StreamId(f"{arrival.stream.operator}: again {arrival.again}, {arrival.stream.port}", arrival.stream.port)


def _told_apart(layout: Layout, graph: Graph, arrival: Arrival) -> Graph:
    name = _as_seen(arrival).operator
    source = graph.operator(arrival.stream.operator)
    taken = [edges for place, edges in layout.ways(arrival.stream) if place == arrival.place][arrival.again]
    edges = tuple(replace(edge, source=name) if edge in taken else edge for edge in graph.edges)
    again = Operator(name, Elsewhere(), (), source.outputs, source.location)
    return graph.part((*graph.operators, again), edges)
