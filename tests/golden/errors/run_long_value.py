"""An operator that fails on a tuple of many characters."""

from typing import NamedTuple

import anabranch as ab


class Line(NamedTuple):
    text: str


def first_word(line: Line) -> Line:
    return Line(line.text[: line.text.index(" ")])


@ab.app
def app() -> None:
    ab.from_items(Line, [Line("ab" * 100_000)]).map(first_word).collect("out")
