"""Which items are sold together: the pairs of items that are most often on the same ticket, hour by hour.

Make eight weeks of sales, and look at them:

    python -m examples.data.store_sales --count 1000000 --out sales.csv
    anabranch run examples/tpcx_bb_q1.py --sales sales.csv --out pairs.csv

This is query 1 of the benchmark TPCx-BB as Prasaad et al., "Scaling Ordered Stream Processing on Shared-Memory
Multicores", run it: a stateless operator, one with a state per ticket, one with a state per pair, and one that must see
everything.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Sale(NamedTuple):
    ticket: int
    item: int
    quantity: int
    ts: datetime


class Pair(NamedTuple):
    """Two items that are on the same ticket, the one with the smaller number first."""

    item: int
    other: int
    ts: datetime


class Count(NamedTuple):
    item: int
    other: int
    n: int
    until: datetime  # where the hour ends


class Ranked(NamedTuple):
    until: datetime
    rank: int
    item: int
    other: int
    n: int


class Together:
    """What is on a ticket so far. Every new item makes a pair with each of the others.

    An item that is there already makes no pairs: it was sold twice, or its row came twice.
    """

    def __init__(self) -> None:
        self.items: list[int] = []
        self.ts: datetime | None = None

    def process(self, sale: Sale) -> Iterator[Pair]:
        # A row may come late; the pair it makes is as old as the younger of the two.
        if self.ts is None or sale.ts > self.ts:
            self.ts = sale.ts
        if sale.item not in self.items:
            for item in self.items:
                yield Pair(min(item, sale.item), max(item, sale.item), self.ts)
            self.items.append(sale.item)


def most_frequent_first(count: Count) -> tuple[int, int, int]:
    return -count.n, count.item, count.other


class Top:
    """The most frequent pairs of every hour. Counts of an hour come together, so the next hour's first ends it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.counts: list[Count] = []

    def process(self, count: Count) -> Iterator[Ranked]:
        if self.counts and count.until > self.counts[0].until:
            yield from self.finish()
        self.counts.append(count)

    def finish(self) -> Iterator[Ranked]:
        counts, self.counts = self.counts, []
        best = sorted(counts, key=most_frequent_first)[: self.size]
        for rank, count in enumerate(best, start=1):
            yield Ranked(count.until, rank, count.item, count.other, count.n)


@ab.app
def tpcx_bb_q1(sales: str = "sales.csv", out: str = "pairs.csv", top: int = 100) -> None:
    """Rank, every hour, the pairs of items that were sold together most often in the stores.

    sales: the CSV file of sales, an item of a ticket in each row
    out: where to write the ranking of every hour
    top: how many pairs to rank
    """
    (
        ab.read_csv(sales, Sale)
        .filter(lambda sale: sale.quantity > 0)  # else it was brought back
        .process(Together, key="ticket")
        .window(ab.tumbling(hours=1, on="ts"), key=["item", "other"])
        .aggregate(Count, n=ab.count(), until=ab.window_end())
        .process(partial(Top, top))
        .write_csv(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.store_sales import write_store_sales

    write_store_sales(folder / "sales.csv", count, seed)
    return {"sales": str(folder / "sales.csv"), "out": str(folder / "pairs.csv")}
