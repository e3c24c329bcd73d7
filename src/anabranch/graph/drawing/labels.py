"""Where the labels of streams stand in a drawing, so that they hide nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import dist

from anabranch.graph.drawing.geometry import Box, Point, samples
from anabranch.graph.drawing.picture import Route, label_box, stream_label
from anabranch.graph.plan import Plan


def with_fitting_labels(plan: Plan, routes: Sequence[Route], taken: list[Box]) -> Iterator[Route]:
    """Labels stand at their stream; one that would hide something is left out, its tooltip says the same."""
    for route in routes:
        if route.label is None:
            yield route
            continue
        room = next((room for room in _rooms(plan, route) if not any(room.overlaps(box) for box in taken)), None)
        if room is None:
            yield replace(route, label=None)
            continue
        taken.append(room)
        yield replace(route, label=(room.x + room.width / 2, room.middle))


def _rooms(plan: Plan, route: Route) -> Iterator[Box]:
    """Where a label could stand: where Graphviz left room for it, or along the stream, the nearest first."""
    wanted, text = route.label, stream_label(plan, route.edge)
    assert wanted is not None
    points = samples(route.curve)
    room = label_box(text, wanted)
    if min(dist(point, wanted) for point in points) <= room.height:
        yield room
    inner = [(points[index - 1], points[index], points[index + 1]) for index in range(1, len(points) - 1)]
    for before, point, after in sorted(inner, key=lambda triple: dist(triple[1], wanted)):
        yield label_box(text, _beside(point, (after[0] - before[0], after[1] - before[1]), room.width / 2 + 5))


def _beside(point: Point, direction: Point, half: float) -> Point:
    """The middle of a label that does not cover the curve it stands at."""
    dx, dy = direction
    if abs(dy) < 0.15 * abs(dx):
        return point[0], point[1] - 10
    return point[0] + (half if dx * dy > 0 else -half), point[1] - (9 if abs(dy) < 2 * abs(dx) else 0)
