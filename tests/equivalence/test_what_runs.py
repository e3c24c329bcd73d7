"""What is shown is what runs: what tasks and the driver really called and sent is what the plan's JSON says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.executed import Ran
from anabranch.dataflow.result import Metrics
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.session.session import SparkOptions, session_for
from anabranch.explain import Explanation
from anabranch.graph.model import Graph
from anabranch.graph.settings import FUSIONS
from anabranch.run import as_program
from tests.dataflow.channels.test_several_outputs import KINDS, met
from tests.dataflow.simulated import Simulated
from tests.equivalence.shown_facts import shown
from tests.equivalence.test_examples import EXAMPLES, program_of


@pytest.mark.parametrize(("channels", "fuse"), [(1, "all"), (2, "all"), (3, "all"), (2, "none")])
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_an_example_executes_is_what_its_plan_shows(
    example: str, channels: int, fuse: str, tmp_path: Path
) -> None:
    program = program_of(example, tmp_path)()
    metrics = Metrics()
    result = run_on(Simulated(), compile(program.graph), metrics, channels=channels, stretch=50, fuse=fuse)
    assert set(metrics.executed) == shown(result.plan)


@pytest.mark.parametrize("fuse", FUSIONS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_an_example_executes_in_one_process_is_what_its_plan_shows(
    example: str, fuse: str, tmp_path: Path
) -> None:
    metrics = Metrics()
    result = fused.run(program_of(example, tmp_path)().graph, metrics, fuse=fuse)
    assert set(metrics.executed) == shown(result.plan)


@pytest.mark.parametrize("kind", KINDS)
def test_what_operators_with_several_outputs_execute_is_what_their_plan_shows(kind: str) -> None:
    metrics = Metrics()
    result = run_on(Simulated(), compile(met(kind, has_regions_behind=True)), metrics, channels=2, stretch=9)
    assert set(metrics.executed) == shown(result.plan)


class Bid(NamedTuple):
    auction: int
    price: int
    ts: int


class Highest(NamedTuple):
    auction: int
    price: int
    bids: int
    until: int


def in_two_steps() -> Graph:
    """The windows of the first aggregate, without a key, are put together of parts."""
    bids = ab.from_items(Bid, [Bid(n % 7, n * n % 101, n // 3 - n % 5) for n in range(3000)])
    windows = bids.window(ab.tumbling(seconds=10, on="ts"))
    highest = windows.aggregate(
        Highest, auction=ab.arg_max("auction", "price"), price=ab.max_("price"), bids=ab.count(), until=ab.window_end()
    )
    per_auction = highest.window(ab.tumbling(seconds=100, on="until"), key="auction")
    counted = per_auction.aggregate(Highest, price=ab.max_("price"), bids=ab.count(), until=ab.last("until"))
    return as_program(counted.collect("out")).graph


@pytest.mark.parametrize(("channels", "fuse"), [(1, "all"), (2, "all"), (3, "none")])
def test_what_is_executed_in_two_steps_is_what_the_plan_shows(channels: int, fuse: str) -> None:
    graph, metrics = in_two_steps(), Metrics()
    result = run_on(Simulated(), compile(graph), metrics, channels=channels, stretch=100, fuse=fuse)
    assert result.plan.phases[0].layout.first_steps == (("aggregate", "aggregate: parts"),)
    assert set(metrics.executed) == shown(result.plan)
    assert result.items("out") == sequential.run(graph).items("out")


class Pair(NamedTuple):
    left: Bid
    right: Bid


def by_time(kind: str) -> Graph:
    """An operator that asks for the time of its streams in all channels."""
    bids = ab.from_items(Bid, [Bid(n % 7, n * n % 101, n // 3) for n in range(600)])
    recent = ab.sliding(seconds=10, on="ts")
    if kind == "boundaries":
        windows = bids.window(ab.tumbling(seconds=10, on="ts"), key="auction")
        highest = windows.aggregate(Highest, price=ab.max_("price"), bids=ab.count(), until=ab.window_end())
        return as_program(highest.collect("out")).graph
    if kind == "latest":
        return as_program(bids.distinct(["auction", "price"], window=recent).collect("out")).graph
    others = ab.from_items(Bid, [Bid(n % 5, n, n // 2) for n in range(400)])
    joined = bids.join(others, left=recent, right=recent, on="auction", out=Pair)
    return as_program(joined.collect("out")).graph


MOVES = {"boundaries": "past boundaries", "latest": "the latest", "join": "times"}


@pytest.mark.parametrize("kind", MOVES)
def test_what_moves_the_time_is_what_the_plan_shows(kind: str) -> None:
    graph, metrics = by_time(kind), Metrics()
    result = run_on(Simulated(), compile(graph), metrics, channels=3, stretch=50)
    told = Explanation(result.plan, "forms").to_dict()
    arrivals = [each for phase in told["phases"] for place in phase["places"] for each in place["arrivals"]]
    assert MOVES[kind] in [each["moves"] for each in arrivals]
    assert set(metrics.executed) == shown(result.plan)
    assert result.items("out") == sequential.run(graph).items("out")


def test_what_is_executed_in_two_steps_on_spark_is_what_the_plan_shows() -> None:
    graph, metrics, own = in_two_steps(), Metrics(), Metrics()
    transport = SparkTransport(session_for(SparkOptions()))
    result = run_on(transport, compile(graph), metrics, channels=2, stretch=500)
    assert any(isinstance(fact, Ran) and fact.operators == ("aggregate: parts",) for _, fact in metrics.executed)
    assert set(metrics.executed) == shown(result.plan)
    assert result.items("out") == sequential.run(graph, own).items("out")
    assert metrics["aggregate"] == own["aggregate"]


@pytest.mark.parametrize("example", ["mobility_fraud", "pagerank"])
def test_what_an_example_executes_on_spark_is_what_its_plan_shows(example: str, tmp_path: Path) -> None:
    metrics = Metrics()
    transport = SparkTransport(session_for(SparkOptions()))
    result = run_on(transport, compile(program_of(example, tmp_path)().graph), metrics, channels=2, stretch=500)
    assert set(metrics.executed) == shown(result.plan)
