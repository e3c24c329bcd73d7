"""Keyed operators whose own attributes are, from the start, somebody else's objects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from .registry import entry
from .tuples import Amount, Click, Count, Trade, Visit

ROW: list[float] = []
TABLE: dict[str, list[float]] = {"prices": []}
BY_TUPLE: list[str] = []
BY_LOOP: list[str] = []
BY_DICT: list[str] = []
BY_LAMBDA: list[str] = []
BY_FACTORY: list[str] = []
BY_CHOICE: list[str] = []
BY_GENERATOR = iter(range(100_000))


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True, why="a list of the same shared list, three times")  # fmt: skip
class Rows:
    def __init__(self) -> None:
        self.rows = [ROW] * 3

    def process(self, t: Trade) -> Iterator[Amount]:
        self.rows[t.size % 3].append(t.price)
        yield Amount(t.symbol, sum(self.rows[0]))


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True, why="a shallow copy of a table of lists")  # fmt: skip
class ShallowTable:
    def __init__(self) -> None:
        self.table = TABLE.copy()

    def process(self, t: Trade) -> Iterator[Amount]:
        self.table["prices"].append(t.price)
        yield Amount(t.symbol, max(self.table["prices"]))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="assigned with others in one line")  # fmt: skip
class AssignedTogether:
    def __init__(self) -> None:
        self.n, self.seen = 0, BY_TUPLE

    def process(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen) - self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="setattr in a loop over names")  # fmt: skip
class AssignedByName:
    seen: list[str]

    def __init__(self) -> None:
        for name, value in (("seen", BY_LOOP), ("n", 0)):
            setattr(self, name, value)

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__dict__.update in __init__")  # fmt: skip
class AssignedByDict:
    seen: list[str]

    def __init__(self) -> None:
        self.__dict__.update(seen=BY_DICT)

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a lambda made in __init__ writes the module")  # fmt: skip
class OwnLambda:
    def __init__(self) -> None:
        self.number = lambda symbol: BY_LAMBDA.append(symbol) or len(BY_LAMBDA)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.number(t.symbol))


@cache
def new_list() -> list[str]:
    return []


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the factory is cached: there is one list")  # fmt: skip
class CachedFactory:
    def __init__(self) -> None:
        self.seen = new_list()

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


def _pick(own: list[str] | None = None) -> list[str]:
    return BY_FACTORY if own is None else own


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a helper picks the shared list")  # fmt: skip
class Picked:
    def __init__(self) -> None:
        self.seen = _pick()

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen += [t.symbol]
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the parameter's None stands for the shared list")  # fmt: skip
class ChosenByDefault:
    def __init__(self, seen: list[str] | None = None) -> None:
        self.seen = seen if seen is not None else BY_CHOICE

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the own attribute is the class's list")  # fmt: skip
class OwnNameForClassList:
    DEFAULT: list[str] = []

    def __init__(self) -> None:
        self.seen = self.DEFAULT

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


class WithList:
    def __init__(self, seen: list[str] = []) -> None:
        self.seen = seen


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the base's __init__ has a shared default")  # fmt: skip
class InheritedInit(WithList):
    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the own object has the shared default inside")  # fmt: skip
class OwnObjectSharedInside:
    def __init__(self) -> None:
        self.inner = WithList()

    def process(self, t: Trade) -> Iterator[Count]:
        self.inner.seen.append(t.symbol)
        yield Count(t.symbol, len(self.inner.seen))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the own iterator is the module's")  # fmt: skip
class SharedIterator:
    def __init__(self) -> None:
        self.numbers = BY_GENERATOR

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, next(self.numbers))


class Parent:
    def __init__(self) -> None:
        self.children = 0


PARENT = Parent()


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a link to a common parent that is written")  # fmt: skip
class Child:
    def __init__(self) -> None:
        self.parent = PARENT
        self.n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        self.parent.children += 1
        yield Count(t.symbol, self.parent.children)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:[0,1]",
       forwards={}, at_end=True, trap=True, breaks={"user": "user"},
       why="the key is only kept on one path, and emitted at the end anyway")  # fmt: skip
class KeyOnOnePath:
    def __init__(self) -> None:
        self.user, self.n = 0, 0

    def process(self, c: Click) -> None:
        self.n += 1
        if "pay" in c.url and len(c.tags) == 3:
            self.user = c.user

    def finish(self) -> Iterator[Visit]:
        yield Visit(self.user, 0.0, 0.0, self.n)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:1",
       forwards={"end": "ts"}, trap=True, breaks={"user": "user"},
       why="the kept key is overwritten through another name of self")  # fmt: skip
class KeyOverwritten:
    def __init__(self) -> None:
        self.user = 0

    def process(self, c: Click) -> Iterator[Visit]:
        self.user = c.user
        this = self
        this.user = -1
        yield Visit(self.user, 0.0, c.ts, 1)
