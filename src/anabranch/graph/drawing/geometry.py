"""Boxes and curves of a drawing; y grows downwards, and a curve is the control points of cubic Béziers in a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist, hypot

Point = tuple[float, float]
Curve = tuple[Point, ...]  # 1 + 3n points

_STEPS = 12  # samples on each Bézier: about one every few pixels


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Half way down."""
        return self.y + self.height / 2

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def contains(self, point: Point) -> bool:
        return self.x <= point[0] <= self.right and self.y <= point[1] <= self.bottom

    def overlaps(self, other: Box) -> bool:
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds them all."""
    found = list(boxes)
    x, y = min(box.x for box in found), min(box.y for box in found)
    return Box(x, y, max(box.right for box in found) - x, max(box.bottom for box in found) - y)


def moved(curve: Curve, dx: float, dy: float) -> Curve:
    return tuple((x + dx, y + dy) for x, y in curve)


def samples(curve: Curve) -> list[Point]:
    """Points along a curve, close to each other."""
    found = [curve[0]]
    for start in range(0, len(curve) - 3, 3):
        a, b, c, d = curve[start : start + 4]
        for step in range(1, _STEPS + 1):
            t = step / _STEPS
            u = 1 - t
            weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            x = sum(weight * point[0] for weight, point in zip(weights, (a, b, c, d), strict=True))
            y = sum(weight * point[1] for weight, point in zip(weights, (a, b, c, d), strict=True))
            found.append((x, y))
    return found


def crossing(curve: Curve, box: Box, *, leaving: bool) -> Point | None:
    """Where a curve leaves a box for the first time, or enters it for the last."""
    points = samples(curve)
    if not leaving:
        points.reverse()
    for inner, outer in pairwise(points):
        if box.contains(inner) and not box.contains(outer):
            return _border(inner, outer, box)
    return None


def _border(inner: Point, outer: Point, box: Box) -> Point:
    """The point between two where the border is, by halving."""
    for _ in range(12):
        half = ((inner[0] + outer[0]) / 2, (inner[1] + outer[1]) / 2)
        if box.contains(half):
            inner = half
        else:
            outer = half
    return inner


def with_round_corners(corners: Sequence[Point], radius: float) -> Curve:
    """Straight lines from corner to corner, with the corners rounded off."""
    curve: list[Point] = [corners[0]]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        size = min(radius, dist(before, corner) / 2, dist(corner, after) / 2)
        curve += _straight(curve[-1], _towards(corner, before, size))
        curve += [corner, corner, _towards(corner, after, size)]
    curve += _straight(curve[-1], corners[-1])
    return tuple(curve)


def _straight(start: Point, end: Point) -> list[Point]:
    return [start, end, end]


def _towards(start: Point, target: Point, distance: float) -> Point:
    length = hypot(target[0] - start[0], target[1] - start[1]) or 1.0
    return (
        start[0] + (target[0] - start[0]) * distance / length,
        start[1] + (target[1] - start[1]) * distance / length,
    )
