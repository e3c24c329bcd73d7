"""A text file that is not UTF-8."""

from typing import NamedTuple

import anabranch as ab


class Line(NamedTuple):
    text: str


@ab.app
def app() -> None:
    ab.read_lines("data/latin1.txt", Line).collect("out")
