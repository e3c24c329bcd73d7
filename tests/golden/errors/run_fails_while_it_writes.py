"""An operator that fails after tuples were written."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def check(call: Call) -> Call:
    if call.phone == 0:
        raise ValueError("no phone")
    return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0), Call(0, "425", 6.0)])
    calls.map(check).write_csv("alerts.csv")
