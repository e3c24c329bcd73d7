"""A text file whose lines are made in the channels before it: behind them they are only put in order and written."""

from __future__ import annotations

from dataclasses import replace

from anabranch.errors import BuildError
from anabranch.graph.places import SOURCES, TAIL, Arrival, Layout, Lines, Phase, Reading
from anabranch.operators.formats import TextFormat, file_format
from anabranch.operators.sinks.write_file import WriteFile

_READ_IN_TASKS = (Reading.SLICES, Reading.APART, Reading.ENTRIES, Reading.ENTRIES_IN_TURN)


def with_lines(phase: Phase) -> Phase:
    """The same, with lines in the place of tuples, where nothing but the only sink of a program takes these.

    Of several sinks each may refuse a tuple, and then the others must not have those behind it.
    """
    layout = phase.layout
    arriving = layout.arriving(TAIL)
    if len(layout.graph.sinks) > 1 or layout.place(TAIL).operators or len(arriving) != 1:
        return phase
    lines = lines_of(layout)
    if lines is None or not _comes_from_tasks(phase, arriving[0]):
        return phase
    arrivals = tuple(replace(each, lines=lines) if each is arriving[0] else each for each in layout.arrivals)
    return replace(phase, layout=replace(layout, arrivals=arrivals))


def verify_lines(layout: Layout) -> None:
    """Raise a `BuildError` where lines are not those that the sink writes."""
    for arrival in layout.arrivals:
        if arrival.lines is not None and arrival.lines != lines_of(layout):
            raise BuildError(f"'{arrival.lines.sink}' would write other lines than those that come")


def lines_of(layout: Layout) -> Lines | None:
    """What the only sink of a program takes as lines, if it is one file of text."""
    [sink] = layout.graph.sinks
    definition = sink.definition
    if not isinstance(definition, WriteFile) or definition.is_folder:
        return None
    if not isinstance(file_format(definition.format), TextFormat):
        return None  # a page of Parquet is made of rows that follow one another
    return Lines(sink.id, definition.format, tuple(definition.options.items()))


def _comes_from_tasks(phase: Phase, arrival: Arrival) -> bool:
    """Whether several tasks give what comes, and not one place."""
    place = phase.layout.leading(phase.layout.place_of(arrival.stream.operator))
    return place.region is not None or (place.id == SOURCES and phase.reading in _READ_IN_TASKS)
