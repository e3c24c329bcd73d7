"""Window aggregates without a key, some of which are computed in two steps: their explanations are kept in plans/.

As in the seventh query of NEXMark, the bids that are as high as the highest of their window are found by a join.
"""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Bid(NamedTuple):
    auction: int
    price: int
    rating: float
    ts: int


class Highest(NamedTuple):
    price: int
    bids: int
    until: int


class Rating(NamedTuple):
    total: float


class Winner(NamedTuple):
    auction: int
    price: int
    bids: int


def won(bid: Bid, highest: Highest) -> Winner:
    return Winner(bid.auction, bid.price, highest.bids)


@ab.app
def two_steps() -> None:
    """The highest bid of each window is found of parts; the sum of floats is not."""
    bids = ab.read_csv("bids.csv", Bid)
    windows = bids.window(ab.tumbling(seconds=10, on="ts"))
    highest = windows.aggregate(Highest, price=ab.max_("price"), bids=ab.count(), until=ab.window_end())
    last = ab.sliding(seconds=20, on="ts")
    bids.join(highest, left=last, right=ab.sliding(seconds=20, on="until"), on="price", out=won).write_csv("won.csv")
    sparse = bids.filter(lambda bid: bid.rating > 0.5).window(ab.tumbling(seconds=60, on="ts"))
    sparse.aggregate(Rating, total=ab.sum_("rating")).write_csv("ratings.csv")
