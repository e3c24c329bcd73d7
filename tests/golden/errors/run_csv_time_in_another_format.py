"""A time that is not written as ISO 8601."""

from datetime import datetime
from typing import NamedTuple

import anabranch as ab


class Tick(NamedTuple):
    at: datetime


@ab.app
def app() -> None:
    ab.read_csv("data/times.csv", Tick).collect("out")
