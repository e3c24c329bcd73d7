"""A few tuples of each kind for the ordinary programs, always the same."""

from __future__ import annotations

import random
import struct
from datetime import datetime, timedelta
from typing import Any

from .records import Click, Line, Order, Packet, Place, Reading, Trade

LINES = (
    "2024-03-05T10:15:00 INFO api: GET /items?id=17&lang=en took 120ms",
    "2024-03-05T10:15:02 WARN db: slow query, 1530 rows  from Orders",
    "name=pump-7; state=on; rpm=1450",
    '{"user": "ada", "event": "buy", "amount": 12.5, "tags": ["new", "sale"]}',
    "3 + 4 * (2 - 1)",
    "Straße, Überfall and naïve café visits; call +49 (30) 1234-56 or write to Info@Example.org!",
    "ACME,12.50,300",
    "",
)


def samples(kind: type, count: int = 12) -> list[Any]:
    r = random.Random(f"{kind.__name__} {count}")
    return [_MAKERS[kind](r, index) for index in range(count)]


def _ts(r: random.Random, index: int) -> float:
    return 1_700_000_000.0 + 11.0 * index + r.randrange(5) + (900.0 if index % 5 == 4 else 0.0)


def _line(r: random.Random, index: int) -> Line:
    return Line(r.choice(("app", "web", "job")), index, LINES[index % len(LINES)])


def _trade(r: random.Random, index: int) -> Trade:
    symbol = r.choice(("ACME", "BETA", "CORN"))
    return Trade(symbol, round(r.uniform(1, 90), 2), r.choice((10, 50, 300, 2_500)), _ts(r, index))


def _reading(r: random.Random, index: int) -> Reading:
    return Reading(r.choice(("roof", "cellar", "duct")), round(r.uniform(-20, 60), 1), r.random() < 0.8, _ts(r, index))


def _click(r: random.Random, index: int) -> Click:
    path = r.choice(("/", "/cart?id=7&ref=mail", "/help/returns", "/cart/pay#now"))
    tags = r.sample(("sale", "news", "help", "jobs"), r.randrange(4))
    return Click(r.choice(("ada", "bob", "cyd")), f"https://shop.example.com{path}", tags, _ts(r, index))


def _order(r: random.Random, index: int) -> Order:
    items = [r.choice(("bolt", "nut", "gear", "belt")) for _ in range(r.randrange(5))]
    placed = datetime(2024, 2, 26, 8, 30) + timedelta(hours=13 * index, minutes=r.randrange(60))
    return Order(r.choice(("ada", "bob", "cyd")), 100 + index, items, round(r.uniform(5, 400), 2), placed)


def _place(r: random.Random, index: int) -> Place:
    return Place(r.choice(("van-1", "van-2")), round(r.uniform(-9, 9), 2), round(r.uniform(-9, 9), 2), _ts(r, index))


def _packet(r: random.Random, index: int) -> Packet:
    return Packet(r.choice(("p1", "p2")), struct.pack(">hHf", r.randrange(-90, 90), index, r.uniform(0, 5)), index)


_MAKERS: dict[type, Any] = {
    Line: _line,
    Trade: _trade,
    Reading: _reading,
    Click: _click,
    Order: _order,
    Place: _place,
    Packet: _packet,
}

SAMPLED = tuple(_MAKERS)
