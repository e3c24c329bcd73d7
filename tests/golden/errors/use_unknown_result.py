"""Tuples that no sink collected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


calls = ab.from_items(Call, [])
ab.run(calls.collect("out")).items("calls")
