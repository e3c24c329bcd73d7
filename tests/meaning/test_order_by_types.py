"""Several sources, drawn by `order_by=`: numbers are compared as numbers, whatever their types."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Whole(NamedTuple):
    at: int


class Exact(NamedTuple):
    at: float


class Flag(NamedTuple):
    at: bool


def test_sources_ordered_by_int_float_and_bool_are_drawn_by_their_numbers() -> None:
    wholes = ab.from_items(Whole, [Whole(-1), Whole(1), Whole(3)], order_by="at")
    exacts = ab.from_items(Exact, [Exact(0.5), Exact(1.0), Exact(float("nan"))], order_by="at")
    flags = ab.from_items(Flag, [Flag(False), Flag(True)], order_by="at")
    drawn: list[object] = []

    ab.run(wholes.for_each(drawn.append), exacts.for_each(drawn.append), flags.for_each(drawn.append))

    assert repr(drawn) == repr(
        [Whole(-1), Flag(False), Exact(0.5), Whole(1), Exact(1.0), Flag(True), Whole(3), Exact(float("nan"))]
    )
