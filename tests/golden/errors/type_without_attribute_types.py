"""A namedtuple whose attributes have no types."""

from collections import namedtuple

import anabranch as ab

Call = namedtuple("Call", ["phone", "ts"])


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
