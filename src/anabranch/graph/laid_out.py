"""Regions as they are laid out, for drawings: where tuples are really dealt out and put in order again.

The passes form regions for any engine. Laid out, stateless operators stay where their tuples are already (with a source
that many tasks read, in the channels before them), and a region may be in one place after all.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from anabranch.graph.model import Operator
from anabranch.graph.places import PARTS, SOURCES, Layout, Phase, Place, Reading
from anabranch.graph.plan import Ordering, Plan, Region
from anabranch.graph.properties import Properties, Selectivity, State

# The names of what many tasks do without being a region of the passes: reading the only source, and writing a folder.
SLICES, READERS, ARRIVED, FILES = "slices", "readers", "arrived", "files"
_READ_BY_MANY = {
    Reading.SLICES: SLICES,
    Reading.APART: READERS,
    Reading.ENTRIES: ARRIVED,
    Reading.ENTRIES_IN_TURN: ARRIVED,
}


def as_laid_out(plan: Plan) -> Plan:
    """The plan with the regions that run, and the channels of those that have a number; as it is if not laid out.

    Joints follow from what arrives (`joints.py`), so these regions name none.
    """
    if not plan.phases:
        return plan
    plan = _with_first_steps(plan)
    found = [
        (_region(plan, phase, place), place)
        for phase in plan.phases
        for place in phase.layout.places
        if _is_parallel(phase, place)
    ]
    channels = {region.id: place.channels for region, place in found if place.id != SOURCES}
    return replace(plan, regions=tuple(region for region, _ in found), channels=MappingProxyType(channels))


def _with_first_steps(plan: Plan) -> Plan:
    """With the operators that make parts of what others put together, which there are in one phase only."""
    layout = plan.phases[-1].layout
    if not layout.first_steps:
        return plan
    made = {each: of_first_step(layout.graph.operator(each)) for _, each in layout.first_steps}
    return replace(plan, graph=layout.graph, properties=MappingProxyType({**plan.properties, **made}))


def of_first_step(operator: Operator) -> Properties:
    """The properties of what makes parts or finds candidates for another one: those of its record."""
    record, names = operator.definition.record, sorted(operator.outputs[0].schema.names)
    forwards = tuple((name, name) for name in names) if record.forwards == "all" else ()
    return Properties(State.STATELESS, (), Selectivity(record.selectivity), forwards)


def _is_parallel(phase: Phase, place: Place) -> bool:
    """Whether a place has channels of its own; one that follows another is in those of the other."""
    if place.id == SOURCES:
        # Of several sources that are read apart, each has one task.
        return phase.reading in _READ_BY_MANY and len(phase.layout.graph.sources) == 1
    return place.follows is None and (place.region is not None or place.id == PARTS)


def _region(plan: Plan, phase: Phase, place: Place) -> Region:
    together = _together(phase.layout, place)
    inside = dict.fromkeys(each for other in together for each in other.operators)
    operators = tuple(each.id for each in plan.graph.operators if each.id in inside)
    if place.id == SOURCES:
        return Region(_READ_BY_MANY[phase.reading], operators, (), Selectivity.UNBOUNDED)
    if place.id == PARTS:
        return Region(FILES, operators, (), Selectivity.UNBOUNDED)
    formed = next(region for region in plan.regions if region.id == place.region)
    return Region(
        place.id,
        operators,
        next((arrival.key for arrival in phase.layout.items(place.id)), ()),
        formed.selectivity,
        ordering=_ordering(plan, phase.layout, together),
        clocks=formed.clocks,
        reasons=formed.reasons,
    )


def _ordering(plan: Plan, layout: Layout, together: list[Place]) -> Ordering | None:
    """How the order comes back behind these places, whose last operators may be of a later region; None if not here."""
    inside = dict.fromkeys(each for place in together for each in place.operators)
    last = [
        _formed(layout, arrival.stream.operator)
        for arrival in layout.arrivals
        if arrival.stream.operator in inside and layout.place(arrival.place).region is None
    ]
    region = plan.region_of(last[-1]) if last else None
    return region.ordering if region is not None else None


def _formed(layout: Layout, operator_id: str) -> str:
    """An operator of the program: of a first step, which is in no region, the one that it takes from."""
    if layout.made_for(operator_id) is None:
        return operator_id
    return next(edge.source for edge in layout.graph.edges if edge.target == operator_id)


def _together(layout: Layout, place: Place) -> list[Place]:
    """A place, and those that follow it in the same channels."""
    return [place, *layout.following(place)]
