"""Order keys: the components of a tuple's path that can differ, and where each is added."""

from __future__ import annotations

import anabranch as ab
from anabranch.graph.plan import Plan
from tests.passes.programs import Item, Last, Repeat, Running, double, is_positive, items, plan_of, twice


def key(plan: Plan, source: str, target: str) -> tuple[str, ...]:
    return next(k for edge, k in plan.order_keys.items() if (edge.source, edge.target) == (source, target))


def test_outside_regions_and_meetings_a_stream_carries_nothing() -> None:
    plan = plan_of(items((1, 1)).process(Running).named("op").collect("out"))
    assert set(plan.order_keys.values()) == {()}


def test_round_robin_needs_no_number() -> None:
    plan = plan_of(items((1, 1)).map(double).collect("out"))
    assert key(plan, "from_items", "double") == ()


def test_a_region_carries_the_number_of_its_splitter_to_its_merge() -> None:
    plan = plan_of(items((1, 1)).process(Running, key="k").named("a").filter(is_positive).collect("out"))
    assert key(plan, "from_items", "a") == ("#R1",)
    assert key(plan, "a", "is_positive") == ("#R1",)
    assert key(plan, "is_positive", "out") == ("#R1",)


def test_a_prolific_region_adds_a_component_before_a_shuffle() -> None:
    stream = items((1, 1)).process(Repeat, key="k").named("a").process(Repeat, key="l").named("b")
    plan = plan_of(stream.process(Running, key="k").named("c").collect("out"))
    assert key(plan, "a", "b") == ("#R1", "index@R1")
    assert key(plan, "b", "c") == ("#R1", "index@R1", "index@R2")
    assert key(plan, "c", "out") == ("#R1", "index@R1", "index@R2")


def test_before_a_merge_the_order_within_a_channel_is_enough() -> None:
    plan = plan_of(items((1, 1)).flat_map(twice).collect("out"))
    assert key(plan, "twice", "out") == ("#R1",)


def test_what_comes_at_the_end_is_ordered_by_first_arrival() -> None:
    plan = plan_of(items((1, 1)).process(Last, key="k").named("a").collect("out"))
    assert key(plan, "a", "out") == ("#R1", "first@a")


def test_branches_that_are_regions_carry_the_number_of_their_fan_out() -> None:
    source = items((1, 1))
    left, right = source.map(double).named("left"), source.filter(is_positive).named("right")
    plan = plan_of(left.union(right).collect("out"))
    assert key(plan, "from_items", "left") == ("#from_items", "branch@from_items")
    assert key(plan, "left", "union") == ("#from_items", "branch@from_items")
    assert key(plan, "right", "union") == ("#from_items", "branch@from_items")
    assert key(plan, "union", "out") == ()


def test_a_prolific_branch_adds_its_index() -> None:
    source = items((1, 1))
    left, right = source.flat_map(twice).named("left"), source.filter(is_positive).named("right")
    plan = plan_of(left.union(right).collect("out"))
    assert key(plan, "left", "union") == ("#from_items", "branch@from_items", "index@R1")


def test_sources_that_meet_behind_regions_carry_the_number_of_their_draw() -> None:
    one, two = items((1, 1)).map(double).named("one"), items((2, 2)).map(double).named("two")
    plan = plan_of(one.union(two).collect("out"))
    assert key(plan, "one", "union") == ("#draw",)
    assert key(plan, "two", "union") == ("#draw",)


def test_a_parallel_source_is_ordered_by_round_and_partition() -> None:
    plan = plan_of(items((1, 1), partition_by="k").map(double).collect("out"))
    assert key(plan, "double", "out") == ("round@from_items", "partition@from_items")


def test_a_parallel_source_with_an_order_is_ordered_by_its_time() -> None:
    plan = plan_of(items((1, 1), partition_by="k", order_by="ts").map(double).collect("out"))
    assert key(plan, "double", "out") == ("time@from_items", "partition@from_items", "round@from_items")


def test_windows_by_the_streams_clock_are_ordered_by_end_and_first_arrival() -> None:
    windows = items((1, 1)).window(ab.tumbling(seconds=10, on="ts"), key="k")
    stream = windows.aggregate(
        Item,
        l=ab.any_("l"),
        value=ab.sum_("value"),
        ts=ab.last("ts"),
    )
    plan = plan_of(stream.collect("out"))
    assert key(plan, "aggregate", "out") == ("#R1", "end@aggregate", "first@aggregate")


def test_a_parallel_join_behind_a_region_keeps_the_numbers_of_the_draw() -> None:
    window = ab.sliding(seconds=10, on="ts")
    left, right = items((1, 1)).map(double).named("left"), items((2, 2)).named("right")

    def both(one: Item, other: Item) -> Item:
        return one._replace(value=other.value)

    plan = plan_of(left.join(right, left=window, right=window, on="k", out=both).collect("out"))
    assert key(plan, "left", "join") == ("#draw",)
    assert key(plan, "right", "join") == ("#draw",)
    assert key(plan, "join", "out") == ("#draw",)


def test_a_parallel_join_of_two_streams_in_one_place_is_numbered_by_its_splitter() -> None:
    window = ab.sliding(seconds=10, on="ts")

    def both(one: Item, other: Item) -> Item:
        return one._replace(value=other.value)

    plan = plan_of(items((1, 1)).join(items((2, 2)), left=window, right=window, on="k", out=both).collect("out"))
    assert key(plan, "from_items", "join") == ("#R1",)
    assert key(plan, "from_items_2", "join") == ("#R1",)


def test_a_meeting_inside_a_meeting_keeps_the_outer_number() -> None:
    source = items((1, 1))
    inner = source.map(double).named("a").union(source.filter(is_positive).named("b")).named("inner")
    outer = inner.flat_map(twice).named("c").union(items((3, 3)).named("other")).named("outer")
    plan = plan_of(outer.collect("out"))
    assert key(plan, "inner", "c") == ("#draw", "#inner")
    assert key(plan, "c", "outer") == ("#draw", "#inner", "index@R3")
    assert key(plan, "other", "outer") == ("#draw",)
