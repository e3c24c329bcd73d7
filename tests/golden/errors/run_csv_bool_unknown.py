"""A cell that is neither true nor false."""

from datetime import date
from typing import NamedTuple

import anabranch as ab


class Day(NamedTuple):
    day: date
    ok: bool


@ab.app
def app() -> None:
    ab.read_csv("data/answers.csv", Day).collect("out")
