"""Joints and ordering strategies: Table 1 of paper 000 row by row, and the corrections of the design."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.errors import BuildError
from anabranch.graph.places import TAIL
from anabranch.graph.plan import Ordering, Plan
from anabranch.graph.verify import verify_plan
from anabranch.passes import lay_out
from tests.passes.programs import (
    Item,
    Last,
    Repeat,
    Running,
    double,
    is_positive,
    items,
    joints,
    ordering,
    plan_of,
    region_with,
    twice,
)


def keyed(stream: ab.Stream[Item]) -> ab.Stream[Item]:
    return stream.process(Running, key="k").named("keyed")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(lambda s: s.map(double), "round-robin", id="stateless 1:1"),
        pytest.param(keyed, "seqno", id="partitioned 1:1"),
        pytest.param(lambda s: s.map(double).filter(is_positive), "strict-seqno-pulse", id="stateless 1:[0,1]"),
        pytest.param(lambda s: keyed(s).filter(is_positive), "strict-seqno-pulse", id="partitioned 1:[0,1]"),
        pytest.param(lambda s: s.flat_map(twice), "relaxed-seqno-pulse", id="stateless prolific"),
        pytest.param(lambda s: s.process(Repeat, key="k"), "relaxed-seqno-pulse", id="partitioned prolific"),
    ],
)
def test_table_1(build: object, expected: str) -> None:
    plan = plan_of(build(items((1, 1))).collect("out"))  # type: ignore[operator]
    assert len(plan.regions) == 1
    assert joints(plan.regions[0]) == "split -> merge"
    assert ordering(plan.regions[0]) == expected


def test_every_exit_gets_only_some_of_the_numbers() -> None:
    sums = items((1, 1)).process(Running, key="k", out=Item, outputs={"rest": Item})
    plan = plan_of(sums.collect("out"), sums.outputs.rest.collect("rest"))
    assert joints(plan.regions[0]) == "split -> merge"
    assert ordering(plan.regions[0]) == "strict-seqno-pulse"


@pytest.mark.parametrize("ordered", [True, False])
def test_an_order_may_be_observed_behind_any_exit(ordered: bool) -> None:
    """Of two sinks without an order each may refuse a tuple, and the order says which did so first."""
    doubled = items((1, 1)).map(double, on_error="dead_letter")
    plan = plan_of(
        doubled.collect("out", ordered=False), doubled.outputs.dead_letter.collect("letters", ordered=ordered)
    )
    assert joints(plan.regions[0]) == "split -> sink"
    assert ordering(plan.regions[0]) == "strict-seqno-pulse"


def figure_1(*, ordered: bool) -> Plan:
    class Entry(NamedTuple):
        uid: int
        server: str
        ts: float

    class Summary(NamedTuple):
        uid: int
        total: int

    logs = ab.from_items(Entry, [Entry(1, "a", 0.0)], partition_by="server").named("Msgs")
    sums = logs.window(ab.tumbling(seconds=5, on="ts", clock="key"), key="uid")
    suspects = sums.aggregate(Summary, uid=ab.any_("uid"), total=ab.count()).named("Sums")
    return plan_of(suspects.filter(lambda s: s.total > 100).named("Suspects").collect("Sink", ordered=ordered))


def test_figure_1_has_a_parallel_source_a_shuffle_and_a_merge() -> None:
    plan = figure_1(ordered=True)
    assert [region.operators for region in plan.regions] == [("Msgs",), ("Sums", "Suspects")]
    assert [region.key for region in plan.regions] == [("server",), ("uid",)]
    assert [joints(region) for region in plan.regions] == ["source -> shuffle", "shuffle -> merge"]
    assert "Sink" in plan.sequential


def test_with_an_unordered_sink_figure_1_ends_in_a_parallel_sink() -> None:
    plan = figure_1(ordered=False)
    assert plan.regions[-1].operators == ("Sums", "Suspects", "Sink")
    assert joints(plan.regions[-1]) == "shuffle -> sink"
    assert ordering(plan.regions[-1]) == "none"


def test_order_is_kept_on_the_way_to_a_window_even_if_the_sink_is_unordered() -> None:
    """Which tuples are late depends on the order they arrive in, so the window observes it."""
    assert ordering(figure_1(ordered=False).regions[0]) == "strict-seqno-pulse"


def test_between_a_parallel_source_and_a_parallel_sink_no_order_is_kept() -> None:
    source = items((1, 1), partition_by="k")
    plan = plan_of(source.map(double).filter(is_positive).collect("out", ordered=False))
    assert [joints(region) for region in plan.regions] == ["source -> sink"]
    assert ordering(plan.regions[0]) == "none"
    [phase] = plan.phases
    assert not phase.layout.is_ordered


@pytest.mark.parametrize("second", [True, False])
def test_of_two_sinks_it_shows_which_refuses_a_tuple_first_so_the_order_is_kept(second: bool) -> None:
    stream = items((1, 1), partition_by="k").process(Running, key="k").named("keyed")
    plan = plan_of(stream.collect("one", ordered=False), stream.collect("two", ordered=second))
    [phase] = plan.phases
    assert phase.layout.is_ordered
    assert ordering(region_with(plan, "keyed")) == "seqno"


def test_a_layout_without_an_order_behind_a_region_that_restores_it_is_refused() -> None:
    plan = plan_of(keyed(items((1, 1))).collect("out", ordered=False))
    [region] = plan.regions
    verify_plan(plan)
    with pytest.raises(BuildError, match="what R1 gives is not put in order, but its ordering is another"):
        verify_plan(replace(plan, regions=(replace(region, ordering=Ordering.SEQNO),)))


def test_a_layout_that_restores_the_order_behind_a_region_that_needs_none_is_refused() -> None:
    plan = plan_of(keyed(items((1, 1))).collect("out"))
    [region] = plan.regions
    with pytest.raises(BuildError, match="what R1 gives is put in order, but its ordering is another"):
        verify_plan(replace(plan, regions=(replace(region, ordering=Ordering.NONE),)))


def from_a_file() -> ab.Stream[Item]:
    """What tasks can read, so that the plan is one in channels."""
    return ab.read_csv("items.csv", Item)


def test_what_runs_beside_an_unordered_sink_may_fail_so_what_comes_there_is_put_in_order() -> None:
    sums = keyed(from_a_file())
    plan = plan_of(sums.filter(is_positive).union(sums.map(double)).collect("out", ordered=False), until="layout")
    assert plan.phases[0].layout.place(TAIL).operators == ("union",)
    assert plan.phases[0].layout.is_ordered
    assert [ordering(region_with(plan, each)) for each in ("is_positive", "double")] == [
        "strict-seqno-pulse",
        "round-robin",
    ]


def test_a_region_that_is_in_the_tail_is_put_in_order_and_laid_out_in_channels_again_it_is_not() -> None:
    plan = plan_of(keyed(from_a_file()).process(Last, key="l").collect("out", ordered=False))
    assert ordering(region_with(plan, "Last")) == "none"
    in_one_place = lay_out.apply(replace(plan, light=MappingProxyType({"Last": "it is light"})))
    assert ordering(region_with(in_one_place, "Last")) == "strict-seqno-pulse"
    assert ordering(region_with(lay_out.apply(replace(in_one_place, light={})), "Last")) == "none"


def test_where_one_way_out_of_a_region_needs_an_order_all_are_put_in_order() -> None:
    """Nothing takes what `second` gives, but it may fail."""

    @ab.app
    def program() -> None:
        first = keyed(from_a_file())
        first.map(double).process(Running, key="l").named("second")
        first.collect("out", ordered=False)

    plan = plan_of(program)
    assert ordering(region_with(plan, "keyed")) == "seqno"
    assert plan.phases[0].layout.is_ordered


def test_gaps_accumulate_over_a_shuffle() -> None:
    """A 1:1 keyed region behind a filter region: the numbers the filter dropped are missing at the merge."""
    stream = items((1, 1)).process(Running, key="k").filter(is_positive).process(Running, key="l").named("last")
    plan = plan_of(stream.collect("out"))
    assert [joints(region) for region in plan.regions] == ["split -> shuffle", "shuffle -> merge"]
    assert ordering(region_with(plan, "last")) == "strict-seqno-pulse"


def test_a_merge_numbers_afresh() -> None:
    """Behind a merge gaps are gone: a region that follows a sequential operator starts from its own splitter."""
    filtered = items((1, 1)).filter(is_positive).process(Running).process(Running, key="k").named("last")
    assert ordering(region_with(plan_of(filtered.collect("out")), "last")) == "seqno"


def test_behind_a_shuffle_every_channel_sees_gaps() -> None:
    stream = items((1, 1)).process(Running, key="k").named("first").process(Running, key="l").named("second")
    plan = plan_of(stream.collect("out"))
    assert ordering(region_with(plan, "first")) == "strict-seqno-pulse"
    assert ordering(region_with(plan, "second")) == "seqno"


def test_duplicates_accumulate_over_a_shuffle_and_may_sit_on_any_channel() -> None:
    stream = items((1, 1)).process(Repeat, key="k").process(Running, key="l").named("last")
    region = region_with(plan_of(stream.collect("out")), "last")
    assert ordering(region) == "relaxed-seqno-pulse"
    assert any("waits until all are past" in reason.text for reason in region.reasons)


def test_skipping_errors_makes_a_region_selective() -> None:
    plan = plan_of(items((1, 1)).map(double, on_error="skip").collect("out"))
    assert ordering(plan.regions[0]) == "strict-seqno-pulse"
