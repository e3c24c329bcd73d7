"""Filters and searches for keys that native code does for a whole block of tuples before the first has its turn."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.codegen.comparing import Comparison, check_same


class Call(NamedTuple):
    phone: int
    area: str
    cost: float
    line: int | None
    at: int


class Seen(NamedTuple):
    phone: int
    number: int
    before: float


class Counted(NamedTuple):
    number: int
    last: int


class Calls:
    """Names its variables as generated code names those of blocks."""

    def __init__(self) -> None:
        self.slots = 0
        self.before = 0.0

    def process(self, call: Call) -> Iterator[Seen]:
        chosen = self.slots + 1
        rows, first, pick = self.before, call.phone, call.cost
        self.slots = chosen
        yield Seen(first, chosen, rows)
        self.before = pick


def calls(count: int = 2_500, phones: int = 1_500, seed: int = 1) -> list[Call]:
    """More phones than a table begins with room for; each comes again soon, or much later."""
    chance = random.Random(seed)
    made: list[Call] = []
    for at in range(count):
        phone = made[-1].phone if made and chance.random() < 0.3 else chance.randrange(phones) - phones // 2
        cost = chance.choice([0.0, -0.0, 1.5, math.nan, math.inf, chance.random()])
        made.append(Call(phone, chance.choice(["425", "206"]), cost, chance.choice([None, 0, 7]), at))
    return made


def near(call: Call) -> bool:
    return call.area == "425"


def by_phone(source: ab.Stream[Call]) -> Any:
    return source.process(Calls, key="phone")


def by_cost(source: ab.Stream[Call]) -> Any:
    return source.process(Calls, key="cost")


def by_line_and_phone(source: ab.Stream[Call]) -> Any:
    return source.process(Calls, key=["line", "phone"])


def distinct(source: ab.Stream[Call]) -> Any:
    return source.distinct("phone")


def in_fives(source: ab.Stream[Call]) -> Any:
    return source.window(ab.tumbling(count=5), key="phone").aggregate(Counted, number=ab.count(), last=ab.last("at"))


def each_by_its_clock(source: ab.Stream[Call]) -> Any:
    window = ab.tumbling(delta=300, on="at", clock="key")
    return source.window(window, key="phone").aggregate(Counted, number=ab.count(), last=ab.last("at"))


STATES = [by_phone, by_cost, by_line_and_phone, distinct, in_fives, each_by_its_clock]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("is_filtered", [False, True])
def test_keys_are_searched_for_a_block_ahead(state: Callable[[Any], Any], is_filtered: bool) -> None:
    source = ab.from_items(Call, calls())
    comparison = Comparison(state(source.filter(near) if is_filtered else source).collect("out"))
    assert "slots = block_of_rows()" in comparison.source
    assert ("rows = block_of_rows()" in comparison.source) == is_filtered
    assert set(check_same(comparison)) == {"native"}


def test_strings_are_searched_for_in_their_turn() -> None:
    comparison = Comparison(ab.from_items(Call, calls()).filter(near).process(Calls, key="area").collect("out"))
    assert "slots = block_of_rows()" not in comparison.source
    assert "rows = block_of_rows()" in comparison.source
    assert set(check_same(comparison)) == {"native"}


def test_keys_behind_a_filter_of_what_state_gives_are_searched_for_in_their_turn() -> None:
    first = ab.from_items(Call, calls()).process(Calls, key="phone")
    comparison = Comparison(first.filter(lambda seen: seen.number > 1).distinct("phone").collect("out"))
    assert comparison.source.count("slots[") == 2
    assert set(check_same(comparison)) == {"native"}


def test_all_tuples_go_where_there_is_no_filter() -> None:
    source = ab.from_items(Call, calls())
    comparison = Comparison(by_phone(source.filter(near)).collect("some"), source.distinct("phone").collect("all"))
    assert "rows = block_of_rows()" not in comparison.source
    assert set(check_same(comparison)) == {"native"}


def test_a_tuple_that_fails_has_seen_those_before_it_and_none_behind() -> None:
    class Shares:
        def __init__(self) -> None:
            self.last = 0.0

        def process(self, call: Call) -> Iterator[Seen]:
            yield Seen(call.phone, call.at, self.last / (call.at - 2_000))
            self.last = call.cost

    comparison = Comparison(ab.from_items(Call, calls()).process(Shares, key="phone").collect("out"))
    assert "slots = block_of_rows()" in comparison.source
    assert comparison.expected().error is not None
    assert set(check_same(comparison)) == {"handed over"}


def test_a_filter_that_may_fail_is_not_asked_ahead() -> None:
    filtered = ab.from_items(Call, calls()).filter(lambda call: 10 // (call.at - 2_000) < 0)
    comparison = Comparison(by_phone(filtered).collect("out"))
    assert "rows = block_of_rows()" not in comparison.source
    assert comparison.expected().error is not None
    assert set(check_same(comparison)) == {"handed over"}
