"""Region formation: the cases the text of Fig. 4 names (paper 000, section 3.3), and the conditions of 3.1."""

from __future__ import annotations

from typing import Any

import anabranch as ab
from tests.passes.programs import (
    Item,
    Last,
    Repeat,
    Running,
    double,
    is_positive,
    items,
    joints,
    plan_of,
    region_with,
    shape,
    unsafe,
    why_not,
)


def figure_4() -> list[ab.Sink]:
    """A graph that has every case: o1 … o14 are named as in the paper."""
    one = items((1, 1)).filter(is_positive).named("o1")
    two = items((1, 1)).map(double).named("o2").map(unsafe).named("o3")
    four = items((1, 1)).map(unsafe).named("o4")
    five = four.map(double).named("o5").process(Running, key="k").named("o6").map(unsafe).named("o7")
    eight = one.union(two, five).named("o8")
    nine = eight.process(Running, key="k").named("o9").process(Running, key=["k", "l"]).named("o10")
    eleven = nine.process(Running, key="l").named("o11").map(unsafe).named("n1")
    twelve = eleven.map(double).named("o12").place(pe="together")
    thirteen = twelve.union(items((2, 2))).named("o13")
    fourteen = thirteen.map(double).named("o14").place(pe="together")
    return [fourteen.collect("out")]


def test_a_region_ends_where_its_successor_has_several_inputs() -> None:
    assert ("o1",) in shape(plan_of(*figure_4()))


def test_a_region_ends_where_its_successor_cannot_be_parallel() -> None:
    plan = plan_of(*figure_4())
    assert ("o2",) in shape(plan)
    assert "o3" in plan.sequential


def test_a_stateless_operator_joins_the_region_of_the_keyed_one_behind_it() -> None:
    plan = plan_of(*figure_4())
    assert region_with(plan, "o5").operators == ("o5", "o6")
    assert region_with(plan, "o5").key == ("k",)


def test_a_region_ends_where_its_key_would_become_empty() -> None:
    plan = plan_of(*figure_4())
    region = region_with(plan, "o9")
    assert region.operators == ("o9", "o10")
    assert region.key == ("k",)
    assert region_with(plan, "o11").key == ("l",)
    assert region_with(plan, "o11").operators == ("o11",)


def test_an_operator_fused_with_one_that_cannot_be_in_its_region_is_in_none() -> None:
    plan = plan_of(*figure_4())
    assert "fused" in why_not(plan, "o12")
    assert "fused" in why_not(plan, "o14")


def test_operators_fused_within_one_region_stay_parallel() -> None:
    stream = items((1, 1)).map(double).named("a").place(pe="x").filter(is_positive).named("b").place(pe="x")
    assert shape(plan_of(stream.collect("out"))) == [("a", "b")]


def test_a_key_that_is_not_forwarded_ends_the_region() -> None:
    stream = items((1, 1)).process(Running, key="k").named("first")
    changed = stream.map(lambda i: i._replace(k=i.k + 1), out=Item).named("change")
    plan = plan_of(changed.process(Running, key="k").named("second").collect("out"))
    assert region_with(plan, "first").operators == ("first", "change")
    assert region_with(plan, "second").operators == ("second",)
    assert joints(region_with(plan, "second")) == "shuffle -> merge"


def test_a_renamed_key_is_followed() -> None:
    swapped = items((1, 2)).map(lambda i: Item(i.l, i.k, i.value, i.ts), out=Item).named("swap")
    plan = plan_of(swapped.process(Running, key="l").named("keyed").collect("out"))
    region = region_with(plan, "keyed")
    assert region.operators == ("swap", "keyed")
    assert region.key == ("k",), "the key is expressed in the attributes at the region's entry"


def test_an_operator_without_a_key_that_keeps_state_is_in_no_region() -> None:
    plan = plan_of(items((1, 1)).process(Running).named("total").collect("out"))
    assert "total" in plan.sequential


def test_what_makes_punctuations_stays_before_the_split() -> None:
    windows = items((1, 1)).punctuate(count=2).window(ab.punctuated(), key="k")
    plan = plan_of(windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts")).collect("out"))
    assert "punctuate" in plan.sequential
    assert region_with(plan, "aggregate").key == ("k",)


def test_a_window_by_the_streams_clock_begins_a_region() -> None:
    filtered = items((1, 1)).filter(is_positive)
    windows = filtered.window(ab.tumbling(seconds=10, on="ts"), key="k")
    plan = plan_of(windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts")).collect("out"))
    assert shape(plan) == [("is_positive",), ("aggregate",)]
    assert region_with(plan, "aggregate").clocks == ("aggregate",)
    assert joints(region_with(plan, "aggregate")) == "shuffle -> merge"


def test_it_does_so_behind_a_region_with_its_key_too_and_it_is_said_why() -> None:
    for key, other, is_said in (("k", "l", True), ("l", "k", False)):
        stream = items((1, 1)).process(Running, key="k").named("total")
        rest: dict[str, Any] = {other: ab.any_(other), "value": ab.sum_("value"), "ts": ab.last("ts")}
        windows = stream.window(ab.tumbling(seconds=10, on="ts"), key=key)
        plan = plan_of(windows.aggregate(Item, **rest).collect("out"))
        assert shape(plan) == [("total",), ("aggregate",)]
        [ends, *_] = region_with(plan, "total").reasons
        assert ("it has the key, but every channel has to be told that time" in ends.text) is is_said


def test_a_window_by_the_keys_own_clock_joins_the_region_before_it() -> None:
    filtered = items((1, 1)).filter(is_positive)
    windows = filtered.window(ab.tumbling(seconds=10, on="ts", clock="key"), key="k")
    plan = plan_of(windows.aggregate(Item, l=ab.any_("l"), value=ab.sum_("value"), ts=ab.last("ts")).collect("out"))
    assert shape(plan) == [("is_positive", "aggregate")]


def test_a_stream_with_several_consumers_ends_its_region() -> None:
    doubled = items((1, 1)).map(double)
    plan = plan_of(doubled.filter(is_positive).collect("a"), doubled.process(Last, key="k").collect("b"))
    assert region_with(plan, "double").operators == ("double",)
    assert joints(region_with(plan, "double")) == "split -> merge"


def test_a_region_goes_on_behind_the_main_output_of_an_operator_with_dead_letters() -> None:
    doubled = items((1, 1)).map(double, on_error="dead_letter")
    kept = doubled.filter(is_positive).process(Running, key="k")
    plan = plan_of(kept.collect("out"), doubled.outputs.dead_letter.collect("letters"))
    region = region_with(plan, "double")
    assert region.operators == ("double", "is_positive", "Running")
    assert region.key == ("k",)
    assert joints(region) == "split -> merge"


def test_a_region_ends_at_an_operator_without_a_main_output() -> None:
    parts = items((1, 1)).map(double).split({"one": is_positive, "two": lambda item: True})
    plan = plan_of(parts.one.process(Running, key="k").collect("one"), parts.two.collect("two"))
    assert shape(plan) == [("double", "split"), ("Running",)]
    assert any("which has several output streams (one, two)" in str(each) for each in plan.regions[0].reasons)


def test_a_region_ends_where_the_main_output_goes_to_several_operators() -> None:
    doubled = items((1, 1)).map(double, on_error="dead_letter")
    ways = doubled.filter(is_positive), doubled.process(Running, key="k"), doubled.outputs.dead_letter
    plan = plan_of(*(way.collect(f"out_{at}") for at, way in enumerate(ways)))
    assert region_with(plan, "double").operators == ("double",)


def test_what_is_forwarded_is_only_known_of_the_main_output() -> None:
    sums = items((1, 1)).process(Running, key="k", out=Item, outputs={"rest": Item})
    plan = plan_of(sums.outputs.rest.process(Repeat, key="k").collect("rest"), sums.collect("out"))
    assert shape(plan) == [("Running",), ("Repeat",)]


def test_a_keyed_join_by_time_is_parallel_and_one_by_count_is_not() -> None:
    def join(window: ab.Window) -> ab.Sink:
        def both(a: Item, b: Item) -> Item:
            return a._replace(value=b.value)

        return items((1, 1)).join(items((1, 1)), left=window, right=window, on="k", out=both).collect("out")

    by_time = plan_of(join(ab.sliding(seconds=10, on="ts")))
    assert region_with(by_time, "join").key == ("k",)
    assert region_with(by_time, "join").clocks == ("join",)
    assert "all keys" in why_not(plan_of(join(ab.sliding(count=3))), "join")
    assert region_with(plan_of(join(ab.sliding(count=3, per_key=True))), "join").key == ("k",)


def test_a_loop_is_in_one_place() -> None:
    def body(stream: ab.Stream[Item]) -> tuple[ab.Stream[Item], ab.Stream[Item]]:
        halved = stream.map(double).named("inside")
        return halved.filter(is_positive), halved.filter(lambda i: i.value < -1)

    plan = plan_of(items((1, 1)).feedback(body).collect("out"))
    assert "loop" in why_not(plan, "inside")


def test_rounds_of_a_loop_that_feeds_back_only_at_punctuations_may_be_parallel() -> None:
    class AtPunctuation:
        def __init__(self) -> None:
            self.total = 0.0
            self.k = 0

        def process(self, item: Item) -> None:
            self.total += item.value
            self.k = item.k

        def punctuation(self) -> Item | None:
            if self.total > 1:
                return Item(self.k, 0, self.total / 2, 0.0)
            return None

    def body(stream: ab.Stream[Item]) -> tuple[ab.Stream[Item], ab.Stream[Item]]:
        summed = stream.process(AtPunctuation, key="k").named("summed")
        return summed.filter(is_positive), summed.map(double).named("back")

    plan = plan_of(items((1, 1), (2, 2)).feedback(body, rounds=True).collect("out"))
    assert region_with(plan, "summed").key == ("k",)


def test_ids_and_regions_are_the_same_every_time() -> None:
    one, other = plan_of(*figure_4()), plan_of(*figure_4())
    assert shape(one) == shape(other)
    assert [operator.id for operator in one.graph.operators] == [operator.id for operator in other.graph.operators]


def test_what_a_join_makes_with_a_function_may_forward_its_key() -> None:
    def both(one: Item, other: Item) -> Item:
        return one._replace(value=other.value)

    last = ab.sliding(count=1, per_key=True)
    joined = items((1, 1)).join(items((1, 1)), left=last, right=last, on="k", out=both).named("join")
    plan = plan_of(joined.process(Running, key="k").named("keyed").collect("out"))
    assert region_with(plan, "join").operators == ("join", "keyed")


class Both:
    def __init__(self) -> None:
        self.last = 0.0

    def left(self, item: Item) -> Item:
        return item._replace(value=self.last)

    def right(self, item: Item) -> None:
        self.last = item.value


def test_an_operator_with_several_inputs_is_parallel_if_all_are_split_by_its_key() -> None:
    keyed = ab.connect(Both, left=items((1, 1)), right=items((1, 1)), key="k").named("both")
    plan = plan_of(keyed.filter(is_positive).collect("out"))
    assert region_with(plan, "both").operators == ("both", "is_positive")
    assert joints(region_with(plan, "both")) == "split -> merge"
    unkeyed = ab.connect(Both, left=items((1, 1)), right=items((1, 1))).named("both")
    assert "both" in plan_of(unkeyed.collect("out")).sequential


def test_an_operator_with_several_inputs_begins_a_region_and_is_never_inside_one() -> None:
    left = items((1, 1)).process(Running, key="k").named("before")
    plan = plan_of(ab.connect(Both, left=left, right=items((1, 1)), key="k").named("both").collect("out"))
    assert region_with(plan, "before").operators == ("before",)
    assert joints(region_with(plan, "before")) == "split -> shuffle"
    assert joints(region_with(plan, "both")) == "shuffle -> merge"
