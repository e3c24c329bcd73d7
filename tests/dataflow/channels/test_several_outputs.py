"""Operators of each kind with several outputs have channels, and what leaves on these is in the oracle's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.graph.places import Layout
from anabranch.graph.settings import Settings, Target
from anabranch.run import as_program
from tests.codegen.palette import Item, Running, aggregated, twice
from tests.dataflow.channels.test_several_outputs_exactly import (
    COUNTS,
    NAMED,
    TIMES,
    Closing,
    Exchange,
    Failing,
    Product,
    Sorted,
    Sums,
    chosen,
    from_letter,
    letters,
    parted,
    product,
)
from tests.dataflow.outcomes import expected, on_simulated, outcome
from tests.dataflow.simulated import Simulated

MANY = [
    Item(1 + at * 7 % 10, 0.5, "abcdef"[at * 5 % 6], None, at / 3 - (4.0 if at % 5 == 0 else 0.0)) for at in range(70)
]
KINDS: dict[str, Callable[[Any], list[Any]]] = {
    "dead letters of a function": lambda one: letters(one.map(reciprocal, on_error="dead_letter")),
    "dead letters of instances": lambda one: letters(one.process(Failing, key="s", on_error="dead_letter")),
    "named outputs": lambda one: outputs(one.process(Sums, key="s", out=Item, outputs=NAMED)),
    "named outputs of a function": lambda one: outputs(one.process(parted, out=Item, outputs=NAMED, on_error="skip")),
    "several inputs": lambda one: exchanged(one),
    "what is given at the end": lambda one: letters(
        one.process(Closing, key="s", out=Item, outputs=NAMED, on_error="dead_letter")
    ),
    "what is given at punctuations": lambda one: outputs(
        one.punctuate(count=7).process(Closing, key="n", out=Item, outputs=NAMED, on_error="skip")
    ),
    "a split": lambda one: [*one.split(chosen, ["one", "two", "none"])],
    "a split that fails": lambda one: [*one.split({"one": product, "two": lambda item: True}, on_error="dead_letter")],
    "late tuples": lambda one: late_of(one.window(TIMES[0], key="s", late="late")),
    "late tuples by groups": lambda one: late_of(one.window(TIMES[1], key="s", late="late"), group_by="n"),
    "dead letters of windows": lambda one: letters(windowed(one.window(TIMES[1], key="s"))),
    "dead letters of windows by count": lambda one: letters(windowed(one.window(COUNTS[1], key="s"))),
    "late tuples and dead letters": lambda one: late_and_letters(one.window(TIMES[0], key="s", late="late")),
}


def reciprocal(item: Item) -> Item:
    return item._replace(x=1 / (item.n - 3))


def outputs(found: Any) -> list[Any]:
    return [found.outputs.rest, found, found.outputs.odd]


def exchanged(one: Any) -> list[Any]:
    found = ab.connect(Exchange, key="n", one=one, two=one, out=Item, outputs={"rest": Item}, on_error="skip")
    return [found.outputs.rest, found]


def late_of(window: Any, **options: Any) -> list[Any]:
    columns = {"n": ab.any_("n"), "x": ab.max_("x"), "s": ab.last("s"), "maybe": ab.sum_("n"), "ts": ab.max_("ts")}
    if not options:
        columns["n"] = ab.count()
    found = window.aggregate(Item, **columns, **options)
    return [found.outputs.late, found]


def windowed(window: Any) -> Any:
    return window.aggregate(
        Item, n=ab.count(), x=ab.max_("x"), s=ab.last("s"), maybe=Product, ts=ab.max_("ts"), on_error="dead_letter"
    )


def late_and_letters(window: Any) -> list[Any]:
    found = windowed(window)
    return [found.outputs.late, *letters(found)]


def as_items(stream: Any) -> Any:
    return stream.map(from_letter) if stream._schema().type is ab.DeadLetter else stream


def met(kind: str, *, has_regions_behind: bool = False) -> Graph:
    """What leaves on all outputs meets again; perhaps one of them has been in channels of its own since."""
    ways = [as_items(each) for each in KINDS[kind](ab.from_items(Item, MANY))]
    if has_regions_behind:
        ways[0] = ways[0].process(Running, key="n")
        ways[-1] = ways[-1].flat_map(twice, out=Item)
    return as_program(ways[0].union(*ways[1:]).collect("out"), ways[0].collect("first")).graph


def placed(graph: Graph, *, reads_slices: bool = False) -> Layout:
    target = Target("spark", 2, reads_slices=reads_slices, writes_parts=False)
    return compile(graph, Settings(target)).phases[0].layout


@pytest.mark.parametrize("kind", KINDS)
def test_an_operator_with_several_outputs_has_channels(kind: str) -> None:
    layout = placed(met(kind))
    assert not layout.refused
    assert any(place.region and place.channels == 2 and len(place.outputs) > 1 for place in layout.places)


@pytest.mark.parametrize("has_regions_behind", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_leaves_on_several_outputs_meets_in_the_oracles_order(kind: str, has_regions_behind: bool) -> None:
    graph = met(kind, has_regions_behind=has_regions_behind)
    wanted = expected(graph)
    assert wanted[0]["out"][1]
    for channels, stretch in ((1, 7), (2, 1), (2, 30), (3, 4), (3, 100)):
        assert on_simulated(graph, channels, stretch) == wanted


def test_channels_agree_on_where_a_stream_ends_among_the_outputs() -> None:
    """What is behind it gives what it has at the end in the order of the keys, whichever channels these are in."""
    ways = exchanged(ab.from_items(Item, MANY))
    behind = aggregated(ways[0].process(Running, key="n").window(ab.tumbling(count=4), key="s"))
    graph = as_program(ways[1].union(behind).collect("out")).graph
    for seed in range(6):
        assert on_simulated(graph, 3, 100, seed=seed) == expected(graph)


def test_a_tuple_that_stops_the_run_takes_along_what_comes_behind_it_on_other_outputs() -> None:
    """What follows on one output fails at a tuple: what was given before is there, and what was given behind is not."""
    found = ab.from_items(Item, MANY).process(Sorted, key="s", out=Item, outputs=NAMED, on_error="skip")
    fails = found.map(lambda item: item._replace(x=1 / (item.maybe - 4)), out=Item)
    ways = [found.outputs.odd, fails, found.outputs.rest]
    graph = as_program(*(way.collect(f"out_{at}") for at, way in enumerate(ways))).graph
    wanted = expected(graph)
    assert wanted[1] is not None
    for channels, stretch in ((1, 7), (2, 1), (2, 30), (3, 100)):
        assert on_simulated(graph, channels, stretch) == wanted


def test_a_region_goes_on_behind_the_main_output() -> None:
    found = ab.from_items(Item, MANY).process(Failing, key="s", on_error="dead_letter")
    kept = found.filter(lambda item: item.n > 3).process(Running, key="s")
    layout = placed(as_program(kept.collect("out"), found.outputs.dead_letter.collect("letters")).graph)
    [place] = [place for place in layout.places if place.region]
    assert place.operators == ("Failing", "filter", "Running")
    assert [stream.operator for stream in place.outputs] == ["Running", "Failing"]


def test_nothing_is_known_of_the_order_of_groups_that_nobody_takes() -> None:
    window = ab.from_items(Item, MANY).window(TIMES[0], key="s", late="late")
    late = late_of(window, group_by="n")[0]
    graph = as_program(late.collect("out")).graph
    assert [why for _, why in placed(graph).refused] == [
        "nothing takes the groups of 'aggregate', and in their order it may fail"
    ]
    assert on_simulated(graph, 2, 7) == expected(graph)


class Large:
    """Even numbers soon come to more than 64 bits; odd ones never do."""

    def __init__(self) -> None:
        self.total = 2**61

    def process(self, item: Item) -> Iterator[Any]:
        self.total = self.total + 1 if item.n % 2 else self.total * 2
        yield ab.to("odd", Item(item.n, item.x, item.s, item.maybe, item.ts))
        if self.total % 2:
            yield Item(item.n, item.x, item.s, 1, item.ts)
        yield ab.to("rest", item)


def test_channels_agree_on_where_punctuations_are_whichever_form_they_are_in() -> None:
    """Numbers beyond 64 bits make native code give way to the Python form, in one channel before another."""
    found = ab.from_items(Item, MANY).punctuate(count=5).process(Large, key="n", out=Item, outputs=NAMED)
    ways = [each.process(Running, key="s") for each in outputs(found)]
    graph = as_program(ways[0].union(*ways[1:]).collect("out")).graph
    plan = compile(graph, Settings(Target("spark", 2), expected=10**9))
    for seed in range(3):
        metrics = Metrics()
        ran = outcome(run_on, Simulated(seed=seed), plan, metrics, channels=3, stretch=9)
        assert ran == expected(graph)
        assert any("native" in note for note in metrics.notes), metrics.notes


class Quotient:
    """Native code gives the one output, and the oracle, to which it hands over what fails, the other."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += 1
        yield Item(self.seen // (item.n - 4), item.x, item.s, item.maybe, item.ts)


@pytest.mark.parametrize("seed", range(3))
def test_what_only_the_oracle_gives_on_an_output_of_native_code_has_its_place(seed: int) -> None:
    quotients = ab.from_items(Item, MANY).process(Quotient, key="n", on_error="dead_letter")
    graph = as_program(quotients.collect("out"), quotients.outputs.dead_letter.collect("letters")).graph
    found = outcome(run_on, Simulated(seed=seed), compile(graph), Metrics(), "native", channels=2, stretch=20)
    assert found == expected(graph)
    assert len(found[0]["letters"][1]) == 7
