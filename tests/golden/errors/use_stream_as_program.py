"""A stream where a program is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


calls = ab.from_items(Call, [])
ab.run(calls)
