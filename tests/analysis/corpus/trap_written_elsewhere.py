"""The operator only reads; another function of the program changes what it reads, one way or another.

`beside` names that function. The operator is part of a program in which it may be called at any time.
"""

from __future__ import annotations

import enum
import functools
import itertools
import json
import math
import string
import sys
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .registry import entry
from .tuples import Amount, Count, Packet, Quote, Reading, Tagged, Text, Trade, Word

BY_KEYWORD: dict[str, float] = {"fee": 1.0}


def learn_by_keyword() -> None:
    tables = dict(fees=BY_KEYWORD)
    tables.get("fees").update(fee=2.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("learn_by_keyword",), why="handed to dict() by keyword, taken out again and changed")  # fmt: skip
def fee_by_keyword(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * BY_KEYWORD["fee"])


BY_REPEAT: list[float] = [1.0]


def learn_by_repeat() -> None:
    next(itertools.repeat(BY_REPEAT)).append(2.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("learn_by_repeat",), why="itertools.repeat hands the list out")  # fmt: skip
def fee_by_repeat(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * sum(BY_REPEAT))


BY_AND: list[float] = [1.0]


def learn_by_and() -> None:
    fees = bool(BY_AND) and BY_AND
    fees += [2.0]


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("learn_by_and",), why="`and` gives the list another name, += changes it")  # fmt: skip
def fee_by_and(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * sum(BY_AND))


BY_MATCH: list[float] = [1.0]


def learn_by_match() -> None:
    match BY_MATCH:
        case fees:
            for each in [fees]:
                each.append(3.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("learn_by_match",), why="a capture pattern gives the list another name")  # fmt: skip
def fee_by_match(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * sum(BY_MATCH))


class Fees:
    rate = 1.0

    def of(self, price: float) -> float:
        return price * 0.01


def raise_by_type() -> None:
    type.__setattr__(Fees, "rate", 2.0)


def replace_method() -> None:
    Fees.of = lambda self, price: price * 0.02


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("raise_by_type",), why="type.__setattr__ on the class")  # fmt: skip
def fee_of_class(t: Trade) -> Amount:
    return Amount(t.symbol, t.price * Fees.rate)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("replace_method",), why="the method is replaced in its class")  # fmt: skip
def fee_of_method(t: Trade) -> Amount:
    return Amount(t.symbol, Fees().of(t.price))


@dataclass(frozen=True)
class Limits:
    high: float = 10.0


LIMITS = Limits()


def thaw() -> None:
    object.__setattr__(LIMITS, "high", 50.0)


@entry(kind="filter", input=Reading, state="stateful", trap=True, shows=False, beside=("thaw",),
       why="a frozen dataclass is changed after all")  # fmt: skip
def above_limit(r: Reading) -> bool:
    return r.celsius > LIMITS.high


def rounded(value: float, digits: int = 0) -> float:
    return round(value, digits)


def sharpen() -> None:
    rounded.__defaults__ = (2,)


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       shows=False, beside=("sharpen",), why="the helper's defaults are replaced")  # fmt: skip
def by_defaults(r: Reading) -> Amount:
    return Amount(r.sensor, rounded(r.celsius / 7))


def doubled(value: float) -> float:
    return value * 2


def tripled(value: float) -> float:
    return value * 3


def swap_code() -> None:
    doubled.__code__ = tripled.__code__


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       shows=False, beside=("swap_code",), why="the helper's code is replaced")  # fmt: skip
def by_code(r: Reading) -> Amount:
    return Amount(r.sensor, doubled(r.celsius))


def scaled(value: float) -> float:
    return value * 2


def rebind_helper() -> None:
    global scaled
    scaled = tripled


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       shows=False, beside=("rebind_helper",), why="the helper's name is bound to another function")  # fmt: skip
def by_rebinding(r: Reading) -> Amount:
    return Amount(r.sensor, scaled(r.celsius))


def patch_math() -> None:
    math.floor = lambda value: 7


@entry(kind="map", input=Reading, output=Count, state="stateful", forwards={"key": "sensor"}, trap=True, shows=False,
       beside=("patch_math",), why="a function of the standard library is replaced")  # fmt: skip
def floored(r: Reading) -> Count:
    return Count(r.sensor, math.floor(r.celsius))


def patch_json() -> None:
    setattr(sys.modules["json"], "dumps", lambda value: "{}")  # noqa: B010


@entry(kind="map", input=Reading, output=Text, state="stateful", trap=True, shows=False, beside=("patch_json",),
       why="a function of the standard library is replaced through sys.modules")  # fmt: skip
def dumped(r: Reading) -> Text:
    return Text(json.dumps([r.sensor, r.ok]))


class Unit(enum.Enum):
    TEMPERATURE = "temp"
    HUMIDITY = "hum"
    PING = "ping"


def annotate() -> None:
    Unit.TEMPERATURE.label = "Celsius"


@entry(kind="map", input=Packet, output=Tagged, state="stateful", forwards={"user": "device"}, trap=True, shows=False,
       beside=("annotate",), why="a member of the enumeration is given an attribute")  # fmt: skip
def label_of(p: Packet) -> Tagged:
    return Tagged(p.device, getattr(Unit(p.kind), "label", "-"))


SEEN: defaultdict[str, int] = defaultdict(int)


def look() -> int:
    return SEEN["anything"]


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("look",), why="another function looks into the defaultdict, which grows")  # fmt: skip
def how_many(t: Trade) -> Count:
    return Count(t.symbol, len(SEEN))


GREETING = string.Template("to $who")


def change_greeting() -> None:
    GREETING.template = "dear $who"


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False, beside=("change_greeting",),
       why="the text of a template is assigned")  # fmt: skip
def greeted(t: Trade) -> Text:
    return Text(GREETING.substitute(who=t.symbol))


RATES = {"ACME": 1.0, "BETA": 2.0}
READ_ONLY = MappingProxyType(RATES)
NAMES = RATES.keys()
LAYERED = ChainMap({}, RATES)


def refresh() -> None:
    RATES.update(ACME=3.0, CORN=4.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("refresh",), why="a read-only view of a dict that is refreshed")  # fmt: skip
def by_proxy(t: Trade) -> Amount:
    return Amount(t.symbol, READ_ONLY.get(t.symbol, 0.0))


@entry(kind="filter", input=Trade, state="stateful", trap=True, shows=False, beside=("refresh",),
       why="the keys of a dict that is refreshed")  # fmt: skip
def by_keys(t: Trade) -> bool:
    return t.symbol in NAMES


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("refresh",), why="a ChainMap over a dict that is refreshed")  # fmt: skip
def by_layers(t: Trade) -> Amount:
    return Amount(t.symbol, LAYERED.get(t.symbol, 0.0))


STEPS = [1.0, 2.0]


def over(steps: list[float]) -> Callable[[Quote], Count]:
    return lambda q: Count(q.symbol, sum(q.bid > step for step in steps))


def widen() -> None:
    STEPS.append(0.5)


steps_over = entry("steps_over", kind="map", input=Quote, output=Count, state="stateful", forwards={"key": "symbol"},
                   trap=True, shows=False, beside=("widen",),
                   why="a closure over a list that grows")(over(STEPS))  # fmt: skip


def _count_over(steps: list[float], q: Quote) -> Count:
    return Count(q.symbol, sum(q.bid > step for step in steps))


count_over = entry("count_over", kind="map", input=Quote, output=Count, state="stateful", forwards={"key": "symbol"},
                   trap=True, shows=False, beside=("widen",), why="a partial over a list that grows")(
    functools.partial(_count_over, STEPS)
)  # fmt: skip

GRID = np.zeros(4)
FIRST_HALF = GRID[:2]


def fill() -> None:
    np.add(GRID, 1.0, out=GRID)


@entry(kind="map", input=Quote, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("fill",), why="a view of an array that is filled")  # fmt: skip
def by_view(q: Quote) -> Amount:
    return Amount(q.symbol, q.bid + float(FIRST_HALF.sum()))


class Known(NamedTuple):
    words: list[str]


KNOWN = Known(["bolt"])


def teach() -> None:
    KNOWN.words.extend(["ACME", "BETA", "CORN"])


@entry(kind="filter", input=Trade, state="stateful", trap=True, shows=False, beside=("teach",),
       why="a list in a constant NamedTuple that is taught")  # fmt: skip
def is_known(t: Trade) -> bool:
    return t.symbol in KNOWN.words


TALLY = Counter({"ACME": 1})


def recount() -> None:
    tally = TALLY
    tally.subtract(["ACME"])


@entry(kind="map", input=Trade, output=Word, state="stateful", forwards={"text": "symbol"}, trap=True, shows=False,
       beside=("recount",), why="a Counter that is recounted under another name")  # fmt: skip
def tally_of(t: Trade) -> Word:
    return Word(t.symbol, TALLY[t.symbol])
