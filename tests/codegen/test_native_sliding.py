"""Sliding windows in native code: the oracle's outputs, whatever the chunks, the saves and the tuples that end it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_pe
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.segments import decide
from anabranch.run import as_program
from tests.codegen.by_batches import by_element, by_oracle, part_of_program


class Reading(NamedTuple):
    key: str
    group: int
    value: float
    whole: int
    maybe: float | None
    ts: float
    tick: int


class Recent(NamedTuple):
    count: int
    total: float
    mean: float
    wholes: int
    largest: float
    smallest: int
    deviation: float
    maybes: float | None
    first: float
    at_largest: float


class Passing(NamedTuple):
    start: float
    end: float
    count: int
    total: float
    wholes: int
    largest: float
    last: str


class Ticks(NamedTuple):
    start: int
    end: int
    total: float


def readings(seed: int, keys: int) -> list[Reading]:
    """Out of order now and then, with gaps, and with floats of all kinds."""
    chance, now, found = random.Random(seed), 0.0, []
    for _ in range(300):
        now += chance.choice([0.0, 0.1, 0.25, 0.3, 1.0, 0.2, 0.2, 5.0 if chance.random() < 0.2 else 0.1])
        ts = now - (chance.random() * 6 if chance.random() < 0.2 else 0)
        value = chance.choice([1.5, -2.0, 0.1, math.nan if chance.random() < 0.2 else 3.3, -0.0, 0.0, math.inf])
        maybe = chance.choice([None, 1.0, 2.5])
        key = f"k{chance.randrange(keys)}"
        found.append(Reading(key, chance.randrange(3), value, chance.randrange(-5, 100), maybe, ts, int(ts * 10)))
    return found


RECENT = {
    "count": ab.count(), "total": ab.sum_("value"), "mean": ab.mean("whole"), "wholes": ab.sum_("whole"),
    "largest": ab.max_("value"), "smallest": ab.min_("whole"), "deviation": ab.std("value"), "maybes": ab.mean("maybe"),
    "first": ab.first("value"), "at_largest": ab.arg_max("value", by="whole"),
}  # fmt: skip
PASSING = {
    "start": ab.window_start(), "end": ab.window_end(), "count": ab.count(), "total": ab.sum_("value"),
    "wholes": ab.sum_("whole"), "largest": ab.max_("value"), "last": ab.last("key"),
}  # fmt: skip
TICKS = {"start": ab.window_start(), "end": ab.window_end(), "total": ab.sum_("value")}
KEYS: list[dict[str, Any]] = [{}, {"key": "key"}, {"key": ["key", "group"]}]


def program(items: list[Reading], window: Any, out: Any, key: dict[str, Any]) -> Any:
    columns = {Recent: RECENT, Passing: PASSING, Ticks: TICKS}[out]
    aggregated = ab.from_items(Reading, items).window(window, **key).aggregate(out, **columns)
    return as_program(aggregated.collect("out"))


WINDOWS = [
    (ab.sliding(count=5, slide=2), Recent),
    (ab.sliding(count=3, slide=1), Recent),
    (ab.sliding(count=2, slide=5), Recent),
    (ab.sliding(seconds=2, slide=1, on="ts"), Passing),
    (ab.sliding(seconds=0.3, slide=0.1, on="ts"), Passing),
    (ab.sliding(seconds=10, slide=2, on="ts"), Passing),
    (ab.sliding(delta=20, slide=5, on="tick"), Ticks),
]
native = partial(build_pe, form="native")


@pytest.mark.parametrize("key", KEYS, ids=["no key", "one key", "two keys"])
@pytest.mark.parametrize(("window", "out"), WINDOWS, ids=[str(window) for window, _ in WINDOWS])
def test_chunks_do_not_show(window: Any, out: Any, key: dict[str, Any]) -> None:
    for seed, sizes in ((1, [1]), (2, [7, 100]), (3, [1000])):
        made = program(readings(seed, 3 if seed == 1 else 60), window, out, key)
        assert by_element(made, native, itertools.cycle(sizes)) == by_oracle(made)


@pytest.mark.parametrize(("window", "out"), WINDOWS, ids=[str(window) for window, _ in WINDOWS])
def test_another_element_goes_on_from_a_save_and_its_changes(window: Any, out: Any) -> None:
    def build(part: Any) -> ProcessingElement:
        return build_pe(part, "native", tracks_changes=True)

    saves: list[bytes] = []

    def saved(element: ProcessingElement) -> ProcessingElement:
        saves.append(element.save_changes() if saves else element.save())
        other = build(element.part)  # type: ignore[attr-defined]
        other.restore(saves[0], saves[1:])
        return other

    made = program(readings(4, 40), window, out, {"key": "key"})
    assert by_element(made, build, itertools.repeat(50), saved).items == by_oracle(made).items


BAD_ENDS = {
    "a sum beyond 64 bits": Reading("k1", 0, 1.0, 2**63 - 1, None, 1e9, 10**10),
    "a time in no window": Reading("k1", 0, 1.0, 1, None, math.nan, 10**10),
}


@pytest.mark.parametrize("bad", BAD_ENDS)
@pytest.mark.parametrize(("window", "out"), WINDOWS, ids=[str(window) for window, _ in WINDOWS])
def test_the_python_form_goes_on_where_native_code_cannot(window: Any, out: Any, bad: str) -> None:
    items = readings(5, 8)
    largest = BAD_ENDS[bad]
    made = program([*items[:150], largest, *[largest._replace(ts=1e9)] * 3, *items[150:]], window, out, {"key": "key"})
    assert by_element(made, native, itertools.repeat(40)) == by_oracle(made)


def with_all_keys_new() -> Iterator[Reading]:
    for number in range(5000):
        yield Reading(f"key {number}", 0, 1.0, 1, None, number * 0.01, number)


def test_tables_grow_in_the_middle_of_a_chunk() -> None:
    items = list(with_all_keys_new())
    for window, out in (WINDOWS[0], WINDOWS[5]):
        made = program(items, window, out, {"key": "key"})
        assert by_element(made, native, itertools.repeat(3000)) == by_oracle(made)


def test_many_recent_tuples_are_left_to_the_python_form() -> None:
    made = program([], ab.sliding(count=2000, slide=1), Recent, {})
    (stage,) = decide(part_of_program(made.graph))
    assert stage.why is not None
    assert stage.why.reason == "keeps the last 2000 tuples"
