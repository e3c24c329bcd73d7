"""Which form the code of each processing element takes, and why it is not native where it is not.

Nothing is compiled here, and numba is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anabranch.codegen.build import Function, generate, segment_of
from anabranch.codegen.part import Part
from anabranch.codegen.python import python_form
from anabranch.codegen.segments import Stage, decide
from anabranch.codegen.stages import cut_into
from anabranch.dataflow.layout.place_parts import has_origins, part_at
from anabranch.graph.places import Phase, Place
from anabranch.graph.plan import PE, Plan, Segment
from anabranch.graph.properties import Reason
from anabranch.passes.layout.expected_size import pays_from


def apply(plan: Plan) -> Plan:
    """Native where it can be and pays, unless another form is wanted."""
    pes = {pe.id: pe for pe in plan.pes}
    for phase, place, part in _parts(plan):
        inside = [pe for pe in plan.pes_at(phase.name, place.id) if _in_part(pe, part)]
        pieces = cut_into(part, [_in_part(pe, part) for pe in inside])
        for pe, piece in zip(inside, pieces, strict=True):
            segments = tuple(_segment(plan, stage) for stage in _stages(plan, place, piece))
            pes[pe.id] = replace(pe, segments=segments)
    return replace(plan, pes=tuple(pes.values()))


def _parts(plan: Plan) -> Iterator[tuple[Phase, Place, Part]]:
    """What code is generated for. Nothing is for sources and most sinks: these are read and written by chunks."""
    for phase in plan.phases:
        for place in phase.layout.places:
            part = part_at(plan, phase, place)
            if part is not None and part.operators:
                yield phase, place, part


def _in_part(pe: PE, part: Part) -> tuple[str, ...]:
    """What is generated of a PE: not the sinks that are written from chunks."""
    return tuple(each for each in part.operators if each in pe.operators)


def _stages(plan: Plan, place: Place, part: Part) -> list[Stage]:
    if _sink_in(part) is not None:
        return [Stage(part, "python")]
    return decide(part, plan.form, origins=has_origins(place))


def _sink_in(part: Part) -> str | None:
    """A sink inside is called by the Python form, at its place in the order."""
    return next((name for name in part.operators if part.operator(name).is_sink), None)


def _segment(plan: Plan, stage: Stage) -> Segment:
    segment = segment_of(stage, plan.form)
    if plan.form != plan.settings.form:
        least = pays_from(plan.graph)
        coming = f"about {plan.expected:,} are expected" if plan.expected is not None else "how many come is unknown"
        text = f"native code pays from {least:,} tuples on, and {coming}"
        return replace(segment, why_not_native=Reason("form", text))
    sink = _sink_in(stage.part)
    if sink is None:
        return segment
    why = f"the sink `{sink}` takes turns with others, which native code cannot do"
    form = None if plan.form == "native" else stage.form
    return replace(segment, form=form, why_not_native=Reason("form", why, plan.graph.operator(sink).location))


def generated_sources(plan: Plan) -> Iterator[tuple[PE, Segment, str]]:
    """The source of every segment, in the order of the PEs; an empty one where it cannot have the wanted form."""
    found: dict[str, list[tuple[PE, Segment, str]]] = {pe.id: [] for pe in plan.pes}
    for phase, place, part in _parts(plan):
        pes = [pe for pe in plan.pes_at(phase.name, place.id) if pe.segments]
        # What cannot be had has no code: in the other form it can be cut at the same places.
        had = [[replace(each, form=each.form or "python") for each in pe.segments] for pe in pes]
        code = generate(part, had, origins=has_origins(place))
        for pe, functions in zip(pes, code.pes, strict=True):
            found[pe.id] += [
                (pe, segment, _source(code.origins or function is not code.functions[-1], segment, function))
                for segment, function in zip(pe.segments, functions, strict=True)
            ]
    for of_pe in found.values():
        yield from of_pe


def _source(has_origins: bool, segment: Segment, function: Function) -> str:
    if segment.form is None:
        return ""
    if function.native is not None:
        return function.native.source
    source: str = python_form(function.part, origins=has_origins).source
    return source
