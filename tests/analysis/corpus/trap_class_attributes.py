"""Keyed operators whose instances share something through their class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from .registry import entry
from .tuples import Amount, Call, Click, Count, Numbered, Order, Quote, Tagged, Trade, Travel, Word


@entry(kind="process", input=Click, output=Tagged, keyed=("user",), state="stateful", selectivity="1:1",
       forwards={"user": "user"}, trap=True, why="a list of the class, appended to through self")  # fmt: skip
class ClassList:
    seen: list[str] = []

    def process(self, c: Click) -> Iterator[Tagged]:
        self.seen.append(c.url)
        yield Tagged(c.user, str(len(self.seen)))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="self.__class__.n += 1")  # fmt: skip
class ThroughDunderClass:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        self.__class__.n += 1
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="type(self).n")  # fmt: skip
class ThroughType:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        kind = type(self)
        kind.n = kind.n + 1
        yield Count(t.symbol, kind.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the class by its name")  # fmt: skip
class ByName:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        ByName.n += t.size % 7
        yield Count(t.symbol, ByName.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a class method writes cls")  # fmt: skip
class ThroughClassMethod:
    n = 0

    @classmethod
    def _next(cls) -> int:
        cls.n += 1
        return cls.n

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self._next())


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="stateful", selectivity="1:1",
       forwards={"key": "customer"}, trap=True,
       why="self.items += [...] changes the class's list before it binds the own one")  # fmt: skip
class AugmentedClassList:
    items: list[str] = []

    def process(self, o: Order) -> Iterator[Count]:
        self.items += o.items
        yield Count(o.customer, len(self.items))


class CountsInBase:
    total = 0.0

    def process(self, t: Trade) -> Iterator[Amount]:
        CountsInBase.total += t.price
        yield Amount(t.symbol, CountsInBase.total)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True, why="super().process keeps state in the base class")  # fmt: skip
class ThroughSuper(CountsInBase):
    def process(self, t: Trade) -> Iterator[Amount]:
        yield from super().process(t)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True, why="process itself is inherited, state and all")  # fmt: skip
class InheritsAll(CountsInBase):
    pass


class Auditing:
    trail: list[str] = []

    def audit(self, text: str) -> int:
        self.trail.append(text)
        return len(self.trail)


@entry(kind="process", input=Quote, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a mixin with a list of its class")  # fmt: skip
class WithMixin(Auditing):
    def __init__(self) -> None:
        self.own = 0

    def process(self, q: Quote) -> Iterator[Count]:
        self.own += 1
        yield Count(q.symbol, self.audit(q.symbol))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="setattr on the class")  # fmt: skip
class ThroughSetattrBuiltin:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        setattr(type(self), "n", self.n + 1)  # noqa: B010
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a list found in the class's __dict__")  # fmt: skip
class ThroughVars:
    log: list[str] = []

    def process(self, t: Trade) -> Iterator[Count]:
        vars(type(self))["log"].append(t.symbol)
        yield Count(t.symbol, len(self.log))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a nested class serves as a namespace")  # fmt: skip
class WithNamespace:
    class Totals:
        n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        self.Totals.n += 1
        yield Count(t.symbol, self.Totals.n)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True,
       why="the cache of a static method is shared: the first price of any key stays")  # fmt: skip
class SharedCache:
    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, self._reference(t.size)(t.price))

    @staticmethod
    @cache
    def _reference(size: int) -> Callable[[float], float]:
        first: list[float] = []

        def reference(price: float) -> float:
            first.append(price)
            return first[0]

        return reference


@entry(kind="process", input=Trade, output=Numbered, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"number": "size"}, trap=True, why="cache_info tells what others asked")  # fmt: skip
class AsksTheCache:
    def process(self, t: Trade) -> Iterator[Numbered]:
        _square(t.size % 10)
        yield Numbered(t.size, _square.cache_info().hits)


@cache
def _square(n: int) -> int:
    return n * n


class Shelf:
    def __init__(self) -> None:
        self.items: list[str] = []


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a module's object is changed, the own one is not")  # fmt: skip
class SharedHelperObject:
    shelf = Shelf()

    def __init__(self) -> None:
        self.own: list[str] = []

    def process(self, t: Trade) -> Iterator[Count]:
        items = self.shelf.items
        items.append(t.symbol)
        self.own = items
        yield Count(t.symbol, len(self.own))


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:[0,1]",
       forwards={"phone": "phone"}, trap=True, at_end=True,
       why="only finish touches what is shared")  # fmt: skip
class SharedAtTheEnd:
    finished: list[int] = []

    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, c: Call) -> None:
        self.last = c

    def finish(self) -> Iterator[Travel]:
        self.finished.append(self.last.phone)
        yield Travel(self.last.phone, float(len(self.finished)), self.last.ts)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="only punctuation touches what is shared")  # fmt: skip
class SharedAtPunctuation:
    closed = 0

    def process(self, c: Call) -> Iterator[Travel]:
        yield Travel(c.phone, float(SharedAtPunctuation.closed), c.ts)

    def punctuation(self) -> None:
        SharedAtPunctuation.closed += 1


@entry(kind="process", input=Click, output=Word, state="stateful", selectivity="1:1", forwards={"n": "user"},
       trap=True, why="unkeyed: the state is only a class attribute's list")  # fmt: skip
class Vocabulary:
    words: dict[str, int] = {}

    def process(self, c: Click) -> Iterator[Word]:
        self.words.setdefault(c.url, len(self.words))
        yield Word(str(self.words[c.url]), c.user)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, trap=True, shows=False,
       why="a module's dict, even if each key only touches its own item")  # fmt: skip
class ModuleDictByKey:
    def process(self, t: Trade) -> Iterator[Amount]:
        TOTALS[t.symbol] = TOTALS.get(t.symbol, 0.0) + t.price
        yield Amount(t.symbol, TOTALS[t.symbol])


TOTALS: dict[str, float] = {}
