"""An operator that gives an int of many thousand digits."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def huge(call: Call) -> Call:
    return call._replace(phone=10**10_000)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(huge).collect("out")
