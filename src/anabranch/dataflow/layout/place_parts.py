"""The part of a program that runs at a place: what code is generated for."""

from __future__ import annotations

from dataclasses import replace

from anabranch.codegen.part import Part
from anabranch.dataflow.layout.repeated_arrivals import as_entered
from anabranch.dataflow.order.keyed_emission_order import ranked_part
from anabranch.dataflow.tail.tail_part import belongs_inside, tail_part
from anabranch.graph.model import Edge, Graph, Operator, Port, StreamId
from anabranch.graph.places import PARTS, SOURCES, TAIL, Elsewhere, Layout, Phase, Place
from anabranch.graph.plan import Plan
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.candidates import FindCandidates
from anabranch.operators.distinct import Distinct
from anabranch.operators.parts import MakeParts


def part_at(plan: Plan, phase: Phase, place: Place) -> Part | None:
    """None where files are written, or read with nothing behind them."""
    if place.id == TAIL:
        return part_of_tail(plan, phase)
    return part_in_tasks(phase.layout, place)


def part_in_tasks(layout: Layout, place: Place) -> Part | None:
    """The same of a place whose work tasks do."""
    if place.id == SOURCES:
        return part_behind_the_source(layout)
    if place.id == PARTS:
        return None
    if place.is_ranked and has_windows(layout, place):
        return ranked_part(layout, place)
    if layout.made_for(place.operators[0]) is not None:
        return _part_of_first_step(layout, place)
    graph, streams = as_entered(layout, place.id)
    return Part(graph, place.operators, streams, place.outputs)


def _part_of_first_step(layout: Layout, place: Place) -> Part:
    """The windows by themselves, which take tuples with positions, and give what parts are made of; or the search."""
    operator = layout.graph.operator(place.operators[0])
    [into], [stream] = operator.inputs, place.inputs
    match operator.definition:
        case MakeParts() as making:
            into = replace(into, schema=making.numbered)
            step = replace(operator, definition=making.windows, inputs=(into,), outputs=making.outputs)
        case FindCandidates(search=search, found=found):
            step = replace(operator, definition=search, outputs=(found,))
        case other:
            raise AssertionError(f"{other} is no first step")
    source = Operator(stream.operator, Elsewhere(), (), (Port("out", into.schema),), operator.location)
    graph = Graph(layout.graph.name, (source, step), (Edge(source.id, 0, step.id, 0),))
    outputs = tuple(StreamId(step.id, port) for port in range(len(step.outputs)))
    return Part(graph, place.operators, (StreamId(source.id),), outputs)


def part_behind_the_source(layout: Layout) -> Part | None:
    """The stateless operators that follow the only source at once."""
    place = layout.place(SOURCES)
    operators = tuple(each for each in place.operators if not layout.graph.operator(each).is_source)
    if not operators:
        return None
    return Part(layout.graph, operators, (StreamId(layout.graph.sources[0].id),), place.outputs)


def part_of_tail(plan: Plan, phase: Phase) -> Part | None:
    """What runs with the sinks: all but those that are written from lines, which come to nobody else."""
    layout = phase.layout
    graph, streams = as_entered(layout, TAIL)
    arriving = layout.items(TAIL)
    lines = [each.lines.sink for each in arriving if each.lines is not None]
    streams = tuple(stream for stream, each in zip(streams, arriving, strict=True) if each.lines is None)
    taken = {plan.loop.entry, plan.loop.back} if plan.loop is not None else set()
    if phase.is_in_process:
        streams = tuple(StreamId(source.id, port) for source in graph.sources for port in range(len(source.outputs)))
    if not streams and not lines:
        return None
    segments = [segment for pe in plan.pes_at(phase.name, TAIL) for segment in pe.segments]
    if segments:  # it has been decided which sinks are inside
        known = [each for segment in segments for each in segment.operators]
        inside = [sink.id for sink in graph.sinks if sink.id in known]
    else:
        taken |= set(lines)
        inside = [sink.id for sink in graph.sinks if sink.id not in taken and belongs_inside(graph, sink, plan.form)]
    return tail_part(graph, layout.place(TAIL).operators, streams, inside, beside=lines)


def has_origins(place: Place) -> bool:
    """Whether it has to be known which item each output came from: where that is how it is put in order."""
    return place.id not in (SOURCES, TAIL)


def has_windows(layout: Layout, place: Place) -> bool:
    return isinstance(layout.graph.operator(place.operators[0]).definition, WindowAggregate | Distinct)
