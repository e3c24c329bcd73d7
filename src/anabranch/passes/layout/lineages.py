"""What the streams of a layout carry for their order (design, section 2, "the order key")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from anabranch.errors import BuildError
from anabranch.graph.model import StreamId
from anabranch.graph.order_keys import Branch, Lineage, Number, Step
from anabranch.graph.places import SOURCES, Arrival, Layout, Place
from anabranch.passes.layout.ranks import ranks_of


@dataclass(frozen=True)
class _Known:
    """What is known of the order of a stream: the columns that it carries, and the paths on which tuples came."""

    lineage: Lineage
    paths: tuple[Lineage, ...]

    def then(self, *steps: Step) -> _Known:
        return _Known((*self.lineage, *steps), tuple((*path, *steps) for path in self.paths))


def with_lineages(layout: Layout) -> Layout:
    """What every stream carries; an arrival that cannot be told is one that meets no other."""
    behind: dict[StreamId, _Known] = {}
    placed: list[Arrival] = []
    places: list[Place] = []
    for place in layout.places:  # by level: what comes in is known
        for arrival in layout.arriving(place.id):
            known = _on_arrival(layout, arrival, behind)
            placed.append(replace(arrival, lineage=known.lineage, paths=known.paths))
        so_far = replace(layout, arrivals=tuple(placed))
        place = replace(place, ranks=ranks_of(so_far, place))
        places.append(place)
        for number, stream in enumerate(place.outputs):
            behind[stream] = _behind(so_far, place, number)
    return replace(layout, places=tuple(places), arrivals=tuple(placed))


def verify_order_keys(layout: Layout) -> None:
    """Raise a `BuildError` where an arrival does not carry what its order follows from, no more and no less."""
    right = with_lineages(layout)
    wrong = [
        given.stream.operator for given, known in zip(layout.arrivals, right.arrivals, strict=True) if given != known
    ]
    wrong += [given.id for given, known in zip(layout.places, right.places, strict=True) if given != known]
    if wrong:
        raise BuildError(f"what '{wrong[0]}' carries for its order is not what its way through the places gives")


def _behind(layout: Layout, place: Place, number: int) -> _Known:
    if place.id == SOURCES:
        drawn = _Known((Number("draw"),), ((Number("draw"),),))
        return drawn if len(place.outputs) == 1 else drawn.then(Branch("draw", number))
    known = _Known(layout.lineage_of_items(place), layout.paths_of_items(place))
    if place.has_turns and _leaves_at_once(layout, place, place.outputs[number]):
        return known.then(Number(place.id, number))
    if place.is_ranked and len(place.outputs) > 1:
        # What it gives has ranks on all outputs; where they are equal, punctuations and ends go out in their order.
        return known.then(*place.ranks, Branch(place.id, place.outputs[number].port))
    if len(place.outputs) > 1:
        # A split gives a tuple to its outputs in their order; of others only the order at one output is known.
        is_split = len(place.operators) == 1 and not place.is_prolific
        known = known.then(Branch(place.id, number if not is_split else place.outputs[number].port, is_split))
    return known.then(Number(place.id)) if place.is_prolific else known.then(*place.ranks)


def _leaves_at_once(layout: Layout, place: Place, stream: StreamId) -> bool:
    """Whether all who take a stream outside have their turns one behind the other: it leaves in one of them."""
    inside = [
        edge.target in place.operators
        for edge in layout.graph.edges
        if (edge.source, edge.source_port) == (stream.operator, stream.port) and not edge.is_feedback
    ]
    outside = [at for at, is_inside in enumerate(inside) if not is_inside]
    return bool(outside) and not any(inside[outside[0] : outside[-1]])


def _on_arrival(layout: Layout, arrival: Arrival, behind: Mapping[StreamId, _Known]) -> _Known:
    """Where a stream goes to several places, the ways are taken in the order of its consumers; its time goes first."""
    known = _on_its_way(layout, arrival, behind)
    if all(each.clock is None for each in layout.items(arrival.place)):
        return known
    return known.then(Branch(f"{arrival.place}.clock", int(arrival.clock is None)))


def _on_its_way(layout: Layout, arrival: Arrival, behind: Mapping[StreamId, _Known]) -> _Known:
    known = behind[arrival.stream]
    ways = [place for place, _ in layout.ways(arrival.stream)]
    if len(ways) == 1:
        return known
    mine = [number for number, place in enumerate(ways) if place == arrival.place]
    return known.then(Branch(f"{arrival.stream.operator}.{arrival.stream.port}", mine[arrival.again]))
