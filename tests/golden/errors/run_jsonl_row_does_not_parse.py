"""A line that is not JSON."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_jsonl("data/bad_line.jsonl", Call).collect("out")
