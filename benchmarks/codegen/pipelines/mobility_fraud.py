"""Mobility fraud, the program of the design: filter, a keyed operator of the user's, filter, a time window."""

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
from benchmarks.codegen.inputs import Data, chosen, columns_of, scattered_ids, skewed
from benchmarks.codegen.kernels import EMPTY, FIRST_CAPACITY, Columns, batch_of, grown, home, numbers, shift_of, texts
from benchmarks.codegen.travels import Call, Speed, Travel, distance

PHONES = 20_000
CALLS_PER_SECOND = 20.0
AREAS = ("425", "206", "253", "360", "509")
SHARES = np.array([0.35, 0.30, 0.15, 0.10, 0.10])
CLONED = 0.01  # of the calls are made far away
MINUTES = 10


class Count(NamedTuple):
    ts: float
    n: int


def program(calls: list[Call]) -> Any:
    return (
        ab.from_items(Call, calls)
        .filter(lambda call: call.area == "425")
        .process(Speed, key="phone")
        .filter(lambda travel: travel.speed > 300.0)
        .window(ab.tumbling(minutes=MINUTES, on="ts"))
        .aggregate(Count, ts=ab.last("ts"), n=ab.count())
        .collect("out")
    )


def data(count: int) -> Data:
    random = np.random.default_rng(1)
    ids = scattered_ids(random, PHONES)
    areas = np.searchsorted(np.cumsum(SHARES)[:-1], random.random(PHONES), side="right")
    homes = random.random((PHONES, 2)) * 40
    owner = skewed(random, count, PHONES)
    away = np.where(random.random(count) < CLONED, 400.0, 0.0)
    x, y = homes[owner].T + random.random((2, count)) * 0.5
    calls = columns_of(
        Call,
        phone=ids[owner],
        area=chosen(AREAS, areas[owner]),
        x=x + away,
        y=y,
        ts=(np.arange(count) + random.random(count)) / CALLS_PER_SECOND,
    )
    return Data((Call,), (calls,))


def python_loop(calls: list[Call]) -> list[Count]:
    found = []
    last: dict[int, Call] = {}
    last_of = last.get
    sqrt = math.sqrt
    length = MINUTES * 60
    begin, end = math.inf, -math.inf
    n, latest = 0, 0.0
    for call in calls:
        if call[1] == "425":
            phone, _, x, y, ts = call
            before = last_of(phone)
            last[phone] = call
            if before is not None:
                _, _, x_before, y_before, ts_before = before
                if ts > ts_before:
                    dx, dy = x_before - x, y_before - y
                    if sqrt(dx * dx + dy * dy) / ((ts - ts_before) / 3600) > 300.0:
                        if ts >= end:
                            if n:
                                found.append(Count(latest, n))
                            n = 0
                            begin = ts // length * length
                            end = begin + length
                        if ts >= begin:
                            n += 1
                            latest = ts
    if n:
        found.append(Count(latest, n))
    return found


# ------------------------------------------------------------------------------------------------ numba

ENTRY = np.dtype([("used", np.int64), ("key", np.int64), ("x", np.float64), ("y", np.float64), ("ts", np.float64)])
WINDOW = np.dtype([("begin", np.float64), ("end", np.float64), ("n", np.int64), ("latest", np.float64)])


def kernel(batches: list[Batch]) -> Output:
    table, used = np.zeros(FIRST_CAPACITY, ENTRY), 0
    window = np.array([(math.inf, -math.inf, 0, 0.0)], WINDOW)
    out = Columns("f8", "i8")
    found: Output = []
    for batch in batches:
        (chunk,) = batch.chunks
        assert chunk is not None
        calls = chunk.batch
        columns = [numbers(calls, name) for name in ("phone", "x", "y", "ts")]
        room = out.room_for(len(chunk) + 1)
        table, used, count = _detect(table, used, window, *texts(calls, "area"), *columns, *room, chunk.is_last)
        found.append(batch_of(Count, out.first(count)))
    return found


@numba.njit(nogil=True)
def _detect(table, used, window, area_at, area, phones, xs, ys, times, out_ts, out_n, is_last):
    length = MINUTES * 60.0
    open_window = window[0]
    begin, end, n, latest = open_window.begin, open_window.end, open_window.n, open_window.latest
    shift, mask, count = shift_of(table), len(table) - 1, 0
    for i in range(len(phones)):
        at = area_at[i]
        if area_at[i + 1] - at != 3 or area[at] != 52 or area[at + 1] != 50 or area[at + 2] != 53:  # "425"
            continue
        phone, x, y, ts = phones[i], xs[i], ys[i], times[i]
        slot = home(phone, shift)
        while table[slot].used and table[slot].key != phone:
            slot = (slot + 1) & mask
        entry = table[slot]
        if entry.used:
            if ts > entry.ts:
                dx, dy = entry.x - x, entry.y - y
                if math.sqrt(dx * dx + dy * dy) / ((ts - entry.ts) / 3600.0) > 300.0:
                    if ts >= end:
                        if n:
                            out_ts[count], out_n[count] = latest, n
                            count += 1
                        n = 0
                        begin = math.floor(ts / length) * length
                        end = begin + length
                    if ts >= begin:
                        n += 1
                        latest = ts
            entry.x, entry.y, entry.ts = x, y, ts
        else:
            entry.used, entry.key, entry.x, entry.y, entry.ts = 1, phone, x, y, ts
            used += 1
            if EMPTY * used > len(table):
                table = grown(table)
                shift, mask = shift_of(table), len(table) - 1
    if is_last and n:
        out_ts[count], out_n[count] = latest, n
        count += 1
    open_window.begin, open_window.end, open_window.n, open_window.latest = begin, end, n, latest
    return table, used, count


# ------------------------------------------------------------------------------------------------ Bytewax


def bytewax(batches: list[list[Call]]) -> list[Count]:
    flow = Dataflow("mobility_fraud")
    calls = op.input("calls", flow, source(batches))
    near = op.filter("area", calls, lambda call: call.area == "425")
    by_phone = op.key_on("phone", near, lambda call: str(call.phone))
    travels = op.stateful_flat_map("speed", by_phone, _speed)
    fast = op.filter_value("fast", travels, lambda travel: travel.speed > 300.0)
    together = op.map("together", fast, lambda keyed: ("all", keyed[1]))
    windows = w.fold_window(
        "window",
        together,
        # Behind the keyed operator, the tuples of a poll come key by key, not in order of their time.
        event_clock(lambda travel: at(travel.ts), wait=timedelta(minutes=60)),
        w.TumblingWindower(length=timedelta(minutes=MINUTES), align_to=START),
        builder=lambda: (0.0, 0),
        folder=lambda counted, travel: (max(counted[0], travel.ts), counted[1] + 1),
        merger=lambda one, other: (max(one[0], other[0]), one[1] + other[1]),
        ordered=False,
    )
    return run_flow(flow, op.map("count", windows.down, lambda keyed: Count(*keyed[1][1])))


def _speed(last: Call | None, call: Call) -> tuple[Call, tuple[Travel, ...]]:
    if last is not None and call.ts > last.ts:
        hours = (call.ts - last.ts) / 3600
        return call, (Travel(call.phone, distance(last, call) / hours, call.ts),)
    return call, ()


MOBILITY_FRAUD = Pipeline("mobility fraud", program, data, python_loop, kernel, bytewax)
