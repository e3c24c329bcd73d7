"""Objects that are made and dropped within a call, and leave something behind in their class or constructor."""

from __future__ import annotations

import copy
import dataclasses
from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any

from .registry import entry
from .tuples import Amount, Click, Count, Order, Packet, Reading, Tagged, Trade, Word


class Event:
    """Every event is kept."""

    log: list[Event] = []

    def __init__(self, name: str) -> None:
        self.name = name
        Event.log.append(self)

    def place(self) -> int:
        return len(self.log)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the constructor of a local object enters it into a list")  # fmt: skip
def logged_event(t: Trade) -> Count:
    event = Event(t.symbol)
    return Count(event.name, event.place())


class Histogram:
    """The bins belong to the class."""

    bins: defaultdict[int, int] = defaultdict(int)

    def add(self, value: float) -> None:
        self.bins[int(value) // 10] += 1

    def fullest(self) -> int:
        return max(self.bins.values(), default=0)


@entry(kind="map", input=Reading, output=Count, state="stateful", forwards={"key": "sensor"}, trap=True,
       why="a local object whose container is its class's")  # fmt: skip
def local_histogram(r: Reading) -> Count:
    histogram = Histogram()
    histogram.add(r.celsius)
    return Count(r.sensor, histogram.fullest())


class Basket:
    """Its default list is made once."""

    def __init__(self, items: list[str] = []) -> None:
        self.items = items

    def put(self, item: str) -> None:
        self.items.append(item)


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="a local object with a default that is shared")  # fmt: skip
def local_basket(o: Order) -> Count:
    basket = Basket()
    for item in o.items:
        basket.put(item)
    return Count(o.customer, len(basket.items))


class Shelf:
    def __init__(self) -> None:
        self.items: list[str] = []


@dataclass
class Cupboard:
    shelf: Shelf = Shelf()  # noqa: RUF009
    label: str = ""


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="a local dataclass with a default object that is shared")  # fmt: skip
def local_cupboard(o: Order) -> Count:
    cupboard = Cupboard(label=o.customer)
    cupboard.shelf.items.extend(o.items)
    return Count(o.customer, len(cupboard.shelf.items))


NUMBERS = count()


@dataclass
class Ticket:
    symbol: str
    number: int = field(default_factory=NUMBERS.__next__)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a default factory that counts")  # fmt: skip
def ticket(t: Trade) -> Count:
    return Count(t.symbol, Ticket(t.symbol).number)


@dataclass(frozen=True)
class Version:
    symbol: str
    made = [0]

    def __post_init__(self) -> None:
        self.made[0] += 1


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="dataclasses.replace runs __post_init__, which counts")  # fmt: skip
def replaced_version(t: Trade) -> Count:
    version = dataclasses.replace(Version("-"), symbol=t.symbol)
    return Count(version.symbol, version.made[0])


CODES = count()


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="a local defaultdict whose factory counts")  # fmt: skip
def coded(c: Click) -> Tagged:
    codes: defaultdict[str, int] = defaultdict(CODES.__next__)
    return Tagged(c.user, "-".join(str(codes[tag]) for tag in c.tags))


class Stubborn:
    """Cannot be copied."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Stubborn:
        return self


STUBBORN = Stubborn()


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="__deepcopy__ gives back the original")  # fmt: skip
def copied_deeply(t: Trade) -> Amount:
    own = copy.deepcopy(STUBBORN)
    own.values.append(t.price)
    return Amount(t.symbol, sum(own.values))


class Kind(Enum):
    """Values it does not know are remembered."""

    TEMPERATURE = "temp"
    HUMIDITY = "hum"

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        UNKNOWN.append(value)
        return cls.TEMPERATURE if len(UNKNOWN) % 2 else cls.HUMIDITY


UNKNOWN: list[object] = []


@entry(kind="map", input=Packet, output=Tagged, state="stateful", forwards={"user": "device"}, trap=True,
       why="Enum._missing_ writes")  # fmt: skip
def kind_of(p: Packet) -> Tagged:
    return Tagged(p.device, Kind(p.kind).name)


class Plugin:
    """Knows its subclasses."""

    known: list[type] = []

    def __init_subclass__(cls) -> None:
        Plugin.known.append(cls)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a local class is registered by its base")  # fmt: skip
def plugged(t: Trade) -> Count:
    class Local(Plugin):
        pass

    return Count(t.symbol, len(Local.known))


class Forwarder:
    """Passes every attribute on to a list of its class."""

    _target: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a local proxy in front of a shared list")  # fmt: skip
def forwarded(t: Trade) -> Count:
    proxy = Forwarder()
    proxy.append(t.symbol)
    return Count(t.symbol, proxy.count(t.symbol))


class Tagger(Trade):
    """The input's type counts in a class attribute, by way of type(t)."""

    seen = 0


@entry(kind="map", input=Tagger, output=Word, state="stateful", forwards={"text": "symbol"}, trap=True,
       why="an attribute of the tuple's class is written")  # fmt: skip
def on_the_type(t: Tagger) -> Word:
    t.__class__.seen += 1
    return Word(t.symbol, type(t).seen)
