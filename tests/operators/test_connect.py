"""`connect`: a user-defined operator with several inputs, a method for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Trade(NamedTuple):
    symbol: str
    price: float


class Quote(NamedTuple):
    sym: str
    ask: float


class Bargain(NamedTuple):
    symbol: str
    ask: float
    price: float


class Bargains:
    def __init__(self) -> None:
        self.price: float | None = None

    def trades(self, trade: Trade) -> None:
        self.price = trade.price

    def quotes(self, quote: Quote) -> Iterator[Bargain]:
        if self.price is not None and quote.ask < self.price:
            yield Bargain(quote.sym, quote.ask, self.price)


TRADES = [Trade("A", 10.0), Trade("B", 5.0), Trade("A", 7.0)]
QUOTES = [Quote("A", 9.0), Quote("A", 8.0), Quote("B", 4.0), Quote("A", 6.5)]


def trades() -> ab.Stream[Trade]:
    return ab.from_items(Trade, TRADES)


def quotes() -> ab.Stream[Quote]:
    return ab.from_items(Quote, QUOTES)


def test_every_input_has_its_method_and_tuples_come_as_they_are_drawn() -> None:
    found = ab.connect(Bargains, trades=trades(), quotes=quotes())
    # A10, 9: bargain | B5, 8 | A7, 4: bargain | 6.5: bargain
    assert ab.run(found.collect("out")).items("out") == [
        Bargain("A", 9.0, 10.0), Bargain("B", 4.0, 7.0), Bargain("A", 6.5, 7.0),
    ]  # fmt: skip


def test_a_key_is_named_per_input_where_the_names_differ() -> None:
    found = ab.connect(Bargains, trades=trades(), quotes=quotes(), key={"trades": "symbol", "quotes": "sym"})
    assert ab.run(found.collect("out")).items("out") == [
        Bargain("A", 9.0, 10.0), Bargain("A", 8.0, 10.0), Bargain("B", 4.0, 5.0), Bargain("A", 6.5, 7.0),
    ]  # fmt: skip


def test_an_instance_serves_a_key_of_all_inputs() -> None:
    class Together:
        def __init__(self) -> None:
            self.seen: list[float] = []

        def one(self, trade: Trade) -> None:
            self.seen.append(trade.price)

        def other(self, trade: Trade) -> None:
            self.seen.append(-trade.price)

        def finish(self) -> Bargain:
            return Bargain(str(self.seen), 0.0, 0.0)

    out = ab.connect(Together, one=trades(), other=trades(), key="symbol")
    assert [b.symbol for b in ab.run(out.collect("out")).items("out")] == ["[10.0, -10.0, 7.0, -7.0]", "[5.0, -5.0]"]


def test_the_same_stream_may_come_in_twice() -> None:
    class Both:
        def first(self, trade: Trade) -> Trade:
            return trade._replace(symbol="first " + trade.symbol)

        def second(self, trade: Trade) -> Trade:
            return trade._replace(symbol="second " + trade.symbol)

    stream = ab.from_items(Trade, TRADES[:1])
    out = ab.connect(Both, first=stream, second=stream)
    assert [t.symbol for t in ab.run(out.collect("out")).items("out")] == ["first A", "second A"]


def test_several_outputs_of_different_types() -> None:
    class Route:
        def trades(self, trade: Trade) -> Iterator[Trade | ab.To]:
            yield trade
            yield ab.to("asks", Quote(trade.symbol, trade.price))

        def quotes(self, quote: Quote) -> Iterator[ab.To]:
            yield ab.to("asks", quote)

    routed = ab.connect(Route, trades=trades(), quotes=quotes(), outputs={"asks": Quote})
    result = ab.run(routed.collect("trades"), routed.outputs.asks.collect("asks"))
    assert result.items("trades") == TRADES
    assert [quote.ask for quote in result.items("asks")] == [10.0, 9.0, 5.0, 8.0, 7.0, 4.0, 6.5]


def test_one_input_is_enough() -> None:
    class One:
        def trades(self, trade: Trade) -> Trade:
            return trade

    assert ab.run(ab.connect(One, trades=trades()).collect("out")).items("out") == TRADES


def test_punctuations_of_one_input_reach_the_operator() -> None:
    class Batch:
        def __init__(self) -> None:
            self.prices: list[float] = []

        def trades(self, trade: Trade) -> None:
            self.prices.append(trade.price)

        def quotes(self, quote: Quote) -> None:
            self.prices.append(-quote.ask)

        def punctuation(self) -> Iterator[Bargain]:
            yield Bargain(str(self.prices), 0.0, 0.0)
            self.prices = []

    out = ab.connect(Batch, trades=trades().punctuate(count=2), quotes=quotes())
    assert [b.symbol for b in ab.run(out.collect("out")).items("out")] == ["[10.0, -9.0, 5.0]"]
