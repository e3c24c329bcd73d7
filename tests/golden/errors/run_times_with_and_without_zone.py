"""Times of which only some have a zone."""

from datetime import UTC, datetime
from typing import NamedTuple

import anabranch as ab


class Click(NamedTuple):
    page: str
    at: datetime


@ab.app
def app() -> None:
    clicks = ab.from_items(Click, [Click("/", datetime(2024, 5, 31)), Click("/", datetime(2024, 5, 31, tzinfo=UTC))])
    clicks.sort("at", count=2).collect("out")
