"""Eight weeks of sales in the stores of a chain, as `examples/tpcx_bb_q1.py` and `examples/tpcx_bb_q15.py` read them.

    python -m examples.data.store_sales --count 1000000 --out sales.csv --seed 7

A row is an item on a customer's ticket. Few items are sold most, some go together, and some categories are on their way
up or down. Stores are not equally busy; all are full on Saturdays, and shortly before they close. Some tickets are of
things brought back. A few rows come late, from tills that were offline, and a few come twice.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from examples.data.shared import check_size, command, text_file, zipf

BYTES_PER_SALE = 48
BEGIN = datetime(2018, 3, 1)  # a Thursday
DAYS = 56
SALES_PER_TICKET = 2.74  # on average
STORES = 12
CATEGORIES = 10
ITEMS_PER_CATEGORY = 40
# How the sales of each category change in eight weeks: +0.5 is half as much again at the end.
TRENDS = [0.5, 0.2, -0.6, 0.0, 1.0, -0.3, 0.4, -0.8, 0.1, 0.3]

# From which hour on how much is sold, relatively; and how much on which day, from Thursday on.
HOURS = [8, 10, 12, 13, 17, 19, 21, 22]
TRADE = [5, 8, 14, 7, 15, 8, 18]
WEEK = [1.0, 1.2, 2.2, 0.6, 0.8, 0.8, 0.9]

TOGETHER = 0.35  # of the items belong to the one before
RETURNS = 0.03  # of the tickets are of things brought back
REDUCED = 0.1  # of the items are sold for a tenth less
LATE, LONGEST_DELAY = 0.004, 1200.0  # of the rows come up to so many seconds late
TWICE, FARTHEST = 0.002, 30.0  # of the rows come again up to so many seconds later


class Sale(NamedTuple):
    ts: float  # seconds since the beginning
    ticket: int
    store: int
    item: int
    quantity: int
    price: int


def write_store_sales(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` rows to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_SALE)
    with text_file(Path(path)) as file:
        file.write("ticket,store,item,category,quantity,price,ts\n")
        for sale in itertools.islice(_received(count, seed), count):
            ts = (BEGIN + timedelta(seconds=int(sale.ts))).isoformat()
            category = _category_of(sale.item)
            file.write(f"{sale.ticket},{sale.store},{sale.item},{category},{sale.quantity},{sale.price},{ts}\n")


def _received(count: int, seed: int) -> Iterator[Sale]:
    """Rows in the order in which they come from the tills, without end."""
    random = Random(seed)
    numbers = itertools.count()
    waiting: list[tuple[float, int, Sale]] = []  # by the time at which they come
    shares = [_shares(day) for day in range(DAYS)]
    for ticket, begin in enumerate(_tickets(count, seed), start=100_001):
        while waiting and waiting[0][0] <= begin:
            yield heapq.heappop(waiting)[2]
        for sale in _ticket(ticket, begin, shares[int(begin // 86_400) % DAYS], random):
            at = sale.ts + (LONGEST_DELAY * random.random() if random.random() < LATE else 0.0)
            heapq.heappush(waiting, (at, next(numbers), sale))
            if random.random() < TWICE:
                heapq.heappush(waiting, (at + FARTHEST * random.random(), next(numbers), sale))


def _tickets(count: int, seed: int) -> Iterator[float]:
    """When tickets begin: so many in eight weeks that there are about `count` rows, and then so on."""
    seconds, trade = [0.0], []
    for day in range(DAYS):
        # Nothing is sold from closing time to the next opening.
        seconds += [(day * 24 + hour) * 3600.0 for hour in HOURS]
        trade += [0.0, *(part * WEEK[day % 7] for part in TRADE)]
    sold = np.concatenate([[0.0], np.cumsum(np.array(trade) * np.diff(seconds))])
    tickets = count / SALES_PER_TICKET
    for first in itertools.count(step=10_000):
        numbers = first + np.arange(10_000) + np.random.default_rng([seed, first]).random(10_000)
        rounds, fractions = np.divmod(numbers / tickets, 1.0)
        yield from (np.interp(fractions, sold / sold[-1], seconds) + rounds * DAYS * 86_400.0).tolist()


def _ticket(number: int, begin: float, shares: list[float], random: Random) -> Iterator[Sale]:
    """What one customer buys, or brings back."""
    store = 1 + zipf(random.random(), STORES)
    is_return = random.random() < RETURNS
    ts, item = begin, 0
    for _ in range(1 + int(random.expovariate(1 / 2.2))):
        item = _next_item(item, shares, random)
        quantity = -1 if is_return else 1 + int(random.expovariate(2))
        price = 199 + item * 7919 % 5000
        yield Sale(ts, number, store, item, quantity, price * 9 // 10 if random.random() < REDUCED else price)
        ts += 2 + 6 * random.random()


def _next_item(before: int, shares: list[float], random: Random) -> int:
    if before and random.random() < TOGETHER:
        return 1 + before * 13 % (CATEGORIES * ITEMS_PER_CATEGORY)
    (category,) = random.choices(range(CATEGORIES), cum_weights=shares)
    return 1 + category + CATEGORIES * zipf(random.random(), ITEMS_PER_CATEGORY)


def _category_of(item: int) -> int:
    return 1 + (item - 1) % CATEGORIES


def _shares(day: int) -> list[float]:
    """How much of each category is sold on a day, relatively, added up."""
    return list(itertools.accumulate(1.0 + trend * day / DAYS for trend in TRENDS))


if __name__ == "__main__":
    command("examples.data.store_sales", "Write the sales of stores as CSV.", "sales.csv", write_store_sales)
