"""A stream without Spark: micro-batches in this process, by the same tasks, with crashes wherever one asks for them.

Spark's part is a number of batches, their offsets, and a state store that has the state behind each of them.
"""

from __future__ import annotations

import copy
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.compiler import compile, this_machine
from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from anabranch.dataflow.streams.entries import Entry, EntryLog
from anabranch.dataflow.streams.entry_tasks import EntryTask
from anabranch.dataflow.streams.stream_tail import StreamTail
from anabranch.dataflow.transport.rows import Row
from anabranch.engines.spark.streams import channel_state
from anabranch.engines.spark.streams.channel_state import _FIELDS, Channels
from anabranch.engines.spark.streams.intact import check_intact, check_outputs_are_there
from anabranch.engines.spark.streams.prepare import Prepared, hold_to, lay_out
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Settings
from tests.dataflow.simulated import fusion_by

Cells = dict[str, Any]  # the state of one channel


class _Value:
    def __init__(self, cells: Cells, name: str) -> None:
        self._cells, self._name = cells, name

    def get(self) -> Any:
        return self._cells.get(self._name)

    def update(self, value: Any) -> None:
        self._cells[self._name] = value


class _Map:
    def __init__(self, cells: Cells, name: str) -> None:
        self._values = cells.setdefault(name, {})

    def getValue(self, key: Any) -> Any:
        return self._values.get(key)

    def updateValue(self, key: Any, value: Any) -> None:
        self._values[key] = value

    def clear(self) -> None:
        self._values.clear()


@dataclass(frozen=True)
class _Handle:
    cells: Cells

    def getValueState(self, name: str, schema: str) -> _Value:
        return _Value(self.cells, name)

    def getMapState(self, name: str, key: str, value: str) -> _Map:
        return _Map(self.cells, name)


@dataclass
class Disk:
    """What survives a crash: Spark's offsets and states, beside the folder of the checkpoint."""

    folder: Path
    begun: list[tuple[int, int]] = field(default_factory=list)  # the entries of each batch that was planned
    done: int = 0  # batches that Spark has committed
    states: dict[tuple[int, int], Cells] = field(default_factory=lambda: defaultdict(dict))


class Crash(Exception):
    """The process dies here."""


class SimulatedStream:
    """One run, from a start to its end or a crash. `chance` is how likely it is to crash at each point of a batch."""

    forget = 0.0  # how likely a batch of a channel comes to another worker, even without a crash

    def __init__(
        self,
        graph: Graph,
        disk: Disk,
        rng: random.Random,
        *,
        channels: int | None = 2,
        at_once: int = 1,
        form: Form = "auto",
        chance: float = 0.0,
        change: Callable[[Plan], Plan] = lambda plan: plan,
    ) -> None:
        self.graph = graph
        self.disk = disk
        self.rng = rng
        self.chance = chance
        self.checkpoint = Checkpoint(disk.folder)
        self.checkpoint.lock()
        try:
            committed = check_intact(self.checkpoint)
            if committed is not None:
                check_outputs_are_there(graph, committed, self.checkpoint)
            self._prepare(channels, at_once, form, change)
        except BaseException:
            self.checkpoint.unlock()
            raise

    def _prepare(self, channels: int | None, at_once: int, form: Form, change: Callable[[Plan], Plan]) -> None:
        settings = Settings(this_machine(), fuse=fusion_by(channels or 0))  # the same at every start
        plan = lay_out(compile(self.graph, settings), self.checkpoint, 1, channels, form)
        self.prepared: Prepared = hold_to(self.checkpoint, change(plan))
        self.run_id = f"run {self.rng.random()}"
        self.log = _Log(self.checkpoint.arrivals, self._perhaps_crash_in_a_look)
        self.log.mend()
        self.metrics = Metrics()
        self.metrics.start(self.graph)
        self.tail = StreamTail(self.prepared.plan, self.metrics, self.checkpoint)
        self.arrivals = Arrivals(self.graph, self.log, self.checkpoint.folder, self._failed, at_once)

    def _failed(self, problem: Exception) -> None:
        raise problem

    def run(self) -> Result:
        """To the end of all sources. The lock goes with a process that dies, so it is let go of in any case."""
        try:
            self.arrivals.open((self.checkpoint.commit() or Commit()).entries)
            self.tail.resume()
            while not self.is_done:
                self._look()
                self._batch()
            return self.tail.tail.result()
        finally:
            self.tail.close()
            self.checkpoint.unlock()

    @property
    def is_done(self) -> bool:
        return self.arrivals.have_ended and self.disk.done == len(self.disk.begun) and self._start == len(self.log)

    @property
    def _start(self) -> int:
        return self.disk.begun[-1][1] if self.disk.begun else 0

    def _look(self) -> None:
        for _ in range(self.rng.randint(1, 4)):
            if not self.arrivals.have_ended:
                self.arrivals.look_once()
        self._perhaps_crash()

    def _batch(self) -> None:
        if self.disk.done == len(self.disk.begun):
            stop = min(len(self.log), self._start + self.rng.choice([1, 2, 5, 50]))
            if stop == self._start:
                return
            self.disk.begun.append((self._start, stop))
            self._write_log("offsets", len(self.disk.begun) - 1, f'v1\n{{}}\n{{"entries": {stop}}}')
        number = self.disk.done
        self._perhaps_crash()
        states = copy.deepcopy(self.disk.states)
        rows = self._rows(*self.disk.begun[number], states)
        if self.rng.random() < self.chance:  # Spark tries a task again, in the same worker
            states = copy.deepcopy(self.disk.states)
            rows = self._rows(*self.disk.begun[number], states)
        self._perhaps_crash()
        self.tail.batch(number, rows)
        self._perhaps_crash()
        self.disk.states, self.disk.done = states, number + 1
        self._write_log("commits", number, "v1\n{}")

    def _write_log(self, log: str, number: int, text: str) -> None:
        """What Spark writes down of its batches."""
        folder = self.checkpoint.spark / log
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_text(text)
        (folder / f".{number}.crc").write_bytes(b"crc\0\0\0\2\0" + zlib.crc32(text.encode()).to_bytes(4))

    def _perhaps_crash(self) -> None:
        if self.rng.random() < self.chance:
            raise Crash

    def _perhaps_crash_in_a_look(self) -> None:
        if self.rng.random() < self.chance / 5:  # there are several turns to a look
            raise Crash

    def _rows(self, first: int, stop: int, states: dict[tuple[int, int], Cells]) -> list[Row]:
        entries = self.log.entries(first, stop)
        cut = self.rng.randint(0, len(entries))
        rows: list[Row] = []
        for at, some in ((0, entries[:cut]), (cut, entries[cut:])):
            if some:
                rows += EntryTask(self.prepared.job).rows(first + at, some)
        for level, channels in enumerate(self.prepared.levels, 1):
            by_channel: dict[int, list[Row]] = defaultdict(list)
            self.rng.shuffle(rows)
            for row in rows:
                by_channel[row.channel % channels].append(row)
            rows = [row for channel in by_channel for row in self._channel(level, channel, by_channel[channel], states)]
        self.rng.shuffle(rows)
        return rows

    def _channel(
        self, level: int, channel: int, rows: list[Row], states: dict[tuple[int, int], Cells]
    ) -> Iterator[Row]:
        if self.rng.random() < max(self.chance, self.forget):
            channel_state.forget_warm()  # another worker
        processor = _Channels(self.prepared.job, self.run_id, level)
        processor.init(_Handle(states[level, channel]))  # type: ignore[arg-type]
        for row in processor.handleInputRows(None, iter(_as_dicts(rows)), None):
            yield Row(*(row[name] for name in _FIELDS))


class _Log(EntryLog):
    """The same, of a process that may die behind every turn of its sources."""

    def __init__(self, path: Path, perhaps_crash: Callable[[], None]) -> None:
        super().__init__(path)
        self._perhaps_crash = perhaps_crash

    def append(self, entries: Iterable[Entry]) -> None:
        super().append(entries)
        self._perhaps_crash()


class _Channels(Channels):
    """The same, with a job that was not sent."""

    def __init__(self, job: Any, run: str, level: int) -> None:
        super().__init__(b"", run, level)
        self._job = job

    def job(self) -> Any:
        return self._job


def _as_dicts(rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(zip(_FIELDS, (*row.values[:-1], bytes(row.values[-1])), strict=True)) for row in rows]
