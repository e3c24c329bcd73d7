"""The claim of `partition_by` where partitions are read by tasks of their own: a value of the key occurs in one only.

Each task sends the keys of its partitions to the driver, with the turns of their first tuples. They come before all
stretches, so that the driver knows where the sequential engine would have found a key in a second partition.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any, cast

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.sources.partition_claims import KeysOf
from anabranch.dataflow.sources.source_order import PartitionGuard
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job, ship_error
from anabranch.errors import RunError
from anabranch.graph.model import Operator
from anabranch.graph.order_keys import DRAW
from anabranch.operators.base import SourceDefinition, Unreadable
from anabranch.operators.failures import unreadable_error

_KEYS_AT_ONCE = 1 << 16  # in a row

_Place = tuple[int, int]  # a turn, and a reader: their order is that of the draw


class KeysOfReader:
    """In a task: the keys of a partition, each with the turn of its first tuple."""

    def __init__(self, source: Operator) -> None:
        self._keys = KeysOf(source)
        self._turns: dict[Any, int] = {}

    def add(self, chunk: Chunk, turn: int) -> None:
        """Tuples that follow one another, the first of them at a turn."""
        for position, key in self._keys.firsts(chunk):
            self._turns.setdefault(key, turn + position)

    def rows(self, number: int, place: int) -> Iterator[Row]:
        """For the tail, which is the `place`."""
        items = iter(self._turns.items())
        while some := list(islice(items, _KEYS_AT_ONCE)):
            yield Row(0, place, FIGURES, 0, Kind.KEYS, pickle.dumps((number, some)))


def guard_partitions(rows: Generator[Row, None, None], job: Job) -> Generator[Row, None, None]:
    """In the driver: the rows of a job, by stretch, and the error of a key that two partitions have, in its stretch."""
    with closing(rows):
        yield from rows if job.readers is None or not job.readers.is_partitioned else _guarded(rows, job)


def _guarded(rows: Iterable[Row], job: Job) -> Iterator[Row]:
    found = _Found()
    error: Row | None = None
    is_known = False
    for row in rows:
        if row.kind == Kind.KEYS:
            found.add(row)
            continue
        if row.stretch != FIGURES and not is_known:
            error, is_known = found.error(job), True
        if error is not None and row.stretch > error.stretch:
            yield error
            error = None
        yield row
    if not is_known:
        error = found.error(job)
    if error is not None:
        yield error


class _Found:
    """The keys of all partitions, where each is first, and the first tuple whose key another partition has had."""

    def __init__(self) -> None:
        self._firsts: dict[Any, _Place] = {}
        self._second: tuple[_Place, Any] | None = None

    def add(self, row: Row) -> None:
        number, keys = pickle.loads(bytes(row.payload))
        for key, turn in keys:
            place: _Place = (turn, number)
            known = self._firsts.setdefault(key, place)
            if known != place:
                self._firsts[key] = min(known, place)
                later = max(known, place)
                if self._second is None or later < self._second[0]:
                    self._second = later, key

    def error(self, job: Job) -> Row | None:
        if self._second is None:
            return None
        assert job.readers is not None
        (turn, number), key = self._second
        _, owner = self._firsts[key]
        # A moment is behind all that is made of its tuple: this one is that of the tuple before.
        moment = Moment(DRAW, (job.readers.place(number, turn) - 1,))
        names = job.readers.each[owner].name, job.readers.each[number].name
        error = _found_again(job.layout.graph.sources[0], names, turn)
        return Row(0, len(job.layout.places) - 1, turn // job.readers.rounds, 0, Kind.ERROR, ship_error(moment, error))


def _found_again(source: Operator, names: tuple[str, str], turn: int) -> RunError:
    """What the sequential engine says of a tuple in the second of two partitions; to name it, it is read once more."""
    partitions = cast(SourceDefinition, source.definition).partitions(source)
    second = next(each for each in partitions if each.name == names[1])
    item = next(islice(second, turn, None))
    guard = PartitionGuard(source)
    [*_, problem] = [guard.checked(item, name) for name in names]
    assert isinstance(problem, Unreadable), "its key has been in the first"
    return unreadable_error(source, problem)
