"""Small deterministic inputs for every tuple type of the corpus."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

SYMBOLS = ("ACME", "BETA", "CORN", "DELT")
SENSORS = ("roof", "cellar", "duct")
TAGS = ("sale", "news", "help", "jobs", "home")
PATHS = ("/", "/cart", "/cart/pay", "/help?topic=Returns&lang=en", "/news/2024/05")
ITEMS = ("bolt", "nut", "washer", "gear", "belt")
WORDS = ("disk", "is", "almost", "full", "retry", "in", "five", "seconds", "a", "node")


def samples(kind: type, count: int = 24, seed: int = 0) -> list[Any]:
    """`count` tuples of the type `kind`; a subclass of a known type gets that type's values."""
    make = next(_MAKERS[base.__name__] for base in kind.__mro__ if base.__name__ in _MAKERS)
    numbers = random.Random(f"{seed} of {make.__name__}")
    return [kind(*make(numbers, index)) for index in range(count)]


def _ts(r: random.Random, index: int) -> float:
    return 1_700_000_000.0 + 7 * index + r.randrange(0, 5) + (400 if index % 9 == 8 else 0)


def _trade(r: random.Random, index: int) -> tuple[Any, ...]:
    size = r.choice((1, 5, 100, 300, 2_500, 2**53 + 1))
    return r.choice(SYMBOLS), round(r.uniform(1, 60), 2), size, _ts(r, index)


def _quote(r: random.Random, index: int) -> tuple[Any, ...]:
    bid = round(r.uniform(1, 60), 2)
    return r.choice(SYMBOLS), bid, bid + r.choice((0.0, 0.01, 0.25)), _ts(r, index)


def _click(r: random.Random, index: int) -> tuple[Any, ...]:
    url = f"https://{r.choice(('shop', 'blog'))}.example.com{r.choice(PATHS)}"
    return r.randrange(1, 5), url, r.sample(TAGS, r.randrange(0, 4)), _ts(r, index)


def _call(r: random.Random, index: int) -> tuple[Any, ...]:
    phone = 4_250_000 + r.randrange(0, 4)
    return phone, r.choice(("425", "206", "007")), round(r.uniform(-9, 9), 2), round(r.uniform(-9, 9), 2), _ts(r, index)


def _reading(r: random.Random, index: int) -> tuple[Any, ...]:
    return r.choice(SENSORS), round(r.uniform(-60, 90), 1), r.random() < 0.7, _ts(r, index)


def _order(r: random.Random, index: int) -> tuple[Any, ...]:
    note = r.choice((None, "", "gift", "  Call Before  "))
    items = [r.choice(ITEMS) for _ in range(r.randrange(0, 6))]
    return 100 + index, r.choice(("ada", "bob", "Cyd ")), items, round(r.uniform(1, 900), 2), note


def _csv_line(r: random.Random, index: int) -> tuple[Any, ...]:
    good = f"{r.choice(SYMBOLS)}, {r.uniform(1, 60):.2f} ,{r.randrange(1, 400)}"
    return index, r.choice((good, good, good, "# comment", "", "ACME,n/a,7", '"BETA","12.50",8', "one,two"))


def _json_line(r: random.Random, index: int) -> tuple[Any, ...]:
    body = {
        "user": r.randrange(1, 5),
        "event": r.choice(("view", "buy", "quit")),
        "tags": r.sample(TAGS, r.randrange(0, 3)),
        "geo": {"lat": round(r.uniform(-60, 60), 3), "lon": round(r.uniform(-60, 60), 3)},
    }
    return index, r.choice((json.dumps(body), json.dumps(body), json.dumps(body), "{broken", "[1, 2]"))


def _log_line(r: random.Random, index: int) -> tuple[Any, ...]:
    level = r.choice(("INFO", "WARN", "ERROR", "DEBUG"))
    words = " ".join(r.choice(WORDS) for _ in range(r.randrange(1, 7)))
    line = f"2024-05-{1 + index % 28:02d}T10:0{r.randrange(0, 10)}:00 {level} svc-{r.choice('abc')}: {words}"
    return index, r.choice((line, line, f"{line} took {r.randrange(1, 999)}ms", "--  mark --"))


def _packet(r: random.Random, index: int) -> tuple[Any, ...]:
    payload = struct.pack(">hH", r.randrange(-400, 900), r.randrange(0, 99)) if r.random() < 0.8 else b"\xff"
    at = datetime(2024, 5, 1, 10, 0) + timedelta(minutes=11 * index, seconds=r.randrange(0, 60))
    return r.randrange(1, 5), r.choice(("temp", "hum", "ping")), payload, at


def _fix(r: random.Random, index: int) -> tuple[Any, ...]:
    from .tuples import Point

    where = Point(round(r.uniform(47, 48), 4), round(r.uniform(-123, -122), 4))
    return r.choice(("van-1", "van-2", "van-3")), where, _ts(r, index)


_MAKERS: dict[str, Callable[[random.Random, int], tuple[Any, ...]]] = {
    "Trade": _trade,
    "Quote": _quote,
    "Click": _click,
    "Call": _call,
    "Reading": _reading,
    "Order": _order,
    "CsvLine": _csv_line,
    "JsonLine": _json_line,
    "LogLine": _log_line,
    "Packet": _packet,
    "Fix": _fix,
}
