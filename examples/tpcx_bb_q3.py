"""What people look at before they buy: for every product, those viewed most often just before it was bought.

Make two weeks of clicks, and look at them:

    python -m examples.data.clickstream --count 1000000 --out clicks.csv
    anabranch run examples/tpcx_bb_q3.py --clicks clicks.csv --out before.jsonl

This is query 3 of the benchmark TPCx-BB as Prasaad et al., "Scaling Ordered Stream Processing on Shared-Memory
Multicores", run it: what users looked at is kept by user, and counted by the product they bought.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Click(NamedTuple):
    user: int | None  # None: they are not logged in
    page: str
    item: int | None
    ts: float  # seconds


class Step(NamedTuple):
    """A product is viewed, or bought, by someone we know."""

    user: int
    is_order: bool
    item: int
    ts: float


class Before(NamedTuple):
    """A product was viewed before another was bought."""

    bought: int
    viewed: int
    ts: float  # when it was bought


class Viewed(NamedTuple):
    item: int
    n: int


class Favourites(NamedTuple):
    bought: int
    until: float  # where the day ends
    viewed: list[Viewed]  # the most frequent first


def step(click: Click) -> Step | None:
    if click.user is None or click.item is None or click.page not in ("product", "order"):
        return None
    return Step(click.user, click.page == "order", click.item, click.ts)


class LastViews:
    """The products a user viewed last, each once, with the time."""

    def __init__(self, views: int, seconds: float) -> None:
        self.views = views
        self.seconds = seconds
        self.last: dict[int, float] = {}  # by product, the last one at the end

    def process(self, step: Step) -> Iterator[Before]:
        if step.is_order:
            for item, ts in self.last.items():
                if item != step.item and ts > step.ts - self.seconds:
                    yield Before(step.item, item, step.ts)
            return
        self.last.pop(step.item, None)
        self.last[step.item] = step.ts
        if len(self.last) > self.views:
            del self.last[next(iter(self.last))]


def most_frequent_first(viewed: Viewed) -> tuple[int, int]:
    return -viewed.n, viewed.item


class MostViewed:
    """An aggregate of our own: a list of products with how often each was viewed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.times: dict[int, int] = {}

    def add(self, before: Before) -> None:
        self.times[before.viewed] = self.times.get(before.viewed, 0) + 1

    def result(self) -> list[Viewed]:
        counted = [Viewed(item, n) for item, n in self.times.items()]
        return sorted(counted, key=most_frequent_first)[: self.size]


@ab.app
def tpcx_bb_q3(
    clicks: str = "clicks.csv",
    out: str = "before.jsonl",
    views: int = 5,
    days: float = 10.0,
    top: int = 30,
) -> None:
    """List, every day, what was viewed most often before each product was bought in an online shop.

    clicks: the CSV file of clicks, in the order in which they were recorded
    out: where to write the products that were bought, each with what was viewed before
    views: how many products that a user viewed before an order are looked at
    days: how long before the order they may have been viewed
    top: how many products to list for each
    """
    (
        ab.read_csv(clicks, Click)
        .distinct(window=ab.sliding(minutes=5, on="ts"))  # a click may be recorded twice
        .flat_map(step)
        .process(partial(LastViews, views, days * 86_400), key="user")
        .window(ab.tumbling(days=1, on="ts"), key="bought")
        .aggregate(Favourites, until=ab.window_end(), viewed=partial(MostViewed, top))
        .write_jsonl(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.clickstream import write_clickstream

    write_clickstream(folder / "clicks.csv", count, seed)
    return {"clicks": str(folder / "clicks.csv"), "out": str(folder / "before.jsonl")}
