"""An attribute whose type is not defined anywhere."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    place: "Place"  # noqa: F821


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
