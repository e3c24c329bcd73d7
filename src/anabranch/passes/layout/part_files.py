"""A large output that is written by many tasks: a folder of files, one for each stretch (design, section 5.1)."""

from __future__ import annotations

from dataclasses import replace

from anabranch.graph.model import Operator
from anabranch.graph.places import PARTS, SOURCES, TAIL, Layout, Place
from anabranch.operators.sinks.write_file import WriteFile


def with_parts(layout: Layout, channels: int, *, slices_sources: bool) -> Layout:
    """The same, with tasks that write the only sink of a program, where that is a folder and has no tail before it.

    Who has whole stretches, or all that may go into a file, writes it: nothing is exchanged for that.
    """
    tail = layout.place(TAIL)
    [*sinks] = layout.graph.sinks
    if len(sinks) > 1 or tail.operators or len(layout.arriving(TAIL)) != 1 or not _is_folder(sinks[0]):
        return layout
    [arrival] = layout.arriving(TAIL)
    before = layout.place_of(arrival.stream.operator)
    reads = before.id == SOURCES and slices_sources
    if reads or (before.region is not None and not layout.is_ordered):
        parts = Place(PARTS, (sinks[0].id,), before.level, before.channels, tail.inputs, follows=before.id)
    else:
        parts = Place(PARTS, (sinks[0].id,), tail.level, channels, tail.inputs)
    between = sorted((*(place for place in layout.places if not place.is_tail), parts), key=lambda each: each.level)
    places = (*between, replace(tail, level=between[-1].level + 1))
    others = [each for each in layout.arrivals if each is not arrival]
    return replace(layout, places=places, arrivals=(*others, replace(arrival, place=PARTS)))


def _is_folder(sink: Operator) -> bool:
    return isinstance(sink.definition, WriteFile) and sink.definition.is_folder
