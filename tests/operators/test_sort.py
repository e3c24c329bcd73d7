"""`sort`: order within a buffer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import anabranch as ab


class Item(NamedTuple):
    ts: float
    name: str = ""


def sorted_times(times: list[float], count: int) -> list[float]:
    stream = ab.from_items(Item, [Item(ts) for ts in times]).sort("ts", count=count)
    return [item.ts for item in ab.run(stream.collect("out")).items("out")]


def test_a_buffer_larger_than_the_stream_sorts_it_all() -> None:
    assert sorted_times([5, 3, 9, 1, 1, -2], 100) == [-2, 1, 1, 3, 5, 9]


def test_what_is_no_further_out_of_place_than_the_buffer_is_put_right() -> None:
    times = [2.0, 1.0, 4.0, 3.0, 6.0, 5.0]
    assert sorted_times(times, 2) == sorted(times)


def test_what_is_further_out_of_place_is_not() -> None:
    assert sorted_times([3, 4, 5, 1, 6], 2) == [3, 4, 1, 5, 6]


def test_a_buffer_of_one_changes_nothing() -> None:
    assert sorted_times([3, 1, 2], 1) == [3, 1, 2]


def test_nan_comes_last_and_zeros_are_equal() -> None:
    out = sorted_times([math.nan, 0.0, -0.0, -1.0], 10)
    assert [repr(ts) for ts in out] == ["-1.0", "0.0", "-0.0", "nan"]


def test_several_attributes_are_compared_in_turn() -> None:
    items = [Item(2, "a"), Item(1, "b"), Item(1, "a")]

    def order(by: Any) -> list[tuple[float, str]]:
        stream = ab.from_items(Item, items).sort(by, count=5)
        return [tuple(item) for item in ab.run(stream.collect("out")).items("out")]

    assert order(["ts", "name"]) == [(1, "a"), (1, "b"), (2, "a")]
    assert order(("name", "ts")) == [(1, "a"), (2, "a"), (1, "b")]
