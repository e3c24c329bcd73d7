"""`merge_by`: several streams as one, in the order of an attribute."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import pytest

import anabranch as ab


class Reading(NamedTuple):
    ts: int
    sensor: str


def readings(sensor: str, *times: int) -> ab.Stream[Reading]:
    return ab.from_items(Reading, [Reading(ts, sensor) for ts in times])


def shown(stream: ab.Stream[Reading]) -> str:
    return " ".join(f"{r.sensor}{r.ts}" for r in ab.run(stream.collect("out")).items("out"))


def test_sorted_streams_become_one_sorted_stream() -> None:
    merged = ab.merge_by("ts", readings("a", 1, 5, 9), readings("b", 2, 3), readings("c", 4))
    assert shown(merged) == "a1 b2 b3 c4 a5 a9"


def test_ties_go_in_the_order_of_the_arguments_not_of_the_sources() -> None:
    a, b = readings("a", 1, 2), readings("b", 1, 2)
    assert shown(ab.merge_by("ts", b, a)) == "b1 a1 b2 a2"


def test_unsorted_streams_are_merged_by_their_heads() -> None:
    assert shown(ab.merge_by("ts", readings("a", 3, 1), readings("b", 2, 9))) == "b2 a3 a1 b9"


def test_an_empty_stream_is_no_hindrance() -> None:
    assert shown(ab.merge_by("ts", readings("a"), readings("b", 1, 2), readings("c"))) == "b1 b2"


def test_the_result_does_not_depend_on_how_sources_are_drawn() -> None:
    a, b = [Reading(t, "a") for t in (1, 4, 6)], [Reading(t, "b") for t in (2, 3, 5, 7)]

    def merged(**options: Any) -> str:
        return shown(ab.merge_by("ts", ab.from_items(Reading, a, **options), ab.from_items(Reading, b, **options)))

    assert merged() == merged(order_by="ts") == "a1 b2 b3 a4 b5 a6 b7"


@pytest.mark.parametrize(
    ("kind", "small", "large"),
    [
        (float, -0.5, 0.5),
        (str, "a", "b"),
        (bytes, b"a", b"b"),
        (bool, False, True),
        (datetime, datetime.min, datetime.max),
    ],
)
def test_any_attribute_with_an_order_will_do(kind: type, small: Any, large: Any) -> None:
    class Keyed(NamedTuple):
        by: kind

    one = ab.from_items(Keyed, [Keyed(large)])
    other = ab.from_items(Keyed, [Keyed(small)])
    assert [k.by for k in ab.run(ab.merge_by("by", one, other).collect("out")).items("out")] == [small, large]
