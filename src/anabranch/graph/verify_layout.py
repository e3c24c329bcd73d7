"""Checks that hold for every layout: nothing gets lost between places, and what meets can be put in order."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from anabranch.errors import BuildError
from anabranch.graph.model import Edge, Graph, StreamId
from anabranch.graph.order_keys import can_meet
from anabranch.graph.places import PARTS, SOURCES, TAIL, Layout, Phase, Place, Reading
from anabranch.graph.plan import PE, Ordering, Plan


def verify_layout(plan: Plan, phase: Phase) -> None:
    """Raise a `BuildError` where a phase could not be executed as it is laid out."""
    layout = phase.layout
    if plan.loop is None and not _is_of_the_program(plan.graph, layout):
        raise BuildError(f"the phase '{phase.name}' is of another program")
    _verify_homes(layout)
    _verify_sequence(layout)
    _verify_tail(layout)
    _verify_ordering(plan, phase)
    _verify_reading(phase)
    strange = [each for each in phase.watched if each not in layout.place(TAIL).operators]
    if strange:
        raise BuildError(f"'{strange[0]}' is watched in the tail, but is not there")
    for place in layout.places:
        _verify_place(layout, place)
        _verify_streams(layout, place)
        _verify_meetings(layout, place)
    for edge in layout.graph.edges:
        _verify_edge(layout, edge)


def verify_loop(plan: Plan) -> None:
    """A loop that runs in rounds has two phases: up to its entry, and from there to what comes around."""
    names = ["before", "round"] if plan.loop is not None else ["run"]
    if plan.phases and [phase.name for phase in plan.phases] != names:
        raise BuildError(f"the phases of the plan are not {' and '.join(names)}")
    if plan.loop is None:
        return
    before, after = (phase.layout.graph for phase in plan.phases)
    if all(sink.id != plan.loop.entry for sink in before.sinks):
        raise BuildError(f"what comes before the loop does not give it anything: it has no sink '{plan.loop.entry}'")
    if all(source.id != plan.loop.entry for source in after.sources):
        raise BuildError(f"a round does not begin with '{plan.loop.entry}', the entry of the loop")
    if all(sink.id != plan.loop.back for sink in after.sinks):
        raise BuildError(f"nothing comes around: a round has no sink '{plan.loop.back}'")


def _is_of_the_program(graph: Graph, layout: Layout) -> bool:
    """Whether a layout is of a program, but for what makes parts, and what puts them together."""
    if not layout.first_steps:
        return layout.graph == graph
    wholes, makers = dict(layout.first_steps), [first for _, first in layout.first_steps]
    operators = [each for each in layout.graph.operators if each.id not in makers]
    known = [replace(each, target=wholes[each.target]) if each.target in wholes else each for each in graph.edges]
    edges = [each for each in layout.graph.edges if each.source not in makers]
    if [each.id for each in operators] != [each.id for each in graph.operators] or edges != known:
        return False
    pairs = zip(operators, graph.operators, strict=True)
    return all(mine == theirs for mine, theirs in pairs if mine.id not in wholes)


def verify_pe(plan: Plan, pe: PE) -> None:
    """No PE spans a place, and its functions are of its own operators."""
    layout = plan.phase(pe.phase).layout
    place = layout.place(pe.place)
    inside = [*place.operators, *(sink.id for sink in layout.graph.sinks if place.is_tail)]
    strange = [each for each in pe.operators if each not in inside]
    if strange:
        raise BuildError(f"{pe.id} spans two places: '{strange[0]}' is not in {pe.place}")
    in_segments = [each for segment in pe.segments for each in segment.operators]
    if len(in_segments) != len(dict.fromkeys(in_segments)) or any(each not in pe.operators for each in in_segments):
        raise BuildError(f"the functions of {pe.id} are not of its operators, once each")


def _verify_homes(layout: Layout) -> None:
    homes: dict[str, str] = {}
    for place in layout.places:
        for operator_id in place.operators:
            if operator_id in homes:
                raise BuildError(f"'{operator_id}' is in two places: {homes[operator_id]} and {place.id}")
            homes[operator_id] = place.id
    for operator in layout.graph.operators:
        if operator.id not in homes and not operator.is_sink:
            raise BuildError(f"'{operator.id}' is in no place", location=operator.location)


def _verify_sequence(layout: Layout) -> None:
    """Places follow one another by level; the tail is the last."""
    levels = [place.level for place in layout.places]
    if levels != sorted(levels) or not layout.places[-1].is_tail:
        raise BuildError("the places are not in the order in which tuples come to them")


def _verify_tail(layout: Layout) -> None:
    """Only the one sink of a program may take what comes as it comes, where nothing else runs with it.

    What comes as lines only one sink may take.
    """
    is_alone = len(layout.graph.sinks) == 1 and not layout.place(TAIL).operators
    needs_order = any(getattr(sink.definition, "ordered", True) for sink in layout.graph.sinks)
    if not layout.is_ordered and (needs_order or not is_alone):
        raise BuildError("what comes to the tail is not put in order, and that would show")
    for arrival in layout.arrivals:
        if arrival.lines is None:
            continue
        sink = layout.only_sink_of(arrival)
        if sink is None or sink.id != arrival.lines.sink:
            raise BuildError(f"'{arrival.stream.operator}' comes as lines to others than the sink that writes them")


def _verify_ordering(plan: Plan, phase: Phase) -> None:
    """What comes out of channels is put in order where the ordering of its region says so, and else not."""
    layout = phase.layout
    for arrival in (*layout.arriving(TAIL), *layout.arriving(PARTS)) if not phase.is_in_process else ():
        region = plan.region_of(arrival.stream.operator)
        if region is not None and (region.ordering is not Ordering.NONE) != layout.is_ordered:
            how = "not put in order" if region.ordering is not Ordering.NONE else "put in order"
            raise BuildError(f"what {region.id} gives is {how}, but its ordering is another")


def _verify_reading(phase: Phase) -> None:
    """Behind a source operators run only where a task has slices of it: who draws or numbers tuples passes them on."""
    graph, inside = phase.layout.graph, phase.layout.place(SOURCES).operators
    reads_slices = phase.reading in (Reading.SLICES, Reading.ENTRIES)
    if reads_slices and (len(graph.sources) != 1 or len(graph.sources[0].outputs) != 1):
        raise BuildError(f"the sources of the phase '{phase.name}' are not one stream that could be read in slices")
    behind = [each for each in inside if not graph.operator(each).is_source]
    if behind and not reads_slices:
        raise BuildError(f"'{behind[0]}' would run where sources are read, but those are read by {phase.reading.value}")
    if phase.is_in_process != (phase.taking is not None):
        raise BuildError(f"how tuples are taken is said where a phase is all in one process, but not of '{phase.name}'")


def _verify_place(layout: Layout, place: Place) -> None:
    if place.region is None and place.channels > 1 and place.id != PARTS:
        raise BuildError(f"{place.id} is no region, so it cannot have {place.channels} channels")
    if any(layout.made_for(each) is not None for each in place.operators):
        is_in_stretches = not any(arrival.key for arrival in layout.arriving(place.id))
        if place.follows is None or len(place.operators) != 1 or not is_in_stretches:
            raise BuildError(f"{place.id} is a first step, but not of tuples where they are")
    if place.is_ranked and len(place.operators) != 1:
        raise BuildError(f"{place.id} is put in order by what one operator gives, but has {len(place.operators)}")
    if place.channels < 1 or (place.channels > 1 and place.id in (SOURCES, TAIL)):
        raise BuildError(f"{place.id} cannot have {place.channels} channels")
    if place.follows is not None:
        before = layout.place(place.follows)
        if (before.level, before.channels) != (place.level, place.channels):
            raise BuildError(f"{place.id} follows {before.id}, but is not in its channels")


def _verify_streams(layout: Layout, place: Place) -> None:
    """A place names the streams that come into it and leave it, and they come no more often than they are taken."""
    inside = dict.fromkeys((*place.operators, *(sink.id for sink in layout.graph.sinks if place.is_tail)))
    entering = [edge for edge in layout.graph.edges if edge.target in inside and edge.source not in inside]
    leaving = [edge for edge in layout.graph.edges if edge.source in inside and edge.target not in inside]
    for named, edges in ((place.inputs, entering), (place.outputs, leaving)):
        streams = dict.fromkeys(StreamId(edge.source, edge.source_port) for edge in edges)
        if place.id != PARTS and named != tuple(streams):
            raise BuildError(f"the streams that {place.id} names are not those of its operators")
    for arrival in layout.arriving(place.id):
        ways = [way for way, _ in layout.ways(arrival.stream) if way == place.id]
        if place.id != PARTS and arrival.again >= len(ways):
            raise BuildError(f"'{arrival.stream.operator}' does not come to {place.id} again")


def _verify_edge(layout: Layout, edge: Edge) -> None:
    """A stream with a consumer elsewhere arrives there, from a level before."""
    source = layout.place_of(edge.source)
    target = layout.place_of(edge.target)
    if source.id == target.id:
        return
    if edge.is_feedback:
        raise BuildError(f"the loop of '{edge.target}' is in two places")
    stream = StreamId(edge.source, edge.source_port)
    if not any(each.stream == stream and each.clock is None for each in layout.arriving(target.id)):
        raise BuildError(f"'{edge.target}' at {target.id} takes '{edge.source}', which does not arrive there")
    is_beside = layout.leading(source) == layout.leading(target)
    if not target.is_tail and source.level >= target.level and not is_beside:
        raise BuildError(f"{source.id} feeds {target.id}, which is not behind it")


def _verify_meetings(layout: Layout, place: Place) -> None:
    for one, other in combinations(layout.items(place.id), 2):
        if not can_meet(one.paths, other.paths):
            who = f"'{one.stream.operator}' and '{other.stream.operator}'"
            raise BuildError(f"{who} meet at {place.id} in an order that is not known")
