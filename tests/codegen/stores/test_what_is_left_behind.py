"""What closed windows leave behind in their records does no harm, nor does a window that no tuple can reach."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.native import state
from tests.codegen.comparing import Comparison, difference

pytestmark = pytest.mark.usefixtures("own_cache")


class Visit(NamedTuple):
    room: str
    guest: str
    number: int


class Guests(NamedTuple):
    guests: int


def visits(seed: int) -> list[Visit]:
    """Rooms come again or do not, and their guests are new or are not."""
    choices = random.Random(seed)
    return [
        Visit(
            choices.choice((f"room {at}", "a", "b", "c")),
            choices.choice((f"guest {at}", f"group {at // 9}", "é" * choices.randrange(30))),
            at % 4,
        )
        for at in range(600)
    ]


@pytest.mark.parametrize("key", [None, "number"])
def test_strings_that_closed_windows_held_may_be_forgotten(key: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    first: Comparison | None = None
    for seed in range(6):
        windowed = ab.from_items(Visit, visits(seed)).window(ab.tumbling(count=9), key=key)
        guests = windowed.aggregate(Guests, group_by="room", guests=ab.count_distinct("guest"))
        comparison = Comparison(guests.collect("out"), like=first)
        first = first or comparison
        want, items = comparison.expected(), comparison.items()
        for size, forget_after in ((3, 5), (10, 30), (64, 30)):
            monkeypatch.setattr(state, "_FORGET_AFTER", forget_after)
            element = comparison.element()
            got = comparison.given(items, list(range(size, len(items), size)), element)
            assert difference(want, got) is None
            assert element.form == "native"


class Mute:
    def __init__(self) -> None:
        self.number = 0

    def process(self, visit: Visit) -> Visit | None:
        self.number += 1
        if not False:
            return None
        return visit


def test_punctuations_pass_a_window_that_no_tuple_can_reach() -> None:
    marked: Any = (
        ab.from_items(Visit, visits(0)[:20])
        .punctuate(lambda visit: visit.number == 3)
        .process(Mute, key="room", out=Visit)
    )
    counted = marked.window(ab.punctuated(), key="room").aggregate(Guests, guests=ab.count_distinct("guest"))
    comparison = Comparison(counted.collect("out"))
    items = comparison.items()
    element = comparison.element()
    got = comparison.given(items, list(range(3, len(items), 3)), element)
    assert difference(comparison.expected(), got) is None
    assert element.form == "native"
