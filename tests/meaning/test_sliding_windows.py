"""The row "sliding windows": "by time: a window per slide boundary. By count: emit every `slide` tuples over the last
`count`. `delta=`: as by time on any numeric attribute".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import anabranch as ab


class Item(NamedTuple):
    n: int
    key: str = "a"
    level: float = 0.0


class Content(NamedTuple):
    ns: list[int]


class Between(NamedTuple):
    start: float
    end: float
    ns: list[int]


def contents(items: list[Item], window: ab.Window, **options: Any) -> list[list[int]]:
    windows = ab.from_items(Item, items).window(window, **options).aggregate(Content, ns=ab.collect("n"))
    return [content.ns for content in ab.run(windows.collect("out")).items("out")]


def numbers(*ns: int) -> list[Item]:
    return [Item(n) for n in ns]


def test_by_time_there_is_a_window_per_slide_boundary() -> None:
    window = ab.sliding(seconds=4, slide=2, on="n")
    # boundaries 2, 4, 6, 8, 10: windows [-2,2) [0,4) [2,6) [4,8) [6,10)
    assert contents(numbers(0, 1, 3, 6), window) == [[0, 1], [0, 1, 3], [3], [6], [6]]


def test_a_slide_need_not_divide_the_length() -> None:
    window = ab.sliding(seconds=5, slide=3, on="n")
    # boundaries 3, 6, 9, 12: windows [-2,3) [1,6) [4,9) [7,12)
    assert contents(numbers(0, 1, 2, 4, 7), window) == [[0, 1, 2], [1, 2, 4], [4, 7], [7]]


def test_a_slide_as_long_as_the_window_is_tumbling() -> None:
    items = numbers(0, 3, 4, 9, 12)
    assert contents(items, ab.sliding(seconds=4, slide=4, on="n")) == contents(items, ab.tumbling(seconds=4, on="n"))


def test_by_count_it_emits_every_slide_tuples_over_the_last_count() -> None:
    assert contents(numbers(1, 2, 3, 4, 5, 6), ab.sliding(count=4, slide=2)) == [[1, 2], [1, 2, 3, 4], [3, 4, 5, 6]]


def test_by_count_the_slide_is_one_unless_said_otherwise() -> None:
    assert contents(numbers(1, 2, 3, 4), ab.sliding(count=3)) == [[1], [1, 2], [1, 2, 3], [2, 3, 4]]


def test_by_count_a_slide_beyond_the_count_leaves_tuples_out() -> None:
    assert contents(numbers(1, 2, 3, 4, 5, 6), ab.sliding(count=2, slide=3)) == [[2, 3], [5, 6]]


def test_by_count_tuples_that_came_since_the_last_emission_are_shown_at_the_end() -> None:
    assert contents(numbers(1, 2, 3, 4, 5), ab.sliding(count=3, slide=2)) == [[1, 2], [2, 3, 4], [3, 4, 5]]
    assert contents(numbers(1, 2, 3, 4), ab.sliding(count=3, slide=2)) == [[1, 2], [2, 3, 4]]


def test_by_count_every_key_counts_for_itself() -> None:
    items = [Item(n, key) for n, key in enumerate("abaabb")]
    # a: 0 2 3, b: 1 4 5
    assert contents(items, ab.sliding(count=2, slide=2), key="key") == [[0, 2], [1, 4], [2, 3], [4, 5]]


def test_delta_is_time_on_any_number() -> None:
    window = ab.sliding(delta=0.5, slide=0.25, on="level")
    items = [Item(n, level=level) for n, level in enumerate([0.0, 0.3, 0.1, 0.6, 0.7])]
    windows = ab.from_items(Item, items).window(window)
    out = windows.aggregate(Between, start=ab.window_start(), end=ab.window_end(), ns=ab.collect("n"))
    # the 0.1 comes when the window that ended at 0.25 has closed
    assert ab.run(out.collect("out")).items("out") == [
        Between(-0.25, 0.25, [0]),
        Between(0.0, 0.5, [0, 1, 2]),
        Between(0.25, 0.75, [1, 3, 4]),
        Between(0.5, 1.0, [3, 4]),
    ]
