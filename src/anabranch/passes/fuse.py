"""Which operators of a place become one processing element (paper 000, section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from anabranch.graph.model import Operator
from anabranch.graph.places import SOURCES, TAIL, Phase, Place
from anabranch.graph.plan import PE, Plan
from anabranch.graph.properties import Reason
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
    # With what is laid out beside the program's own: who makes the parts of an aggregate in two steps.
    known = {each.id: each for phase in plan.phases for each in phase.layout.graph.operators}
    order = [each.id for each in plan.graph.operators] if plan.loop is not None else list(known)
    position = {operator_id: number for number, operator_id in enumerate(order)}
    found = [pe for phase in plan.phases for place in phase.layout.places for pe in _pes(plan, phase, place, separates)]
    found.sort(key=lambda pe: position[pe.operators[0]])
    numbered = [replace(pe, id=f"PE{number}") for number, pe in enumerate(found, 1)]
    return replace(plan, pes=tuple(replace(pe, why_apart=tuple(_apart(known, numbered, pe))) for pe in numbered))


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


def _apart(known: Mapping[str, Operator], pes: Sequence[PE], pe: PE) -> Iterator[Reason]:
    """Operators of a PE that `.place(pe=…)` wants to share it with others, which are elsewhere."""
    for operator in (known[each] for each in pe.operators):
        name = operator.hints.pe
        for other in pes if name is not None else ():
            strange = next((each for each in other.operators if known[each].hints.pe == name), None)
            if other is pe or strange is None:
                continue
            why = f"it runs at {pe.place}, and '{strange}' at {other.place}"
            if (pe.phase, pe.place) == (other.phase, other.place):
                why = "who reads a source hands chunks over"
            elif pe.phase != other.phase:
                why = f"it runs in the phase '{pe.phase}', and '{strange}' in the phase '{other.phase}'"
            text = f"'{operator.id}' is not fused with '{strange}' (pe={name!r}): {why}"
            yield Reason("pe", text, operator.location, hint="leave out pe=, or give the operators different ones")
