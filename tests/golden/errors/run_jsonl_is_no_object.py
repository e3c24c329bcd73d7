"""A line of JSON that is a list."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_jsonl("data/list.jsonl", Call).collect("out")
