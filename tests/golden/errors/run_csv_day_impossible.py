"""A day that no calendar has."""

from datetime import date
from typing import NamedTuple

import anabranch as ab


class Day(NamedTuple):
    day: date
    ok: bool


@ab.app
def app() -> None:
    ab.read_csv("data/days.csv", Day).collect("out")
