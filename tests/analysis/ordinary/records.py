"""What arrives at the ordinary programs, keyed by its first attribute, and what leaves most of them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Line(NamedTuple):
    source: str
    number: int
    text: str


class Trade(NamedTuple):
    symbol: str
    price: float
    size: int
    ts: float


class Reading(NamedTuple):
    sensor: str
    celsius: float
    ok: bool
    ts: float


class Click(NamedTuple):
    user: str
    url: str
    tags: list[str]
    ts: float


class Order(NamedTuple):
    customer: str
    id: int
    items: list[str]
    total: float
    placed: datetime


class Place(NamedTuple):
    device: str
    x: float
    y: float
    ts: float


class Packet(NamedTuple):
    device: str
    payload: bytes
    number: int


class Text(NamedTuple):
    key: str
    text: str


class Number(NamedTuple):
    key: str
    value: float


class Count(NamedTuple):
    key: str
    n: int


class Flag(NamedTuple):
    key: str
    is_set: bool
