"""Objects that look like values: singletons, enumerations, frozen dataclasses, subclasses of builtins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from .registry import entry
from .tuples import (
    Alert,
    Amount,
    Call,
    Click,
    Count,
    Numbered,
    Quote,
    Reading,
    Tagged,
    Trade,
    Travel,
)


class Registry:
    """There is only one, however often it is called."""

    _only: Registry | None = None
    names: dict[str, int]

    def __new__(cls) -> Registry:
        if cls._only is None:
            cls._only = super().__new__(cls)
            cls._only.names = {}
        return cls._only

    def number_of(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the local object is a singleton")  # fmt: skip
def by_singleton(t: Trade) -> Count:
    registry = Registry()
    return Count(t.symbol, registry.number_of(t.symbol))


class Borg:
    _all: dict[str, Any] = {"n": 0}

    def __init__(self) -> None:
        self.__dict__ = self._all


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a local object whose __dict__ is everybody's")  # fmt: skip
def by_borg(t: Trade) -> Count:
    borg = Borg()
    borg.n += 1
    return Count(t.symbol, borg.n)


class Level(Enum):
    """An enumeration whose members keep score."""

    LOW = "low"
    HIGH = "high"

    def __init__(self, label: str) -> None:
        self.hits: list[float] = []

    def hit(self, value: float) -> int:
        self.hits.append(value)
        return len(self.hits)


@entry(kind="map", input=Reading, output=Alert, state="stateful", forwards={"sensor": "sensor", "ts": "ts"}, trap=True,
       why="members of an Enum are shared objects")  # fmt: skip
def scored(r: Reading) -> Alert:
    level = Level.HIGH if r.celsius > 20 else Level("low")
    return Alert(r.sensor, f"{level.name} {level.hit(r.celsius)}", r.ts)


@dataclass(frozen=True)
class Settings:
    """Frozen, but the list in it is not."""

    limit: float = 20.0
    exceeded: list[str] = field(default_factory=list)

    def check(self, value: float) -> int:
        if value > self.limit:
            self.exceeded.append(f"{value}")
        return len(self.exceeded)

    def raise_limit(self, value: float) -> None:
        object.__setattr__(self, "limit", max(self.limit, value))


SETTINGS = Settings()
MOVING = Settings()


@entry(kind="map", input=Reading, output=Count, state="stateful", forwards={"key": "sensor"}, trap=True,
       why="a list in a frozen dataclass")  # fmt: skip
def exceeded(r: Reading) -> Count:
    return Count(r.sensor, SETTINGS.check(r.celsius))


@entry(kind="filter", input=Reading, state="stateful", trap=True, why="object.__setattr__ on a frozen dataclass")
def above_all_before(r: Reading) -> bool:
    before = MOVING.limit
    MOVING.raise_limit(r.celsius)
    return r.celsius > before


class Noted(NamedTuple):
    """A constant tuple with a list in it."""

    name: str
    values: list[float]


NOTED = Noted("prices", [])


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a list in a constant NamedTuple")  # fmt: skip
def in_named_tuple(t: Trade) -> Amount:
    NOTED.values.append(t.price)
    return Amount(t.symbol, max(NOTED.values))


class Upper(str):
    """A string whose methods count."""

    calls: list[str] = []

    def upper(self) -> str:
        self.calls.append(self)
        return f"{super().upper()}{len(self.calls)}"

    def join(self, values: Any) -> str:
        self.calls.append("join")
        return super().join([*values, str(len(self.calls))])


UNIT = Upper("c")


@entry(kind="map", input=Reading, output=Alert, state="stateful", forwards={"sensor": "sensor", "ts": "ts"}, trap=True,
       why="upper() of a subclass of str")  # fmt: skip
def in_unit(r: Reading) -> Alert:
    return Alert(r.sensor, UNIT.upper(), r.ts)


UNIT_2 = Upper("c")


@entry(kind="map", input=Reading, output=Alert, state="stateful", forwards={"sensor": "sensor", "ts": "ts"}, trap=True,
       why="join() of a subclass of str")  # fmt: skip
def joined(r: Reading) -> Alert:
    return Alert(r.sensor, UNIT_2.join([r.sensor, str(r.ok)]), r.ts)


class Recent(dict[str, float]):
    """A dict that learns what is missing."""

    def __missing__(self, key: str) -> float:
        self[key] = float(len(self))
        return self[key]


RECENT = Recent()


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="__missing__ writes")  # fmt: skip
def known(t: Trade) -> Amount:
    return Amount(t.symbol, RECENT[t.symbol])


class Cache:
    """Methods with the names of pure ones."""

    def __init__(self) -> None:
        self.asked = 0

    def get(self, key: str, default: int = 0) -> int:
        self.asked += 1
        return self.asked

    def count(self, key: str) -> int:
        return self.get(key)

    def strip(self) -> str:
        return str(self.get(""))

    def keys(self) -> list[str]:
        self.asked += 1
        return ["k"] * self.asked


CACHE = Cache()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="get() is not the one of dict")  # fmt: skip
def by_get(t: Trade) -> Count:
    return Count(t.symbol, CACHE.get(t.symbol, 0))


CACHE_2 = Cache()


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="strip() is not the one of str, and the receiver is a local name")  # fmt: skip
def by_strip(c: Click) -> Tagged:
    text = CACHE_2
    return Tagged(c.user, text.strip())


class Fee:
    """A property on a module's object that counts."""

    def __init__(self) -> None:
        self._n = 0

    @property
    def rate(self) -> float:
        self._n += 1
        return self._n / 100


FEE = Fee()


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a property with a side effect on a module's object")  # fmt: skip
def with_fee(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * FEE.rate)


class CountedTrade(Trade):
    """The input's type has a property that counts."""

    read = 0

    @property
    def notional(self) -> float:
        CountedTrade.read += 1
        return float(CountedTrade.read)


@entry(kind="map", input=CountedTrade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a property of the tuple's own type writes its class")  # fmt: skip
def notional(t: CountedTrade) -> Amount:
    return Amount(t.symbol, t.notional)


class LoggedTravel(Travel):
    """The output's type counts what is made of it."""

    made = 0

    def __new__(cls, phone: int, speed: float, ts: float) -> LoggedTravel:
        LoggedTravel.made += 1
        return super().__new__(cls, phone, speed + LoggedTravel.made, ts)


@entry(kind="map", input=Call, output=LoggedTravel, state="stateful", forwards={"phone": "phone", "ts": "ts"},
       trap=True, why="the constructor of the output's type counts")  # fmt: skip
def logged_travel(c: Call) -> LoggedTravel:
    return LoggedTravel(c.phone, c.x, c.ts)


class Strict(type):
    """isinstance() is user code, too."""

    asked = 0

    def __instancecheck__(cls, instance: object) -> bool:
        Strict.asked += 1
        return Strict.asked % 2 == 0


class Even(metaclass=Strict):
    pass


@entry(kind="filter", input=Quote, state="stateful", trap=True, why="isinstance asks the metaclass, which counts")
def sometimes(q: Quote) -> bool:
    return isinstance(q, Even)


class Guard:
    """Its deletion is an effect."""

    deleted = 0

    def __del__(self) -> None:
        Guard.deleted += 1


@entry(kind="map", input=Quote, output=Numbered, state="stateful", trap=True, why="__del__ writes the class")
def guarded(q: Quote) -> Numbered:
    guard = Guard()
    del guard
    return Numbered(Guard.deleted, 0)
