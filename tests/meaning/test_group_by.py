"""The row "`aggregate(group_by=)`": "one window, one output per group when it closes, groups by first arrival
(prolific); with `key=` every key has its own window".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import anabranch as ab


class Sale(NamedTuple):
    shop: str
    item: str
    ts: int


class Sold(NamedTuple):
    shop: str
    item: str
    times: list[int]


def sales(*rows: str) -> ab.Stream[Sale]:
    """Each row is shop and item, one letter each; times count up."""
    return ab.from_items(Sale, [Sale(row[0], row[1], ts) for ts, row in enumerate(rows)])


def sold(stream: ab.Stream[Sale], window: ab.Window, group_by: Any, **options: Any) -> list[str]:
    columns = {"shop": ab.first("shop"), "item": ab.first("item")}
    out = stream.window(window, **options).aggregate(Sold, group_by=group_by, times=ab.collect("ts"), **columns)
    return [f"{s.shop}{s.item} {s.times}" for s in ab.run(out.collect("out")).items("out")]


def test_one_window_gives_an_output_per_group_by_first_arrival() -> None:
    rows = ["xb", "xa", "yb", "xc", "xa", "xd"]
    assert sold(sales(*rows), ab.tumbling(count=5), "item") == ["xb [0, 2]", "xa [1, 4]", "xc [3]", "xd [5]"]


def test_groups_start_anew_with_every_window() -> None:
    assert sold(sales("xa", "xb", "xb", "xa"), ab.tumbling(count=2), "item") == ["xa [0]", "xb [1]", "xb [2]", "xa [3]"]


def test_with_a_key_every_key_has_its_own_window() -> None:
    rows = ["xa", "ya", "xb", "yb", "xa", "ya"]
    # x fills its window of three with 0, 2, 4; y with 1, 3, 5
    assert sold(sales(*rows), ab.tumbling(count=3), "item", key="shop") == [
        "xa [0, 4]", "xb [2]",
        "ya [1, 5]", "yb [3]",
    ]  # fmt: skip


def test_keyed_windows_that_close_together_do_so_key_by_key_then_group_by_group() -> None:
    rows = ["xb", "ya", "xa", "yb", "xb"]
    assert sold(sales(*rows), ab.tumbling(seconds=10, on="ts"), "item", key="shop") == [
        "xb [0, 4]", "xa [2]",
        "ya [1]", "yb [3]",
    ]  # fmt: skip


def test_several_attributes_make_a_group() -> None:
    rows = ["xa", "ya", "xb", "xa"]
    assert sold(sales(*rows), ab.tumbling(count=9), ["shop", "item"]) == ["xa [0, 3]", "ya [1]", "xb [2]"]


def test_in_a_sliding_window_groups_are_those_of_the_tuples_in_it() -> None:
    rows = ["xa", "xb", "xa", "xc"]
    assert sold(sales(*rows), ab.sliding(count=3), "item") == [
        "xa [0]",
        "xa [0]", "xb [1]",
        "xa [0, 2]", "xb [1]",
        "xb [1]", "xa [2]", "xc [3]",
    ]  # fmt: skip


def test_a_punctuation_closes_every_group() -> None:
    stream = sales("xa", "xb", "xa", "xc", "xa").punctuate(lambda s: s.ts == 2)
    assert sold(stream, ab.punctuated(), "item") == ["xa [0, 2]", "xb [1]", "xc [3]", "xa [4]"]
