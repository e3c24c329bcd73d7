"""What an operator in one place shares decides whether regions behind it are in channels; the note says what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import anabranch as ab
from anabranch.compiler import compile
from anabranch.graph.settings import Settings, Target
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, on_simulated


class Bid(NamedTuple):
    auction: int
    price: int
    ts: int


class Bids(NamedTuple):
    auction: int
    n: int
    end: int


class Hot(NamedTuple):
    auction: int
    n: int


class Busiest:
    """The auction with the most bids: an aggregate of the user's own that shares nothing."""

    def __init__(self) -> None:
        self.best: tuple[int, int] | None = None

    def add(self, bids: Bids) -> None:
        if self.best is None or bids.n > self.best[1]:
            self.best = bids.auction, bids.n

    def result(self) -> int:
        return self.best[0] if self.best is not None else -1


ASKED: list[int] = []


class Asked(Busiest):
    def result(self) -> int:
        ASKED.append(1)
        return super().result()


class Wins:
    def __init__(self) -> None:
        self.count = 0

    def process(self, hot: Hot) -> Iterator[Hot]:
        self.count += 1
        yield Hot(hot.auction, self.count)


def hot_auctions(busiest: Any) -> ab.Sink:
    """As the fifth query of NEXMark: counts by key, the largest of each window, and then something by key again."""
    bids = [Bid(number * number % 7, number, number) for number in range(300)]
    counted = (
        ab.from_items(Bid, bids)
        .window(ab.sliding(seconds=20, slide=5, on="ts"), key="auction")
        .aggregate(Bids, auction=ab.any_("auction"), n=ab.count(), end=ab.window_end())
    )
    hottest = counted.window(ab.tumbling(seconds=5, on="end")).aggregate(Hot, auction=busiest, n=ab.max_("n"))
    return hottest.process(Wins, key="auction").collect("out")


def test_regions_behind_a_pure_aggregate_of_the_user_s_own_are_in_channels() -> None:
    graph = as_program(hot_auctions(Busiest)).graph
    layout = compile(graph, Settings(Target("spark", 3))).phases[0].layout
    assert layout.refused == ()
    assert [place.region for place in layout.places if place.region] == ["R1", "R2"]
    for stretch in (7, 1000):
        assert on_simulated(graph, 3, stretch) == expected(graph)


def test_regions_behind_one_that_shares_something_are_not_and_it_is_said_what_it_shares() -> None:
    graph = as_program(hot_auctions(Asked)).graph
    layout = compile(graph, Settings(Target("spark", 3))).phases[0].layout
    why = "since it shares something: `result` changes the global `ASKED`"
    assert layout.refused == (("R2", f"'aggregate_2' before it runs in the driver, {why}"),)
    assert on_simulated(graph, 3, 7) == expected(graph)
