"""A tumbling count window per sensor: every twenty readings of a sensor, their sum and the largest of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import bytewax.operators as op
import numba
import numpy as np
from bytewax.dataflow import Dataflow

import anabranch as ab
from anabranch.codegen.chunks import Batch
from benchmarks.codegen.bytewax_flows import run_flow, source
from benchmarks.codegen.contest import Output, Pipeline
from benchmarks.codegen.inputs import Data, columns_of, scattered_ids, skewed
from benchmarks.codegen.kernels import EMPTY, FIRST_CAPACITY, Columns, batch_of, grown, home, numbers, shift_of

SENSORS = 2000
READINGS = 20


class Reading(NamedTuple):
    sensor: int
    value: float


class Total(NamedTuple):
    sensor: int
    total: float
    largest: float


def program(readings: list[Reading]) -> Any:
    return (
        ab.from_items(Reading, readings)
        .window(ab.tumbling(count=READINGS), key="sensor")
        .aggregate(Total, total=ab.sum_("value"), largest=ab.max_("value"))
        .collect("out")
    )


def data(count: int) -> Data:
    random = np.random.default_rng(4)
    ids = scattered_ids(random, SENSORS)
    readings = columns_of(Reading, sensor=ids[skewed(random, count, SENSORS)], value=random.random(count) * 100)
    return Data((Reading,), (readings,))


def python_loop(readings: list[Reading]) -> list[Total]:
    found = []
    windows: dict[int, list[Any]] = {}
    window_of = windows.get
    for sensor, value in readings:
        window = window_of(sensor)
        if window is None:
            windows[sensor] = [1, value, value]
            continue
        n, total, largest = window
        if value > largest:
            largest = value
        if n + 1 == READINGS:
            found.append(Total(sensor, total + value, largest))
            del windows[sensor]
        else:
            window[:] = n + 1, total + value, largest
    found += [Total(sensor, total, largest) for sensor, (_, total, largest) in windows.items()]
    return found


# ------------------------------------------------------------------------------------------------ numba

ENTRY = np.dtype([("used", "i8"), ("key", "i8"), ("n", "i8"), ("total", "f8"), ("largest", "f8"), ("first", "i8")])


def kernel(batches: list[Batch]) -> Output:
    table, used, arrivals = np.zeros(FIRST_CAPACITY, ENTRY), 0, 0
    out = Columns("i8", "f8", "f8")
    found: Output = []
    for batch in batches:
        (chunk,) = batch.chunks
        assert chunk is not None
        columns = numbers(chunk.batch, "sensor"), numbers(chunk.batch, "value")
        table, used, count = _add(table, used, arrivals, *columns, *out.room_for(len(chunk)))
        arrivals += len(chunk)
        found.append(batch_of(Total, out.first(count)))
        if chunk.is_last:
            unfinished = table[table["n"] > 0]
            unfinished = unfinished[np.argsort(unfinished["first"])]
            found.append(batch_of(Total, [unfinished[name].copy() for name in ("key", "total", "largest")]))
    return found


@numba.njit(nogil=True)
def _add(table, used, arrivals, sensors, values, out_sensor, out_total, out_largest):
    shift, mask, count = shift_of(table), len(table) - 1, 0
    for i in range(len(sensors)):
        sensor, value = sensors[i], values[i]
        slot = home(sensor, shift)
        while table[slot].used and table[slot].key != sensor:
            slot = (slot + 1) & mask
        entry = table[slot]
        if entry.n == 0:
            entry.n, entry.total, entry.largest, entry.first = 1, value, value, arrivals + i
            if not entry.used:
                entry.used, entry.key = 1, sensor
                used += 1
                if EMPTY * used > len(table):
                    table = grown(table)
                    shift, mask = shift_of(table), len(table) - 1
            continue
        entry.n += 1
        entry.total += value
        entry.largest = max(entry.largest, value)
        if entry.n == READINGS:
            out_sensor[count], out_total[count], out_largest[count] = sensor, entry.total, entry.largest
            count += 1
            entry.n = 0
    return table, used, count


# ------------------------------------------------------------------------------------------------ Bytewax


class _Windows(op.StatefulLogic[Reading, Total, tuple[int, float, float]]):
    """Bytewax's `collect` gathers a number of items, but in a list; this keeps three numbers instead."""

    def __init__(self, state: tuple[int, float, float] | None) -> None:
        self.sensor = 0
        self.n, self.total, self.largest = state or (0, 0.0, float("-inf"))

    def on_item(self, reading: Reading) -> tuple[tuple[Total, ...], bool]:
        self.sensor = reading.sensor
        self.n += 1
        self.total += reading.value
        self.largest = max(self.largest, reading.value)
        return ((self._result(),), True) if self.n == READINGS else ((), False)

    def on_eof(self) -> tuple[tuple[Total, ...], bool]:
        return (self._result(),), True

    def _result(self) -> Total:
        return Total(self.sensor, self.total, self.largest)

    def snapshot(self) -> tuple[int, float, float]:
        return self.n, self.total, self.largest


def bytewax(batches: list[list[Reading]]) -> list[Total]:
    flow = Dataflow("count_window")
    readings = op.input("readings", flow, source(batches))
    by_sensor = op.key_on("sensor", readings, lambda reading: str(reading.sensor))
    totals = op.stateful("window", by_sensor, _Windows)
    return run_flow(flow, op.key_rm("total", totals))


COUNT_WINDOW = Pipeline("count window", program, data, python_loop, kernel, bytewax)
