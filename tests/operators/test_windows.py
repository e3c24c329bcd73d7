"""Windows: tumbling, sliding and punctuated; by count, time and delta; keyed or not; by both clocks.

The same handful of tuples goes through every kind, so that the differences show.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import NamedTuple

import pytest

import anabranch as ab


class Item(NamedTuple):
    ts: int
    key: str
    level: float


class Content(NamedTuple):
    times: list[int]


#                 t  0    1    4    2    9    5   (the 2 comes late, the 5 very late)
ITEMS = [Item(ts, key, ts / 2) for ts, key in [(0, "a"), (1, "b"), (4, "a"), (2, "b"), (9, "b"), (5, "a")]]


def contents(window: ab.Window, key: str | None = None, stream: ab.Stream[Item] | None = None) -> list[list[int]]:
    source = stream if stream is not None else ab.from_items(Item, ITEMS)
    windows = source.window(window, key=key).aggregate(Content, times=ab.collect("ts"))
    return [content.times for content in ab.run(windows.collect("out")).items("out")]


KINDS: dict[str, tuple[ab.Window, str | None, list[list[int]]]] = {
    "tumbling count": (ab.tumbling(count=4), None, [[0, 1, 4, 2], [9, 5]]),
    "tumbling count, keyed": (ab.tumbling(count=2), "key", [[0, 4], [1, 2], [9], [5]]),
    "sliding count": (ab.sliding(count=3, slide=2), None, [[0, 1], [1, 4, 2], [2, 9, 5]]),
    "sliding count, keyed": (ab.sliding(count=2), "key", [[0], [1], [0, 4], [1, 2], [2, 9], [4, 5]]),
    # windows [0, 4) and so on; the 4 closes the first, so the 2 is late, and the 5 too
    "tumbling time": (ab.tumbling(seconds=4, on="ts"), None, [[0, 1], [4], [9]]),
    "tumbling time, keyed": (ab.tumbling(seconds=4, on="ts"), "key", [[0], [1], [4], [9]]),
    # a: 0 4 5; b: 1 2 9. The 2 is in time for b, and the 5 for a.
    "tumbling time, clock of the key": (
        ab.tumbling(seconds=4, on="ts", clock="key"), "key", [[0], [1, 2], [4, 5], [9]],
    ),
    # windows [-4, 2) [-2, 4) [0, 6) [2, 8) [4, 10) [6, 12) [8, 14)
    "sliding time": (
        ab.sliding(seconds=6, slide=2, on="ts"), None,
        [[0, 1], [0, 1], [0, 1, 4, 2], [4, 2], [4, 9, 5], [9], [9]],
    ),
    "sliding time, keyed": (
        ab.sliding(seconds=6, slide=3, on="ts"), "key",  # [-3, 3) [0, 6) [3, 9) [6, 12) [9, 15)
        [[0], [1], [0, 4], [1, 2], [4], [9], [9]],
    ),
    "sliding time, clock of the key": (
        ab.sliding(seconds=6, slide=3, on="ts", clock="key"), "key",
        [[0], [1, 2], [1, 2], [0, 4, 5], [4, 5], [9], [9]],
    ),
    "tumbling delta": (ab.tumbling(delta=2.0, on="level"), None, [[0, 1], [4], [9]]),
    "tumbling delta, clock of the key": (
        ab.tumbling(delta=2.0, on="level", clock="key"), "key", [[0], [1, 2], [4, 5], [9]],
    ),
    "sliding delta": (
        ab.sliding(delta=3.0, slide=1.0, on="level"), None,
        [[0, 1], [0, 1], [0, 1, 4, 2], [4, 2], [4, 9, 5], [9], [9]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_windows_hold_what_they_should_and_close_in_order(name: str) -> None:
    window, key, expected = KINDS[name]
    assert contents(window, key) == expected


def test_punctuated_windows_end_with_every_punctuation() -> None:
    stream = ab.from_items(Item, ITEMS).punctuate(lambda item: item.ts == 4)
    assert contents(ab.punctuated(), None, stream) == [[0, 1, 4], [2, 9, 5]]


def test_punctuated_windows_of_all_keys_end_together() -> None:
    stream = ab.from_items(Item, ITEMS).punctuate(count=4)
    assert contents(ab.punctuated(), "key", stream) == [[0, 4], [1, 2], [9], [5]]


def test_punctuations_go_on_behind_punctuated_windows_and_are_lost_behind_others() -> None:
    class Sizes(NamedTuple):
        sizes: list[int]

    class Size(NamedTuple):
        n: int

    class Punctuations:
        def __init__(self) -> None:
            self.count = 0

        def process(self, size: Size) -> None: ...

        def punctuation(self) -> None:
            self.count += 1

        def finish(self) -> Size:
            return Size(self.count)

    punctuated = ab.from_items(Item, ITEMS).punctuate(count=2)
    sizes = punctuated.window(ab.punctuated(), key="key").aggregate(Size, n=ab.count())
    per_window = sizes.window(ab.punctuated()).aggregate(Sizes, sizes=ab.collect("n"))
    assert [w.sizes for w in ab.run(per_window.collect("out")).items("out")] == [[1, 1], [1, 1], [1, 1]]
    others = punctuated.window(ab.tumbling(count=3)).aggregate(Size, n=ab.count()).process(Punctuations)
    assert [size.n for size in ab.run(others.collect("out")).items("out")] == [0]


def test_several_attributes_make_a_key() -> None:
    items = [Item(0, "a", 1.0), Item(1, "a", 2.0), Item(2, "b", 1.0), Item(3, "a", 1.0)]
    windows = ab.from_items(Item, items).window(ab.tumbling(count=2), key=["key", "level"])
    out = windows.aggregate(Content, times=ab.collect("ts"))
    assert [c.times for c in ab.run(out.collect("out")).items("out")] == [[0, 3], [1], [2]]


def test_units_add_up_to_the_same_length() -> None:
    class At(NamedTuple):
        at: datetime

    class Times(NamedTuple):
        at: list[datetime]

    start = datetime(2024, 1, 1)
    items = [At(start + timedelta(minutes=20 * n)) for n in range(20)]

    def cut(window: ab.Window) -> list[int]:
        out = ab.from_items(At, items).window(window).aggregate(Times, at=ab.collect("at"))
        return [len(window.at) for window in ab.run(out.collect("out")).items("out")]

    by_hours = cut(ab.tumbling(hours=2, on="at"))
    assert by_hours == [6, 6, 6, 2]
    for window in (
        ab.tumbling(minutes=120, on="at"),
        ab.tumbling(seconds=7200, on="at"),
        ab.tumbling(milliseconds=7_200_000, on="at"),
        ab.tumbling(hours=1, minutes=60, on="at"),
        ab.tumbling(hours=1.5, minutes=30, on="at"),
        ab.sliding(hours=2, slide=timedelta(hours=2), on="at"),
    ):
        assert cut(window) == by_hours


def test_dates_are_times_too() -> None:
    class On(NamedTuple):
        day: date

    class Days(NamedTuple):
        start: date
        end: date
        days: int

    items = [On(date(2024, 2, 27) + timedelta(days=n)) for n in range(9)]
    weeks = ab.from_items(On, items).window(ab.tumbling(days=7, on="day"))
    out = weeks.aggregate(Days, start=ab.window_start(), end=ab.window_end(), days=ab.count())
    # 1970 began on a Thursday, so weeks do
    assert ab.run(out.collect("out")).items("out") == [
        Days(date(2024, 2, 22), date(2024, 2, 29), 2),
        Days(date(2024, 2, 29), date(2024, 3, 7), 7),
    ]


def test_an_empty_stream_has_no_windows() -> None:
    empty = ab.from_items(Item, [])
    for window in (ab.tumbling(count=2), ab.sliding(count=2), ab.tumbling(seconds=1, on="ts")):
        assert contents(window, None, empty) == []
    assert contents(ab.punctuated(), None, empty.punctuate(count=1)) == []


def test_windows_can_follow_windows() -> None:
    class Size(NamedTuple):
        n: int
        end: int

    class Largest(NamedTuple):
        n: int

    source = ab.from_items(Item, [Item(ts, "a", 0.0) for ts in (0, 1, 2, 10, 20, 21, 30)])
    sizes = source.window(ab.tumbling(seconds=10, on="ts")).aggregate(Size, n=ab.count(), end=ab.last("ts"))
    largest = sizes.window(ab.tumbling(count=2)).aggregate(Largest, n=ab.max_("n"))
    assert [size.n for size in ab.run(largest.collect("out")).items("out")] == [3, 2]


# Late tuples -------------------------------------------------------------------------------------------------------


def late_of(window: ab.Window, key: str | None = None) -> tuple[list[int], int]:
    """The times of late tuples as the output has them, and how many are counted without it."""
    windows = ab.from_items(Item, ITEMS).window(window, key=key, late="too_late")
    out = windows.aggregate(Content, times=ab.collect("ts"))
    sent = ab.run(out.collect("out"), out.outputs.too_late.collect("late"))
    without = ab.from_items(Item, ITEMS).window(window, key=key).aggregate(Content, times=ab.collect("ts"))
    counted = ab.run(without.collect("out"))
    assert counted.items("out") == sent.items("out")
    assert sent.metrics.late == 0
    return [item.ts for item in sent.items("late")], counted.metrics.late


def test_late_tuples_are_sent_or_counted_and_the_windows_are_the_same() -> None:
    assert late_of(ab.tumbling(seconds=4, on="ts")) == ([2, 5], 2)
    assert late_of(ab.tumbling(seconds=4, on="ts"), "key") == ([2, 5], 2)
    assert late_of(ab.tumbling(seconds=4, on="ts", clock="key"), "key") == ([], 0)
    assert late_of(ab.sliding(seconds=6, slide=2, on="ts")) == ([], 0)
    assert late_of(ab.tumbling(delta=2.0, on="level")) == ([2, 5], 2)


def test_the_late_output_need_not_be_used() -> None:
    out = ab.from_items(Item, ITEMS).window(ab.tumbling(seconds=4, on="ts"), late="unused")
    result = ab.run(out.aggregate(Content, times=ab.collect("ts")).collect("out"))
    assert len(result.items("out")) == 3


def test_late_tuples_are_tuples_like_others() -> None:
    windows = ab.from_items(Item, ITEMS).window(ab.tumbling(seconds=4, on="ts"), late="late")
    out = windows.aggregate(Content, times=ab.collect("ts"))
    again = out.outputs.late.window(ab.tumbling(count=5)).aggregate(Content, times=ab.collect("ts"))
    assert out.outputs.late.type is Item
    assert [c.times for c in ab.run(again.collect("out")).items("out")] == [[2, 5]]
