"""What native code cannot take in the middle of windows is handed over: it goes on natively, or in the Python form.

Each program has windows of one kind with and without keys, over tuples in which native code is left once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.native import element
from tests.codegen.comparing import Comparison, check_same

pytestmark = pytest.mark.usefixtures("own_cache")

COUNT = 90
LEFT_AT = 40  # the number of the first tuple that is not for native code


class Reading(NamedTuple):
    room: str
    floor: int | None
    at: float
    value: int
    divisor: int
    heat: float | None


class Summary(NamedTuple):
    n: int
    total: int
    mean: float | None
    spread: float | None
    lowest: int
    hottest: str
    first: float | None
    last: str


class Number(NamedTuple):
    n: int


SUMMARY: dict[str, Any] = {
    "n": ab.count(),
    "total": ab.sum_("value"),
    "mean": ab.mean("heat"),
    "spread": ab.std("heat"),
    "lowest": ab.min_("value"),
    "hottest": ab.arg_max("room", by="heat"),
    "first": ab.first("heat"),
    "last": ab.last("room"),
}


def readings() -> list[Reading]:
    """Time goes on by about half a second, with tuples that are late now and then; keys come back again and again."""
    choices = random.Random(5)
    return [
        Reading(
            room=choices.choice(("kitchen", "", "hall")),
            floor=choices.choice((None, 0, 1)),
            at=number / 2 - choices.choice((0.0, 0.25, 0.25, 9.0)),
            value=choices.randrange(-50, 50),
            divisor=1,
            heat=choices.choice((None, -0.0, 20.5, 21.0, float("nan"))),
        )
        for number in range(COUNT)
    ]


def divided(t: Reading) -> Reading:
    return t._replace(value=t.value * 2 // (2 * t.divisor))


THE_SUM = "the sum of a window needs more than 64 bits"
# What native code cannot take: the values that tuples have from LEFT_AT on, and their divisor.
REASONS = {
    "a tuple fails": ([7], 0),
    "an intermediate result needs more than 64 bits": ([2**62], 1),
    THE_SUM: ([2**61] * 5 + [-(2**61)] * 2, 1),
}


def given(reason: str) -> list[Reading]:
    """The tuples for a reason: those that share it have one key and one time. A late one follows."""
    items = readings()
    values, divisor = REASONS[reason]
    now, late_at = LEFT_AT / 2, LEFT_AT + len(values)
    for at, value in enumerate(values, LEFT_AT):
        items[at] = items[at]._replace(room="hall", floor=1, at=now, value=value, divisor=divisor)
    items[late_at] = items[late_at]._replace(room="hall", floor=1, at=now - 9)
    return items


def by_count(stream: Any) -> list[Any]:
    return [
        stream.window(ab.tumbling(count=11), key="room").aggregate(Summary, **SUMMARY),
        stream.window(ab.tumbling(count=25)).aggregate(Number, n=ab.count()),
        stream.window(ab.tumbling(count=COUNT), key="floor").aggregate(Number, n=ab.count()),
    ]


def by_the_streams_clock(stream: Any) -> list[Any]:
    window = ab.tumbling(seconds=8, on="at")
    return [
        stream.window(window, key=["floor", "room"]).aggregate(Summary, **SUMMARY),
        stream.window(window).aggregate(Number, group_by="floor", n=ab.count()),
    ]


def by_clocks_of_their_own(stream: Any) -> list[Any]:
    return [
        stream.window(ab.tumbling(seconds=8, on="at")).aggregate(Summary, **SUMMARY),
        stream.window(ab.tumbling(seconds=8, on="at", clock="key"), key="room").aggregate(Number, n=ab.count()),
    ]


def by_punctuations(stream: Any) -> list[Any]:
    return [
        stream.window(ab.punctuated(), key="floor").aggregate(Summary, **SUMMARY),
        stream.window(ab.punctuated()).aggregate(Number, n=ab.count()),
    ]


FITS = ["a tuple fails", "an intermediate result needs more than 64 bits"]  # what is kept then has words


def compared(windows: Callable[[Any], list[Any]], reason: str, like: Comparison | None) -> Comparison:
    source: Any = ab.from_items(Reading, given(reason))
    if windows is by_punctuations:
        source = source.punctuate(lambda t: t.at % 8 < 0.3)
    stream = source.map(divided, on_error="skip")
    sinks = [each.collect(f"out{number}") for number, each in enumerate(windows(stream))]
    comparison = Comparison(*sinks, like=like)
    assert comparison.expected().error is None
    return comparison


@pytest.mark.parametrize("windows", [by_count, by_the_streams_clock, by_clocks_of_their_own, by_punctuations])
def test_open_windows_go_on(windows: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    first: Comparison | None = None
    for reason in REASONS:
        comparison = compared(windows, reason, first)
        first = first or comparison
        assert set(check_same(comparison)) == {"handed over" if reason in FITS else "python"}, reason
    monkeypatch.setattr(element, "_MOST_SAVED", 0)  # so that each item is one too many
    for reason in FITS:
        assert set(check_same(compared(windows, reason, first))) == {"python"}, reason


def test_notes_say_what_was_handed_over_and_why_native_code_was_left() -> None:
    first = compared(by_count, "a tuple fails", None)
    for reason, note in (
        ("a tuple fails", "left to Python what fails"),
        (THE_SUM, "'aggregate' of aggregate 'total' needs"),
    ):
        comparison = compared(by_count, reason, first)
        made = comparison.element()
        comparison.given(comparison.items(), [], made)
        assert note in " ".join(made.notes)


class Meeting(NamedTuple):
    n: int
    at: datetime


def test_a_column_that_only_passes_may_hold_datetimes_of_both_kinds() -> None:
    """There is no Arrow column of them, which native code must notice before it has begun."""
    items = [Meeting(n, datetime(2024, 2, 29, tzinfo=UTC if n % 2 else None)) for n in range(10)]
    check_same(Comparison(ab.from_items(Meeting, items).filter(lambda m: m.n > 3).collect("out")))
