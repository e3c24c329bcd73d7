"""A line of JSON with text for a number."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_jsonl("data/text_number.jsonl", Call).collect("out")
