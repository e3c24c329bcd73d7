"""A region is in channels where these save more than the exchange before it costs, or where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.layout.weigh_channels import Weight
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.explain import Explanation
from anabranch.graph.model import Graph
from anabranch.graph.places import TAIL
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Settings, Target
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated

TWO = Settings(Target("spark", cores=2), expected=10_000_000)


class Item(NamedTuple):
    key: int
    value: int


class Total:
    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.total = (self.total + item.value) % 1_003
        yield Item(item.key, self.total)


class Mixed:
    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        total = self.total
        for _ in range(item.value):
            total = (total * 31 + item.value) % 1_003 + (total * 17 + item.key) % 1_003
            total = (total * 13 + item.value) % 1_003 + (total * 11 + item.key) % 1_003
        self.total = total
        yield Item(item.key, total)


def several(item: Item) -> Iterator[Item]:
    yield item
    yield Item(item.key + 1, item.value)


class Named:
    """It has no native form."""

    def process(self, item: Item) -> Iterator[Item]:
        yield Item(len(f"{item.key:>9}"), item.value)


def items(count: int = 200) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n % 7, n % 13) for n in range(count)])


def graph_of(stream: ab.Stream[Any]) -> Graph:
    return as_program(stream.collect("out")).graph


def planned(stream: ab.Stream[Any], settings: Settings = TWO) -> Plan:
    return compile(graph_of(stream), settings)


def in_the_tail(plan: Plan) -> tuple[str, ...]:
    return plan.phases[0].layout.place(TAIL).operators


def test_light_work_is_done_where_all_meets() -> None:
    plan = planned(items().process(Total, key="key"))
    assert in_the_tail(plan) == ("Total",)
    assert plan.phases[0].layout.levels == ()
    assert list(plan.light) == ["Total"]


def test_what_tasks_do_where_they_read_stays_there() -> None:
    plan = planned(items().filter(lambda item: item.value > 3).process(Total, key="key"))
    assert plan.phases[0].layout.places[0].operators == ("from_items", "filter")
    assert in_the_tail(plan) == ("Total",)


@pytest.mark.parametrize("channels", [2, {"R1": 2}])
def test_channels_that_are_asked_for_are_had(channels: Any) -> None:
    plan = planned(items().process(Total, key="key"), replace(TWO, channels=channels))
    assert plan.phases[0].layout.place("R1").channels == 2
    assert not plan.light
    assert not plan.worth  # nobody has weighed it


def test_more_channels_save_more() -> None:
    plan = planned(items().process(Total, key="key"), replace(TWO, target=Target("spark", cores=16)))
    assert plan.phases[0].layout.place("R1").channels == 16
    assert list(plan.worth) == ["R1"]


@pytest.mark.parametrize(
    ("operator", "settings"),
    [
        pytest.param(Mixed, TWO, id="more work"),
        pytest.param(Named, TWO, id="no native form"),
        pytest.param(Total, replace(TWO, form="python"), id="rows of Python"),
        pytest.param(Total, replace(TWO, expected=1_000), id="too few tuples for native code"),
        pytest.param(Total, replace(TWO, target=Target("spark", cores=2, is_endless=True)), id="a stream"),
    ],
)
def test_what_is_not_certainly_light_is_in_channels(operator: Any, settings: Settings) -> None:
    plan = planned(items().process(operator, key="key"), settings)
    assert plan.phases[0].layout.place("R1").channels == 2


def test_what_feeds_other_channels_stays_in_its_own_and_is_not_weighed() -> None:
    plan = planned(items().process(Total, key="key").process(Mixed, key="value"))
    assert [place.region for place in plan.phases[0].layout.places if place.region] == ["R1", "R2"]
    assert list(plan.unweighed) == ["R1"]
    said = "not weighed: R1: its tuples go on to other channels, and would be exchanged all the same"
    assert said in " ".join(Explanation(plan, "weigh").to_text(200).split())
    assert not planned(
        items().process(Total, key="key").process(Mixed, key="value"), replace(TWO, channels=2)
    ).unweighed


BETWEEN = [
    pytest.param(lambda it: it.process(Total).process(Total, key="key"), "behind", id="behind what is in one place"),
    pytest.param(lambda it: it.process(Total, key="key").process(Total), "before", id="before what is in one place"),
]


@pytest.mark.parametrize(("before", "which"), BETWEEN)
@pytest.mark.parametrize("stretch", [1, 7, 1_000])
def test_light_work_between_channels_is_done_beside_it(before: Any, which: str, stretch: int) -> None:
    graph = graph_of(before(items()).process(Mixed, key="value"))
    plan = compile(graph, TWO)
    assert [place.id for place in plan.phases[0].layout.places] == ["sources", "S1", "R2", "tail"]
    assert plan.phases[0].layout.place("S1").operators == ("Total", "Total_2")
    assert list(plan.light) == ["Total_2" if which == "behind" else "Total"]
    metrics = Metrics()
    metrics.start(graph)
    assert outcome(execute, RunConfig(Simulated(), plan, metrics, stretch)) == expected(graph)
    asked = compile(graph, replace(TWO, channels=2))
    assert asked.phases[0].layout.place("R1").channels == 2


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(lambda it: it.process(Total).process(Mixed, key="key"), id="more work"),
        pytest.param(lambda it: it.process(Named).process(Total, key="key"), id="rows of Python beside it"),
        pytest.param(lambda it: it.process(Total).flat_map(several, out=Item), id="it makes several of one"),
    ],
)
def test_what_is_not_certainly_lighter_beside_one_place_is_in_channels(before: Any) -> None:
    plan = planned(before(items()).process(Mixed, key="value"))
    assert not plan.light


def test_light_work_stays_in_channels_where_rows_of_python_would_be_made_for_it() -> None:
    """What follows in one place has no native form."""
    behind = items().process(Total, key="key").window(ab.tumbling(count=3)).aggregate(All, values=ab.collect("value"))
    plan = planned(behind)
    assert plan.phases[0].layout.place("R1").channels == 2


class All(NamedTuple):
    values: list[int]


class Count(NamedTuple):
    count: int


def test_parts_of_windows_are_weighed_with_what_they_are_made_of() -> None:
    stream = items().map(lambda item: Item(item.key, item.value + 1), out=Item)
    windows = stream.window(ab.tumbling(delta=3, on="value"))
    settings = Settings(Target("spark", cores=2, reads_slices=False), expected=10_000_000)
    plan = planned(windows.aggregate(Count, count=ab.count()), settings)
    assert in_the_tail(plan) == ("map", "aggregate")
    assert list(plan.light) == ["map"]
    asked = planned(windows.aggregate(Count, count=ab.count()), replace(settings, channels=2))
    assert asked.phases[0].layout.first_steps == (("aggregate", "aggregate: parts"),)


@pytest.mark.parametrize(("slide", "is_light"), [(30, True), (1, False)])
def test_windows_that_overlap_much_are_much_work(slide: int, is_light: bool) -> None:
    window = items().window(ab.sliding(delta=60, slide=slide, on="value"), key="key")
    plan = planned(window.aggregate(Count, count=ab.count()), TWO)
    assert ("aggregate" in plan.light) == is_light


def test_the_figures_are_shown_wherever_the_plan_is() -> None:
    explanation = Explanation(planned(items().process(Total, key="key")), "weigh")
    said = "for each tuple 2 channels save about 24 ns and cost 150 ns (--channels R1=2 asks for them)"
    assert f"not worth its channels: R1: {said}" in explanation.to_text(200)
    assert said in explanation.to_html()
    assert explanation.to_dict()["phases"][0]["light"] == {"Total": said}
    [why] = explanation.why_not("Total")
    assert why.text == f"R1 is not worth its channels: {said}"
    heavy = Explanation(planned(items().process(Mixed, key="key")), "weigh")
    assert "worth its channels: R1: for each tuple 2 channels save about" in heavy.to_text(200)
    assert list(heavy.to_dict()["phases"][0]["worth"]) == ["R1"]


def test_what_is_dropped_counts_where_it_need_not_be_taken() -> None:
    assert not Weight(channels=2, work=100, exchange=150).pays
    assert Weight(channels=2, work=100, exchange=150, taking=30).pays
    assert Weight(channels=2, work=200, exchange=150).pays
    assert Weight(channels=4, work=100, exchange=150).pays
    assert not Weight(channels=1, work=10_000, exchange=150).pays


@pytest.mark.parametrize("stretch", [1, 7, 1_000])
def test_light_work_gives_the_tuples_of_the_oracle(stretch: int) -> None:
    light = graph_of(items().filter(lambda item: item.value != 5).process(Total, key="key"))
    plan = compile(light, TWO)
    assert plan.light
    metrics = Metrics()
    metrics.start(light)
    assert outcome(execute, RunConfig(Simulated(), plan, metrics, stretch)) == expected(light)
