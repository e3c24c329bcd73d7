"""A source that fails."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def calls() -> Iterator[Call]:
    yield Call(1, "425", 0.0)
    raise ConnectionError("the line is dead")


@ab.app
def app() -> None:
    ab.generate(Call, calls).collect("out")
