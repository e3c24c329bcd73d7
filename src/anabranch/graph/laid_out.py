"""Regions as they are laid out, for drawings: where tuples are really dealt out and put in order again.

The passes form regions for any engine. Laid out, stateless operators stay where their tuples are already (with a source
that many tasks read, in the channels before them), and a region may be in one place after all.
"""

from __future__ import annotations

from dataclasses import replace

from anabranch.graph.places import PARTS, SOURCES, Layout, Phase, Place, Reading
from anabranch.graph.plan import JointKind, Plan, Region
from anabranch.graph.properties import Selectivity

SLICES = "slices"  # the name of what many tasks read


def as_laid_out(plan: Plan) -> Plan:
    """The plan with regions as they run; as it is before it is laid out, and where a loop runs in rounds."""
    if len(plan.phases) != 1 or plan.phases[0].is_in_process:
        return plan if len(plan.phases) != 1 else replace(plan, regions=())
    [phase] = plan.phases
    layout = phase.layout
    parallel = [place for place in layout.places if _has_channels(place) or _is_read_by_many(phase, place)]
    regions = tuple(_region(plan, layout, place, parallel) for place in parallel)
    channels = {**plan.channels, **{place.id: place.channels for place in parallel if _has_channels(place)}}
    return replace(plan, regions=regions, channels=channels)


def _has_channels(place: Place) -> bool:
    return place.region is not None and place.follows is None


def _is_read_by_many(phase: Phase, place: Place) -> bool:
    return place.id == SOURCES and phase.reading is Reading.SLICES


def _region(plan: Plan, layout: Layout, place: Place, parallel: list[Place]) -> Region:
    together = _together(layout, place)
    goes_to = _goes_to(layout, together)
    inside = [each for other in together for each in other.operators]
    last = JointKind.MERGE
    if goes_to and all(target == PARTS for target in goes_to):
        last, inside = JointKind.SINK, [*inside, *layout.place(PARTS).operators]
    elif goes_to and all(target in [other.id for other in parallel] for target in goes_to):
        last = JointKind.SHUFFLE
    operators = tuple(each.id for each in plan.graph.operators if each.id in inside)
    if place.id == SOURCES:
        return Region(SLICES, operators, (), Selectivity.UNBOUNDED, JointKind.SOURCE, last)
    comes_from = [layout.place_of(arrival.stream.operator) for arrival in layout.items(place.id)]
    is_dealt_out_again = any(before in _together(layout, other) for before in comes_from for other in parallel)
    formed = next(region for region in plan.regions if region.id == place.region)
    return replace(
        formed,
        id=place.id,
        operators=operators,
        key=next((arrival.key for arrival in layout.items(place.id)), ()),
        first_joint=JointKind.SHUFFLE if is_dealt_out_again else JointKind.SPLIT,
        last_joint=last,
        ordering=formed.ordering if last is not JointKind.SHUFFLE else None,
    )


def _together(layout: Layout, place: Place) -> list[Place]:
    """A place, and those that follow it in the same channels."""
    return [place, *(each for other in layout.following(place) for each in _together(layout, other))]


def _goes_to(layout: Layout, places: list[Place]) -> list[str]:
    """The places that take what these give."""
    inside = [each.id for each in places]
    streams = [stream for place in places for stream in place.outputs]
    return [arrival.place for each in streams for arrival in layout.leaving(each) if arrival.place not in inside]
