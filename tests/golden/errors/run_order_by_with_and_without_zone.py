"""Sources ordered by times of which only one has a zone."""

from datetime import UTC, datetime
from typing import NamedTuple

import anabranch as ab


class Click(NamedTuple):
    page: str
    at: datetime


@ab.app
def app() -> None:
    here = ab.from_items(Click, [Click("/", datetime(2024, 5, 31))], order_by="at")
    there = ab.from_items(Click, [Click("/", datetime(2024, 5, 31, tzinfo=UTC))], order_by="at")
    here.union(there).collect("out")
