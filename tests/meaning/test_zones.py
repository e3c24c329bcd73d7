"""Datetimes with a zone and without are never on one scale: the first decides, one of the other kind is an error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.run import as_program
from tests.dataflow.outcomes import expected
from tests.engines.spark.streams.test_streams_exactly import as_stream
from tests.meaning.everywhere import everywhere

START = datetime(2024, 1, 1)
PYTHON = ("python",)  # native code has no windows over datetimes


class Reading(NamedTuple):
    who: str
    at: datetime
    n: int


class Count(NamedTuple):
    who: str
    n: int
    start: datetime
    end: datetime


class Day(NamedTuple):
    who: str
    day: date


class Pair(NamedTuple):
    left: Reading
    right: Reading


class Dated(NamedTuple):
    left: Day
    right: Reading


def readings(text: str, **options: Any) -> Any:
    """`a3` is of a at second 3, without a zone; `a3z` with one."""
    items = []
    for n, word in enumerate(text.split()):
        at = START + timedelta(seconds=int(word[1:].rstrip("z")))
        items.append(Reading(word[0], at.replace(tzinfo=UTC) if word.endswith("z") else at, n))
    return ab.from_items(Reading, items, **options)


WINDOWS = {
    "tumbling": ab.tumbling(seconds=10, on="at"),
    "sliding": ab.sliding(seconds=20, slide=10, on="at"),
    "with gaps": ab.sliding(seconds=5, slide=10, on="at"),
}
COLUMNS = {"who": ab.first("who"), "n": ab.count(), "start": ab.window_start(), "end": ab.window_end()}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("key", ["who", None])
@pytest.mark.parametrize(("text", "item"), [("a6 b7 b8z a9 b17", 2), ("a6z b7z a16z b9 a8z", 3)])
def test_a_window_stops_at_the_first_time_of_the_other_kind(window: Any, key: Any, text: str, item: int) -> None:
    counts = readings(text).window(window, key=key).aggregate(Count, **COLUMNS)
    with pytest.raises(ab.OperatorError, match="give all of them a zone, or none") as stopped:
        everywhere(counts.collect("out"), forms=PYTHON)
    assert stopped.value.item is not None
    assert stopped.value.item.n == item  # type: ignore[attr-defined]


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("text", ["a6 b7z b8 a99z a16 b17 a18z b26", "b6z a7z a7 b88 a15z b8z b16z a36 a36z"])
def test_what_is_skipped_for_its_zone_is_in_no_window_and_moves_no_clock(window: Any, text: str) -> None:
    of_one_kind = " ".join(word for word in text.split() if word.endswith("z") == text.split()[0].endswith("z"))

    def counted(words: str, on_error: Any) -> Any:
        return readings(words).window(window, key="who").aggregate(Count, **COLUMNS, on_error=on_error)

    skipped = everywhere(counted(text, "skip").collect("out"), forms=PYTHON)
    alone = everywhere(counted(of_one_kind, "stop").collect("out"), forms=PYTHON)
    assert skipped.items("out") == alone.items("out")
    assert skipped.metrics.skipped == len(text.split()) - len(of_one_kind.split())
    letters = counted(text, "dead_letter")
    found = everywhere(letters.collect("out"), letters.outputs.dead_letter.collect("letters"), forms=PYTHON)
    assert found.items("out") == alone.items("out")
    assert len(found.items("letters")) == skipped.metrics.skipped


def test_with_the_clock_of_the_key_each_key_decides_for_itself() -> None:
    window = ab.tumbling(seconds=10, on="at", clock="key")
    counts = readings("a1 b2z a3 b4z a5z b6 a12 b13z").window(window, key="who")
    found = everywhere(counts.aggregate(Count, **COLUMNS, on_error="skip").collect("out"), forms=PYTHON)
    assert [(c.who, c.n, c.end.tzinfo) for c in found.items("out")] == [
        ("a", 2, None), ("b", 2, UTC), ("a", 1, None), ("b", 1, UTC)
    ]  # fmt: skip
    assert found.metrics.skipped == 2


@pytest.mark.parametrize("window", [ab.sliding(seconds=5, on="at"), ab.tumbling(seconds=5, on="at")])
@pytest.mark.parametrize(("text", "item"), [("a1 b2 c9z a3", 2), ("a1z a2z b3z b2z a5 a6z", 4)])
def test_distinct_over_time_stops_there_too(window: Any, text: str, item: int) -> None:
    with pytest.raises(ab.OperatorError, match="give all of them a zone, or none") as stopped:
        everywhere(readings(text).distinct(key="who", window=window).collect("out"), forms=PYTHON)
    assert stopped.value.item.n == item  # type: ignore[attr-defined]


def joined(left: str, right: str, on_error: Any, seconds: int = 10) -> Any:
    window = ab.sliding(seconds=seconds, on="at")
    return readings(left).join(
        readings(right), left=window, right=window, on="who", out=Pair, on_error=on_error
    )  # fmt: skip


@pytest.mark.parametrize(("left", "right"), [("a1 b2 a3", "a2 b3z"), ("a1z b2z", "c1z b1z a2 a2z"), ("a1", "b1z")])
def test_both_inputs_of_a_join_are_of_one_kind(left: str, right: str) -> None:
    with pytest.raises(ab.OperatorError, match="give all of them a zone, or none"):
        everywhere(joined(left, right, "stop").collect("out"), forms=PYTHON)


def test_a_join_that_skips_times_of_the_other_kind_is_not_moved_by_them() -> None:
    mixed = everywhere(
        joined("a1 b9z a2 b3 c99z c4 a5", "c1 a1 b2 a9z b77z c3 a4", "skip").collect("out"), forms=PYTHON
    )
    met = [(pair.left.at.second, pair.right.at.second) for pair in mixed.items("out")]
    assert met == [(1, 1), (2, 1), (3, 2), (4, 1), (4, 3), (5, 1), (1, 4), (2, 4), (5, 4)]
    assert mixed.metrics.skipped == 4


def test_a_date_goes_with_datetimes_of_either_kind() -> None:
    days = ab.from_items(Day, [Day("a", START.date()), Day("b", START.date())])
    window = ab.sliding(days=1, on="at")
    for text in ("a1 b2", "a1z b2z"):
        pairs = days.join(readings(text), left=ab.sliding(days=1, on="day"), right=window, on="who", out=Dated)
        assert len(everywhere(pairs.collect("out"), forms=PYTHON).items("out")) == 2


STOPPED: dict[str, tuple[Callable[[], Any], int]] = {
    "sort": (lambda: readings("a1 b2 c3z").sort("at", count=2), 2),
    "sort, though nothing is compared": (lambda: readings("a1 b2z c3").sort("at", count=1), 1),
    "sort by several attributes": (lambda: readings("a1 b2z c3").sort(["who", "at"], count=3), 1),
    "merge_by": (lambda: ab.merge_by("at", readings("a1 a2 a9"), readings("b1 b5z")), 1),
    "merge_by, though nothing is compared": (lambda: ab.merge_by("at", readings("a1 a2z"), readings("")), 1),
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_puts_tuples_in_order_stops_at_the_first_of_the_other_kind(name: str) -> None:
    make, item = STOPPED[name]
    with pytest.raises(ab.OperatorError, match="give all of them a zone, or none") as stopped:
        everywhere(make().collect("out"), forms=PYTHON)
    assert stopped.value.item.n == item  # type: ignore[attr-defined]


def test_sources_that_are_drawn_by_order_stop_before_heads_that_cannot_be_compared() -> None:
    streams = [readings("a1 a3 a5", order_by="at"), readings("b2 b4z b6", order_by="at")]
    with pytest.raises(ab.SourceError, match="cannot be compared by order_by") as stopped:
        everywhere(streams[0].union(streams[1]).collect("out"), forms=PYTHON)
    assert [r.who for r in stopped.value.result.items("out")] == ["a", "b"]  # type: ignore[attr-defined]


IN_STREAMS: dict[str, Callable[[], Any]] = {
    "windows": lambda: (
        readings("a6 b7z b8 a99z a16 b17 a18z b26")
        .window(WINDOWS["tumbling"], key="who")
        .aggregate(Count, **COLUMNS, on_error="skip")
    ),
    "windows that slide": lambda: (
        readings("a6z b7z b8 a99 a16z b17z a18 b26z")
        .window(WINDOWS["sliding"], key="who")
        .aggregate(Count, **COLUMNS, on_error="skip")
    ),
    "a join": lambda: joined("a1 b9z a2 b3 c99z c4 a5", "c1 a1 b2 a9z b77z c3 a4", "skip"),
    "distinct": lambda: readings("a1 b2 a3 c4 a9 b9z").distinct(key="who", window=ab.sliding(seconds=5, on="at")),
    "sort": lambda: readings("a1 b2 a3 c4z").sort("at", count=2),
}


@pytest.mark.parametrize("name", IN_STREAMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_stream_knows_after_a_crash_what_the_first_time_decided(name: str, seed: int, tmp_path: Path) -> None:
    graph = as_program(IN_STREAMS[name]().collect("out")).graph
    found = as_stream(graph, tmp_path / "stream", seed, 0.2, at_once=1, channels=2, form="python")
    assert found == expected(graph)
