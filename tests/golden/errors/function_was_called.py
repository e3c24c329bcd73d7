"""The result of a function where the function is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def is_local(area: str) -> bool:
    return area == "425"


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.filter(is_local("425")).collect("out")
