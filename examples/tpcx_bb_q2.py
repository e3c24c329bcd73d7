"""Which products are viewed together: the pairs of products in the same sessions of an online shop, hour by hour.

Make two weeks of clicks, and look at them:

    python -m examples.data.clickstream --count 1000000 --out clicks.csv
    anabranch run examples/tpcx_bb_q2.py --clicks clicks.csv --out pairs.csv

This is query 2 of the benchmark TPCx-BB as Prasaad et al., "Scaling Ordered Stream Processing on Shared-Memory
Multicores", run it. A session ends when its user has been silent for an hour, so time must go on for users who do not
click any more: punctuations tell them. The same punctuations say when to count and when to rank.
"""

import itertools
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


class View(NamedTuple):
    user: int
    item: int
    ts: float
    is_tick: bool = False


class Session(NamedTuple):
    user: int
    items: list[int]
    until: float


class Pair(NamedTuple):
    """Two products of a session, the one with the smaller number first."""

    item: int
    other: int
    until: float


class Count(NamedTuple):
    item: int
    other: int
    n: int
    until: float


class Ranked(NamedTuple):
    until: float  # the last click of all sessions that are counted
    rank: int
    item: int
    other: int
    n: int


def viewed(click: Click) -> View | None:
    """The view of a product by someone we know."""
    if click.user is None or click.item is None or click.page != "product":
        return None
    return View(click.user, click.item, click.ts)


class Ticks:
    """Marks the first view of every hour, or of every other stretch of time that is as long as the time-out."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.next = 0.0

    def process(self, view: View) -> View:
        is_tick = view.ts >= self.next
        if is_tick:
            self.next = (view.ts // self.timeout + 1) * self.timeout
        return View(view.user, view.item, view.ts, is_tick)


class Sessions:
    """What a user looks at, until they are silent for longer than the time-out."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.user = 0
        self.items: list[int] = []
        self.until = 0.0
        self.ticks = 0  # since the last view

    def process(self, view: View) -> Iterator[Session]:
        if view.ts > self.until + self.timeout:
            yield from self.finish()
        self.user = view.user
        self.until = max(self.until, view.ts)  # a view may come late
        self.ticks = 0
        if view.item not in self.items:
            self.items.append(view.item)

    def punctuation(self) -> Iterator[Session]:
        # The first tick may come right after the view. When the third comes, the time-out has passed.
        self.ticks += 1
        if self.ticks == 3:
            yield from self.finish()

    def finish(self) -> Iterator[Session]:
        if self.items:
            yield Session(self.user, self.items, self.until)
        self.items = []
        self.until = 0.0


def pairs(session: Session, item: int | None) -> Iterator[Pair]:
    """All pairs of products in a session, or those with the given one: of many products, very many."""
    for one, other in itertools.combinations(sorted(session.items), 2):
        if item is None or item in (one, other):
            yield Pair(one, other, session.until)


def most_frequent_first(count: Count) -> tuple[int, int, int]:
    return -count.n, count.item, count.other


class Top:
    """The most frequent pairs between two punctuations."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.counts: list[Count] = []

    def process(self, count: Count) -> None:
        self.counts.append(count)

    def punctuation(self) -> Iterator[Ranked]:
        counts, self.counts = self.counts, []
        until = max((count.until for count in counts), default=0.0)
        best = sorted(counts, key=most_frequent_first)[: self.size]
        for rank, count in enumerate(best, start=1):
            yield Ranked(until, rank, count.item, count.other, count.n)

    def finish(self) -> Iterator[Ranked]:
        yield from self.punctuation()


@ab.app
def tpcx_bb_q2(
    clicks: str = "clicks.csv",
    out: str = "pairs.csv",
    item: int | None = None,
    top: int = 30,
    timeout: float = 60.0,
) -> None:
    """Rank, every hour, the pairs of products that were viewed together most often in an online shop.

    clicks: the CSV file of clicks, in the order in which they were recorded
    out: where to write the ranking of the sessions that ended in every hour
    item: rank only what was viewed together with this product
    top: how many pairs to rank
    timeout: the minutes of silence that end a session, and also how often there is a ranking
    """
    (
        ab.read_csv(clicks, Click)
        .flat_map(viewed)
        .process(partial(Ticks, timeout * 60))
        .punctuate(lambda view: view.is_tick)
        .process(partial(Sessions, timeout * 60), key="user")
        .flat_map(partial(pairs, item=item))
        .window(ab.punctuated(), key=["item", "other"])
        .aggregate(Count, n=ab.count(), until=ab.max_("until"))
        .process(partial(Top, top))
        .write_csv(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.clickstream import write_clickstream

    write_clickstream(folder / "clicks.csv", count, seed)
    return {"clicks": str(folder / "clicks.csv"), "out": str(folder / "pairs.csv")}
