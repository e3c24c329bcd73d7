"""Order keys: what a stream carries from one place to another, so that its order can be restored there."""

from __future__ import annotations

import anabranch as ab
from anabranch.graph.format_layout import order_key
from anabranch.graph.plan import Plan
from tests.passes.programs import Item, Last, Repeat, Running, double, is_positive, items, plan_of, twice


def key(plan: Plan, source: str, target: str) -> tuple[str, ...]:
    return next(order_key(plan, edge) for edge in plan.graph.edges if (edge.source, edge.target) == (source, target))


def both(one: Item, other: Item) -> Item:
    return one._replace(value=other.value)


def test_inside_a_place_a_stream_carries_nothing() -> None:
    plan = plan_of(items((1, 1)).process(Running).named("op").process(Running).named("next").collect("out"))
    assert key(plan, "from_items", "op") == ("#draw",)
    assert key(plan, "op", "next") == ()
    assert key(plan, "next", "out") == ()


def test_what_runs_where_it_is_read_needs_no_number_to_get_there() -> None:
    plan = plan_of(items((1, 1)).map(double).collect("out"))
    assert key(plan, "from_items", "double") == ()
    assert key(plan, "double", "out") == ("#draw",)


def test_a_region_carries_the_number_of_the_draw_to_its_merge() -> None:
    plan = plan_of(items((1, 1)).process(Running, key="k").named("a").filter(is_positive).collect("out"))
    assert key(plan, "from_items", "a") == ("#draw",)
    assert key(plan, "a", "is_positive") == ()
    assert key(plan, "is_positive", "out") == ("#draw",)


def test_a_prolific_region_adds_a_component() -> None:
    stream = items((1, 1)).process(Repeat, key="k").named("a").process(Repeat, key="l").named("b")
    plan = plan_of(stream.process(Running, key="k").named("c").collect("out"))
    assert key(plan, "a", "b") == ("#draw", "index@R1")
    assert key(plan, "b", "c") == ("#draw", "index@R1", "index@R2")
    assert key(plan, "c", "out") == ("#draw", "index@R1", "index@R2")


def test_what_is_made_where_it_is_read_is_numbered_behind_that() -> None:
    plan = plan_of(items((1, 1)).flat_map(twice).collect("out"))
    assert key(plan, "twice", "out") == ("#draw",)


def test_what_comes_at_the_end_is_ordered_by_first_arrival() -> None:
    plan = plan_of(items((1, 1)).process(Last, key="k").named("a").collect("out"))
    assert key(plan, "a", "out") == ("#draw", "first@a", "index@a")


def test_branches_carry_the_way_they_took() -> None:
    source = items((1, 1))
    left, right = source.map(double).named("left"), source.filter(is_positive).named("right")
    plan = plan_of(left.union(right).collect("out"))
    assert key(plan, "from_items", "left") == ("#draw", "branch@from_items")
    assert key(plan, "left", "union") == ("#draw", "branch@from_items")
    assert key(plan, "right", "union") == ("#draw", "branch@from_items")
    assert key(plan, "union", "out") == ()


def test_a_prolific_branch_adds_its_index() -> None:
    source = items((1, 1))
    left, right = source.flat_map(twice).named("left"), source.filter(is_positive).named("right")
    plan = plan_of(left.union(right).collect("out"))
    assert key(plan, "left", "union") == ("#draw", "branch@from_items", "index@left")
    assert key(plan, "right", "union") == ("#draw", "branch@from_items")


def test_sources_that_meet_behind_regions_carry_the_number_of_their_draw() -> None:
    one, two = items((1, 1)).map(double).named("one"), items((2, 2)).map(double).named("two")
    plan = plan_of(one.union(two).collect("out"))
    assert key(plan, "one", "union") == ("#draw", "branch@draw")
    assert key(plan, "two", "union") == ("#draw", "branch@draw")


def test_partitions_that_are_drawn_in_turn_are_numbered_as_they_are_drawn() -> None:
    for options in ({}, {"order_by": "ts"}):
        plan = plan_of(items((1, 1), partition_by="k", **options).map(double).collect("out"))
        assert key(plan, "double", "out") == ("#draw",)


def test_windows_by_the_streams_clock_are_ordered_by_what_closed_them_and_first_arrival() -> None:
    windows = items((1, 1)).window(ab.tumbling(seconds=10, on="ts"), key="k")
    stream = windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts"))
    plan = plan_of(stream.collect("out"))
    assert key(plan, "from_items", "aggregate") == ("#draw", "branch@R1.clock")
    assert key(plan, "aggregate", "out") == ("#draw", "met@R1", "first@aggregate")


def test_where_one_moment_closes_many_windows_their_ends_come_first() -> None:
    windows = items((1, 1)).window(ab.sliding(seconds=10, slide=1, on="ts"), key="k")
    stream = windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts"))
    plan = plan_of(stream.collect("out"))
    assert key(plan, "aggregate", "out") == ("#draw", "met@R1", "end@aggregate", "first@aggregate")


def test_a_parallel_join_numbers_what_it_gives() -> None:
    window = ab.sliding(seconds=10, on="ts")
    left, right = items((1, 1)).map(double).named("left"), items((2, 2)).named("right")
    plan = plan_of(left.join(right, left=window, right=window, on="k", out=both).collect("out"))
    assert key(plan, "left", "join") == ("#draw", "branch@draw")
    assert key(plan, "right", "join") == ("#draw", "branch@draw")
    assert key(plan, "join", "out") == ("#draw", "met@R2", "index@R2")


def test_a_parallel_join_of_two_sources_takes_their_numbers() -> None:
    window = ab.sliding(seconds=10, on="ts")
    plan = plan_of(items((1, 1)).join(items((2, 2)), left=window, right=window, on="k", out=both).collect("out"))
    assert key(plan, "from_items", "join") == ("#draw", "branch@draw")
    assert key(plan, "from_items_2", "join") == ("#draw", "branch@draw")


def test_a_meeting_inside_a_meeting_keeps_the_outer_number() -> None:
    source = items((1, 1))
    inner = source.map(double).named("a").union(source.filter(is_positive).named("b")).named("inner")
    outer = inner.flat_map(twice).named("c").union(items((3, 3)).named("other")).named("outer")
    plan = plan_of(outer.collect("out"))
    assert key(plan, "inner", "c") == ("#draw", "branch@draw", "met@S2", "index@S2")
    assert key(plan, "c", "outer") == ("#draw", "branch@draw", "met@S2", "index@S2", "index@R3")
    assert key(plan, "other", "outer") == ("#draw", "branch@draw")


def test_what_leaves_a_region_on_several_outputs_is_numbered_over_all_of_them() -> None:
    doubled = items((1, 1)).process(Running, key="k", on_error="dead_letter").named("a")
    plan = plan_of(doubled.filter(is_positive).collect("out"), doubled.outputs.dead_letter.collect("letters"))
    assert key(plan, "is_positive", "out") == ("#draw", "index@R1")
    assert key(plan, "a", "letters") == ("#draw", "index@R1")


def test_a_split_in_channels_needs_no_number_on_its_streams() -> None:
    parts = items((1, 1)).split({"one": is_positive, "two": lambda item: True})
    plan = plan_of(parts.one.process(Running, key="k").named("a").collect("one"), parts.two.collect("two"))
    assert key(plan, "split", "a") == ("#draw", "branch@split")
    assert key(plan, "a", "one") == ("#draw", "branch@split")


def test_what_a_window_gives_beside_its_results_has_their_order_key() -> None:
    windows = items((1, 1)).window(ab.tumbling(seconds=10, on="ts"), key="k", late="late")
    stream = windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts"))
    plan = plan_of(stream.collect("out"), stream.outputs.late.collect("late"))
    assert key(plan, "aggregate", "out") == ("#draw", "met@R1", "first@aggregate", "branch@R1")
    assert key(plan, "aggregate", "late") == ("#draw", "met@R1", "first@aggregate", "branch@R1")
