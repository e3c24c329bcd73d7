"""State behind calls: helpers, helpers of helpers in other modules, shadowed names."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator
from typing import Any

from . import helpers_ledger, helpers_numbers, helpers_rates
from .helpers_ledger import Parser, drain, remember, sqrt
from .helpers_numbers import Counter, deepcopy, sorted
from .helpers_rates import BOOK, RATES
from .helpers_rates import RATES as TABLE
from .registry import entry
from .tuples import (
    Amount,
    Call,
    Click,
    Count,
    LogLine,
    Numbered,
    Order,
    Tagged,
    Trade,
    Travel,
    Word,
)

math = helpers_numbers.meter
SEEN: list[Any] = []
NOTES: list[str] = []
VISITED: set[str] = set()
calls = 0


def len(values: Any) -> int:
    """Hides the builtin and counts."""
    SEEN.append(values)
    return builtins.len(SEEN)


def _count_call() -> None:
    global calls
    calls += 1


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="global in a helper")  # fmt: skip
def numbered_call(t: Trade) -> Numbered:
    _count_call()
    return Numbered(t.size, calls)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a helper of a helper, two modules away")  # fmt: skip
def booked(t: Trade) -> Amount:
    return Amount(t.symbol, helpers_ledger.book(t.symbol, t.price))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="global in a helper of another module")  # fmt: skip
def added(t: Trade) -> Amount:
    return Amount(t.symbol, helpers_ledger.add(t.price))


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="keyed, but the helper keeps a dict by area")  # fmt: skip
class SinceLastInArea:
    def process(self, c: Call) -> Iterator[Travel]:
        yield Travel(c.phone, helpers_ledger.since_last(c.area, c.ts), c.ts)


@entry(kind="map", input=Call, output=Travel, state="stateful", forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="sqrt is not the one of math")  # fmt: skip
def rooted(c: Call) -> Travel:
    return Travel(c.phone, sqrt(c.x * c.x + c.y * c.y), c.ts)


@entry(kind="map", input=Call, output=Travel, state="stateful", forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="math is an object with a counter")  # fmt: skip
def rooted_by_math(c: Call) -> Travel:
    return Travel(c.phone, math.sqrt(abs(c.x)), c.ts)


@entry(kind="map", input=Call, output=Travel, state="stateful", forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="math.pi is answered by __getattr__, which counts")  # fmt: skip
def times_pi(c: Call) -> Travel:
    return Travel(c.phone, c.x * math.pi, c.ts)


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="len is not the builtin")  # fmt: skip
def number_of_items(o: Order) -> Count:
    return Count(o.customer, len(o.items))


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="sorted is imported from somewhere else")  # fmt: skip
def first_item(o: Order) -> Word:
    return Word(next(iter(sorted(o.items)), "-"), o.id)


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="this Counter shares its counts")  # fmt: skip
def common_item(o: Order) -> Word:
    counts = Counter(o.items)
    return Word(max(counts, key=lambda item: (counts[item], item), default="-"), o.id)


@entry(kind="map", input=Order, state="stateful",
       forwards={"id": "id", "customer": "customer", "total": "total", "note": "note"}, trap=True,
       why="this deepcopy does not copy, so the argument is changed")  # fmt: skip
def sorted_items(o: Order) -> Order:
    items = deepcopy(o.items)
    items.sort()
    return o._replace(items=items)


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="a helper empties the list of the argument")  # fmt: skip
def drained(o: Order) -> Count:
    return Count(o.customer, sum(1 for _ in drain(o.items)))


NOTES_2: list[str] = []


@entry(kind="map", input=LogLine, output=Word, state="stateful", forwards={"n": "number"}, trap=True,
       why="a helper appends to what it is handed")  # fmt: skip
def remembered(line: LogLine) -> Word:
    return Word(str(remember(line.text, into=NOTES_2)), line.number)


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a class method of another module that keeps numbers")  # fmt: skip
def parsed(line: LogLine) -> Numbered:
    return Numbered(line.number, Parser.parse(line.text))


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       shows=False, why="a static method that reads what the class method writes")  # fmt: skip
def widened(line: LogLine) -> Numbered:
    return Numbered(line.number, Parser.width(line.text))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       shows=False, why="a table that its module refreshes")  # fmt: skip
def converted(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * RATES.get(t.symbol, 1.0))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       shows=False, why="a number that its module rebinds")  # fmt: skip
def rebased(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * helpers_rates.BASE)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       shows=False, beside=("teach",), why="an object that only reads here, but learns elsewhere")  # fmt: skip
def looked_up(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * BOOK.rate(t.symbol))


def teach(t: Trade) -> Amount:
    BOOK.learn(t.symbol, t.price)
    return Amount(t.symbol, t.price)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="writes the other module's table under a third name")  # fmt: skip
def learned(t: Trade) -> Amount:
    before = RATES.get(t.symbol, 0.0)
    TABLE[t.symbol] = t.price
    return Amount(t.symbol, before)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the attribute of a module is answered by its __getattr__")  # fmt: skip
def by_module_getattr(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * helpers_rates.MARGIN)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a variable of another module is assigned")  # fmt: skip
def monkeypatched(t: Trade) -> Amount:
    before = helpers_rates.BASE
    helpers_rates.BASE = t.price
    return Amount(t.symbol, before)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a function of another module is replaced")  # fmt: skip
def patches_function(t: Trade) -> Amount:
    value = helpers_ledger.quiet_sum([t.price])
    helpers_ledger.quiet_sum = lambda values: values[0] * 2
    return Amount(t.symbol, value)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       shows=False, beside=("patches_function",), why="calls a function that another operator replaces")  # fmt: skip
def calls_patched(t: Trade) -> Amount:
    return Amount(t.symbol, helpers_ledger.quiet_sum([t.price]))


@functools.singledispatch
def _weigh(value: object) -> int:
    return 0


@_weigh.register
def _(value: str) -> int:
    NOTES.append(value)
    return builtins.len(NOTES)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="the import is inside, the state is not")  # fmt: skip
def imported_inside(c: Click) -> Tagged:
    from .helpers_ledger import add as plus

    return Tagged(c.user, str(plus(1.0)))


def _visit(node: str, depth: int) -> int:
    if depth == 0:
        VISITED.add(node)
        return builtins.len(VISITED)
    return _visit(node, depth - 1)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="recursion that writes at its end")  # fmt: skip
def visited(c: Click) -> Tagged:
    return Tagged(c.user, str(_visit(c.url, 3)))


def _even(n: int) -> bool:
    return True if n == 0 else _odd(n - 1)


def _odd(n: int) -> bool:
    _count_call()
    return False if n == 0 else _even(n - 1)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="two functions that call each other, one of which counts")  # fmt: skip
def parity(c: Click) -> Tagged:
    return Tagged(c.user, f"{_even(c.user)} {calls}")
