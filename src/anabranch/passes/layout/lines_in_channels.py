"""Text files whose lines are made in the channels before them: behind them they are only put in order and written."""

from __future__ import annotations

from dataclasses import replace

from anabranch.errors import BuildError
from anabranch.graph.places import SOURCES, TAIL, Arrival, Layout, Lines, Phase, Reading
from anabranch.operators.formats import TextFormat, file_format
from anabranch.operators.sinks.write_file import WriteFile

_READ_IN_TASKS = (Reading.SLICES, Reading.APART, Reading.ENTRIES, Reading.ENTRIES_IN_TURN)


def with_lines(phase: Phase) -> Phase:
    """The same, with lines in the place of tuples, where nothing else takes these than one sink."""
    layout = phase.layout
    if phase.name != "run":
        return phase  # of a loop in rounds the tail takes what comes around, too
    arrivals = tuple(
        replace(each, lines=lines_of(layout, each)) if _comes_from_tasks(phase, each) else each
        for each in layout.arrivals
    )
    return replace(phase, layout=replace(layout, arrivals=arrivals))


def verify_lines(layout: Layout) -> None:
    """Raise a `BuildError` where lines are not those that the sink writes."""
    for arrival in layout.arrivals:
        if arrival.lines is not None and arrival.lines != lines_of(layout, arrival):
            raise BuildError(f"'{arrival.lines.sink}' would write other lines than those that come")


def lines_of(layout: Layout, arrival: Arrival) -> Lines | None:
    """What a sink takes as lines of what comes to the tail, if it is one file of text and all who take this."""
    sink = layout.only_sink_of(arrival)
    definition = sink.definition if sink is not None else None
    if sink is None or not isinstance(definition, WriteFile) or definition.is_folder:
        return None
    if not isinstance(file_format(definition.format), TextFormat):
        return None  # a page of Parquet is made of rows that follow one another
    return Lines(sink.id, definition.format, tuple(definition.options.items()))


def _comes_from_tasks(phase: Phase, arrival: Arrival) -> bool:
    """Whether several tasks give what comes, and not one place."""
    if arrival.place != TAIL:
        return False
    place = phase.layout.leading(phase.layout.place_of(arrival.stream.operator))
    return place.region is not None or (place.id == SOURCES and phase.reading in _READ_IN_TASKS)
