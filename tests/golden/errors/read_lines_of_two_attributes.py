"""Lines of text read as several attributes."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_lines("calls.txt", Call).collect("out")
