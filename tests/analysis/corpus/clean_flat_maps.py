"""One tuple to several, or to none: loops, comprehensions, generators, early exits."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter

from .registry import entry
from .tuples import Alert, Amount, Click, Count, LogLine, Numbered, Order, Packet, Reading, Tagged, Trade, Word


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"user": "user"},
       why="a loop over a list attribute")  # fmt: skip
def tags(click: Click) -> Iterator[Tagged]:
    for tag in click.tags:
        yield Tagged(click.user, tag)


tags_at_once = entry(
    "tags_at_once", kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"user": "user"},
    why="a comprehension in a lambda",
)(lambda c: [Tagged(c.user, tag) for tag in c.tags if tag != "home"])  # fmt: skip

single = entry(
    "single", kind="flat_map", input=Trade, output=Amount, selectivity="1:1",
    forwards={"symbol": "symbol", "value": "price"}, why="a list of exactly one",
)(lambda t: [Amount(t.symbol, t.price)])  # fmt: skip

if_large = entry(
    "if_large", kind="flat_map", input=Trade, selectivity="1:[0,1]", forwards="all",
    why="one or none, by a conditional expression",
)(lambda t: [t] if t.size >= 100 else [])  # fmt: skip

both_sides = entry(
    "both_sides", kind="flat_map", input=Trade, output=Amount, selectivity="1:[0,inf)", forwards={"symbol": "symbol"},
    why="a tuple of two",
)(lambda t: (Amount(t.symbol, t.price), Amount(t.symbol, -t.price)))  # fmt: skip


@entry(kind="flat_map", input=Reading, selectivity="1:[0,1]", forwards="all", why="a guard, then one yield")
def drop_broken(r: Reading) -> Iterator[Reading]:
    if not r.ok:
        return
    yield r


@entry(kind="flat_map", input=Reading, output=Alert, selectivity="1:1", forwards={"sensor": "sensor", "ts": "ts"},
       why="every branch yields once")  # fmt: skip
def judge(r: Reading) -> Iterator[Alert]:
    if not r.ok:
        yield Alert(r.sensor, "broken", r.ts)
    elif r.celsius > 45:
        yield Alert(r.sensor, "hot", r.ts)
    else:
        yield Alert(r.sensor, "fine", r.ts)


@entry(kind="flat_map", input=Packet, output=Numbered, selectivity="1:1", forwards={"number": "device"},
       why="match with a wildcard: one yield in each case")  # fmt: skip
def by_kind(p: Packet) -> Iterator[Numbered]:
    match p.kind:
        case "temp" | "hum":
            yield Numbered(p.device, 1)
        case "ping":
            yield Numbered(p.device, 2)
        case _:
            yield Numbered(p.device, 3)


@entry(kind="flat_map", input=Packet, output=Numbered, selectivity="1:[0,1]", forwards={"number": "device"},
       why="match without a wildcard may fall through")  # fmt: skip
def known_kinds(p: Packet) -> Iterator[Numbered]:
    match p:
        case Packet(kind="temp", device=device):
            yield Numbered(device, 1)
        case Packet(kind="hum"):
            yield Numbered(p.device, 2)


@entry(kind="flat_map", input=Order, output=Word, selectivity="1:[0,inf)", why="nested loops and continue")
def item_pairs(o: Order) -> Iterator[Word]:
    for i, first in enumerate(o.items):
        for second in o.items[i + 1 :]:
            if first == second:
                continue
            yield Word(f"{min(first, second)}+{max(first, second)}", i)


@entry(kind="flat_map", input=Order, output=Word, selectivity="1:[0,inf)", why="Counter of a local list")
def item_counts(o: Order) -> Iterator[Word]:
    yield from (Word(item, n) for item, n in Counter(o.items).most_common())


@entry(kind="flat_map", input=Order, output=Word, selectivity="1:[0,inf)", why="a heap that lives for one call")
def two_longest(o: Order) -> Iterator[Word]:
    best: list[tuple[int, str]] = []
    for item in o.items:
        heapq.heappush(best, (len(item), item))
        if len(best) > 2:
            heapq.heappop(best)
    for length, item in sorted(best, reverse=True):
        yield Word(item, length)


@entry(kind="flat_map", input=LogLine, output=Word, selectivity="1:[0,inf)", why="groupby over a sorted local list")
def words_by_length(line: LogLine) -> Iterator[Word]:
    words = sorted(line.text.split(), key=len)
    for length, group in itertools.groupby(words, key=len):
        yield Word("/".join(sorted(group)), length)


def windows(words: list[str], width: int) -> Iterator[str]:
    for start in range(len(words) - width + 1):
        yield " ".join(words[start : start + width])


@entry(
    kind="flat_map",
    input=LogLine,
    output=Word,
    selectivity="1:[0,inf)",
    forwards={"n": "number"},
    why="yield from and a helper generator",
)
def ngrams(line: LogLine) -> Iterator[Word]:
    words = line.text.split()
    for text in itertools.chain(windows(words, 1), windows(words, 2)):
        yield Word(text, line.number)


def _as_amounts(symbol: str, values: Iterable[float]) -> Iterator[Amount]:
    for value in values:
        yield Amount(symbol, value)


@entry(
    kind="flat_map",
    input=Trade,
    output=Amount,
    selectivity="1:[0,inf)",
    forwards={"symbol": "symbol"},
    why="the helper's generator is returned",
)
def ladder(t: Trade) -> Iterator[Amount]:
    return _as_amounts(t.symbol, (t.price * step for step in (0.99, 1.0, 1.01)))


@entry(kind="flat_map", input=Trade, selectivity="1:[0,inf)",
       forwards={"symbol": "symbol", "price": "price", "ts": "ts"}, why="a while loop over a local")  # fmt: skip
def child_orders(t: Trade) -> Iterator[Trade]:
    rest = min(t.size, 1_000)
    while rest > 0:
        slice_ = min(rest, 300)
        yield t._replace(size=slice_)
        rest -= slice_


@entry(kind="flat_map", input=Reading, output=Amount, selectivity="1:1", forwards={"symbol": "sensor"},
       why="try/except: one yield either way, and it comes after")  # fmt: skip
def log_of_value(r: Reading) -> Iterator[Amount]:
    try:
        value = math.log(r.celsius)
    except ValueError:
        value = 0.0
    yield Amount(r.sensor, value)


@entry(kind="flat_map", input=Order, output=Count, selectivity="1:[0,inf)", why="a local defaultdict")
def items_by_letter(o: Order) -> list[Count]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for item in o.items:
        groups[item[0]].append(item)
    return [Count(letter, len(group)) for letter, group in sorted(groups.items(), key=itemgetter(0))]


@entry(kind="process", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"user": "user"},
       why="a generator function as a stateless operator")  # fmt: skip
def neighbouring_tags(click: Click) -> Iterator[Tagged]:
    for left, right in itertools.pairwise(sorted(click.tags)):
        yield Tagged(click.user, f"{left}-{right}")


@entry(kind="process", input=Trade, selectivity="1:[0,1]", forwards="all", why="nested conditions around one yield")
def large_or_cheap(t: Trade) -> Iterator[Trade]:
    if t.size > 50:
        if t.price < 20:
            yield t
    elif t.price < 2:
        yield t


def _split(text: str, depth: int) -> list[str]:
    if depth == 0 or len(text) < 2:
        return [text]
    middle = len(text) // 2
    return _split(text[:middle], depth - 1) + _split(text[middle:], depth - 1)


@entry(
    kind="flat_map",
    input=LogLine,
    output=Word,
    selectivity="1:[0,inf)",
    forwards={"n": "number"},
    why="a recursive pure helper",
)
def quarters(line: LogLine) -> list[Word]:
    return [Word(part, line.number) for part in _split(line.text, 2)]


@entry(kind="flat_map", input=Order, output=Word, selectivity="1:[0,inf)", why="sorted with a key; a slice; zip")
def ranked_items(o: Order) -> Iterator[Word]:
    ranking = sorted(set(o.items), key=lambda item: (-o.items.count(item), item))[:3]
    for item, place in zip(ranking, itertools.count(1)):
        yield Word(item, place)


@entry(kind="flat_map", input=Order, selectivity="1:[0,1]", forwards="all", why="contains a loop, emits after it")
def if_all_known(o: Order) -> Iterator[Order]:
    for item in o.items:
        if item not in ("bolt", "nut", "gear", "belt"):
            return
    yield o
