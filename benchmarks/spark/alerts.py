"""The program that is raced: mobility fraud from CSV to CSV. It stands by itself, as users would have it.

A module that loads others by computed names would be part of it, and what it could change is not constant.
"""

from __future__ import annotations

import anabranch as ab
from examples.mobility_fraud import Call, Speed

AREA, LIMIT = "425", 300.0


@ab.app
def alerts(calls: str = "", out: str = "", area: str = AREA, limit: float = LIMIT) -> None:
    """The example without its last step, counts in windows, which would hide the order of the alerts."""
    (
        ab.read_csv(calls, Call)
        .filter(lambda call: call.area == area)
        .process(Speed, key="phone")
        .filter(lambda travel: travel.speed > limit)
        .write_csv(out)
    )
