"""Clocks and random numbers."""

from __future__ import annotations

import random
import secrets
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime

import numpy as np

from .registry import entry
from .tuples import Amount, Count, Numbered, Order, Packet, Text, Trade

CHANCE = random.Random(1)
GENERATOR = np.random.default_rng(1)


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="random.random")
def sampled(t: Trade) -> bool:
    return random.random() < 0.5


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a seeded generator at module level advances")  # fmt: skip
def jittered(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + CHANCE.uniform(-1, 1))


@entry(kind="process", input=Trade, selectivity="1:[0,1]", state="stateful", forwards="all", trap=True,
       why="unkeyed: the seeded generator in self advances from tuple to tuple")  # fmt: skip
class SampledByOwn:
    def __init__(self) -> None:
        self.chance = random.Random(0)

    def process(self, t: Trade) -> Iterator[Trade]:
        if self.chance.random() < 0.5:
            yield t


@entry(kind="process", input=Trade, keyed=("symbol",), selectivity="1:[0,1]", state="stateful", forwards="all",
       trap=True, why="keyed, but the own generator is not seeded")  # fmt: skip
class SampledUnseeded:
    def __init__(self) -> None:
        self.chance = random.Random()

    def process(self, t: Trade) -> Iterator[Trade]:
        if self.chance.random() < 0.5:
            yield t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a numpy generator at module level")  # fmt: skip
def jittered_by_numpy(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + float(GENERATOR.normal()))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="numpy's global generator")  # fmt: skip
def jittered_by_legacy_numpy(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + float(np.random.rand()))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       why="seeds the global generator: the result is fixed, but others see it")  # fmt: skip
def reseeded(t: Trade) -> Amount:
    random.seed(t.size)
    return Amount(t.symbol, random.random())


@entry(kind="map", input=Order, output=Text, state="stateful", trap=True, why="random.shuffle of a local list")
def shuffled(o: Order) -> Text:
    items = [*o.items, "a", "b", "c", "d", "e"]
    random.shuffle(items)
    return Text(",".join(items))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="time.time")  # fmt: skip
def aged(t: Trade) -> Amount:
    return Amount(t.symbol, time.time() - t.ts)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the clock under another name")  # fmt: skip
def timed(t: Trade) -> Amount:
    now = time.perf_counter_ns
    started = now()
    return Amount(t.symbol, float(started))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="datetime.now in a default zone")
def stamped(t: Trade) -> Text:
    return Text(f"{t.symbol} {datetime.now(UTC).isoformat()}")


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="date.today: the same for hours, then not")  # fmt: skip
def dated(t: Trade) -> Count:
    return Count(t.symbol, date.today().toordinal())


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False,
       why="fromtimestamp without a zone reads the machine's")  # fmt: skip
def local_time(t: Trade) -> Text:
    return Text(datetime.fromtimestamp(t.ts).isoformat())


@entry(kind="map", input=Packet, output=Numbered, state="stateful", forwards={"number": "device"}, trap=True,
       shows=False, why="timestamp() of a naive datetime reads the machine's zone")  # fmt: skip
def epoch(p: Packet) -> Numbered:
    return Numbered(p.device, int(p.at.timestamp()))


@entry(kind="map", input=Packet, state="stateful", forwards={"device": "device", "kind": "kind", "payload": "payload"},
       trap=True, shows=False, why="astimezone() of a naive datetime reads the machine's zone")  # fmt: skip
def in_utc(p: Packet) -> Packet:
    return p._replace(at=p.at.astimezone(UTC).replace(tzinfo=None))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False,
       why="strftime without a time takes the present one")  # fmt: skip
def in_year(t: Trade) -> Text:
    return Text(f"{t.symbol} {time.strftime('%Y')}")


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a local generator without a seed")  # fmt: skip
def jittered_unseeded(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + np.random.default_rng().uniform() + random.Random().random())


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       why="np.empty holds what was in memory before")  # fmt: skip
def uninitialised(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + float(np.empty(3, dtype=np.int64)[1] % 7))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="uuid4")
def identified(t: Trade) -> Text:
    return Text(f"{t.symbol}-{uuid.uuid4()}")


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="secrets")
def tokened(t: Trade) -> Text:
    return Text(secrets.token_hex(8))
