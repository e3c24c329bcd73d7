"""Results that are kept: functools.cache, lru_cache, cached_property, tables of one's own per key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from .records import Click, Count, Line, Number, Order, Packet, Reading, Text, Trade

OPERATORS = """digest_of fibonacci_of parsed_host normal_word day_kind Memo Circle roots_of level checksum tax_rate
    PerKeyCache edit_distance host_of_click payload_kind hashed_pair"""


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def digest_of(line: Line) -> Text:
    return Text(line.source, _digest(line.text))


@cache
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def fibonacci_of(line: Line) -> Count:
    return Count(line.source, fibonacci(line.number % 30))


class Host(NamedTuple):
    name: str
    port: int


@lru_cache
def parse_host(text: str) -> Host:
    name, _, port = text.partition(":")
    return Host(name, int(port or 443))


def parsed_host(click: Click) -> Count:
    return Count(parse_host(click.user).name, parse_host(click.user + ":80").port)


@cache
def stem(word: str) -> str:
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


def normal_word(line: Line) -> Iterator[Text]:
    for word in re.findall(r"[a-z]+", line.text.lower()):
        yield Text(line.source, stem(word))


@lru_cache(maxsize=366)
def kind_of_day(day: date) -> str:
    return "weekend" if day.weekday() >= 5 else "workday"


def day_kind(order: Order) -> Text:
    return Text(order.customer, kind_of_day(order.placed.date()))


class Memo:
    """A table of its own for every key."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def steps(self, n: int) -> int:
        if n not in self.known:
            self.known[n] = 0 if n <= 1 else 1 + self.steps(n // 2 if n % 2 == 0 else 3 * n + 1)
        return self.known[n]

    def process(self, trade: Trade) -> Iterator[Count]:
        yield Count(trade.symbol, self.steps(trade.size))


class Statistics:
    def __init__(self, values: list[float]) -> None:
        self.values = values

    @cached_property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @cached_property
    def variance(self) -> float:
        return sum((value - self.mean) ** 2 for value in self.values) / len(self.values)


class Circle:
    def __init__(self) -> None:
        self.values: list[float] = []

    def process(self, reading: Reading) -> Iterator[Number]:
        self.values.append(reading.celsius)
        statistics = Statistics(list(self.values))
        yield Number(reading.sensor, statistics.variance / (1 + abs(statistics.mean)))


@cache
def divisors(n: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def roots_of(trade: Trade) -> Count:
    return Count(trade.symbol, sum(divisors(trade.size)))


@lru_cache(maxsize=64)
def level_for(name: str, *, default: str = "none") -> str:
    return {"roof": "top", "cellar": "bottom"}.get(name, default)


def level(reading: Reading) -> Text:
    return Text(reading.sensor, level_for(reading.sensor, default="middle"))


@cache
def fletcher(data: bytes) -> int:
    a = b = 0
    for byte in data:
        a = (a + byte) % 255
        b = (b + a) % 255
    return b << 8 | a


def checksum(packet: Packet) -> Count:
    return Count(packet.device, fletcher(packet.payload))


@cache
def rate_table() -> tuple[tuple[float, float], ...]:
    return tuple((limit, limit / 1_000) for limit in (0.0, 100.0, 200.0))


def tax_rate(order: Order) -> Number:
    return Number(order.customer, max(rate for limit, rate in rate_table() if order.total >= limit))


class PerKeyCache:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def process(self, line: Line) -> Iterator[Text]:
        if (short := self.texts.get(line.text)) is None:
            short = self.texts[line.text] = f"{line.text[:8]}…{len(self.texts)}"
        yield Text(line.source, short)


@lru_cache(maxsize=4096)
def distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))


def edit_distance(trade: Trade) -> Count:
    return Count(trade.symbol, distance(trade.symbol, "BEAM"))


@lru_cache
def host_of(url: str) -> str | None:
    found = re.match(r"https?://([^/]+)", url)
    return found[1] if found else None


def host_of_click(click: Click) -> Text:
    return Text(click.user, host_of(click.url) or "-")


@cache
def kind_of(payload: bytes, length: int) -> str:
    return "short" if len(payload) < length else payload[:2].hex()


def payload_kind(packet: Packet) -> Text:
    return Text(packet.device, kind_of(packet.payload, 6))


@lru_cache(maxsize=256)
def pair_hash(pair: tuple[str, str]) -> str:
    return hashlib.md5("/".join(pair).encode()).hexdigest()[:6]


def hashed_pair(line: Line) -> Text:
    return Text(line.source, pair_hash((line.source, line.text[:4])))
