"""A function annotated with a type that is not defined anywhere."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def area_of(call: Call) -> Area:  # noqa: F821
    return call.area


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(area_of).collect("out")
