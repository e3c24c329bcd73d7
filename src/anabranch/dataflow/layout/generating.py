"""The code of all places of a phase whose work tasks do, generated where the source of the user's code is."""

from __future__ import annotations

from anabranch.codegen.build import Code, generate
from anabranch.dataflow.layout.place_parts import has_origins, part_in_tasks
from anabranch.graph.places import TAIL, Layout
from anabranch.graph.plan import Plan, Segment


def generate_code(plan: Plan, phase: str, layout: Layout, *, tracks_changes: bool = False) -> dict[str, Code]:
    """By place; `layout` is that of the phase, as tasks know it."""
    found = {}
    for place in layout.places:
        part = part_in_tasks(layout, place) if place.id != TAIL else None
        if part is not None:
            has = has_origins(place)
            segments = segments_at(plan, phase, place.id)
            found[place.id] = generate(part, segments, origins=has, tracks_changes=tracks_changes and has)
    return found


def segments_at(plan: Plan, phase: str, place: str) -> list[tuple[Segment, ...]]:
    """What the plan says of the PEs of a place; those that only read or write have no code."""
    return [pe.segments for pe in plan.pes_at(phase, place) if pe.segments]
