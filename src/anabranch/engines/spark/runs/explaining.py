"""What a plan becomes on Spark, in words: places by level, how tuples come to them, what they carry for their order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from anabranch.dataflow.layout.lower import lower
from anabranch.dataflow.layout.places import PARTS, SOURCES, TAIL, Arrival, Layout, Place
from anabranch.dataflow.layout.rounds import Rounds, rounds_of
from anabranch.dataflow.order.order_keys import Branch, Lineage
from anabranch.dataflow.sources.readers import can_be_read_apart
from anabranch.dataflow.sources.source_slices import can_be_cut, must_stay
from anabranch.dataflow.tail.parts import with_parts
from anabranch.engines.spark.runs.driver_sources import can_be_dealt_out
from anabranch.errors import SourceError
from anabranch.graph.format import padded, wrapped
from anabranch.graph.model import Graph
from anabranch.graph.phrases import columns
from anabranch.graph.plan import Ordering, Plan, Region
from anabranch.operators.feedback import Feedback


def as_text(plan: Plan, channels: Mapping[str, int], width: int = 100) -> str:
    """The layout of a plan; `channels` is by region, and else as many as this machine has cores."""
    return "\n" + "\n".join(_all_lines(plan, channels, width)) + "\n"


def _all_lines(plan: Plan, channels: Mapping[str, int], width: int) -> Iterator[str]:
    why = _why_in_the_driver(plan.graph)
    if why is not None and not can_be_dealt_out(plan):
        yield "On Spark"
        yield from wrapped(f"all of it runs in the driver: {why}", width, indent=2, hanging=4)
        return
    cores = len(os.sched_getaffinity(0))
    degree = {region.id: channels.get(region.id, cores) for region in plan.regions}
    rounds = rounds_of(plan)
    if why is not None:
        yield from wrapped(f"On Spark, in jobs for what has come: {why}", width, indent=0, hanging=2)
        yield from _laid_out(plan, lower(plan, degree, slices_sources=False), width)
    elif isinstance(rounds, Rounds):
        yield f"On Spark, up to the loop of '{rounds.entry.id}'"
        before = lower(rounds.before, degree, slices_sources=can_be_cut(rounds.before.graph))
        yield from _laid_out(rounds.before, before, width)
        yield ""
        yield f"On Spark, each round of '{rounds.entry.id}'"
        yield from _laid_out(rounds.round, lower(rounds.round, degree, slices_sources=False), width)
    else:
        yield "On Spark"
        layout = with_parts(lower(plan, degree, slices_sources=can_be_cut(plan.graph)), cores)
        yield from _laid_out(plan, layout, width)
        if rounds:
            yield from wrapped(f"in one place: {rounds}", width, indent=2, hanging=4)


def read_in_slices(graph: Graph) -> list[str]:
    """The sources that many tasks read, of which the compiler says that they are in one place."""
    return [graph.sources[0].id] if can_be_cut(graph) and _why_in_the_driver(graph) is None else []


def _why_in_the_driver(graph: Graph) -> str | None:
    """Why the sources are read there."""
    try:
        return must_stay(graph)
    except SourceError:
        return None  # the files are not there yet, which is no reason not to explain


def _laid_out(plan: Plan, layout: Layout, width: int) -> Iterator[str]:
    yield from _places(layout, width)
    for note in layout.notes:
        yield from wrapped(f"in one place: {note}", width, indent=2, hanging=4)
    yield from _orders(plan, layout, width)


def _places(layout: Layout, width: int) -> Iterator[str]:
    """A table, or where that is too wide, what comes to a place under what runs there."""
    rows = [_cells(layout, place) for place in layout.places]
    arriving = [[_arrival(layout, place, each) for each in layout.arriving(place.id)] for place in layout.places]
    sizes = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    table = [
        "  " + "   ".join([*map(padded, row, sizes), "; ".join(come)]).rstrip()
        for row, come in zip(rows, arriving, strict=True)
    ]
    if max(map(columns, table)) <= width:
        yield from table
        return
    for (where, how, operators), come in zip(rows, arriving, strict=True):
        begin = f"{padded(where, sizes[0])}   {padded(how, sizes[1])}   "
        margin = 2 + columns(begin)
        yield from wrapped(begin + operators, width, indent=2, hanging=margin)
        for each in come:
            yield from wrapped(each, width, indent=6, hanging=8)


def _orders(plan: Plan, layout: Layout, width: int) -> Iterator[str]:
    """How the order is restored behind each region (paper 000, Table 1), and what that is here."""
    parallel = [region for region in plan.regions if not any(note.startswith(f"{region.id}:") for note in layout.notes)]
    rows = [(region, _leaving(layout, region)) for region in parallel]
    size = max((len(_strategy(region)) for region, arrival in rows if arrival is not None), default=0)
    for region, arrival in rows:
        if arrival is not None:
            label = f"order of {_strategy(region).ljust(size)}   "
            text = label + _order_behind(region, layout, arrival)
            yield from wrapped(text, width, indent=2, hanging=2 + len(label))


def _leaving(layout: Layout, region: Region) -> Arrival | None:
    """What comes out of a region, if anything does; an unordered sink may be part of it."""
    last = [each for each in region.operators if not layout.graph.operator(each).is_sink][-1]
    return next((each for each in layout.arrivals if each.stream.operator == last and each.clock is None), None)


def _strategy(region: Region) -> str:
    assert region.ordering is not None
    return f"{region.id} {region.ordering.value}"


def _order_behind(region: Region, layout: Layout, leaving: Arrival) -> str:
    if region.ordering is Ordering.NONE and not layout.is_ordered:
        return "what comes is taken as it comes"
    if leaving.stream in layout.place(SOURCES).outputs and can_be_cut(layout.graph):
        return "epochs in turn, each where it was read; no numbers"
    numbers = _order(leaving.lineage).removeprefix("epoch, ")
    return f"epochs in turn, each when all channels have sent it; in it by {numbers}"


def _cells(layout: Layout, place: Place) -> tuple[str, str, str]:
    operators = [each for each in place.operators if not layout.graph.operator(each).is_source]
    if place.id == TAIL and not layout.has_parts:
        operators += [sink.id for sink in layout.graph.sinks]
    return _where(layout, place), _channels(layout, place), ", ".join(operators) or "–"


def _where(layout: Layout, place: Place) -> str:
    if place.id == SOURCES:
        verb = "enter" if _is_round(layout) else "read"
        return f"{verb} {', '.join(source.id for source in layout.graph.sources)}"
    return "driver" if place.id == TAIL else f"stage {place.level}"


def _channels(layout: Layout, place: Place) -> str:
    if place.id == SOURCES and (_is_round(layout) or _why_in_the_driver(layout.graph)):
        return "driver"
    if place.id == SOURCES:
        if can_be_cut(layout.graph):
            return "slices"
        if not can_be_read_apart(layout.graph, partitions=not layout.has_parts):
            return "one task"
        return "a task each" if len(layout.graph.sources) > 1 else "a task per file"
    if place.id == PARTS:
        return f"files × {place.channels}"
    if place.region is None:
        return "one place"
    return f"{place.region} × {place.channels}"


def _is_round(layout: Layout) -> bool:
    """Whether what goes through is what came around."""
    return isinstance(layout.graph.sources[0].definition, Feedback)


def _arrival(layout: Layout, place: Place, arrival: Arrival) -> str:
    if arrival.clock is not None:
        how = "what moves the time, to all channels"
    elif place.follows is not None:
        how = "in the channels where it is"
    elif place.is_tail and not layout.is_ordered:
        how = "as it comes"
    elif place.region is None:
        how = "put in order" if place.id != PARTS else "whole epochs put in order"
    else:
        how = f"by {', '.join(arrival.key)}" if arrival.key else "whole epochs in turn"
    name = arrival.stream.operator
    return f"{name}: {how} ({_order(arrival.lineage)})"


def _order(lineage: Lineage) -> str:
    """`#draw` for the number a tuple was drawn as, `branch@X`, and `index@R1` of those that R1 made of one.

    `end@X` and `first@X` are the end of a window, and the place of the first tuple of a window or a key; `group@X` is
    that of the first tuple of a group.
    """
    steps: dict[str, None] = {}
    for step in lineage:
        if isinstance(step, Branch):
            steps[f"branch@{step.at.removesuffix('.0')}"] = None
        elif "@" in step.of:
            steps[step.of] = None
        else:
            steps[f"#{step.of}" if step.of == "draw" or "." in step.of else f"index@{step.of}"] = None
    return "epoch, " + ", ".join(steps)
