"""The tuples of the corpus: trades, clicks, calls, sensors, logs, orders."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

# What arrives ------------------------------------------------------------------------------------------------------


class Trade(NamedTuple):
    symbol: str
    price: float
    size: int
    ts: float


class Quote(NamedTuple):
    symbol: str
    bid: float
    ask: float
    ts: float


class Click(NamedTuple):
    user: int
    url: str
    tags: list[str]
    ts: float


class Call(NamedTuple):
    phone: int
    area: str
    x: float
    y: float
    ts: float


class Reading(NamedTuple):
    sensor: str
    celsius: float
    ok: bool
    ts: float


class Order(NamedTuple):
    id: int
    customer: str
    items: list[str]
    total: float
    note: str | None


class CsvLine(NamedTuple):
    number: int
    text: str


class JsonLine(NamedTuple):
    number: int
    text: str


class LogLine(NamedTuple):
    number: int
    text: str


class Packet(NamedTuple):
    device: int
    kind: str
    payload: bytes
    at: datetime


class Point(NamedTuple):
    lat: float
    lon: float


class Fix(NamedTuple):
    device: str
    where: Point
    ts: float


# What leaves -------------------------------------------------------------------------------------------------------


class Amount(NamedTuple):
    symbol: str
    value: float


class Travel(NamedTuple):
    phone: int
    speed: float
    ts: float


class Contact(NamedTuple):
    phone: int
    area: str


class Tagged(NamedTuple):
    user: int
    tag: str


class Word(NamedTuple):
    text: str
    n: int


class Count(NamedTuple):
    key: str
    n: int


class Alert(NamedTuple):
    sensor: str
    text: str
    ts: float


class Mean(NamedTuple):
    sensor: str
    mean: float
    n: int


class Visit(NamedTuple):
    user: int
    start: float
    end: float
    clicks: int


class Record(NamedTuple):
    number: int
    level: str
    service: str
    millis: int


class Numbered(NamedTuple):
    number: int
    n: int


class Text(NamedTuple):
    text: str
