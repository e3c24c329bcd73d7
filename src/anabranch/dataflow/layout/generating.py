"""The code of all places of a layout that are not the tail, generated where the source of the user's code is."""

from __future__ import annotations

from anabranch.codegen.build import Decision, generate
from anabranch.codegen.forms import Form
from anabranch.dataflow.channels.levels import part_at
from anabranch.dataflow.layout.places import PARTS, SOURCES, TAIL, Layout
from anabranch.dataflow.sources.source_tasks import part_behind_the_source


def generated(
    layout: Layout, form: Form, *, reads_slices: bool = True, tracks_changes: bool = False
) -> dict[str, Decision]:
    """By place. Where tasks read the only source, they do what follows it at once."""
    behind = part_behind_the_source(layout) if reads_slices else None
    found = {SOURCES: generate(behind, form)} if behind is not None else {}
    for place in layout.places:
        if place.id not in (SOURCES, PARTS, TAIL):
            found[place.id] = generate(part_at(layout, place), form, origins=True, tracks_changes=tracks_changes)
    return found
