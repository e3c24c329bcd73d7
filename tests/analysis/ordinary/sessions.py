"""Visits, carts and funnels of users."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from .records import Click, Count, Flag, Number, Order, Text

OPERATORS = """Sessions Funnel RecentPages host page_depth FirstVisit TagCounts is_bot referrer canonical LastTags
    Loyalty Basket RateLimit Undo top_level tag_pairs Visited OnceADay Coupons"""


class Visit(NamedTuple):
    user: str
    start: float
    seconds: float
    clicks: int


@dataclass
class Session:
    start: float
    end: float
    clicks: int = 1

    def add(self, ts: float) -> None:
        self.end = ts
        self.clicks += 1


class Sessions:
    GAP = 300.0

    def __init__(self) -> None:
        self.user = ""
        self.open: Session | None = None

    def process(self, click: Click) -> Iterator[Visit]:
        self.user = click.user
        if self.open is not None and click.ts - self.open.end > self.GAP:
            yield self.close()
        if self.open is None:
            self.open = Session(click.ts, click.ts)
        else:
            self.open.add(click.ts)

    def close(self) -> Visit:
        assert self.open is not None
        done, self.open = self.open, None
        return Visit(self.user, done.start, done.end - done.start, done.clicks)

    def finish(self) -> Iterator[Visit]:
        if self.open is not None:
            yield self.close()


class Funnel:
    STEPS = ("/", "/cart", "/cart/pay")

    def __init__(self) -> None:
        self.step = 0

    def process(self, click: Click) -> Iterator[Count]:
        if self.step < len(self.STEPS) and urlsplit(click.url).path == self.STEPS[self.step]:
            self.step += 1
            yield Count(click.user, self.step)


class RecentPages:
    """An LRU of three pages."""

    def __init__(self) -> None:
        self.pages: OrderedDict[str, float] = OrderedDict()

    def process(self, click: Click) -> Iterator[Flag]:
        is_known = click.url in self.pages
        self.pages[click.url] = click.ts
        self.pages.move_to_end(click.url)
        if len(self.pages) > 3:
            self.pages.popitem(last=False)
        yield Flag(click.user, is_known)


def host(click: Click) -> Text:
    return Text(click.user, urlsplit(click.url).hostname or "")


def page_depth(click: Click) -> Count:
    return Count(click.user, len([part for part in urlsplit(click.url).path.split("/") if part]))


class FirstVisit:
    def __init__(self) -> None:
        self.seen: set[str] = set()

    def process(self, click: Click) -> Iterator[Click]:
        if click.url not in self.seen:
            self.seen.add(click.url)
            yield click


class TagCounts:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def process(self, click: Click) -> Iterator[Count]:
        self.counts.update(click.tags)
        yield from (Count(f"{click.user}:{tag}", self.counts[tag]) for tag in click.tags)


def is_bot(click: Click) -> bool:
    return any(word in click.user.lower() for word in ("bo", "crawler", "spider"))


def referrer(click: Click) -> Text:
    query = parse_qs(urlsplit(click.url).query)
    return Text(click.user, query.get("ref", ["-"])[0])


def canonical(click: Click) -> Click:
    parts = urlsplit(click.url)
    query = urlencode(sorted((name, value) for name, values in parse_qs(parts.query).items() for value in values))
    return click._replace(url=urlunsplit(parts._replace(query=query, fragment="")))


class LastTags:
    def __init__(self) -> None:
        self.by_tag: dict[str, float] = {}

    def process(self, click: Click) -> Iterator[Number]:
        for tag in click.tags:
            with suppress(KeyError):
                yield Number(f"{click.user}:{tag}", click.ts - self.by_tag[tag])
            self.by_tag[tag] = click.ts


class Loyalty:
    LEVELS = {0: "bronze", 200: "silver", 600: "gold"}

    def __init__(self) -> None:
        self.points = 0

    @property
    def level(self) -> str:
        return next(name for least, name in sorted(self.LEVELS.items(), reverse=True) if self.points >= least)

    def process(self, order: Order) -> Iterator[Text]:
        before = self.level
        self.points += int(order.total)
        if self.level != before:
            yield Text(order.customer, self.level)


@dataclass
class Cart:
    lines: dict[str, int] = field(default_factory=dict)

    def __iadd__(self, item: str) -> Cart:
        self.lines[item] = self.lines.get(item, 0) + 1
        return self

    def __len__(self) -> int:
        return sum(self.lines.values())

    def __bool__(self) -> bool:
        return bool(self.lines)


class Basket:
    def __init__(self) -> None:
        self.cart = Cart()

    def process(self, order: Order) -> Iterator[Count]:
        for item in order.items:
            self.cart += item
        if self.cart:
            yield Count(order.customer, len(self.cart))


class RateLimit:
    """At most three clicks in a minute pass."""

    def __init__(self, most: int = 3, seconds: float = 60.0) -> None:
        self.most, self.seconds = most, seconds
        self.times: deque[float] = deque()

    def process(self, click: Click) -> Iterator[Click]:
        while self.times and self.times[0] <= click.ts - self.seconds:
            self.times.popleft()
        if len(self.times) < self.most:
            self.times.append(click.ts)
            yield click


class Undo:
    def __init__(self) -> None:
        self.stack: list[tuple[str, float]] = []

    def process(self, click: Click) -> Iterator[Text]:
        if click.url.endswith("/") and self.stack:
            url, _ = self.stack.pop()
            yield Text(click.user, f"back from {url}")
        else:
            self.stack.append((click.url, click.ts))


def top_level(click: Click) -> Text:
    _, _, name = (urlsplit(click.url).hostname or "").rpartition(".")
    return Text(click.user, name)


def tag_pairs(click: Click) -> Iterator[Text]:
    for a, b in pairwise(sorted(click.tags)):
        yield Text(click.user, f"{a}+{b}")


class Visited:
    def __init__(self) -> None:
        self.edges: defaultdict[str, set[str]] = defaultdict(set)
        self.at = "start"

    def process(self, click: Click) -> Iterator[Count]:
        self.edges[self.at].add(click.url)
        self.at = click.url
        yield Count(click.user, sum(len(targets) for targets in self.edges.values()))


class OnceADay:
    def __init__(self) -> None:
        self.day = -1

    def process(self, click: Click) -> Click | None:
        day = int(click.ts // 86_400)
        if day == self.day:
            return None
        self.day = day
        return click


class Coupons:
    def __init__(self) -> None:
        self.open: list[str] = []

    def process(self, order: Order) -> Iterator[Text]:
        if order.total > 200:
            self.open.append(f"C{order.id}")
        elif self.open:
            yield Text(order.customer, f"used {self.open.pop(0)}, {len(self.open)} left")
