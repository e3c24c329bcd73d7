"""State changed by lookups, deletions and the unusual targets of assignments."""

from __future__ import annotations

from collections import ChainMap, defaultdict, deque
from types import SimpleNamespace

from .registry import entry
from .tuples import Amount, Count, Order, Reading, Trade

COUNTS: defaultdict[str, int] = defaultdict(int)
CONTEXT = SimpleNamespace(last=0.0, log=[])
RECENT: deque[float] = deque([0.0] * 3, maxlen=3)


LAYERS = ChainMap({}, {"base": 1})

SHELF: dict[str, list[str]] = {}
last_price = 0.0
last_symbol = "-"


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="augmented assignment to an attribute of a module's object")  # fmt: skip
def context_total(t: Trade) -> Amount:
    context = CONTEXT
    context.last += t.price
    return Amount(t.symbol, context.last)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="reading a defaultdict of the module writes it")  # fmt: skip
def missing_is_written(t: Trade) -> Count:
    COUNTS[f"{t.symbol}{t.size}"]
    return Count(t.symbol, len(COUNTS))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="setdefault looks like a lookup")  # fmt: skip
def first_size(t: Trade) -> Count:
    sizes = SHELF.setdefault(t.symbol, [])
    sizes.append("x")
    return Count(t.symbol, len(sizes))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a ChainMap writes through to the module's first dict")  # fmt: skip
def layered(t: Trade) -> Count:
    LAYERS[t.symbol] = LAYERS.get(t.symbol, 0) + 1
    return Count(t.symbol, LAYERS[t.symbol])


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="rotate is a mutation too")  # fmt: skip
def rotating(r: Reading) -> Amount:
    RECENT[0] = r.celsius
    RECENT.rotate(1)
    return Amount(r.sensor, sum(RECENT))


NAMES_2: set[str] = set()


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="|= on an alias of a set")  # fmt: skip
def union_in_place(t: Trade) -> Amount:
    names = NAMES_2
    names |= {t.symbol, str(t.size)}
    return Amount(t.symbol, float(len(NAMES_2)))


TOTALS_2: dict[str, float] = {}


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="del on an item of the module's dict")  # fmt: skip
def toggled(t: Trade) -> Count:
    if t.symbol in TOTALS_2:
        del TOTALS_2[t.symbol]
    else:
        TOTALS_2.update({t.symbol: t.price})
    return Count(t.symbol, len(TOTALS_2))


TOTALS_3: dict[str, float] = {}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the target of a for loop is an item of the module's dict")  # fmt: skip
def loop_target(t: Trade) -> Amount:
    before = TOTALS_3.get("last", 0.0)
    for TOTALS_3["last"] in (t.price, t.price * 2):
        pass
    return Amount(t.symbol, before)


HISTORY_5: list[float] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a starred target fills the module's list")  # fmt: skip
def starred_target(t: Trade) -> Amount:
    before = sum(HISTORY_5)
    _, *HISTORY_5[1:] = t[1:]
    return Amount(t.symbol, float(before))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a match pattern binds a global name")  # fmt: skip
def global_by_match(t: Trade) -> Amount:
    global last_price
    before = last_price
    match t:
        case Trade(price=last_price):
            pass
    return Amount(t.symbol, before)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"value": "price"}, trap=True,
       why="the loop variable is declared global")  # fmt: skip
def global_by_loop(t: Trade) -> Amount:
    global last_symbol
    before = last_symbol
    for last_symbol in (t.symbol,):  # noqa: B007
        pass
    return Amount(before, t.price)


SEEN_9: list[str] = []


@entry(kind="map", input=Order, output=Count, state="stateful", trap=True,
       why="a handler stores the failure in the module")  # fmt: skip
def counted_failures(o: Order) -> Count:
    try:
        return Count(o.items[3], 0)
    except IndexError as problem:
        SEEN_9.append(str(problem))
        return Count("short", len(SEEN_9))
