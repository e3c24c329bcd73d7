"""Which operators of a place become one processing element (paper 000, section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anabranch.graph.places import SOURCES, TAIL, Phase, Place
from anabranch.graph.plan import PE, Plan
from anabranch.passes.fusion import fuse_all, fuse_manual, fuse_none
from anabranch.passes.fusion.cuts import Separates, cut_up

STRATEGIES: dict[str, Separates] = {
    "all": fuse_all.separates,
    "none": fuse_none.separates,
    "manual": fuse_manual.separates,
}


def apply(plan: Plan) -> Plan:
    """The PEs of every place. Sources are PEs of their own: who reads them hands chunks over."""
    separates = STRATEGIES[plan.settings.fuse]
    position = {operator.id: number for number, operator in enumerate(plan.graph.operators)}
    found = [pe for phase in plan.phases for place in phase.layout.places for pe in _pes(plan, phase, place, separates)]
    found.sort(key=lambda pe: position[pe.operators[0]])
    return replace(plan, pes=tuple(replace(pe, id=f"PE{number}") for number, pe in enumerate(found, 1)))


def _pes(plan: Plan, phase: Phase, place: Place, separates: Separates) -> Iterator[PE]:
    graph = phase.layout.graph
    operators = place.operators
    if place.id == SOURCES:
        sources = [each for each in operators if graph.operator(each).is_source]
        yield from (PE("", (source,), phase.name, place.id) for source in sources)
        operators = tuple(each for each in operators if each not in sources)
    if place.id == TAIL:
        elsewhere = {plan.loop.entry, plan.loop.back} if plan.loop is not None else set()
        written = [each for other in phase.layout.places for each in other.operators]
        sinks = [sink.id for sink in graph.sinks if sink.id not in elsewhere and sink.id not in written]
        operators = (*operators, *sinks)
    for group in cut_up(graph, operators, separates):
        yield PE("", group.operators, phase.name, place.id, why_together=group.why)
