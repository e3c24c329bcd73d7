"""Offers below what a share has been worth so far: bargains in a stream of trades and quotes.

Make a day at the stock exchange, and look at it:

    python -m examples.data.market --count 1000000 --out market
    anabranch run examples/finance_bargains.py --trades market/trades.csv --quotes market/quotes.csv --out bargains.csv

This is the kernel "Finance" of Schneider et al., "Safe Data Parallelism for General Streaming": average prices are
parallel by symbol, quotes are prepared in any number of channels, and bargains are found in parallel by symbol. Only
where trades and quotes are combined in order of their time is everything in one place.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Trade(NamedTuple):
    symbol: str
    number: int  # of the trade, rising with every trade of a symbol
    price: float
    volume: int
    ts: float  # seconds


class Quote(NamedTuple):
    symbol: str
    bid: float
    bid_size: int
    ask: float
    ask_size: int
    ts: float


class Event(NamedTuple):
    """What trades and quotes have in common once they are to be compared: a new average price, or an offer."""

    symbol: str
    ts: float
    vwap: float | None
    ask: float
    size: int


class Bargain(NamedTuple):
    symbol: str
    ts: float
    ask: float
    vwap: float
    saving: float  # on everything that is offered


class Vwap:
    """The volume-weighted average price of a symbol since the market opened."""

    def __init__(self) -> None:
        self.number = 0
        self.paid = 0.0
        self.volume = 0

    def process(self, trade: Trade) -> Event | None:
        if trade.number <= self.number:
            return None  # it is reported again
        self.number = trade.number
        self.paid += trade.price * trade.volume
        self.volume += trade.volume
        return Event(trade.symbol, trade.ts, self.paid / self.volume, 0.0, 0)


def project(quote: Quote) -> Event:
    """Of a quote, what someone who wants to buy needs to know."""
    return Event(quote.symbol, quote.ts, None, quote.ask, quote.ask_size)


class Bargains:
    """Compares each offer of a symbol with its average price at that time."""

    def __init__(self, discount: float) -> None:
        self.discount = discount
        self.vwap: float | None = None

    def process(self, event: Event) -> Iterator[Bargain]:
        if event.vwap is not None:
            self.vwap = event.vwap
        elif self.vwap is not None and event.ask < self.vwap * (1 - self.discount):
            yield Bargain(event.symbol, event.ts, event.ask, self.vwap, (self.vwap - event.ask) * event.size)


@ab.app
def finance_bargains(
    trades: str = "market/trades.csv",
    quotes: str = "market/quotes.csv",
    out: str = "bargains.csv",
    discount: float = 0.01,
) -> None:
    """Find the quotes that ask for less than the volume-weighted average price of their symbol.

    trades: the CSV file of trades
    quotes: the CSV file of quotes
    out: where to write the bargains
    discount: by which part of the average price a bargain is below it
    """
    # Drawn by `ts`, trades and quotes come at the same pace, and few of either have to wait where they are combined.
    averages = ab.read_csv(trades, Trade, order_by="ts").process(Vwap, key="symbol")
    offers = ab.read_csv(quotes, Quote, order_by="ts").map(project)
    # Averages come first among equals: an offer is compared with what was paid up to that very moment.
    combined = ab.merge_by("ts", averages, offers).named("Combine")
    combined.process(partial(Bargains, discount), key="symbol").write_csv(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.market import write_market

    write_market(folder, count, seed)
    return {
        "trades": str(folder / "trades.csv"),
        "quotes": str(folder / "quotes.csv"),
        "out": str(folder / "bargains.csv"),
    }
