"""Arrays, heaps and sorted lists of the module that are changed in place by functions."""

from __future__ import annotations

import array
import bisect
import heapq
import random

import numpy as np

from .registry import entry
from .tuples import Amount, Count, Numbered, Reading, Trade

TOTALS = np.zeros(4)
GRID = np.zeros((2, 2))
WEIGHTS = np.ones(3)
BINS = np.zeros(5, dtype=np.int64)
SCRATCH = np.zeros(2)
HEAP: list[float] = []
ORDERED: list[float] = []
DECK = list(range(8))
RAW = array.array("d", [0.0])
BYTES = bytearray(b"\x00")


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="in-place addition on a global array")  # fmt: skip
def totals(t: Trade) -> Amount:
    TOTALS[len(t.symbol) % 4] += t.price
    return Amount(t.symbol, float(TOTALS.sum()))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="in-place multiplication under a local name")  # fmt: skip
def decayed(t: Trade) -> Amount:
    weights = WEIGHTS
    weights *= 0.9
    return Amount(t.symbol, float(weights[0]) * t.price)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a slice of an array is a view")  # fmt: skip
def through_view(t: Trade) -> Amount:
    row = GRID[0]
    row += t.price
    return Amount(t.symbol, float(GRID.sum()))


GRID_2 = np.zeros((2, 2))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="reshape and ravel are views")  # fmt: skip
def through_ravel(t: Trade) -> Amount:
    flat = np.asarray(GRID_2).ravel()
    flat[1] += t.price
    return Amount(t.symbol, float(GRID_2[0, 1]))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="out= of a numpy function")  # fmt: skip
def through_out(t: Trade) -> Amount:
    before = float(SCRATCH[0])
    np.multiply([t.price, 1.0], 2.0, out=SCRATCH)
    return Amount(t.symbol, before)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="np.add.at")  # fmt: skip
def binned(t: Trade) -> Count:
    np.add.at(BINS, [t.size % 5], 1)
    return Count(t.symbol, int(BINS.max()))


SCRATCH_2 = np.zeros(2)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="np.copyto and fill")  # fmt: skip
def copied(t: Trade) -> Amount:
    before = float(SCRATCH_2.sum())
    SCRATCH_2.fill(t.price)
    np.copyto(SCRATCH_2[:1], t.ts)
    return Amount(t.symbol, before)


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="heappush onto a list of the module")  # fmt: skip
def lowest_so_far(r: Reading) -> Amount:
    heapq.heappush(HEAP, r.celsius)
    return Amount(r.sensor, HEAP[0])


HEAP_2: list[float] = []


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="heappushpop, imported under an innocent name")  # fmt: skip
def replaced(r: Reading) -> Amount:
    smallest = heapq.heappushpop
    if len(HEAP_2) < 2:
        HEAP_2.append(r.celsius)
    return Amount(r.sensor, smallest(HEAP_2, r.celsius))


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="insort into a list of the module")  # fmt: skip
def median_so_far(r: Reading) -> Amount:
    bisect.insort(ORDERED, r.celsius)
    return Amount(r.sensor, ORDERED[len(ORDERED) // 2])


@entry(kind="map", input=Reading, output=Numbered, state="stateful", trap=True,
       why="shuffle of a module's list with a local generator")  # fmt: skip
def dealt(r: Reading) -> Numbered:
    random.Random(3).shuffle(DECK)
    return Numbered(DECK[0], DECK[1])


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="array.array of the module")  # fmt: skip
def raw_total(r: Reading) -> Amount:
    RAW[0] += r.celsius
    return Amount(r.sensor, RAW[0])


@entry(kind="map", input=Reading, output=Count, state="stateful", forwards={"key": "sensor"}, trap=True,
       why="a memoryview of a module's bytearray")  # fmt: skip
def through_memoryview(r: Reading) -> Count:
    with memoryview(BYTES) as view:
        view[0] = (view[0] + 1) % 256
    return Count(r.sensor, BYTES[0])


ORDERED_2: list[float] = []


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="sort() on the module's list")  # fmt: skip
def sorted_in_place(r: Reading) -> Amount:
    ORDERED_2.append(r.celsius)
    ORDERED_2.sort(reverse=True)
    return Amount(r.sensor, ORDERED_2[0])
