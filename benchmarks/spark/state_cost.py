"""What a large state costs a micro-batch that touches little of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.codegen.measure import Figure
from benchmarks.spark.batches import milliseconds, new_folder, number_of_last, start
from benchmarks.spark.host import Host
from benchmarks.spark.inputs import write_pairs
from benchmarks.spark.pairs import stream_of_one_region
from benchmarks.spark.race import Answer

TOUCHED = 1_000  # keys of a batch
_AT_ONCE = 100_000  # keys that a batch adds before
_WARM_UP = 5  # batches of each kind
_THIRDS = 3
_PATIENCE = 0.05  # seconds between two looks

EMPTY, FEW, MANY = "empty", "few", "many"
Milliseconds = dict[str, list[float]]  # of the batches of each kind


def measure(few: int, many: int, batches: int) -> Milliseconds:
    """Batches that touch keys with few and with many in the state, in turn with batches that touch none."""
    with Host("state") as host:
        found = host.do("benchmarks.spark.state_cost:run", few=few, many=many, batches=batches)
        return {kind: found[kind] for kind in (EMPTY, FEW, MANY)}


def cost(found: Milliseconds) -> Figure:
    """The time with many keys over that with few, without what a batch costs that touches none.

    It is a ratio of small differences, so it is taken from medians over all batches; the spread is that of thirds.
    """
    size = len(found[EMPTY]) // _THIRDS
    thirds = [_cost({kind: each[at * size : (at + 1) * size] for kind, each in found.items()}) for at in range(_THIRDS)]
    return Figure(_cost(found), min(thirds), max(thirds))


def _cost(found: Milliseconds) -> float:
    empty, few, many = (statistics.median(found[kind]) for kind in (EMPTY, FEW, MANY))
    return (many - empty) / (few - empty)


def run(session: Any, few: int, many: int, batches: int) -> Answer:
    small, large = _Stream(session, FEW, few), _Stream(session, MANY, many)
    found: Milliseconds = {EMPTY: [], FEW: [], MANY: []}
    for _ in range(_WARM_UP + batches):
        found[EMPTY].append(small.batch(keys=0))
        found[FEW].append(small.batch(TOUCHED))
        large.batch(keys=0)
        found[MANY].append(large.batch(TOUCHED))
    for stream in (small, large):
        stream.query.stop()
    return {kind: each[_WARM_UP:] for kind, each in found.items()}


@dataclass
class _Stream:
    """A stream that has so many keys, and waits for files."""

    session: Any
    name: str
    keys: int

    def __post_init__(self) -> None:
        self.folder: Path = new_folder(f"stream-{self.name}")
        self.random = np.random.default_rng(7)
        self.files = 0
        program = stream_of_one_region(pairs=str(self.folder / "in" / "*.csv"), out=str(self.folder / "out.csv"))
        self.query, self.of_spark = start(self.session, program, self.folder, batch_bytes=1)
        for some in self._some():
            self._process(some, np.ones(len(some), np.int64))

    def _some(self) -> Iterator[np.ndarray]:
        for first in range(0, self.keys, _AT_ONCE):
            yield np.arange(first, min(first + _AT_ONCE, self.keys))

    def batch(self, keys: int) -> float:
        """The milliseconds of a batch that touches so many keys; its other tuples go no further than the source."""
        touched = self.random.choice(self.keys, TOUCHED, replace=False)
        return self._process(touched, np.where(np.arange(TOUCHED) < keys, 1, -1))

    def _process(self, keys: np.ndarray, values: np.ndarray) -> float:
        write_pairs(self.folder / "in" / f"{self.files:05}.csv", keys, keys, values)
        self.files += 1
        while number_of_last(self.of_spark) < self.files - 1:
            assert self.query.is_active, "the stream has stopped"
            time.sleep(_PATIENCE)
        return milliseconds(self.of_spark)[-1]
