"""A tuple with a length of its own."""

from typing import NamedTuple

import anabranch as ab


class Pair(NamedTuple):
    left: int
    right: int

    def __len__(self) -> int:
        return 1


@ab.app
def app() -> None:
    ab.read_jsonl("pairs.jsonl", Pair).collect("out")
