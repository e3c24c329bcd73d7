"""More emissions, or fewer, than a glance would count."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator

from .registry import entry
from .tuples import (
    Alert,
    Amount,
    Call,
    Click,
    CsvLine,
    LogLine,
    Numbered,
    Order,
    Packet,
    Quote,
    Reading,
    Tagged,
    Trade,
    Travel,
    Word,
)

MANY = "1:[0,inf)"
FEW = "1:[0,1]"
SENSOR = {"sensor": "sensor", "ts": "ts"}


@entry(kind="flat_map", input=Reading, output=Alert, selectivity=MANY, forwards=SENSOR, trap=True,
       why="two conditions, not one: both may hold")  # fmt: skip
def two_conditions(r: Reading) -> Iterator[Alert]:
    if r.celsius > 20:
        yield Alert(r.sensor, "warm", r.ts)
    if r.celsius > 40:
        yield Alert(r.sensor, "hot", r.ts)


@entry(kind="flat_map", input=Reading, output=Alert, selectivity=MANY, forwards=SENSOR, trap=True,
       why="finally yields once more")  # fmt: skip
def once_more_in_finally(r: Reading) -> Iterator[Alert]:
    try:
        yield Alert(r.sensor, "seen", r.ts)
    finally:
        yield Alert(r.sensor, "done", r.ts)


@entry(kind="flat_map", input=Reading, output=Alert, selectivity=MANY, forwards=SENSOR, trap=True,
       why="a conditional yield in finally")  # fmt: skip
def sometimes_in_finally(r: Reading) -> Iterator[Alert]:
    try:
        yield Alert(r.sensor, "seen", r.ts)
    finally:
        if not r.ok:
            yield Alert(r.sensor, "broken", r.ts)


@entry(kind="flat_map", input=Order, output=Word, selectivity=MANY, forwards={"n": "id"}, trap=True,
       why="what fails after the first yield leads to a second one")  # fmt: skip
def yields_and_fails(o: Order) -> Iterator[Word]:
    try:
        yield Word(o.customer, o.id)
        o.items[2].upper()
    except IndexError:
        yield Word("few items", o.id)


@entry(kind="flat_map", input=CsvLine, output=Numbered, selectivity=FEW, forwards={"number": "number"}, trap=True,
       why="suppress swallows the failure, and the yield with it")  # fmt: skip
def suppressed(line: CsvLine) -> Iterator[Numbered]:
    with contextlib.suppress(ValueError, IndexError):
        size = int(line.text.split(",")[2])
        yield Numbered(line.number, size)


class Forgiving:
    def __enter__(self) -> Forgiving:
        return self

    def __exit__(self, kind: object, problem: object, trace: object) -> bool:
        return kind is not None


@entry(kind="flat_map", input=CsvLine, output=Numbered, selectivity=FEW, forwards={"number": "number"}, trap=True,
       why="an own context manager swallows the failure")  # fmt: skip
def forgiven(line: CsvLine) -> Iterator[Numbered]:
    with Forgiving():
        yield Numbered(line.number, int(line.text.split(",")[2]))


@entry(kind="flat_map", input=Order, output=Word, selectivity=FEW, forwards={"n": "id"}, trap=True,
       why="a loop that is left after its first yield, or never entered")  # fmt: skip
def first_only(o: Order) -> Iterator[Word]:
    for item in o.items:
        yield Word(item, o.id)
        break


@entry(kind="flat_map", input=Order, output=Word, selectivity=MANY, forwards={"n": "id"}, trap=True,
       why="the break comes too late on some paths")  # fmt: skip
def late_break(o: Order) -> Iterator[Word]:
    for item in o.items:
        yield Word(item, o.id)
        if item == "gear":
            break


@entry(kind="flat_map", input=Order, output=Word, selectivity=MANY, forwards={"n": "id"}, trap=True,
       why="for/else yields after the loop's own yields")  # fmt: skip
def loop_and_else(o: Order) -> Iterator[Word]:
    for item in o.items:
        if item == "nut":
            yield Word(item, o.id)
    else:
        yield Word("end", o.id)


@entry(kind="flat_map", input=Trade, selectivity=MANY, forwards="all", trap=True,
       why="a while loop that mostly runs once")  # fmt: skip
def by_lots(t: Trade) -> Iterator[Trade]:
    rest = t.size
    while rest > 0:
        yield t
        rest = rest - 200 if rest < 1_000 else 0


twice_in_lambda = entry("twice_in_lambda", kind="flat_map", input=Trade, selectivity=MANY, forwards="all", trap=True,
                        why="a lambda that is a generator of two")(lambda t: ((yield t), (yield t)))  # fmt: skip
yield_or_yield = entry("yield_or_yield", kind="flat_map", input=Trade, selectivity=MANY, forwards="all", trap=True,
                       why="yield gives None, so `or` goes on")(lambda t: (yield t) or (yield t))  # fmt: skip
and_yield = entry("and_yield", kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
                  why="`and` decides whether to yield")(lambda r: r.ok and (yield r))  # fmt: skip
times = entry("times", kind="flat_map", input=Click, selectivity=MANY, forwards="all", trap=True,
              why="a list of one, times a number")(lambda c: [c] * len(c.tags))  # fmt: skip
plus = entry("plus", kind="flat_map", input=Trade, selectivity=MANY, forwards="all", trap=True,
             why="a list of one plus a list of one")(lambda t: [t] + [t])  # noqa: RUF005  # fmt: skip
starred = entry("starred", kind="flat_map", input=Click, output=Tagged, selectivity=MANY, forwards={"user": "user"},
                trap=True, why="a starred element in a list of one")(
    lambda c: [*(Tagged(c.user, tag) for tag in c.tags)]
)  # fmt: skip
sliced = entry("sliced", kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
               why="a slice of a list of one may be empty")(lambda r: [r][: int(r.ok)])  # fmt: skip
either = entry("either", kind="flat_map", input=Reading, selectivity=MANY, forwards="all", trap=True,
               why="one or two, by a conditional expression")(lambda r: [r] if r.ok else [r, r])  # fmt: skip
filtered = entry("filtered", kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
                 why="a comprehension over a list of one, with a condition")(
    lambda r: [one for one in [r] if one.ok]
)  # fmt: skip
repeated = entry("repeated", kind="flat_map", input=Click, selectivity=MANY, forwards="all", trap=True,
                 why="itertools.repeat with a count")(lambda c: itertools.repeat(c, len(c.tags)))  # fmt: skip


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
       why="`return [r]` in a generator emits nothing")  # fmt: skip
def returns_in_generator(r: Reading) -> Iterator[Reading]:
    if not r.ok:
        return [r]
    yield r


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
       why="an unreachable yield makes a generator of it, which is empty")  # fmt: skip
def generator_by_accident(r: Reading) -> Iterable[Reading]:
    return [r]
    yield r


def _both(q: Quote) -> Iterator[Amount]:
    yield Amount(q.symbol, q.bid)
    yield Amount(q.symbol, q.ask)


@entry(kind="flat_map", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="one `yield from`, but the helper yields twice")  # fmt: skip
def from_helper(q: Quote) -> Iterator[Amount]:
    yield from _both(q)


@entry(kind="flat_map", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="one return, of a generator of two")  # fmt: skip
def returns_generator(q: Quote) -> Iterator[Amount]:
    return _both(q)


@entry(kind="flat_map", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="the yields are those of an inner function, which is returned called")  # fmt: skip
def inner_generator(q: Quote) -> Iterator[Amount]:
    def emit() -> Iterator[Amount]:
        yield Amount(q.symbol, q.bid)
        if q.ask > q.bid:
            yield Amount(q.symbol, q.ask)

    return emit()


@entry(kind="flat_map", input=Trade, selectivity=MANY, forwards={"symbol": "symbol", "price": "price", "ts": "ts"},
       trap=True, why="recursion through yield from")  # fmt: skip
def halved(t: Trade) -> Iterator[Trade]:
    yield t
    if 1 < t.size < 1_000:
        yield from halved(t._replace(size=t.size // 2))


@entry(kind="flat_map", input=Packet, output=Numbered, selectivity=FEW, forwards={"number": "device"}, trap=True,
       why="a wildcard with a guard is not a wildcard")  # fmt: skip
def guarded_wildcard(p: Packet) -> Iterator[Numbered]:
    match p.kind:
        case "temp":
            yield Numbered(p.device, 1)
        case _ if p.payload[0] != 255:
            yield Numbered(p.device, 2)


@entry(kind="flat_map", input=Packet, output=Numbered, selectivity=FEW, forwards={"number": "device"}, trap=True,
       why="elif without else")  # fmt: skip
def no_else(p: Packet) -> Iterator[Numbered]:
    if p.kind == "temp":
        yield Numbered(p.device, 1)
    elif p.kind == "hum":
        yield Numbered(p.device, 2)


@entry(kind="flat_map", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="the keys of a dict: one or two, as they are equal or not")  # fmt: skip
def distinct_sides(q: Quote) -> Iterable[Amount]:
    return dict.fromkeys((Amount(q.symbol, q.bid), Amount(q.symbol, q.ask)))


def twice(function: Callable[[Trade], Iterator[Trade]]) -> Callable[[Trade], Iterator[Trade]]:
    @functools.wraps(function)
    def wrapper(t: Trade) -> Iterator[Trade]:
        for emitted in function(t):
            yield emitted
            yield emitted

    return wrapper


@entry(kind="flat_map", input=Trade, selectivity=MANY, forwards="all", trap=True,
       why="the decorator doubles what is yielded")  # fmt: skip
@twice
def doubled_by_decorator(t: Trade) -> Iterator[Trade]:
    yield t


def only_ok(function: Callable[[Reading], list[Reading]]) -> Callable[[Reading], list[Reading]]:
    @functools.wraps(function)
    def wrapper(r: Reading) -> list[Reading]:
        return function(r) if r.ok else []

    return wrapper


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True,
       why="the decorator drops what is returned")  # fmt: skip
@only_ok
def dropped_by_decorator(r: Reading) -> list[Reading]:
    return [r]


@entry(kind="flat_map", input=LogLine, output=Word, selectivity=MANY, forwards={"n": "number"}, trap=True,
       why="try, except and else: two of three yields are run")  # fmt: skip
def except_else(line: LogLine) -> Iterator[Word]:
    try:
        first = line.text.index("took")
    except ValueError:
        yield Word("no timing", line.number)
    else:
        yield Word(line.text[first:], line.number)
        yield Word("timed", line.number)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="partitioned", selectivity="1:1",
       forwards={"phone": "phone"}, at_punctuation=True, trap=True,
       why="one per tuple, and one more at each punctuation")  # fmt: skip
class AtPunctuation:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> Iterator[Travel]:
        self.phone = c.phone
        self.n += 1
        yield Travel(c.phone, float(self.n), c.ts)

    def punctuation(self) -> Iterator[Travel]:
        yield Travel(self.phone, float(self.n), 0.0)


class YieldsTwice:
    def process(self, q: Quote) -> Iterator[Amount]:
        yield Amount(q.symbol, q.bid)
        yield Amount(q.symbol, q.ask)


@entry(kind="process", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="process is inherited and yields twice")  # fmt: skip
class InheritsTwo(YieldsTwice):
    pass


@entry(kind="process", input=Quote, output=Amount, selectivity=MANY, forwards={"symbol": "symbol"}, trap=True,
       why="one here, two more in super()")  # fmt: skip
class OneAndSuper(YieldsTwice):
    def process(self, q: Quote) -> Iterator[Amount]:
        yield Amount(q.symbol, 0.0)
        yield from super().process(q)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity=MANY,
       forwards={"symbol": "symbol"}, trap=True, why="a buffer that is let go all at once")  # fmt: skip
class Bursts:
    def __init__(self) -> None:
        self.prices: list[float] = []

    def process(self, t: Trade) -> list[Amount] | None:
        self.prices.append(t.price)
        if len(self.prices) < 3:
            return None
        prices, self.prices = self.prices, []
        return [Amount(t.symbol, price) for price in prices]


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:[0,1]",
       forwards={"symbol": "symbol"}, at_end=True, trap=True,
       why="one behind: the first tuple emits nothing, the end emits one")  # fmt: skip
class OneBehind:
    def __init__(self) -> None:
        self.waiting: Amount | None = None

    def process(self, t: Trade) -> Iterator[Amount]:
        ready, self.waiting = self.waiting, Amount(t.symbol, t.price)
        if ready:
            yield ready

    def finish(self) -> Iterator[Amount]:
        yield self.waiting


@entry(kind="process", input=Trade, output=Amount, state="stateful", selectivity="1:1", forwards={}, trap=True,
       at_end=True, shows=False, why="unkeyed: finish calls process once more")  # fmt: skip
class ProcessAtTheEnd:
    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, t.price)

    def finish(self) -> Iterator[Amount]:
        yield from self.process(Trade("end", 0.0, 0, 0.0))
