"""A list as a key."""

from typing import NamedTuple

import anabranch as ab


class Trip(NamedTuple):
    car: int
    stops: list[float]


@ab.app
def app() -> None:
    trips = ab.from_items(Trip, [Trip(1, [0.0])])
    trips.distinct("stops").collect("out")
