"""The layout of a plan in words: places by level, how tuples come to them, what they carry for their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anabranch.graph.model import Edge
from anabranch.graph.order_keys import Branch, Lineage, Step
from anabranch.graph.phrases import columns, names, printable, target_words
from anabranch.graph.places import PARTS, SOURCES, TAIL, Arrival, Layout, Phase, Place, Reading
from anabranch.graph.plan import PE, Plan, Region
from anabranch.graph.wrapping import padded, wrapped

READERS = {
    Reading.SLICES: "slices",
    Reading.APART: "a task each",
    Reading.ONE_TASK: "one task",
    Reading.HERE: "driver",
    Reading.ENTRIES: "what has come",
    Reading.ENTRIES_IN_TURN: "what has come",
    Reading.ROUND: "driver",
}
_READ_BY = {
    Reading.SLICES: "many tasks",
    Reading.APART: "a task for each file",
    Reading.ONE_TASK: "one task",
    Reading.HERE: "the driver",
    Reading.ENTRIES: "many tasks",
    Reading.ENTRIES_IN_TURN: "many tasks",
    Reading.ROUND: "the driver",
}

_LINES = {"csv": "lines of CSV", "jsonl": "lines of JSON", "lines": "lines"}
_NO_BREAK = "\u00a0"
AS_IT_COMES = "what comes is taken as it comes"
AS_IT_WAS_READ = "epochs in turn, each as it was read; no numbers"
NUMBERED_AS_READ = "epochs in turn, each as it was read; in it by"
WHEN_COMPLETE = "epochs in turn, each when all channels have sent it; in it by"


@dataclass(frozen=True)
class PlaceRow:
    """A place in words: its stage, its channels, what runs there, and what comes there."""

    where: str
    channels: str
    operators: str
    arrivals: tuple[str, ...]


@dataclass(frozen=True)
class OrderRow:
    """How the order is restored behind a region (paper 000, Table 1), what that is here, and by which numbers."""

    region: Region
    how: str
    numbers: str = ""

    @property
    def strategy(self) -> str:
        assert self.region.ordering is not None
        return f"{self.region.id} {self.region.ordering.value}"

    @property
    def unbroken(self) -> str:
        """The same, to be kept in one line."""
        return self.strategy.replace(" ", _NO_BREAK)


def layout_lines(plan: Plan, width: int = 100) -> Iterator[str]:
    """Every phase of a plan."""
    for number, phase in enumerate(plan.phases):
        if number:
            yield ""
        yield from wrapped(phase_title(plan, phase), width, indent=0, hanging=2)
        if not phase.is_in_process:
            yield from _place_lines(place_rows(plan, phase), width)
        for note in phase_notes(plan, phase):
            yield from wrapped(note, width, indent=2, hanging=4)
        yield from _order_lines(order_rows(plan, phase), width)


def phase_title(plan: Plan, phase: Phase) -> str:
    where = f"On {target_words(plan.settings.target)}"
    if plan.loop is not None:
        entry = printable(plan.loop.entry)
        return (
            f"{where}, up to the loop of '{entry}'" if phase.name == "before" else f"{where}, each round of '{entry}'"
        )
    if phase.reading is Reading.HERE and phase.why and not phase.is_in_process:
        return f"{where}, in jobs for what has come: {printable(phase.why)}"
    return where


def phase_notes(plan: Plan, phase: Phase) -> list[str]:
    """What is not as one might expect, and why."""
    if phase.is_in_process:
        why = printable(phase.why)
        return [f"all of it runs in the driver: {why}" if why else "all of it runs in this process, in one place"]
    notes = [f"in one place: {region}: {printable(why)}" for region, why in phase.layout.refused]
    if phase.why and phase.reading is not Reading.HERE:
        notes.append(f"in one place: {printable(phase.why)}")
    light = {plan.region_of(each): why for each, why in plan.light.items()}
    notes += [f"not worth its channels: {region.id}: {why}" for region, why in light.items() if region is not None]
    notes += [f"worth its channels: {region}: {why}" for region, why in plan.worth.items()]
    unweighed = {
        why: [each for each, other in plan.unweighed.items() if other == why] for why in plan.unweighed.values()
    }
    return [*notes, *(f"not weighed: {', '.join(regions)}: {why}" for why, regions in unweighed.items())]


def place_rows(plan: Plan, phase: Phase) -> list[PlaceRow]:
    """The places of a phase, in the order of its stages; none where all of it is in one process."""
    layout = phase.layout
    return [
        PlaceRow(
            *_cells(plan, phase, place), tuple(_arrival(layout, place, each) for each in layout.arriving(place.id))
        )
        for place in (() if phase.is_in_process else layout.places)
    ]


def order_rows(plan: Plan, phase: Phase) -> list[OrderRow]:
    """For every region that is in channels, and gives something to another place."""
    if phase.is_in_process:
        return []
    layout, refused = phase.layout, dict(phase.layout.refused)
    inside = dict.fromkeys(operator.id for operator in layout.graph.operators)
    read = plan.read_in_one_place
    parallel = [
        region
        for region in plan.regions
        if region.id not in refused and region.entry in inside and not all(each in read for each in region.operators)
    ]
    leaving = [(region, _leaving(layout, region)) for region in parallel]
    return [_order_behind(region, phase, arrival) for region, arrival in leaving if arrival is not None]


def pe_place(plan: Plan, pe: PE) -> str:
    """Where a PE runs, in words; nothing where all of the plan is in one process."""
    phase = plan.phase(pe.phase)
    if phase.is_in_process:
        return ""
    sources = [source.id for source in phase.layout.graph.sources]
    if phase.reading is not Reading.ROUND and all(each in sources for each in pe.operators):
        return ""
    return _where_it_is(phase, _leading(phase.layout, phase.layout.place(pe.place)))


def operator_place(plan: Plan, operator_id: str) -> str:
    """Where an operator runs, as the rest of a sentence."""
    # The entry of a loop that runs in rounds is in two phases; it is in no region, and nobody asks.
    phase = next(phase for phase in plan.phases if any(each.id == operator_id for each in phase.layout.graph.operators))
    if phase.is_in_process:
        return "runs in the driver" if plan.settings.target.has_channels else "runs in this process"
    if any(source.id == operator_id for source in phase.layout.graph.sources):
        return f"is read by {_READ_BY[phase.reading]}"
    home = _leading(phase.layout, phase.layout.place_of(operator_id))
    is_alone = home.region is None and home.id not in (SOURCES, PARTS, TAIL)
    return f"runs {_where_it_is(phase, home)}{', in one place' if is_alone else ''}"


def _leading(layout: Layout, place: Place) -> Place:
    """Files are told apart from the channels that write them."""
    return place if place.id == PARTS else layout.leading(place)


def _where_it_is(phase: Phase, place: Place) -> str:
    rounds = ", each round" if phase.reading is Reading.ROUND else ""
    if place.level == 0:
        return (
            "where a round begins"
            if rounds
            else f"where {names(each.id for each in phase.layout.graph.sources)} is read"
        )
    if place.id == PARTS:
        return "where files are written"
    return f"in {'the driver' if place.is_tail else place.region or f'stage {place.level}'}{rounds}"


def _place_lines(rows: list[PlaceRow], width: int) -> Iterator[str]:
    """A table, or where that is too wide, what comes to a place under what runs there."""
    cells = [(row.where, row.channels, row.operators) for row in rows]
    sizes = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    table = [
        "  " + "   ".join([*map(padded, own, sizes), "; ".join(row.arrivals)]).rstrip()
        for own, row in zip(cells, rows, strict=True)
    ]
    if max(map(columns, table)) <= width:
        yield from table
        return
    for row in rows:
        begin = f"{padded(row.where, sizes[0])}   {padded(row.channels, sizes[1])}   "
        yield from wrapped(begin + row.operators, width, indent=2, hanging=2 + columns(begin))
        for each in row.arrivals:
            yield from wrapped(each, width, indent=6, hanging=8)


def _order_lines(rows: list[OrderRow], width: int) -> Iterator[str]:
    """Those that are alike together."""
    for how in dict.fromkeys(row.how for row in rows):
        alike: dict[str, list[str]] = {}
        for row in rows:
            if row.how == how:
                alike.setdefault(row.numbers, []).append(row.unbroken)
        if len(alike) == 1:
            [(numbers, regions)] = alike.items()
            lines = list(
                wrapped(f"order of {', '.join(regions)}: {how} {numbers}".rstrip(), width, indent=2, hanging=4)
            )
        else:
            lines = list(wrapped(f"order of regions: {how}", width, indent=2, hanging=4))
            for numbers, regions in alike.items():
                lines += wrapped(f"{numbers}: {', '.join(regions)}", width, indent=4, hanging=6)
        yield from (line.replace(_NO_BREAK, " ") for line in lines)


def _leaving(layout: Layout, region: Region) -> Arrival | None:
    """What comes out of a region, if anything does; an unordered sink may be part of it, or all of it."""
    before_sinks = [each for each in region.operators if not layout.graph.operator(each).is_sink]
    last = before_sinks[-1] if before_sinks else None
    return next((each for each in layout.arrivals if each.stream.operator == last and each.clock is None), None)


def _order_behind(region: Region, phase: Phase, leaving: Arrival) -> OrderRow:
    layout = phase.layout
    if not layout.is_ordered and leaving.place in (TAIL, PARTS):
        return OrderRow(region, AS_IT_COMES)
    numbers = ", ".join(_steps(leaving.lineage))
    place = layout.place_of(leaving.stream.operator)
    if layout.leading(place).id == SOURCES and phase.reading is Reading.SLICES:
        has_numbers = place.id != SOURCES or any(each.key for each in layout.leaving(leaving.stream))
        return OrderRow(region, NUMBERED_AS_READ, numbers) if has_numbers else OrderRow(region, AS_IT_WAS_READ)
    return OrderRow(region, WHEN_COMPLETE, numbers)


def _cells(plan: Plan, phase: Phase, place: Place) -> tuple[str, str, str]:
    layout = phase.layout
    operators = [each for each in place.operators if not layout.graph.operator(each).is_source]
    if place.id == TAIL and not layout.has_parts:
        operators += [sink.id for sink in layout.graph.sinks]
    if plan.loop is not None:
        around = {plan.loop.entry: f"→ {plan.loop.entry}", plan.loop.back: f"↺ {plan.loop.entry}"}
        operators = [around.get(each, each) for each in operators]
    leading = _leading(layout, place)
    return _where(phase, leading), _channels(phase, leading), names(operators) or "–"


def _where(phase: Phase, place: Place) -> str:
    if place.level == 0:
        verb = "enter" if phase.reading is Reading.ROUND else "read"
        return f"{verb} {names(source.id for source in phase.layout.graph.sources)}"
    return "driver" if place.id == TAIL else f"stage {place.level}"


def _channels(phase: Phase, place: Place) -> str:
    if place.level == 0:
        is_one = len(phase.layout.graph.sources) == 1
        return "a task per file" if phase.reading is Reading.APART and is_one else READERS[phase.reading]
    if place.id == PARTS:
        return f"files × {place.channels}"
    if place.region is None:
        return "one place"
    return f"{place.region} × {place.channels}"


def _arrival(layout: Layout, place: Place, arrival: Arrival) -> str:
    if arrival.clock is not None:
        how = "what moves the time, to all channels"
    elif layout.stays(arrival):
        how = "in the channels where it is" if layout.leading(place).id != SOURCES else "where it is read"
    elif place.is_tail and not layout.is_ordered:
        how = "as it comes" if arrival.lines is None else f"{_LINES[arrival.lines.format]}, as they come"
    elif place.is_tail and arrival.lines is not None:
        how = f"{_LINES[arrival.lines.format]}, put in order"
    elif place.region is None:
        how = "put in order" if place.id != PARTS else "whole epochs put in order"
    else:
        ranges = "ranges of " if arrival.bounds else ""
        how = f"by {ranges}{names(arrival.key)}" if arrival.key else "whole epochs in turn"
    return f"{printable(arrival.stream.operator)}: {how} ({_order(arrival.lineage)})"


def order_key(plan: Plan, edge: Edge) -> tuple[str, ...]:
    """What a stream carries for its order where it goes from one place to another."""
    for phase in plan.phases:
        for arrival in phase.layout.arrivals:
            is_it = (arrival.stream.operator, arrival.stream.port) == (edge.source, edge.source_port)
            if is_it and arrival.clock is None and _is_consumed(phase.layout, arrival.place, edge.target):
                return _steps(arrival.lineage)
    return ()


def _is_consumed(layout: Layout, place: str, operator_id: str) -> bool:
    return operator_id in layout.place(place).operators or (
        place == TAIL and any(sink.id == operator_id for sink in layout.graph.sinks)
    )


def _order(lineage: Lineage) -> str:
    return "epoch, " + ", ".join(_steps(lineage))


def _steps(lineage: Lineage) -> tuple[str, ...]:
    """`#draw` for the number a tuple was drawn as, `branch@X` for its way, and `index@R1` of those R1 made of one.

    `end@X` and `first@X` are the end of a window, and the place of the first tuple of a window or a key; `group@X` is
    that of the first tuple of a group. `met@X` is what tells apart tuples that came to X on several ways.
    """
    return tuple(dict.fromkeys(map(_step, lineage)))


def _step(step: Step) -> str:
    if isinstance(step, Branch):
        return f"branch@{_short(step.at.removesuffix('.0'))}"
    if "@" in step.of:
        return step.of
    met = re.fullmatch(r"(.+)\.\d+", step.of)
    if met is not None:
        return f"met@{_short(met[1])}"
    return f"#{step.of}" if step.of == "draw" else f"index@{_short(step.of)}"


def _short(place: str) -> str:
    """A place that follows another has the name of its first operator behind that of the other."""
    return place.rpartition(", ")[2]
