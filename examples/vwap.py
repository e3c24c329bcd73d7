"""Quotes that are a bargain, desk by desk: a program whose operators a loop makes.

Make a trading day of ticks, and look at it:

    python -m examples.data.vwap --count 1000000 --out ticks.csv
    anabranch run examples/vwap.py --ticks ticks.csv --out bargains

This is the application "Vwap" of Tang and Gedik, "Autopipelining for Data Stream Processing" (58 operators), and with
`--desks 22` the one of about 200 that "COLA" (Khandekar et al.) and "SPADE" (Gedik et al.) place on a cluster.
"""

from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Tick(NamedTuple):
    """A trade, or a quote: someone offers to sell `size` shares for `price` each."""

    ts: float  # seconds
    symbol: str
    kind: str  # trade | quote
    price: float
    size: int


class Turnover(NamedTuple):
    """What was paid for how many shares."""

    symbol: str
    paid: float
    size: int


class Vwap(NamedTuple):
    """The volume-weighted average price: what a share cost lately, large trades counting for more."""

    symbol: str
    vwap: float


class Usual(NamedTuple):
    symbol: str
    usual: float


class Offer(NamedTuple):
    """A quote beside what was paid lately."""

    symbol: str
    ts: float
    price: float
    size: int
    vwap: float


class Bargain(NamedTuple):
    symbol: str
    ts: float
    price: float
    size: int
    vwap: float
    usual: float
    index: float  # what the buyer saves


def turnover(trade: Tick) -> Turnover:
    """That of a single trade."""
    return Turnover(trade.symbol, trade.price * trade.size, trade.size)


def average(total: Turnover) -> Vwap:
    """The price of a share over several trades."""
    return Vwap(total.symbol, total.paid / total.size)


def bargain(offer: Offer, asked: Usual) -> Bargain:
    """An offer with its bargain index, which is zero unless it is cheaper than the trades and than other offers."""
    saved = min(offer.vwap, asked.usual) - offer.price
    return Bargain(*offer, asked.usual, index=saved * offer.size if saved > 0 else 0.0)


# What a quote meets: an arriving quote looks for the latest of its symbol, and is then forgotten.
ARRIVING = ab.sliding(count=0)
LATEST = ab.sliding(count=1, per_key=True)


@ab.app
def vwap(
    ticks: str = "ticks.csv", out: str = "bargains", desks: int = 6, trades: int = 15, least: float = 250.0
) -> None:
    """Find quotes below what was paid lately and below what was asked lately, for each desk of a bank.

    ticks: the CSV file of trades and quotes, in the order in which they were recorded
    out: the folder for the bargains, with a file for each desk
    desks: how many desks share the alphabet of symbols, at most 26
    trades: how many trades of a symbol make its average price
    least: what a bargain must save
    """
    if not 1 <= desks <= 26:
        raise ValueError(f"desks={desks} is not a number from 1 to 26")
    names = [f"desk{number}" for number in range(desks)]

    def desk_of(tick: Tick) -> str:
        return f"desk{(ord(tick.symbol[0]) - ord('A')) * desks // 26}"

    kinds = ab.read_csv(ticks, Tick).split(
        {"trades": lambda tick: tick.kind == "trade", "quotes": lambda tick: tick.kind == "quote"}
    )
    traded, quoted = kinds.trades.split(desk_of, names), kinds.quotes.split(desk_of, names)
    for name in names:
        prices = (
            traded[name]
            .map(turnover)
            .window(ab.sliding(count=trades), key="symbol")
            .aggregate(Turnover, paid=ab.sum_("paid"), size=ab.sum_("size"))
            .map(average)
        )
        quotes = quoted[name].filter(lambda quote: quote.size > 0)
        # This window is connected before the joins are: a quote that begins a minute closes the one before it,
        # and is then compared with that one.
        usual = quotes.window(ab.tumbling(minutes=1, on="ts"), key="symbol").aggregate(Usual, usual=ab.mean("price"))
        (
            quotes.join(prices, left=ARRIVING, right=LATEST, on="symbol", out=Offer)
            .join(usual, left=ARRIVING, right=LATEST, on="symbol", out=bargain)
            .filter(lambda found: found.index >= least)
            .write_csv(Path(out) / f"{name}.csv")
        )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.vwap import write_vwap

    write_vwap(folder / "ticks.csv", count, seed)
    return {"ticks": str(folder / "ticks.csv"), "out": str(folder / "bargains")}
