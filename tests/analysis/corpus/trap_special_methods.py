"""Operators, formats, loops and comparisons that call user code with a memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import total_ordering

from .registry import entry
from .tuples import (
    Amount,
    Count,
    Order,
    Text,
    Trade,
    Word,
)


class Money:
    """Every sum is remembered."""

    booked = 0.0

    def __init__(self, value: float) -> None:
        self.value = value

    def __add__(self, other: Money) -> Money:
        Money.booked += other.value
        return Money(Money.booked)

    def __iadd__(self, other: float) -> Money:
        self.value += other
        return self

    def __neg__(self) -> Money:
        Money.booked += 1
        return Money(Money.booked)


ZERO = Money(0.0)
PURSE = Money(0.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="__add__ writes the class")  # fmt: skip
def sum_of_money(t: Trade) -> Amount:
    return Amount(t.symbol, (ZERO + Money(t.price)).value)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="__iadd__ on a local alias of a module's object")  # fmt: skip
def into_purse(t: Trade) -> Amount:
    purse = PURSE
    purse += t.price
    return Amount(t.symbol, purse.value)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a unary minus on a fresh object writes the class")  # fmt: skip
def negated(t: Trade) -> Amount:
    return Amount(t.symbol, (-Money(t.price)).value)


@total_ordering
class Symbol:
    """Compares, hashes and counts."""

    compared = 0
    hashed = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        Symbol.compared += 1
        return isinstance(other, Symbol) and (self.name, Symbol.compared % 3) == (other.name, 0)

    def __hash__(self) -> int:
        Symbol.hashed += 1
        return 7

    def __lt__(self, other: Symbol) -> bool:
        Symbol.compared += 1
        return (Symbol.compared % 2 == 0) == (self.name < other.name)


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="__eq__ counts")
def equal_symbol(t: Trade) -> bool:
    return Symbol(t.symbol) == Symbol("ACME")


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__hash__ counts when a local dict is filled")  # fmt: skip
def hashed_symbol(t: Trade) -> Count:
    local = {Symbol(t.symbol): t.size}
    return Count(t.symbol, Symbol.hashed + sum(1 for _ in local))


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="__lt__ counts when a local list is sorted")  # fmt: skip
def ordered_symbols(o: Order) -> Word:
    return Word("".join(symbol.name[0] for symbol in sorted(map(Symbol, o.items))), o.id)


class Switch:
    """On and off, each time it is looked at."""

    def __init__(self) -> None:
        self.looked = 0

    def __bool__(self) -> bool:
        self.looked += 1
        return self.looked % 2 == 0

    def __len__(self) -> int:
        self.looked += 1
        return self.looked

    def __iter__(self) -> Iterator[int]:
        self.looked += 1
        return iter((self.looked, self.looked + 1))

    def __contains__(self, value: object) -> bool:
        self.looked += 1
        return self.looked % 3 == 0

    def __getitem__(self, index: object) -> int:
        self.looked += 1
        return self.looked

    def __getattr__(self, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        self.looked += 1
        return self.looked

    def __format__(self, spec: str) -> str:
        self.looked += 1
        return str(self.looked)

    def __str__(self) -> str:
        self.looked += 1
        return f"<{self.looked}>"

    def __index__(self) -> int:
        self.looked += 1
        return self.looked % 3

    def __enter__(self) -> int:
        self.looked += 1
        return self.looked

    def __exit__(self, *problem: object) -> None:
        self.looked += 1

    def __matmul__(self, other: float) -> float:
        self.looked += 1
        return other * self.looked

    def __rmul__(self, other: float) -> float:
        self.looked += 1
        return other * self.looked


SWITCH = Switch()
NAMES = ("a", "b", "c")


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="__bool__ of the result")
def by_truth(t: Trade) -> object:
    return SWITCH


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="if calls __bool__")  # fmt: skip
def by_condition(t: Trade) -> Count:
    return Count(t.symbol, 1 if SWITCH else 2)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="len calls __len__")  # fmt: skip
def by_length(t: Trade) -> Count:
    return Count(t.symbol, len(SWITCH))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="unpacking calls __iter__")  # fmt: skip
def by_unpacking(t: Trade) -> Count:
    first, second = SWITCH
    return Count(t.symbol, first * second)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a starred argument calls __iter__")  # fmt: skip
def by_star(t: Trade) -> Count:
    return Count(t.symbol, max(*SWITCH))


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="`in` calls __contains__")
def by_membership(t: Trade) -> bool:
    return t.symbol in SWITCH


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a subscript calls __getitem__")  # fmt: skip
def by_subscript(t: Trade) -> Count:
    return Count(t.symbol, SWITCH[t.symbol])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an attribute calls __getattr__")  # fmt: skip
def by_attribute(t: Trade) -> Count:
    return Count(t.symbol, SWITCH.limit)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="an f-string calls __format__")
def by_format(t: Trade) -> Text:
    return Text(f"{t.symbol} {SWITCH:>3}")


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="%s calls __str__")
def by_percent(t: Trade) -> Text:
    return Text("%s %s" % (t.symbol, SWITCH))  # noqa: UP031


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="map(str, ...) calls __str__")
def by_str(t: Trade) -> Text:
    return Text(",".join(map(str, (t.symbol, SWITCH))))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="an index calls __index__")
def by_index(t: Trade) -> Text:
    return Text(NAMES[SWITCH])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="with calls __enter__ and __exit__")  # fmt: skip
def by_with(t: Trade) -> Count:
    with SWITCH as n:
        return Count(t.symbol, n)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a number times an object calls __rmul__")  # fmt: skip
def by_product(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * SWITCH)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="@ calls __matmul__")  # fmt: skip
def by_matmul(t: Trade) -> Amount:
    return Amount(t.symbol, SWITCH @ t.price)
