"""An operator that gives text which cannot be written."""

from typing import NamedTuple

import anabranch as ab


class Line(NamedTuple):
    text: str


def broken(line: Line) -> Line:
    return Line("\ud800")


@ab.app
def app() -> None:
    ab.from_items(Line, [Line("one")]).map(broken).collect("out")
