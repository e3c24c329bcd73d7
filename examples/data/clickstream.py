"""Two weeks of clicks in an online shop, as `examples/tpcx_bb_q2.py`, `_q3.py` and `_q4.py` read them.

    python -m examples.data.clickstream --count 1000000 --out clicks.csv --seed 7

People come in the evening, look at a few products, most of them at the same few, and go; some leave a full cart
behind. Now and then someone has lunch in between. A third of the visitors do not log in, among them crawlers, which
look at hundreds of products within seconds. One evening there is a sale, and everyone comes at once. A few clicks are
recorded late, behind clicks that were made after them, and a few are recorded twice.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from examples.data.shared import check_size, command, text_file, zipf

BYTES_PER_CLICK = 32
DAYS = 14
CLICKS_PER_VISIT = 10.9  # on average
VISITS_PER_USER = 5
ITEMS = 2000

# From which hour on how many people come, relatively; and when there is a sale.
HOURS = [0, 1, 7, 9, 12, 14, 18, 22, 24]
TRAFFIC = [4, 1, 6, 8, 14, 9, 20, 8]
SALE_DAY, SALE_BEGIN, SALE_END, SALE_TRAFFIC = 8, 20.0, 20.25, 120

ANONYMOUS = 0.33  # of the visitors do not log in
CRAWLERS = 0.003  # of the visitors
ABANDONED, BOUGHT = 0.25, 0.12  # of the visits end with a full cart, and with an order
RELATED = 0.4  # of the products one looks at belong to the one before
THINKING = 40.0  # seconds between two clicks, on average
PAUSES, LUNCHES = 0.03, 0.01  # of the clicks come after 10 to 50 minutes, and after an hour or two
LATE, LONGEST_DELAY = 0.004, 120.0  # of the clicks are recorded up to so many seconds late
TWICE, FARTHEST = 0.003, 20.0  # of the clicks are recorded again up to so many seconds later


class Click(NamedTuple):
    ts: float
    user: int | None
    page: str
    item: int | None


def write_clickstream(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` clicks to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_CLICK)
    with text_file(Path(path)) as file:
        file.write("user,page,item,ts\n")
        for click in itertools.islice(_recorded(count, seed), count):
            user, item = click.user or "", click.item or ""
            file.write(f"{user},{click.page},{item},{click.ts}\n")


def _recorded(count: int, seed: int) -> Iterator[Click]:
    """Clicks in the order in which they are recorded, without end."""
    random = Random(seed)
    numbers = itertools.count()
    waiting: list[tuple[float, int, Click]] = []  # by the time at which they are recorded
    for begin in _visits(count, seed):
        while waiting and waiting[0][0] <= begin:
            yield heapq.heappop(waiting)[2]
        for click in _visit(begin, max(int(count / CLICKS_PER_VISIT / VISITS_PER_USER), 5), random):
            at = click.ts + (LONGEST_DELAY * random.random() if random.random() < LATE else 0.0)
            heapq.heappush(waiting, (at, next(numbers), click))
            if random.random() < TWICE:
                heapq.heappush(waiting, (at + FARTHEST * random.random(), next(numbers), click))


def _visits(count: int, seed: int) -> Iterator[float]:
    """When visits begin: so many in two weeks that there are about `count` clicks, and then so on."""
    hours: list[float] = []
    traffic: list[float] = []
    for day in range(DAYS):
        hours += [day * 24 + hour for hour in HOURS[:-1]]
        traffic += TRAFFIC
    for at, rate in ((SALE_DAY * 24 + SALE_BEGIN, SALE_TRAFFIC), (SALE_DAY * 24 + SALE_END, TRAFFIC[-2])):
        place = int(np.searchsorted(hours, at))
        hours.insert(place, at)
        traffic.insert(place, rate)
    hours.append(DAYS * 24)
    begun = np.concatenate([[0.0], np.cumsum(np.array(traffic) * np.diff(hours))])
    visits = count / CLICKS_PER_VISIT
    for first in itertools.count(step=10_000):
        numbers = first + np.arange(10_000) + np.random.default_rng([seed, first]).random(10_000)
        fortnights, fractions = np.divmod(numbers / visits, 1.0)
        seconds = (np.interp(fractions, begun / begun[-1], hours) + fortnights * DAYS * 24) * 3600
        yield from seconds.tolist()


def _visit(begin: float, users: int, random: Random) -> Iterator[Click]:
    """The clicks of one visitor until they leave."""
    if random.random() < CRAWLERS:
        yield from _crawl(begin, random)
        return
    user = None if random.random() < ANONYMOUS else 1001 + int(users * random.random() ** 1.5)
    mood = random.random()
    is_buying, is_tempted = mood < BOUGHT, mood < BOUGHT + ABANDONED
    ts, item = begin, 0
    cart: list[int] = []

    def click(page: str, item: int | None) -> Click:
        nonlocal ts
        made, ts = Click(round(ts, 1), user, page, item), ts + _pause(random)
        return made

    yield click("home", None)
    views = 1 + int(random.expovariate(1 / 5))
    for view in range(views):
        if random.random() < 0.3:
            yield click("search", None)
        item = _next_item(item, random)
        yield click("product", item)
        if random.random() < 0.2:
            yield click("review", item)
        if is_tempted and (random.random() < 0.3 or view == views - 1):
            yield click("cart", item)
            cart.append(item)
    if is_buying:
        for bought in dict.fromkeys(cart):
            yield click("order", bought)


def _crawl(begin: float, random: Random) -> Iterator[Click]:
    for number in range(random.randrange(50, 400)):
        yield Click(round(begin + number * 0.2, 1), None, "product", random.randrange(1, ITEMS + 1))


def _next_item(before: int, random: Random) -> int:
    """Few items are popular, and every item has one that goes with it."""
    if before and random.random() < RELATED:
        return 1 + before * 17 % ITEMS
    return 1 + zipf(random.random(), ITEMS)


def _pause(random: Random) -> float:
    kind = random.random()
    if kind < LUNCHES:
        return random.uniform(3600, 7200)
    if kind < LUNCHES + PAUSES:
        return random.uniform(600, 3000)
    return 1.0 + random.expovariate(1 / THINKING)


if __name__ == "__main__":
    command("examples.data.clickstream", "Write clicks in an online shop as CSV.", "clicks.csv", write_clickstream)
