"""Builtins and library functions that call back into objects with a memory, without looking like it."""

from __future__ import annotations

import copy
import heapq
import math
import os
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from .registry import entry
from .tuples import Amount, Count, Text, Trade


class Odd:
    """True every third time, equal every third time."""

    asked = 0

    def __bool__(self) -> bool:
        Odd.asked += 1
        return Odd.asked % 3 == 0

    def __eq__(self, other: object) -> bool:
        return bool(self)

    def __hash__(self) -> int:
        Odd.asked += 1
        return 1


ODD = Odd()


class Rising:
    """A number that grows whenever it is looked at."""

    def __init__(self) -> None:
        self.n = 0

    def _up(self) -> int:
        self.n += 1
        return self.n

    def __reversed__(self) -> Iterator[int]:
        return iter([self._up()])

    def __lt__(self, other: object) -> bool:
        return self._up() % 3 == 0

    def __gt__(self, other: object) -> bool:
        return self._up() % 3 == 0

    def __float__(self) -> float:
        return float(self._up())

    def __index__(self) -> int:
        return self._up()

    def __fspath__(self) -> str:
        return str(self._up())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([self._up()])

    def __copy__(self) -> Rising:
        self._up()
        return self

    def __radd__(self, other: object) -> int:
        return self._up()

    def keys(self) -> list[str]:
        self._up()
        return ["n"]

    def __getitem__(self, key: object) -> int:
        return self.n


RISING = Rising()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="filter(None, ...) asks for the truth")  # fmt: skip
def by_filter(t: Trade) -> Count:
    return Count(t.symbol, len(list(filter(None, [ODD]))))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="list.count compares")  # fmt: skip
def by_count(t: Trade) -> Count:
    return Count(t.symbol, [Odd()].count(t.size))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="list.index compares")  # fmt: skip
def by_index_of(t: Trade) -> Count:
    return Count(t.symbol, [ODD, t.size].index(t.size))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="tuples compare what they hold")  # fmt: skip
def by_tuple_equality(t: Trade) -> Count:
    return Count(t.symbol, int((t.symbol, ODD) == (t.symbol, 1)))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="Counter hashes what it counts")  # fmt: skip
def by_counter(t: Trade) -> Count:
    Counter([ODD])
    return Count(t.symbol, Odd.asked)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="reversed() calls __reversed__")  # fmt: skip
def by_reversed(t: Trade) -> Count:
    return Count(t.symbol, next(reversed(RISING)))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="dict.update calls keys()")  # fmt: skip
def by_update(t: Trade) -> Count:
    values: dict[str, int] = {}
    values.update(RISING)
    return Count(t.symbol, values["n"])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="** calls keys()")  # fmt: skip
def by_double_star(t: Trade) -> Count:
    return Count(t.symbol, {**RISING}["n"])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="heapq compares")  # fmt: skip
def by_heap(t: Trade) -> Count:
    heap: list[Any] = [RISING, t.size]
    heapq.heapify(heap)
    return Count(t.symbol, RISING.n)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="math.sqrt calls __float__")  # fmt: skip
def by_sqrt(t: Trade) -> Amount:
    return Amount(t.symbol, math.sqrt(RISING))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="statistics.fmean calls __float__")  # fmt: skip
def by_mean(t: Trade) -> Amount:
    return Amount(t.symbol, statistics.fmean([RISING, t.price]))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="a string times an object, by __index__")
def by_repetition(t: Trade) -> Text:
    return Text("x" * RISING)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="range() and round() call __index__")  # fmt: skip
def by_range(t: Trade) -> Count:
    return Count(t.symbol, len(range(RISING)))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="a path asks for __fspath__")
def by_path(t: Trade) -> Text:
    return Text(PurePosixPath(RISING).name + os.path.join("a", RISING))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="numpy asks for __array__")  # fmt: skip
def by_array(t: Trade) -> Amount:
    return Amount(t.symbol, float(np.sum(RISING)))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="copy.copy calls __copy__")  # fmt: skip
def by_copy(t: Trade) -> Count:
    return Count(t.symbol, copy.copy(RISING).n)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="sum() calls __radd__")  # fmt: skip
def by_sum(t: Trade) -> Count:
    return Count(t.symbol, sum([RISING]))
