"""How instances are made, and how their attributes are set, can tie them together."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .registry import entry
from .tuples import Amount, Count, Mean, Order, Reading, Trade

IDS = itertools.count()
SHARED_ITEMS: list[str] = []


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__init__ counts the instances")  # fmt: skip
class CountsInstances:
    instances = 0

    def __init__(self) -> None:
        CountsInstances.instances += 1
        self.number = CountsInstances.instances

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.number)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__init__ takes a number from the module")  # fmt: skip
class TakesNumber:
    def __init__(self) -> None:
        self.number = next(IDS)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.number)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__init__ enters itself into a list of the class")  # fmt: skip
class EntersItself:
    everyone: list[EntersItself] = []

    def __init__(self) -> None:
        self.everyone.append(self)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, len(self.everyone))


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a WeakSet of all instances")  # fmt: skip
class KnowsOthers:
    alive: weakref.WeakSet[KnowsOthers] = weakref.WeakSet()

    def __init__(self) -> None:
        self.alive.add(self)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, len(self.alive))


class CountedMeta(type):
    """Counts what is made of its classes."""

    made = 0

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = super().__call__(*args, **kwargs)
        CountedMeta.made += 1
        instance.number = CountedMeta.made
        return instance


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the metaclass numbers the instances")  # fmt: skip
class NumberedByMeta(metaclass=CountedMeta):
    number = 0

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.number)


class Registered:
    """Gives every subclass one list."""

    log: list[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.log = []


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__init_subclass__ made the list, one for the class")  # fmt: skip
class LogsInSubclass(Registered):
    def process(self, t: Trade) -> Iterator[Count]:
        self.log.append(t.symbol)
        yield Count(t.symbol, len(self.log))


class SharedValue:
    """A descriptor that keeps its value in itself, so for all instances."""

    def __init__(self) -> None:
        self.value = 0.0

    def __get__(self, instance: object, owner: type) -> float:
        return self.value

    def __set__(self, instance: object, value: float) -> None:
        self.value = value


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"sensor": "sensor"}, trap=True, why="a descriptor behind a plain assignment to self")  # fmt: skip
class ThroughDescriptor:
    highest = SharedValue()

    def __init__(self) -> None:
        self.n = 0

    def process(self, r: Reading) -> Iterator[Mean]:
        self.n += 1
        self.highest = max(self.highest, r.celsius)
        yield Mean(r.sensor, self.highest, self.n)


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"sensor": "sensor"}, trap=True, why="a property setter writes the class")  # fmt: skip
class ThroughSetter:
    _total = 0.0

    @property
    def total(self) -> float:
        return self._total

    @total.setter
    def total(self, value: float) -> None:
        type(self)._total = value

    def process(self, r: Reading) -> Iterator[Mean]:
        self.total += r.celsius
        yield Mean(r.sensor, self.total, 0)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a property that counts its readers in the class")  # fmt: skip
class ThroughProperty:
    reads = 0

    @property
    def limit(self) -> int:
        ThroughProperty.reads += 1
        return ThroughProperty.reads

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.limit)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__setattr__ sends own writes to a dict of the class")  # fmt: skip
class ThroughSetattr:
    values: dict[str, int] = {"n": 0}

    def __setattr__(self, name: str, value: int) -> None:
        self.values[name] = value

    def __getattr__(self, name: str) -> int:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    def process(self, t: Trade) -> Iterator[Count]:
        self.n = self.n + 1
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the Borg: all instances have one __dict__")  # fmt: skip
class Borg:
    _everything: dict[str, Any] = {"n": 0}

    def __init__(self) -> None:
        self.__dict__ = self._everything

    def process(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__new__ gives every key the same instance")  # fmt: skip
class Singleton:
    _instance = None
    n = 0

    def __new__(cls) -> Singleton:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def process(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        yield Count(t.symbol, self.n)


class Shelf:
    def __init__(self) -> None:
        self.items: list[str] = []


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="stateful", selectivity="1:1",
       forwards={"key": "customer"}, trap=True, why="a dataclass default is one object for all")  # fmt: skip
@dataclass
class DefaultObject:
    shelf: Shelf = Shelf()  # noqa: RUF009

    def process(self, o: Order) -> Iterator[Count]:
        self.shelf.items.extend(o.items)
        yield Count(o.customer, len(self.shelf.items))


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="stateful", selectivity="1:1",
       forwards={"key": "customer"}, trap=True, why="a default factory that gives out a shared list")  # fmt: skip
@dataclass
class FactoryOfShared:
    items: list[str] = field(default_factory=lambda: SHARED_ITEMS)

    def process(self, o: Order) -> Iterator[Count]:
        self.items.extend(o.items)
        yield Count(o.customer, len(self.items))


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="stateful", selectivity="1:1",
       forwards={"key": "customer"}, trap=True, why="__post_init__ writes the class")  # fmt: skip
@dataclass
class PostInit:
    number: int = 0

    def __post_init__(self) -> None:
        self.number = PostInit.number
        PostInit.number += 1

    def process(self, o: Order) -> Iterator[Count]:
        yield Count(o.customer, self.number)


def counted(cls: type) -> type:
    """A class decorator: counts the calls of all instances."""
    calls = itertools.count(1)
    process = cls.process

    def counting(self: Any, t: Trade) -> Iterator[Count]:
        for count in process(self, t):
            yield count._replace(n=next(calls))

    cls.process = counting
    return cls


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a class decorator replaced process")  # fmt: skip
@counted
class Decorated:
    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, 0)


def _make_process() -> Callable[[Any, Trade], Iterator[Count]]:
    n = 0

    def process(self: Any, t: Trade) -> Iterator[Count]:
        nonlocal n
        n += 1
        yield Count(t.symbol, n)

    return process


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="process is a closure made elsewhere")  # fmt: skip
class BorrowedProcess:
    process = _make_process()


IDS_2 = itertools.count()


class Threshold:
    @cached_property
    def limit(self) -> float:
        return float(next(IDS_2))


THRESHOLDS: dict[int, Threshold] = {}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a cached property whose value depends on who came first")  # fmt: skip
def first_come(t: Trade) -> Amount:
    return Amount(t.symbol, THRESHOLDS.setdefault(t.size, Threshold()).limit)


IDS_3 = itertools.count()


@entry(kind="process", input=Trade, output=Amount, state="stateful", selectivity="1:1", forwards={"symbol": "symbol"},
       trap=True, why="unkeyed: a cached property that draws from the module when first read")  # fmt: skip
class LazyLimit:
    @cached_property
    def limit(self) -> float:
        return float(next(IDS_3))

    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, t.price * self.limit)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a pop from a pool that all instances share")  # fmt: skip
class TakesFromPool:
    pool = list(range(10_000))

    def __init__(self) -> None:
        self.ticket = self.pool.pop()

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.ticket)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="__init__ writes into a nested dict of the class")  # fmt: skip
class NestedClassDict:
    table = {"made": {"n": 0}}

    def __init__(self) -> None:
        made = self.table["made"]
        made["n"] += 1
        self.n = made["n"]

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.n)
