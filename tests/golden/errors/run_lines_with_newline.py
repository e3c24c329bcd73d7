"""A line of text with a newline in it."""

from typing import NamedTuple

import anabranch as ab


class Line(NamedTuple):
    text: str


@ab.app
def app() -> None:
    ab.from_items(Line, [Line("one\ntwo")]).write_lines("lines.txt")
