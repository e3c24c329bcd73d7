"""Points, shapes and ways."""

from __future__ import annotations

import cmath
import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import total_ordering
from typing import NamedTuple

from .records import Count, Flag, Number, Place, Text

OPERATORS = """distance_to_depot quadrant rotated in_zone Travelled cell nearest_depot bearing BoundingBox Turns
    as_complex Track polar corners hexagon by_angle swapped"""


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Point) -> Point:
        return Point(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> Point:
        return Point(self.x * factor, self.y * factor)

    def __abs__(self) -> float:
        return math.hypot(self.x, self.y)

    def __neg__(self) -> Point:
        return Point(-self.x, -self.y)


@dataclass(frozen=True)
class Rectangle:
    low: Point
    high: Point

    def __contains__(self, point: Point) -> bool:
        return self.low.x <= point.x <= self.high.x and self.low.y <= point.y <= self.high.y

    @property
    def area(self) -> float:
        return (self.high.x - self.low.x) * (self.high.y - self.low.y)

    def corners(self) -> Iterator[Point]:
        yield self.low
        yield Point(self.high.x, self.low.y)
        yield self.high
        yield Point(self.low.x, self.high.y)


class Vector(NamedTuple):
    dx: float
    dy: float

    @property
    def length(self) -> float:
        return math.hypot(*self)

    def turned(self, angle: float) -> Vector:
        c, s = math.cos(angle), math.sin(angle)
        return Vector(self.dx * c - self.dy * s, self.dx * s + self.dy * c)


DEPOT = Point(1.0, -2.0)
DEPOTS = {"north": Point(0.0, 8.0), "south": Point(0.0, -8.0), "east": Point(8.0, 0.0)}
ZONE = Rectangle(Point(-3.0, -3.0), Point(4.0, 4.0))


def distance_to_depot(place: Place) -> Number:
    return Number(place.device, abs(Point(place.x, place.y) - DEPOT))


def quadrant(place: Place) -> Text:
    return Text(place.device, ("N" if place.y >= 0 else "S") + ("E" if place.x >= 0 else "W"))


def rotated(place: Place) -> Place:
    turned = Vector(place.x, place.y).turned(math.pi / 4)
    return place._replace(x=turned.dx, y=turned.dy)


def in_zone(place: Place) -> bool:
    return Point(place.x, place.y) in ZONE


class Travelled:
    def __init__(self) -> None:
        self.last: Point | None = None
        self.way = 0.0

    def process(self, place: Place) -> Iterator[Number]:
        here = Point(place.x, place.y)
        if self.last is not None:
            self.way += abs(here - self.last)
        self.last = here
        yield Number(place.device, self.way)


def cell(place: Place) -> Text:
    return Text(place.device, f"{math.floor(place.x / 3)}:{math.floor(place.y / 3)}")


def nearest_depot(place: Place) -> Text:
    here = Point(place.x, place.y)
    return Text(place.device, min(DEPOTS, key=lambda name: abs(DEPOTS[name] - here)))


def bearing(place: Place) -> Number:
    return Number(place.device, math.degrees(math.atan2(place.y, place.x)) % 360)


class BoundingBox:
    def __init__(self) -> None:
        self.points: list[Point] = []

    def process(self, place: Place) -> Iterator[Number]:
        self.points.append(Point(place.x, place.y))
        xs = [point.x for point in self.points]
        ys = [point.y for point in self.points]
        yield Number(place.device, Rectangle(Point(min(xs), min(ys)), Point(max(xs), max(ys))).area)


class Turns:
    """How often a device turns left, from three places in a row."""

    def __init__(self) -> None:
        self.recent: deque[Place] = deque(maxlen=3)
        self.lefts = 0

    def process(self, place: Place) -> Iterator[Count]:
        self.recent.append(place)
        if len(self.recent) == 3:
            a, b, c = self.recent
            self.lefts += (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) > 0
            yield Count(place.device, self.lefts)


def as_complex(place: Place) -> Number:
    return Number(place.device, cmath.phase(complex(place.x, place.y) * 1j))


@dataclass(slots=True)
class Trail:
    device: str
    points: list[Point]

    def length(self) -> float:
        return sum(abs(b - a) for a, b in zip(self.points, self.points[1:], strict=False))

    def __len__(self) -> int:
        return len(self.points)


class Track:
    def __init__(self) -> None:
        self.trail: Trail | None = None

    def process(self, place: Place) -> Iterator[Number]:
        if self.trail is None:
            self.trail = Trail(place.device, [])
        self.trail.points.append(Point(place.x, place.y))
        if len(self.trail) > 1:
            yield Number(place.device, self.trail.length())


class Polar(NamedTuple):
    device: str
    r: float
    phi: float


def polar(place: Place) -> Polar:
    r, phi = cmath.polar(complex(place.x, place.y))
    return Polar(place.device, r, phi)


def corners(place: Place) -> Iterator[Place]:
    box = Rectangle(Point(place.x - 1, place.y - 1), Point(place.x + 1, place.y + 1))
    for corner in box.corners():
        yield place._replace(x=corner.x, y=corner.y)


HEXAGON = [Point(math.cos(math.pi * k / 3), math.sin(math.pi * k / 3)) for k in range(6)]


def hexagon(place: Place) -> Iterator[Number]:
    for corner in HEXAGON:
        yield Number(place.device, abs(corner * 2.0 - Point(place.x, place.y)))


@total_ordering
class Angle:
    __slots__ = ("degrees",)

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees % 360

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Angle) and self.degrees == other.degrees

    def __lt__(self, other: Angle) -> bool:
        return self.degrees < other.degrees

    def __hash__(self) -> int:
        return hash(self.degrees)


def by_angle(place: Place) -> Flag:
    mine = Angle(math.degrees(math.atan2(place.y, place.x)))
    return Flag(place.device, mine >= Angle(90) and not mine > Angle(270))


def _swap(points: Iterable[Point]) -> list[Point]:
    return [Point(point.y, point.x) for point in points]


def swapped(place: Place) -> Place:
    (point,) = _swap([Point(place.x, place.y)])
    return Place(place.device, point.x, point.y, place.ts)
