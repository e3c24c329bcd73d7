"""Enrichment: constants of the module, configuration handed over, enumerations."""

from __future__ import annotations

import operator
from collections import ChainMap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import partial
from types import MappingProxyType

from .registry import entry
from .tuples import Alert, Amount, Call, Click, Contact, Count, Order, Packet, Quote, Reading, Tagged, Trade, Word

SECTORS = {"ACME": "industry", "BETA": "software", "CORN": "food"}
CURRENCIES = MappingProxyType({"ACME": 1.0, "BETA": 1.08, "CORN": 0.0067})
WATCHED = frozenset({"ACME", "DELT"})
AREAS = {"425": {"state": "WA", "city": "Bellevue"}, "206": {"state": "WA", "city": "Seattle"}}
SQUARES = [n * n for n in range(64)]
DEFAULTS = {"limit": 50.0, "unit": "C"}
OVERRIDES = {"limit": 45.0}
SETTINGS = ChainMap(OVERRIDES, DEFAULTS)


class Severity(IntEnum):
    LOW = 1
    HIGH = 2

    @classmethod
    def of(cls, celsius: float) -> Severity:
        return cls.HIGH if celsius > 40 else cls.LOW


class Unit(Enum):
    TEMPERATURE = "temp"
    HUMIDITY = "hum"
    OTHER = "other"

    @property
    def symbol(self) -> str:
        return {"temp": "C", "hum": "%"}.get(self.value, "?")


@dataclass(frozen=True)
class Limits:
    low: float = -20.0
    high: float = 45.0

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


LIMITS = Limits(high=50.0)


@entry(kind="map", input=Trade, output=Word, forwards={"n": "size"}, why="get on a dict that nobody writes")
def sector_of(t: Trade) -> Word:
    return Word(SECTORS.get(t.symbol, "unknown"), t.size)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="a read-only mapping")
def in_euro(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * CURRENCIES.get(t.symbol, 1.0))


is_watched = entry("is_watched", kind="filter", input=Quote, why="membership in a frozenset")(
    lambda q: q.symbol in WATCHED
)


@entry(kind="flat_map", input=Call, output=Contact, selectivity="1:[0,1]", forwards={"phone": "phone"},
       why="nested lookups with an early return")  # fmt: skip
def city_of(c: Call) -> Iterator[Contact]:
    place = AREAS.get(c.area)
    if place is None:
        return
    yield Contact(c.phone, f"{place['city']}, {place['state']}")


@entry(kind="map", input=Packet, output=Tagged, forwards={"user": "device"}, why="Enum by value, with a property")
def unit_of(p: Packet) -> Tagged:
    try:
        unit = Unit(p.kind)
    except ValueError:
        unit = Unit.OTHER
    return Tagged(p.device, f"{unit.name}/{unit.symbol}")


@entry(kind="map", input=Reading, output=Alert, forwards={"sensor": "sensor", "ts": "ts"},
       why="an enumeration's class method")  # fmt: skip
def grade(r: Reading) -> Alert:
    return Alert(r.sensor, Severity.of(r.celsius).name, r.ts)


def _within(limits: Limits, r: Reading) -> bool:
    return limits.contains(r.celsius)


within = entry("within", kind="filter", input=Reading, why="a partial over a frozen dataclass")(
    partial(_within, Limits(low=-10.0))
)


@entry(kind="filter", input=Reading, why="a method of a frozen instance at module level")
def in_limits(r: Reading) -> bool:
    return LIMITS.contains(r.celsius)


def scale(t: Trade, factor: float, *, digits: int) -> Trade:
    return t._replace(price=round(t.price * factor, digits))


in_pence = entry(
    "in_pence", kind="map", input=Trade, forwards={"symbol": "symbol", "size": "size", "ts": "ts"},
    why="a partial with keyword scalars",
)(partial(scale, factor=100.0, digits=1))  # fmt: skip


def at_least(limit: float) -> Callable[[Trade], bool]:
    def keep(t: Trade) -> bool:
        return t.price >= limit

    return keep


expensive = entry("expensive", kind="filter", input=Trade, why="a closure over a number")(at_least(30.0))


def labelled(names: dict[str, str]) -> Callable[[Trade], Word]:
    fallback = "none"
    return lambda t: Word(names.get(t.symbol, fallback), t.size)


short_names = entry(
    "short_names",
    kind="map",
    input=Trade,
    output=Word,
    forwards={"n": "size"},
    why="a closure over a dict nobody writes",
)(labelled({"ACME": "A", "BETA": "B"}))


@entry(kind="map", input=Order, output=Count, why="an index into a constant list")
def square_of_items(o: Order) -> Count:
    return Count(o.customer.strip(), SQUARES[len(o.items)])


@entry(kind="filter", input=Reading, why="a ChainMap of constants")
def under_setting(r: Reading) -> bool:
    return r.celsius < SETTINGS["limit"]


@entry(kind="map", input=Reading, output=Alert, forwards={"sensor": "sensor", "ts": "ts"},
       why="defaults that cannot change")  # fmt: skip
def describe(r: Reading, unit: str = "C", steps: tuple[float, ...] = (0.0, 25.0)) -> Alert:
    level = sum(r.celsius > step for step in steps)
    return Alert(r.sensor, f"{r.celsius:.0f} {unit}, level {level}", r.ts)


is_ok = entry("is_ok", kind="filter", input=Reading, why="attrgetter of a plain attribute")(operator.attrgetter("ok"))


def _cents(t: Trade) -> float:
    return t.price * 100


def _whole(t: Trade) -> float:
    return float(int(t.price))


ROUNDING: dict[str, Callable[[Trade], float]] = {"ACME": _cents, "BETA": _whole}


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="a dispatch table of pure functions")
def round_by_symbol(t: Trade) -> Amount:
    handler = ROUNDING.get(t.symbol, _cents)
    return Amount(t.symbol, handler(t))


class Scale:
    """A callable with its configuration."""

    def __init__(self, factor: float, offset: float = 0.0) -> None:
        self.factor = factor
        self.offset = offset

    def __call__(self, r: Reading) -> Reading:
        return r._replace(celsius=self._apply(r.celsius))

    def _apply(self, value: float) -> float:
        return value * self.factor + self.offset


to_kelvin = entry(
    "to_kelvin", kind="map", input=Reading, forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"},
    why="a callable object that only reads what __init__ stored",
)(Scale(1.0, 273.15))  # fmt: skip


class Blocklist:
    def __init__(self, hosts: list[str]) -> None:
        self._hosts = tuple(hosts)

    def allows(self, click: Click) -> bool:
        return not click.url.startswith(self._hosts)


allows = entry("allows", kind="filter", input=Click, why="a bound method that only reads")(
    Blocklist(["https://blog."]).allows
)
