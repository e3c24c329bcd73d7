"""A running maximum without a key is in one place, but tuples that cannot be one are left out where they are.

The same tuples, figures and errors come out as in the oracle, however the tuples before it are laid out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph, Program
from anabranch.graph.settings import Settings, Target
from anabranch.operators.process import Process
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated, fusion_by
from tests.examples_drawn import drawn


class Bid(NamedTuple):
    auction: int
    price: int
    rating: float
    name: str
    at: datetime
    day: date
    maybe: int | None


class Top(NamedTuple):
    price: int
    number: int


class Highest:
    def __init__(self) -> None:
        self.highest = -1

    def process(self, bid: Bid) -> Iterator[Bid]:
        """As it stands in the documentation."""
        if bid.price > self.highest:
            self.highest = bid.price
            yield bid


class AsHigh:
    """Counts those that are as high as the highest."""

    def __init__(self) -> None:
        self.price: int | None = None
        self.number = 0

    def process(self, bid: Bid) -> Iterator[Top]:
        if self.price is None or bid.price >= self.price:
            self.number += 1
            self.price = bid.price
            yield Top(bid.price, self.number)


class Lowest:
    def __init__(self) -> None:
        self.rating = math.inf

    def process(self, bid: Bid) -> Bid | None:
        if self.rating > bid.rating:
            self.rating = bid.rating
            return bid


class LastName:
    def __init__(self) -> None:
        self.name = ""

    def process(self, bid: Bid) -> Iterator[Bid]:
        if self.name < bid.name:
            before = self.name
            self.name = bid.name
            yield Bid(bid.auction, bid.price, bid.rating, before, bid.at, bid.day, None)


class Failing:
    """Where the highest is 7 it fails."""

    def __init__(self) -> None:
        self.highest = -1

    def process(self, bid: Bid) -> Iterator[Top]:
        if bid.price > self.highest:
            self.highest = bid.price
            yield Top(bid.price, 100 // (bid.price - 7))


class Wrong:
    """What it compares with is no number: it fails at the first tuple."""

    def __init__(self) -> None:
        self.name = 5

    def process(self, bid: Bid) -> Iterator[Bid]:
        if bid.name > self.name:  # type: ignore[operator]
            self.name = bid.name  # type: ignore[assignment]
            yield bid


class Counting:
    """Gives several of one."""

    def __init__(self) -> None:
        self.total = 0

    def process(self, bid: Bid) -> Iterator[Bid]:
        self.total += 1
        for _ in range(self.total % 3):
            yield bid._replace(price=bid.price + self.total % 5)


START = datetime(2024, 1, 1)
OPERATORS: tuple[tuple[Any, Any], ...] = (
    (Highest, Bid), (AsHigh, Top), (Lowest, Bid), (LastName, Bid), (Failing, Top),
)  # fmt: skip


def bid(price: int, **other: Any) -> Bid:
    return Bid(price % 5, price, float(price), chr(97 + price % 26), START, START.date(), None)._replace(**other)


def bids(chance: random.Random, count: int) -> list[Bid]:
    """Prices rise, so that there are new records to the end."""
    ratings = [0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf]
    return [
        bid(max(0, at // 3 + chance.choice([-9, -2, 0, 1])), rating=chance.choice(ratings) - at, auction=at % 5)
        for at in range(count)
    ]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    chance = random.Random(draw(st.integers(0, 10**6)))
    stream: Any = ab.from_items(Bid, bids(chance, draw(st.sampled_from([0, 1, 20, 60]))))
    match draw(st.sampled_from(["read", "map", "keyed", "prolific", "window", "two", "parting"])):
        case "map":
            stream = stream.map(lambda one: one._replace(price=one.price + 1), out=Bid)
        case "keyed":
            stream = stream.process(Counting, key="auction")
        case "prolific":
            stream = stream.flat_map(lambda one: [one, one._replace(price=one.price + 2)][: one.price % 3], out=Bid)
        case "window":
            window = stream.window(ab.tumbling(delta=4, on="price"), key="auction")
            names = ("auction", "rating", "name", "at", "day", "maybe")
            stream = window.aggregate(Bid, price=ab.max_("price"), **{name: ab.last(name) for name in names})
        case "two":
            stream = stream.union(ab.from_items(Bid, bids(chance, 30)))
        case "parting":
            stream = stream.split({"some": lambda one: one.price % 3 != 1}).some
    operator, out = draw(st.sampled_from(OPERATORS))
    found = stream.process(operator, out=out)
    if draw(st.booleans()):
        found = found.filter(lambda one: one.price % 4 != 1)
    sinks = [found.collect("out")]
    if draw(st.booleans()):
        sinks.append(stream.collect("all"))
    if draw(st.booleans()):
        sinks.append(found.process(AgainTop if out is Top else Highest, out=out).collect("again"))
    return as_program(*sinks)


class AgainTop:
    def __init__(self) -> None:
        self.number = -(10**9)

    def process(self, top: Top) -> Iterator[Top]:
        if top.number > self.number:
            self.number = top.number
            yield top


class Pair(NamedTuple):
    key: int
    value: int


class Most:
    def __init__(self) -> None:
        self.value = 0

    def process(self, pair: Pair) -> Iterator[Pair]:
        if pair.value > self.value:
            self.value = pair.value
            yield pair


def has_candidates(graph: Graph) -> bool:
    return bool(compile(graph).phases[-1].layout.first_steps)


@drawn(30)
@given(
    programs(),
    st.integers(1, 3),
    st.sampled_from([1, 2, 7, 100]),
    st.integers(0, 9),
    st.sampled_from(["python", "auto"]),
)
def test_random_programs(program: Program, channels: int, stretch: int, seed: int, form: str) -> None:
    cluster = Simulated(readers=1 + seed % 3, seed=seed)
    options = {"channels": channels, "stretch": stretch, "fuse": fusion_by(seed)}
    assert outcome(run_on, cluster, compile(program.graph), Metrics(), form, **options) == expected(program.graph)


@pytest.mark.parametrize(("operator", "out"), [*OPERATORS, (Wrong, Bid)])
@pytest.mark.parametrize("stretch", [1, 8, 1000])
def test_what_comes_out_what_is_counted_and_the_error_are_the_oracles(operator: Any, out: Any, stretch: int) -> None:
    rising = [bid(max(at // 5 - at % 4, 0)) for at in range(200)]
    graph = as_program(ab.from_items(Bid, rising).process(operator, out=out).collect("out")).graph
    own, metrics = Metrics(), Metrics()
    wanted = outcome(sequential.run, graph, own)
    for channels in (1, 2, 3):
        metrics = Metrics()
        assert outcome(run_on, Simulated(), compile(graph), metrics, channels=channels, stretch=stretch) == wanted
        if wanted[1] is None:
            name = compile(graph).graph.operators[1].id
            assert metrics[name] == own[name]


def test_few_tuples_go_on() -> None:
    graph = as_program(ab.from_items(Bid, [bid(at) for at in range(999, -1, -1)]).process(Highest).collect("out")).graph
    cluster = Simulated()
    result = run_on(cluster, compile(graph), Metrics(), channels=2, stretch=100)
    assert result.items("out") == [bid(999)]
    assert cluster.last is not None
    [arrival] = cluster.last.layout.arriving("tail")
    assert arrival.stream.operator == "Highest: candidates"


def test_native_code_finds_them_too() -> None:
    graph = as_program(
        ab.from_items(Pair, [Pair(at % 7, at // 2) for at in range(90)]).process(Most).collect("out")
    ).graph
    for stretch in (8, 1000):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "native", channels=2, stretch=stretch)
        assert found == expected(graph)


def test_they_are_left_out_in_channels_by_any_key() -> None:
    keyed: Any = ab.from_items(Bid, [bid(at) for at in range(50)]).process(Counting, key="auction")
    graph = as_program(keyed.process(Highest).collect("out")).graph
    [place] = [each for each in compile(graph).phases[0].layout.places if "Highest: candidates" in each.operators]
    assert (place.follows, place.region, place.level) == ("R1", "R1", 1)


def test_the_explanation_says_so() -> None:
    explanation = ab.explain(ab.from_items(Bid, []).process(Highest).collect("out"))
    texts = [why.text for why in explanation.why_not("Highest")]
    assert texts == ["it is in one place, but what is not the most of an epoch is left out where its tuples are"]
    assert "║ ○ Highest: candidates" in str(explanation)


class HighestSoFar:
    """Gives a tuple for each."""

    def __init__(self) -> None:
        self.value = 0

    def process(self, bid: Bid) -> Iterator[Bid]:
        self.value = max(self.value, bid.price)
        yield bid._replace(price=self.value)


class HighestKept:
    def __init__(self) -> None:
        self.value = 0

    def process(self, bid: Bid) -> Iterator[Bid]:
        if bid.price > self.value:
            self.value = bid.price
        yield bid._replace(price=self.value)


def why_whole(stream: Any, target: Target = Target("spark", cores=2)) -> str:
    plan = compile(as_program(stream.collect("out")).graph, Settings(target))
    assert not plan.phases[0].layout.first_steps
    [operator] = [each.id for each in plan.graph.operators if isinstance(each.definition, Process)]
    [why] = [each.text for each in plan.sequential[operator] if each.about == "parts"]
    return why.removeprefix("it is not computed in two steps: ")


@pytest.mark.parametrize("operator", [HighestSoFar, HighestKept])
def test_who_gives_something_for_other_tuples_gets_all_and_is_told_so(operator: Any) -> None:
    why = why_whole(ab.from_items(Bid, [bid(1)]).process(operator, out=Bid))
    assert why.startswith("it keeps the largest or smallest so far (`self.value`), but it is not plain to see that it")


def test_whoever_passes_over_failures_gets_all_tuples() -> None:
    found = ab.from_items(Bid, [bid(1)]).process(Highest, out=Bid, on_error="skip")
    assert why_whole(found) == 'with on_error="skip" tuples that fail have to be passed over one by one'
    punctuated = ab.from_items(Bid, [bid(1)]).punctuate(count=1).process(Highest, out=Bid)
    assert why_whole(punctuated) == "there are punctuations between the tuples"


def test_a_stream_is_told_that_only_runs_have_two_steps() -> None:
    highest = ab.from_items(Bid, [bid(1)]).process(Highest)
    assert (
        why_whole(highest, Target("spark", cores=2, is_endless=True))
        == "it is in a stream, and only runs have two steps"
    )
