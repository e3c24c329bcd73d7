"""A tumbling time window over the whole stream: each second, how many readings, their mean and the largest of them."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, NamedTuple

import bytewax.operators as op
import bytewax.operators.windowing as w
import numba
import numpy as np
from bytewax.dataflow import Dataflow

import anabranch as ab
from anabranch.codegen.chunks import Batch
from benchmarks.codegen.bytewax_flows import START, at, event_clock, run_flow, source
from benchmarks.codegen.contest import Output, Pipeline
from benchmarks.codegen.inputs import Data, columns_of
from benchmarks.codegen.kernels import Columns, batch_of, numbers

READINGS_PER_SECOND = 500.0


class Reading(NamedTuple):
    value: float
    ts: float


class Load(NamedTuple):
    until: float
    n: int
    mean: float
    largest: float


def program(readings: list[Reading]) -> Any:
    return (
        ab.from_items(Reading, readings)
        .window(ab.tumbling(seconds=1, on="ts"))
        .aggregate(Load, until=ab.window_end(), n=ab.count(), mean=ab.mean("value"), largest=ab.max_("value"))
        .collect("out")
    )


def data(count: int) -> Data:
    random = np.random.default_rng(5)
    ts = (np.arange(count) + random.random(count)) / READINGS_PER_SECOND
    return Data((Reading,), (columns_of(Reading, value=random.random(count) * 100, ts=ts),))


def python_loop(readings: list[Reading]) -> list[Load]:
    found = []
    begin, end = math.inf, -math.inf
    n, total, largest = 0, 0.0, -math.inf
    for value, ts in readings:
        if ts >= end:
            if n:
                found.append(Load(end, n, total / n, largest))
            n, total, largest = 0, 0.0, -math.inf
            begin = float(ts // 1)
            end = begin + 1
        if ts >= begin:
            n += 1
            total += value
            if value > largest:
                largest = value
    if n:
        found.append(Load(end, n, total / n, largest))
    return found


# ------------------------------------------------------------------------------------------------ numba

WINDOW = np.dtype([("begin", "f8"), ("end", "f8"), ("n", "i8"), ("total", "f8"), ("largest", "f8")])


def kernel(batches: list[Batch]) -> Output:
    window = np.array([(math.inf, -math.inf, 0, 0.0, -math.inf)], WINDOW)
    out = Columns("f8", "i8", "f8", "f8")
    found: Output = []
    for batch in batches:
        (chunk,) = batch.chunks
        assert chunk is not None
        columns = numbers(chunk.batch, "value"), numbers(chunk.batch, "ts")
        count = _add(window, *columns, *out.room_for(len(chunk) + 1), chunk.is_last)
        found.append(batch_of(Load, out.first(count)))
    return found


@numba.njit(nogil=True)
def _add(window, values, times, out_until, out_n, out_mean, out_largest, is_last):
    state = window[0]
    begin, end, n, total, largest = state.begin, state.end, state.n, state.total, state.largest
    count = 0
    for i in range(len(values)):
        value, ts = values[i], times[i]
        if ts >= end:
            if n:
                out_until[count], out_n[count], out_mean[count], out_largest[count] = end, n, total / n, largest
                count += 1
            n, total, largest = 0, 0.0, -math.inf
            begin = float(math.floor(ts))
            end = begin + 1.0
        if ts >= begin:
            n += 1
            total += value
            largest = max(largest, value)
    if is_last and n:
        out_until[count], out_n[count], out_mean[count], out_largest[count] = end, n, total / n, largest
        count += 1
    state.begin, state.end, state.n, state.total, state.largest = begin, end, n, total, largest
    return count


# ------------------------------------------------------------------------------------------------ Bytewax


def bytewax(batches: list[list[Reading]]) -> list[Load]:
    flow = Dataflow("time_window")
    readings = op.input("readings", flow, source(batches))
    windows = w.fold_window(
        "window",
        op.key_on("together", readings, lambda _: "all"),
        event_clock(lambda reading: at(reading.ts), wait=timedelta(seconds=1)),
        w.TumblingWindower(length=timedelta(seconds=1), align_to=START),
        builder=lambda: (0, 0.0, -math.inf),
        folder=_folded,
        merger=lambda one, other: (one[0] + other[0], one[1] + other[1], max(one[2], other[2])),
        ordered=False,
    )
    return run_flow(flow, op.map("load", windows.down, _load))


def _folded(so_far: tuple[int, float, float], reading: Reading) -> tuple[int, float, float]:
    n, total, largest = so_far
    value = reading.value
    return n + 1, total + value, value if value > largest else largest


def _load(keyed: tuple[str, tuple[int, tuple[int, float, float]]]) -> Load:
    _, (window, (n, total, largest)) = keyed
    return Load(window + 1.0, n, total / n, largest)


TIME_WINDOW = Pipeline("time window", program, data, python_loop, kernel, bytewax)
