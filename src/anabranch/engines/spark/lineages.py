"""What the streams of a layout carry for their order (design, section 2, "the order key")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anabranch.codegen.part import Stream
from anabranch.engines.spark.layout import SOURCES, TAIL, Arrival, Layout, Place
from anabranch.engines.spark.order import Branch, Lineage, Number


def with_lineages(layout: Layout) -> Layout:
    """What every stream carries; an arrival that cannot be told is one that meets no other."""
    behind: dict[Stream, Lineage] = {}
    placed: list[Arrival] = []
    for place in layout.places:  # by level: what comes in is known
        placed += [
            replace(arrival, lineage=_on_arrival(layout, arrival, behind)) for arrival in layout.arriving(place.id)
        ]
        known = replace(layout, arrivals=tuple(placed))
        for number, stream in enumerate(place.outputs):
            behind[stream] = _behind(known, place, number)
    return replace(layout, arrivals=tuple(placed))


def _behind(layout: Layout, place: Place, number: int) -> Lineage:
    if place.id == SOURCES:
        drawn: Lineage = (Number("draw"),)
        return drawn if len(place.outputs) == 1 else (*drawn, Branch("draw", number))
    lineage = layout.lineage_of_items(place)
    if len(place.outputs) > 1:
        # A split gives a tuple to its outputs in their order; of other places only the order at one output is known.
        is_split = len(place.operators) == 1 and not place.is_prolific
        lineage = (*lineage, Branch(place.id, number if not is_split else place.outputs[number].port, is_split))
    return (*lineage, Number(place.id)) if place.is_prolific else (*lineage, *layout.ranks(place))


def _on_arrival(layout: Layout, arrival: Arrival, behind: Mapping[Stream, Lineage]) -> Lineage:
    """Where a stream goes to several places, the ways are taken in the order of its consumers; its time goes first."""
    lineage = _on_its_way(layout, arrival, behind)
    if all(each.clock is None for each in layout.items(arrival.place)):
        return lineage
    return (*lineage, Branch(f"{arrival.place}.clock", int(arrival.clock is None)))


def _on_its_way(layout: Layout, arrival: Arrival, behind: Mapping[Stream, Lineage]) -> Lineage:
    lineage = behind[arrival.stream]
    tail_sinks = {sink.id for sink in layout.graph.sinks}
    ways: list[str] = []
    for edge in layout.graph.edges:
        if (edge.source, edge.source_port) == (arrival.stream.operator, arrival.stream.port) and not edge.is_feedback:
            target = TAIL if edge.target in tail_sinks else layout.place_of(edge.target).id
            if not ways or ways[-1] != target:
                ways.append(target)
    source = layout.place_of(arrival.stream.operator).id
    ways = [way for way in ways if way != source]
    if len(ways) == 1:
        return lineage
    # A place that is come back to would take its turns before and after another's.
    is_ordered = len(dict.fromkeys(ways)) == len(ways)
    at = f"{arrival.stream.operator}.{arrival.stream.port}"
    return (*lineage, Branch(at, ways.index(arrival.place), is_ordered))
