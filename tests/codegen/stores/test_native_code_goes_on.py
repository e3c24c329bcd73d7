"""Native code goes on behind tuples that it cannot take, whatever it keeps; the oracle takes these."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.codegen.comparing import Comparison, difference

pytestmark = pytest.mark.usefixtures("own_cache")

COUNT = 700


class Event(NamedTuple):
    room: str
    floor: int | None
    at: float
    tick: int
    value: int
    factor: int
    heat: float | None


class Seen(NamedTuple):
    room: str
    before: str
    number: int
    spread: float
    floor: int | None
    warm: bool


class Summary(NamedTuple):
    n: int
    total: int
    mean: float | None
    spread: float | None
    lowest: int
    hottest: str
    first: float | None
    last: str
    rooms: int


class Marked(NamedTuple):
    start: float
    end: float
    n: int
    floor: int | None


class Number(NamedTuple):
    n: int
    values: int


SUMMARY: dict[str, Any] = {
    "n": ab.count(),
    "total": ab.sum_("value"),
    "mean": ab.mean("heat"),
    "spread": ab.std("heat"),
    "lowest": ab.min_("value"),
    "hottest": ab.arg_max("room", by="heat"),
    "first": ab.first("heat"),
    "last": ab.last("room"),
    "rooms": ab.count_distinct("room"),
}
NUMBER: dict[str, Any] = {"n": ab.count(), "values": ab.count_distinct("value")}
MARKED: dict[str, Any] = {
    "start": ab.window_start(),
    "end": ab.window_end(),
    "n": ab.count(),
    "floor": ab.last("floor"),
}


class Latest:
    """Keeps a tuple, text, a flag and numbers; it fails when it has changed some of them."""

    def __init__(self) -> None:
        self.last: Event | None = None
        self.text = "none"
        self.number = 0
        self.total = 0.0
        self.warm = False

    def process(self, event: Event) -> Iterator[Seen]:
        self.number += 1
        self.warm = event.heat is not None and event.heat > 20.0
        self.total += event.at
        if self.last is not None:
            inverse = 1 // event.factor
            yield Seen(event.room, self.text, self.number + inverse, self.total, self.last.floor, self.warm)
        self.text = event.room
        self.last = event


class Longest:
    def __init__(self) -> None:
        self.longest = 0

    def process(self, event: Event) -> Iterator[Number]:
        scaled = event.value * event.factor // event.factor
        if scaled > self.longest:
            self.longest = scaled
            yield Number(self.longest, scaled)


def halved(event: Event) -> Event:
    """Too large for 64 bits between, or a failure, by its factor."""
    return event._replace(value=event.value * event.factor // event.factor)


def scaled(event: Event) -> Event:
    """Too large for 64 bits between."""
    return event._replace(value=event.value * (event.factor + 1) // (event.factor + 1))


def events(share: float, seed: int) -> list[Event]:
    """About this share of them is not for native code; at least one."""
    choices = random.Random(seed)
    certain = choices.randrange(COUNT)
    found = []
    for number in range(COUNT):
        is_odd = number == certain or choices.random() < share
        tick = number // 2 - choices.choice((0, 0, 0, 1, 30))
        found.append(
            Event(
                room=choices.choice(("kitchen", "", "hall", f"room {choices.randrange(40)}")),
                floor=choices.choice((None, 0, 1)),
                at=tick / 2,
                tick=tick,
                value=choices.randrange(-50, 50),
                factor=choices.choice((2**62, 2**62, 0)) if is_odd else 1,
                heat=choices.choice((None, -0.0, 20.5, 21.0, float("nan"))),
            )
        )
    return found


def instances(stream: Any) -> list[Any]:
    return [
        stream.process(Latest, key="room", on_error="skip"),
        stream.process(Latest, key=["floor", "at"], on_error="skip"),
        stream.process(Latest, on_error="skip"),
        stream.process(Longest, key="floor", on_error="skip"),
        stream.distinct("room"),
        stream.distinct(["floor", "value"]),
    ]


def by_count(stream: Any) -> list[Any]:
    return [
        stream.window(ab.tumbling(count=11), key="room").aggregate(Summary, **SUMMARY),
        stream.window(ab.tumbling(count=25)).aggregate(Number, **NUMBER),
        stream.window(ab.tumbling(count=90), key="floor").aggregate(Number, **NUMBER),
        stream.window(ab.tumbling(count=30)).aggregate(Summary, group_by="room", **SUMMARY),
        stream.window(ab.tumbling(count=9), key="floor").aggregate(Number, group_by="room", **NUMBER),
    ]


def the_last_ones(stream: Any) -> list[Any]:
    return [
        stream.window(ab.sliding(count=5, slide=2), key="room").aggregate(Summary, **SUMMARY),
        stream.window(ab.sliding(count=4, slide=3)).aggregate(Number, **NUMBER),
        stream.window(ab.sliding(count=7, slide=3), key="floor").aggregate(Number, group_by="room", **NUMBER),
    ]


def by_the_streams_clock(stream: Any) -> list[Any]:
    window = ab.tumbling(seconds=8, on="at")
    return [
        stream.window(window, key=["floor", "room"]).aggregate(Summary, **SUMMARY),
        stream.window(window).aggregate(Number, group_by="floor", **NUMBER),
        stream.window(window, key="floor").aggregate(Number, group_by="room", **NUMBER),
        stream.window(window).aggregate(Marked, **MARKED),
    ]


def sliding(stream: Any) -> list[Any]:
    window = ab.sliding(seconds=9, slide=4, on="at")
    return [
        stream.window(window, key="room").aggregate(Summary, **SUMMARY),
        stream.window(window).aggregate(Marked, group_by="floor", **MARKED),
        stream.window(window, key="floor").aggregate(Number, group_by="room", **NUMBER),
    ]


def by_clocks_of_keys(stream: Any) -> list[Any]:
    tumbling, window = (
        ab.tumbling(seconds=8, on="at", clock="key"),
        ab.sliding(seconds=9, slide=4, on="at", clock="key"),
    )
    return [
        stream.window(tumbling, key="room").aggregate(Summary, **SUMMARY),
        stream.window(tumbling, key="floor").aggregate(Number, group_by="room", **NUMBER),
        stream.window(window, key="room").aggregate(Marked, **MARKED),
        stream.window(window, key="floor").aggregate(Number, group_by="room", **NUMBER),
    ]


def by_punctuations(stream: Any) -> list[Any]:
    return [
        stream.window(ab.punctuated(), key="floor").aggregate(Summary, **SUMMARY),
        stream.window(ab.punctuated()).aggregate(Number, **NUMBER),
        stream.window(ab.punctuated(), key="floor").aggregate(Number, group_by="room", **NUMBER),
    ]


SHAPES = [instances, by_count, the_last_ones, by_the_streams_clock, sliding, by_clocks_of_keys, by_punctuations]
WITH_SUMS = [by_count, by_the_streams_clock, sliding, by_clocks_of_keys, by_punctuations]  # that stay between tuples


def compared(shape: Callable[[Any], list[Any]], items: list[Event], like: Comparison | None) -> Comparison:
    source: Any = ab.from_items(Event, items)
    if shape is by_punctuations:
        source = source.punctuate(lambda t: t.tick % 16 == 3)
    stream = source.map(scaled) if shape is instances else source.map(halved, on_error="skip")
    sinks = [each.collect(f"out{at}") for at, each in enumerate(shape(stream))]
    return Comparison(*sinks, like=like, tracks_changes=True)


class Moving:
    """Now and then an element is saved, whole or what has changed, and another goes on from there."""

    def __init__(self, comparison: Comparison, seed: int) -> None:
        self.comparison, self.choices = comparison, random.Random(seed)
        self.saves: list[bytes] = []

    def __call__(self, element: Any) -> Any:
        if element.form == "python" or self.choices.random() < 0.9:
            return element
        self.saves.append(element.save_changes() if self.saves else element.save())
        if self.choices.random() < 0.5:
            return element
        other = self.comparison.element()
        other.restore(self.saves[0], self.saves[1:])
        for name, figures in element.metrics.items():
            own = other.metrics[name]
            own.received, own.emitted, own.late = figures.received, figures.emitted, figures.late
            own.skipped = figures.skipped
        return other


def check(comparison: Comparison, size: int, element: Any, *, moves: bool = False) -> None:
    """That an element gives in chunks of this size what the oracle gives."""
    want, items = comparison.expected(), comparison.items()
    between: Any = Moving(comparison, size) if moves else lambda each: each
    problem = difference(want, comparison.given(items, list(range(size, len(items), size)), element, between))
    assert problem is None, f"in chunks of {size}: {problem}"


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_kept_survives_tuples_that_native_code_cannot_take(
    shape: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first: Comparison | None = None
    for number, (share, size) in enumerate(((0.0001, 7), (0.01, 4096), (0.01, 2), (0.1, 1))):
        comparison = compared(shape, events(share, number), first)
        first = first or comparison
        element = comparison.element()
        check(comparison, size, element)
        assert element.form == "native", element.notes
        assert element.notes[0].endswith("and went on")
        check(comparison, size, None, moves=True)
    assert first is not None

    # A sum that needs more than 64 bits has no words: the Python form goes on with it.
    items = events(0.01, 9)
    for at, value in enumerate([2**62] * 3 + [-(2**62)] * 3, 300):
        items[at] = items[at]._replace(room="hall", floor=1, at=75.0, tick=150, value=value, factor=1)
    comparison = compared(shape, items, first)
    element = comparison.element()
    check(comparison, 90, element)
    if shape in WITH_SUMS:
        assert element.form == "python"
        assert "needs more than 64 bits" in element.notes[-1]

    # Nor do items that come too often.
    monkeypatch.setattr("anabranch.codegen.native.element._MOST_SAVED", 300)
    comparison = compared(shape, events(0.1, 1), first)
    element = comparison.element()
    check(comparison, 100, element)
    assert element.form == "python"
