"""An operator that gives a tuple for a list."""

from typing import NamedTuple

import anabranch as ab


class Trip(NamedTuple):
    stops: list[float]


def broken(trip: Trip) -> Trip:
    return Trip((1.0, 2.0))


@ab.app
def app() -> None:
    ab.from_items(Trip, [Trip([1.0])]).map(broken).collect("out")
