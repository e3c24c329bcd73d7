"""A source ordered by what has no order."""

from typing import NamedTuple

import anabranch as ab


class Trip(NamedTuple):
    car: int
    stops: list[float]


@ab.app
def app() -> None:
    ab.read_jsonl("trips.jsonl", Trip, order_by="stops").collect("out")
