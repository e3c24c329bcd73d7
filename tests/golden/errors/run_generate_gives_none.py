"""A source function that forgets to return."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def calls() -> None:
    [Call(1, "425", 0.0)]


@ab.app
def app() -> None:
    ab.generate(Call, calls).collect("out")
