"""Where the joints of parallel regions stand in the graph: on which streams, or at which source or sink."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge, StreamId
from anabranch.graph.places import Arrival, Layout
from anabranch.graph.plan import JointKind, Plan, Region


@dataclass(frozen=True)
class Joint:
    """One end of a region. `edges` are the streams it stands on: none for a parallel source or sink.

    `kind` is None while the compiler has formed the region but not chosen its joints yet. Once it is laid out, a joint
    is what the `arrivals` are: one for each into channels; what leaves them on one stream is put in order at one joint.
    """

    kind: JointKind | None
    region: Region
    edges: tuple[Edge, ...]
    is_entry: bool
    arrivals: tuple[Arrival, ...] = ()


def joints_of(plan: Plan, index: GraphIndex) -> tuple[Joint, ...]:
    """Every joint once: a shuffle between two regions belongs to the second. A plan that is laid out has to have the
    regions of its layout (`laid_out.py`)."""
    return tuple(_as_laid_out(plan) if plan.phases else _as_formed(plan, index))


# As they are laid out --------------------------------------------------------------------------------------------


def _as_laid_out(plan: Plan) -> list[Joint]:
    sources = [region for region in plan.regions if plan.graph.operator(region.entry).is_source]
    sinks = [region for region in plan.regions if plan.graph.operator(region.exit).is_sink]
    entries = [Joint(JointKind.SOURCE, region, (), is_entry=True) for region in sources]
    merges: dict[StreamId, Joint] = {}
    for phase in plan.phases:
        for arrival in phase.layout.arrivals:
            if arrival.clock is not None:  # it comes along with the tuples that it is the time of
                continue
            edges = _edges(plan, phase.layout, arrival)
            before, behind = plan.region_of(arrival.stream.operator), plan.region_of(edges[0].target)
            if before is behind:
                continue
            if behind is not None:
                kind = JointKind.SHUFFLE if before is not None else JointKind.SPLIT
                entries.append(Joint(kind, behind, edges, is_entry=True, arrivals=(arrival,)))
            elif before is not None:
                so_far = merges.get(arrival.stream, Joint(JointKind.MERGE, before, (), is_entry=False))
                merges[arrival.stream] = Joint(
                    JointKind.MERGE,
                    before,
                    (*so_far.edges, *edges),
                    is_entry=False,
                    arrivals=(*so_far.arrivals, arrival),
                )
    return [*entries, *merges.values(), *(Joint(JointKind.SINK, region, (), is_entry=False) for region in sinks)]


def _edges(plan: Plan, layout: Layout, arrival: Arrival) -> tuple[Edge, ...]:
    """The streams of the program that arrive together. What comes around in a round is the way back of a loop."""
    ways = [edges for way, edges in layout.ways(arrival.stream) if way == arrival.place]
    back = {(edge.source, edge.source_port): edge for edge in plan.graph.edges if edge.is_feedback}
    is_back = plan.loop.back if plan.loop is not None else None
    return tuple(
        back[edge.source, edge.source_port] if edge.target == is_back else edge for edge in ways[arrival.again]
    )


# As they are formed ----------------------------------------------------------------------------------------------


def _as_formed(plan: Plan, index: GraphIndex) -> list[Joint]:
    found = []
    for region in plan.regions:
        found += _entries(plan, index, region)
        if region.last_joint is not JointKind.SHUFFLE:
            found += _exits(index, region)
    return found


def _entries(plan: Plan, index: GraphIndex, region: Region) -> list[Joint]:
    """A joint for each stream into the region: of a join's two, one may be shuffled and the other split."""
    entering = [edge for edge in index.entering(region.entry) if not edge.is_feedback]
    if not entering:
        return [Joint(region.first_joint, region, (), is_entry=True)]
    return [Joint(_kind(plan, region, edge), region, (edge,), is_entry=True) for edge in entering]


def _exits(index: GraphIndex, region: Region) -> list[Joint]:
    """A joint for each output that leaves; and where nothing does, for the last operator."""
    streams: dict[StreamId, tuple[Edge, ...]] = {}
    for edge in index.leaving_all(region.operators):
        stream = StreamId(edge.source, edge.source_port)
        streams[stream] = (*streams.get(stream, ()), edge)
    kind = JointKind.MERGE if region.last_joint is JointKind.SINK else region.last_joint
    found = [Joint(kind, region, edges, is_entry=False) for edges in streams.values()]
    if not index.leaving(region.exit):
        found.append(Joint(region.last_joint, region, (), is_entry=False))
    return found


def _kind(plan: Plan, region: Region, edge: Edge) -> JointKind | None:
    if region.first_joint is None:
        return None
    before = plan.region_of(edge.source)
    is_shuffled = before is not None and before.last_joint is JointKind.SHUFFLE
    return JointKind.SHUFFLE if is_shuffled else JointKind.SPLIT
