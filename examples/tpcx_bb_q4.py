"""Carts that are left behind: how long the sessions are in which someone fills a cart and does not order.

Make two weeks of clicks, and look at them:

    python -m examples.data.clickstream --count 1000000 --out clicks.csv
    anabranch run examples/tpcx_bb_q4.py --clicks clicks.csv --out abandoned.csv

This is query 4 of the benchmark TPCx-BB as Prasaad et al., "Scaling Ordered Stream Processing on Shared-Memory
Multicores", run it. Sessions are found in parallel by user; the average is over all users, hence in one place.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Click(NamedTuple):
    user: int | None  # None: they are not logged in
    page: str
    ts: float  # seconds


class Visit(NamedTuple):
    """A click by someone we know."""

    user: int
    page: str
    ts: float
    is_tick: bool = False


class Session(NamedTuple):
    user: int
    pages: int
    has_cart: bool
    has_order: bool
    until: float


class Abandonment(NamedTuple):
    until: float  # the last click of all sessions that are counted
    sessions: int
    pages: float  # on average


def known(click: Click) -> Visit | None:
    return Visit(click.user, click.page, click.ts) if click.user is not None else None


class Ticks:
    """Marks the first click of every hour, or of every other stretch of time that is as long as the time-out."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.next = 0.0

    def process(self, visit: Visit) -> Visit:
        is_tick = visit.ts >= self.next
        if is_tick:
            self.next = (visit.ts // self.timeout + 1) * self.timeout
        return Visit(visit.user, visit.page, visit.ts, is_tick)


class Sessions:
    """What a user does, until they are silent for longer than the time-out."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.session: Session | None = None
        self.ticks = 0  # since the last click

    def process(self, visit: Visit) -> Iterator[Session]:
        if self.session is not None and visit.ts > self.session.until + self.timeout:
            yield from self.finish()
        self.ticks = 0
        so_far = self.session or Session(visit.user, 0, False, False, visit.ts)
        self.session = Session(
            user=visit.user,
            pages=so_far.pages + 1,
            has_cart=so_far.has_cart or visit.page == "cart",
            has_order=so_far.has_order or visit.page == "order",
            until=max(so_far.until, visit.ts),  # a click may come late
        )

    def punctuation(self) -> Iterator[Session]:
        # The first tick may come right after the click. When the third comes, the time-out has passed.
        self.ticks += 1
        if self.ticks == 3:
            yield from self.finish()

    def finish(self) -> Iterator[Session]:
        if self.session is not None:
            yield self.session
            self.session = None


@ab.app
def tpcx_bb_q4(clicks: str = "clicks.csv", out: str = "abandoned.csv", timeout: float = 60.0) -> None:
    """Count, every hour, the sessions that end with a full cart and no order, and the pages they visited.

    clicks: the CSV file of clicks, in the order in which they were recorded
    out: where to write the number of sessions and their average length in pages
    timeout: the minutes of silence that end a session, and also how often sessions are counted
    """
    (
        ab.read_csv(clicks, Click)
        .distinct(window=ab.sliding(minutes=5, on="ts"))  # a click may be recorded twice
        .flat_map(known)
        .process(partial(Ticks, timeout * 60))
        .punctuate(lambda visit: visit.is_tick)
        .process(partial(Sessions, timeout * 60), key="user")
        .filter(lambda session: session.has_cart and not session.has_order)
        .window(ab.punctuated())
        .aggregate(Abandonment, until=ab.max_("until"), sessions=ab.count(), pages=ab.mean("pages"))
        .write_csv(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.clickstream import write_clickstream

    write_clickstream(folder / "clicks.csv", count, seed)
    return {"clicks": str(folder / "clicks.csv"), "out": str(folder / "abandoned.csv")}
