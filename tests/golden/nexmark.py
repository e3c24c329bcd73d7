"""Queries of NEXMark, an auction: their plans are kept in plans/, and their results are compared with the oracle's.

Persons register, open auctions, and bid. All three are files in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Person(NamedTuple):
    id: int
    name: str
    state: str
    ts: int


class Auction(NamedTuple):
    id: int
    seller: int
    category: int
    reserve: int
    ts: int


class Bid(NamedTuple):
    auction: int
    bidder: int
    price: int
    ts: int


class Offer(NamedTuple):
    name: str
    state: str
    auction: int


class Sold(NamedTuple):
    auction: int
    seller: int
    category: int
    price: int
    ts: int


class Price(NamedTuple):
    category: int
    mean: float


class Sales(NamedTuple):
    seller: int
    mean: float


class Bids(NamedTuple):
    auction: int
    bids: int
    until: int


class Highest(NamedTuple):
    price: int
    until: int


class Newcomer(NamedTuple):
    person: int
    name: str


def in_euros(bid: Bid) -> Bid:
    return Bid(bid.auction, bid.bidder, bid.price * 908 // 1000, bid.ts)


def offered(auction: Auction, person: Person) -> Offer:
    return Offer(person.name, person.state, auction.id)


def sold(bid: Bid, auction: Auction) -> Sold:
    return Sold(auction.id, auction.seller, auction.category, bid.price, bid.ts)


def opened(person: Person, _: Auction) -> Newcomer:
    return Newcomer(person.id, person.name)


def as_high(bid: Bid, _: Highest) -> Bid:
    return bid


class Record:
    """The bids that are higher than all before."""

    def __init__(self) -> None:
        self.price = 0

    def process(self, bid: Bid) -> Iterator[Bid]:
        if bid.price > self.price:
            self.price = bid.price
            yield bid


def _bids(file: str = "bids.csv") -> ab.Stream[Bid]:
    return ab.read_csv(file, Bid, order_by="ts")


def _sales(bids: str, auctions: str) -> ab.Stream[Sold]:
    """The highest bid of each auction in ten minutes."""
    minutes = ab.sliding(minutes=10, on="ts")
    bought = _bids(bids).join(
        ab.read_csv(auctions, Auction, order_by="ts"), left=minutes, right=minutes, on={"auction": "id"}, out=sold
    )
    return bought.window(ab.tumbling(minutes=10, on="ts"), key="auction").aggregate(
        Sold,
        auction=ab.any_("auction"),
        seller=ab.any_("seller"),
        category=ab.any_("category"),
        price=ab.max_("price"),
        ts=ab.max_("ts"),
    )


@ab.app
def q1(bids: str = "bids.csv", out: str = "q1.csv") -> None:
    """Prices in another currency."""
    _bids(bids).map(in_euros).write_csv(out)


@ab.app
def q2(bids: str = "bids.csv", out: str = "q2.csv") -> None:
    """The bids of some auctions."""
    _bids(bids).filter(lambda bid: bid.auction % 123 == 0).write_csv(out)


@ab.app
def q3(auctions: str = "auctions.csv", persons: str = "persons.csv", out: str = "q3.csv") -> None:
    """Who sells in some states and one category."""
    hours = ab.sliding(hours=12, on="ts")
    near = ab.read_csv(persons, Person, order_by="ts").filter(lambda person: person.state in ("OR", "ID", "CA"))
    wanted = ab.read_csv(auctions, Auction, order_by="ts").filter(lambda auction: auction.category == 10)
    wanted.join(near, left=hours, right=hours, on={"seller": "id"}, out=offered).write_csv(out)


@ab.app
def q4(bids: str = "bids.csv", auctions: str = "auctions.csv", out: str = "q4.csv") -> None:
    """The average price of a category."""
    window = _sales(bids, auctions).window(ab.tumbling(hours=1, on="ts"), key="category")
    window.aggregate(Price, category=ab.any_("category"), mean=ab.mean("price")).write_csv(out)


@ab.app
def q5(bids: str = "bids.csv", out: str = "q5.csv") -> None:
    """The auctions with the most bids of the last hour, each minute."""
    counted = (
        _bids(bids)
        .window(ab.sliding(minutes=60, slide=1, on="ts"), key="auction")
        .aggregate(Bids, auction=ab.any_("auction"), bids=ab.count(), until=ab.window_end())
    )
    minutes = counted.window(ab.tumbling(minutes=1, on="until"))
    minutes.aggregate(
        Bids, auction=ab.arg_max("auction", by="bids"), bids=ab.max_("bids"), until=ab.last("until")
    ).write_csv(out)


@ab.app
def q6(bids: str = "bids.csv", auctions: str = "auctions.csv", out: str = "q6.csv") -> None:
    """The average price of the last ten sales of a seller."""
    window = _sales(bids, auctions).window(ab.sliding(count=10), key="seller")
    window.aggregate(Sales, seller=ab.any_("seller"), mean=ab.mean("price")).write_csv(out)


@ab.app
def q7(bids: str = "bids.csv", out: str = "q7.csv") -> None:
    """The highest bids of each minute."""
    placed = ab.read_csv(bids, Bid)
    highest = placed.window(ab.tumbling(minutes=1, on="ts")).aggregate(
        Highest, price=ab.max_("price"), until=ab.window_end()
    )
    left, right = ab.sliding(minutes=2, on="ts"), ab.sliding(minutes=2, on="until")
    placed.join(highest, left=left, right=right, on="price", out=as_high).write_csv(out)


@ab.app
def q8(auctions: str = "auctions.csv", persons: str = "persons.csv", out: str = "q8.csv") -> None:
    """Who registered and opened an auction within a while."""
    while_ = ab.sliding(hours=12, on="ts")
    new = ab.read_csv(persons, Person, order_by="ts")
    started = ab.read_csv(auctions, Auction, order_by="ts")
    new.join(started, left=while_, right=while_, on={"id": "seller"}, out=opened).write_csv(out)


@ab.app
def records(bids: str = "bids.csv", out: str = "records.csv") -> None:
    """The bids that are the highest so far: no query of NEXMark's."""
    ab.read_csv(bids, Bid).process(Record).write_csv(out)
