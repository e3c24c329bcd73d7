"""The row "several sources": "drawn in order of `order_by=` (ties: order of declaration; the heads are compared, a
source need not be sorted) where all sources declare it, else alternately in order of declaration; the partitions of a
`partition_by` source count as several sources".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.tracing import Trace


class Reading(NamedTuple):
    ts: float
    sensor: str


def readings(sensor: str, *times: Any, **options: Any) -> ab.Stream[Reading]:
    return ab.from_items(Reading, [Reading(ts, sensor) for ts in times], **options)


def drawn(*sources: ab.Stream[Reading]) -> list[str]:
    """Every tuple as sensor and time, in the order in which it was drawn."""
    trace: list[str] = []
    ab.run(*[source.for_each(lambda r: trace.append(f"{r.sensor}{r.ts:g}")) for source in sources])
    return trace


class Ends:
    """Says at which moment its stream ends."""

    def __init__(self) -> None:
        self.sensor = "?"

    def process(self, reading: Reading) -> Reading:
        self.sensor = reading.sensor
        return reading

    def finish(self) -> Reading:
        return Reading(math.inf, self.sensor)


def test_the_smallest_head_is_drawn_first() -> None:
    a = readings("a", 1, 4, 6, order_by="ts")
    b = readings("b", 2, 3, 7, order_by="ts")
    assert drawn(a, b) == ["a1", "b2", "b3", "a4", "a6", "b7"]


def test_of_equal_heads_the_first_declared_is_drawn_first() -> None:
    a = readings("a", 1, 1, 2, order_by="ts")
    b = readings("b", 1, 2, order_by="ts")
    c = readings("c", 1, order_by="ts")
    assert drawn(c, b, a) == ["a1", "a1", "b1", "c1", "a2", "b2"]


def test_a_source_need_not_be_sorted_only_heads_are_compared() -> None:
    a = readings("a", 5, 1, 8, order_by="ts")
    b = readings("b", 2, 9, 0, order_by="ts")
    # heads: 5 2 -> b; 5 9 -> a; 1 9 -> a; 8 9 -> a; b has the rest
    assert drawn(a, b) == ["b2", "a5", "a1", "a8", "b9", "b0"]


def test_a_head_without_a_number_is_larger_than_all_others() -> None:
    a = readings("a", math.nan, 1, order_by="ts")
    b = readings("b", 5, math.inf, order_by="ts")
    assert drawn(a, b) == ["b5", "binf", "anan", "a1"]


def test_sources_are_ordered_by_different_attributes_of_the_same_type() -> None:
    class Other(NamedTuple):
        moment: float

    trace = Trace()
    a = readings("a", 1, 4, order_by="ts")
    b = ab.from_items(Other, [Other(2.0), Other(3.0)], order_by="moment")
    ab.run(a.for_each(trace("a")), b.for_each(trace("b")))
    assert trace.lines == ["a 1.0 'a'", "b 2.0", "b 3.0", "a 4.0 'a'"]


def test_where_one_source_has_no_order_all_are_drawn_alternately() -> None:
    a = readings("a", 1, 2, 3, order_by="ts")
    b = readings("b", 10, 20)
    c = readings("c", 0, 0, 0, 0, order_by="ts")
    assert drawn(a, b, c) == ["a1", "b10", "c0", "a2", "b20", "c0", "a3", "c0", "c0"]


def test_declaration_counts_not_the_order_of_use() -> None:
    b = readings("b", 1, 2)
    a = readings("a", 1, 2)
    assert drawn(a, b) == ["b1", "a1", "b2", "a2"]


def test_an_ended_source_is_passed_over_and_its_end_takes_its_turn() -> None:
    a = readings("a", 1).process(Ends)
    b = readings("b", 1, 2, 3).process(Ends)
    # turns: a1 b1 | a ends, b2 | b3 | b ends
    assert drawn(a, b) == ["a1", "b1", "ainf", "b2", "b3", "binf"]


def test_an_end_has_no_place_of_its_own_and_goes_at_once() -> None:
    a = readings("a", 1, order_by="ts").process(Ends)
    b = readings("b", 0, 5, order_by="ts").process(Ends)
    assert drawn(a, b) == ["b0", "a1", "ainf", "b5", "binf"]


def test_of_two_empty_sources_the_first_declared_ends_first() -> None:
    trace = Trace()

    class Says:
        def process(self, reading: Reading) -> Reading:
            return reading

        def finish(self) -> Reading:
            return Reading(0.0, "end")

    one, two = readings("a").process(Says), readings("b").process(Says)
    ab.run(two.for_each(trace("two")), one.for_each(trace("one")))
    assert trace.lines == ["one 0.0 'end'", "two 0.0 'end'"]


def test_a_source_is_read_when_it_is_drawn_and_no_further_than_its_head() -> None:
    reads: list[str] = []

    def source(sensor: str, times: list[float]) -> Any:
        def read() -> Iterator[Reading]:
            for ts in times:
                reads.append(f"read {sensor}{ts:g}")
                yield Reading(ts, sensor)

        return read

    def run(**options: Any) -> list[str]:
        reads.clear()
        a = ab.generate(Reading, source("a", [1.0, 4.0]), **options)
        b = ab.generate(Reading, source("b", [2.0, 3.0]), **options)
        ab.run(*[s.for_each(lambda r: reads.append(f"draw {r.sensor}{r.ts:g}")) for s in (a, b)])
        return list(reads)

    assert run() == [
        "read a1", "draw a1", "read b2", "draw b2", "read a4", "draw a4", "read b3", "draw b3",
    ]  # fmt: skip
    assert run(order_by="ts") == [
        "read a1", "read b2", "draw a1", "read a4", "draw b2", "read b3", "draw b3", "draw a4",
    ]  # fmt: skip


# Partitions --------------------------------------------------------------------------------------------------------

MIXED = [Reading(1, "x"), Reading(2, "x"), Reading(3, "y"), Reading(4, "x"), Reading(5, "y"), Reading(6, "z")]


def test_the_partitions_of_a_source_are_drawn_as_several_sources() -> None:
    source = ab.from_items(Reading, MIXED, partition_by="sensor")
    assert drawn(source) == ["x1", "y3", "z6", "x2", "y5", "x4"]


def test_partitions_are_drawn_by_order_too() -> None:
    source = ab.from_items(Reading, [*MIXED, Reading(0, "x")], partition_by="sensor", order_by="ts")
    # the partition x is 1 2 4 0: the 0 is only seen when it is the head
    assert drawn(source) == ["x1", "x2", "y3", "x4", "x0", "y5", "z6"]


def test_partitions_take_their_turns_at_the_place_where_their_source_was_declared() -> None:
    before = readings("b", 1, 2)
    source = ab.from_items(Reading, MIXED, partition_by="sensor")
    after = readings("a", 1, 2)
    assert drawn(before, source, after) == ["b1", "x1", "y3", "z6", "a1", "b2", "x2", "y5", "a2", "x4"]


def test_a_partitioned_source_ends_with_its_last_partition() -> None:
    trace = Trace()
    ended = ab.from_items(Reading, MIXED, partition_by="sensor").process(Ends)
    ab.run(ended.for_each(trace("got")))
    assert trace.lines[-2:] == ["got 4.0 'x'", "got inf 'x'"]
    assert sum("inf" in entry for entry in trace.lines) == 1


def test_a_key_in_two_partitions_is_the_source_s_error_at_its_place() -> None:
    def part(name: str) -> Iterator[Reading]:
        yield Reading(1.0, name)
        yield Reading(2.0, "a")

    source = ab.generate(Reading, part, partition_by="sensor", partitions=["a", "b"]).named("parts")
    with pytest.raises(ab.RunError, match="'a' occurs in 'a' and in 'b'") as caught:
        ab.run(source.collect("out"))
    assert "parts" in str(caught.value)
    assert str(caught.value.location).endswith(f"{__file__.rsplit('/', 1)[-1]}:{caught.value.location.line}")
    assert [r.ts for r in caught.value.result.items("out")] == [1.0, 1.0, 2.0]


# Heads that cannot be read -----------------------------------------------------------------------------------------


def test_a_bad_head_has_no_place_of_its_own_and_goes_at_once() -> None:
    bad: Any = "no time"
    a = readings("a", 1, bad, 9, order_by="ts", on_error="skip")
    b = readings("b", 2, 3, order_by="ts")
    assert drawn(a, b) == ["a1", "b2", "b3", "a9"]
    stopping = readings("a", 1, bad, 0, order_by="ts")
    other = readings("b", 0, 3, order_by="ts")
    with pytest.raises(ab.SourceError, match="float expected, got 'no time'") as caught:
        ab.run(stopping.collect("a"), other.collect("b"))
    assert [r.ts for r in caught.value.result.items("a")] == [1.0]
    assert [r.ts for r in caught.value.result.items("b")] == [0.0]


def test_a_bad_head_takes_its_turn_when_sources_are_drawn_alternately() -> None:
    bad: Any = None
    a = readings("a", bad, 2, on_error="skip")
    b = readings("b", 1, 2)
    assert drawn(a, b) == ["b1", "a2", "b2"]
