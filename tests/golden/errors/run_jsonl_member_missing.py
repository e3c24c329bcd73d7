"""A line of JSON in which something is missing."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_jsonl("data/short_line.jsonl", Call).collect("out")
