"""A tuple that contains itself."""

from typing import NamedTuple

import anabranch as ab


class Tree(NamedTuple):
    value: int
    children: "list[Tree]"


@ab.app
def app() -> None:
    ab.read_jsonl("trees.jsonl", Tree).collect("out")
