"""An operator that gives text in a list of numbers."""

from typing import NamedTuple

import anabranch as ab


class Trip(NamedTuple):
    stops: list[float]


def broken(trip: Trip) -> Trip:
    return Trip([*trip.stops, "home"])


@ab.app
def app() -> None:
    ab.from_items(Trip, [Trip([1.0])]).map(broken).collect("out")
