"""Network monitoring: how many log entries each user causes within five seconds, and who causes too many."""

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
from benchmarks.codegen.kernels import EMPTY, FIRST_CAPACITY, Columns, batch_of, home, numbers, shift_of

USERS = 5000
ENTRIES_PER_SECOND = 400.0
SERVERS = ("www", "api", "static", "shop", "login", "mail")
MESSAGES = ("GET /", "GET /search", "GET /cart", "POST /order", "login ok", "login failed")
ATTACKS = 0.1  # of the entries are those of one user who attacks
THRESHOLD = 100
SECONDS = 5


class Entry(NamedTuple):
    uid: int
    server: str
    msg: str
    ts: float


class Summary(NamedTuple):
    uid: int
    total: int
    until: float


def program(entries: list[Entry]) -> Any:
    return (
        ab.from_items(Entry, entries)
        .window(ab.tumbling(seconds=SECONDS, on="ts"), key="uid")
        .aggregate(Summary, total=ab.count(), until=ab.window_end())
        .filter(lambda summary: summary.total > THRESHOLD)
        .collect("out")
    )


def data(count: int) -> Data:
    random = np.random.default_rng(2)
    ids = scattered_ids(random, USERS)
    ts = (np.arange(count) + random.random(count)) / ENTRIES_PER_SECOND
    attacker = (ts / 3.0).astype(np.int64) % USERS
    entries = columns_of(
        Entry,
        uid=ids[np.where(random.random(count) < ATTACKS, attacker, skewed(random, count, USERS))],
        server=chosen(SERVERS, skewed(random, count, len(SERVERS))),
        msg=chosen(MESSAGES, skewed(random, count, len(MESSAGES))),
        ts=ts,
    )
    return Data((Entry,), (entries,))


def python_loop(entries: list[Entry]) -> list[Summary]:
    found = []
    totals: dict[int, int] = {}
    begin, end = math.inf, -math.inf
    for uid, _, _, ts in entries:
        if ts >= end:
            found += [Summary(user, total, end) for user, total in totals.items() if total > THRESHOLD]
            totals = {}
            begin = ts // SECONDS * SECONDS
            end = begin + SECONDS
        if ts >= begin:
            totals[uid] = totals.get(uid, 0) + 1
    found += [Summary(user, total, end) for user, total in totals.items() if total > THRESHOLD]
    return found


# ------------------------------------------------------------------------------------------------ numba

# An entry counts only in the window of its stamp, so that a new window begins with an empty table at no cost.
ENTRY = np.dtype([("stamp", np.int64), ("uid", np.int64), ("total", np.int64)])
WINDOW = np.dtype([("begin", np.float64), ("end", np.float64), ("stamp", np.int64), ("users", np.int64)])


def kernel(batches: list[Batch]) -> Output:
    table, arrived = np.zeros(FIRST_CAPACITY, ENTRY), np.empty(FIRST_CAPACITY, np.int64)
    window = np.array([(math.inf, -math.inf, 1, 0)], WINDOW)
    out = Columns("i8", "i8", "f8")
    found: Output = []
    for batch in batches:
        (chunk,) = batch.chunks
        assert chunk is not None
        columns = numbers(chunk.batch, "uid"), numbers(chunk.batch, "ts")
        room = out.room_for(len(chunk) + int(window[0]["users"]))
        table, arrived, count = _count(table, arrived, window, *columns, *room, chunk.is_last)
        found.append(batch_of(Summary, out.first(count)))
    return found


@numba.njit(nogil=True)
def _count(table, arrived, window, uids, times, out_uid, out_total, out_until, is_last):
    length = float(SECONDS)
    open_window = window[0]
    begin, end, stamp, users = open_window.begin, open_window.end, open_window.stamp, open_window.users
    shift, mask, count = shift_of(table), len(table) - 1, 0
    for i in range(len(uids)):
        uid, ts = uids[i], times[i]
        if ts >= end:
            count = _close(table, arrived[:users], end, out_uid, out_total, out_until, count)
            stamp, users = stamp + 1, 0
            begin = math.floor(ts / length) * length
            end = begin + length
        if ts < begin:
            continue
        slot = home(uid, shift)
        while table[slot].stamp == stamp and table[slot].uid != uid:
            slot = (slot + 1) & mask
        entry = table[slot]
        if entry.stamp == stamp:
            entry.total += 1
        else:
            entry.stamp, entry.uid, entry.total = stamp, uid, 1
            arrived[users] = slot
            users += 1
            if EMPTY * users > len(table):
                table, arrived = _grown(table, arrived, users)
                shift, mask = shift_of(table), len(table) - 1
    if is_last:
        count = _close(table, arrived[:users], end, out_uid, out_total, out_until, count)
    open_window.begin, open_window.end, open_window.stamp, open_window.users = begin, end, stamp, users
    return table, arrived, count


@numba.njit(nogil=True)
def _close(table, arrived, end, out_uid, out_total, out_until, count):
    for slot in arrived:
        entry = table[slot]
        if entry.total > THRESHOLD:
            out_uid[count], out_total[count], out_until[count] = entry.uid, entry.total, end
            count += 1
    return count


@numba.njit(nogil=True)
def _grown(table, arrived, users):
    larger = np.zeros(2 * len(table), table.dtype)
    order = np.empty(2 * len(table), np.int64)
    shift = shift_of(larger)
    for number in range(users):
        entry = table[arrived[number]]
        slot = home(entry.uid, shift)
        while larger[slot].stamp:
            slot = (slot + 1) & (len(larger) - 1)
        larger[slot] = entry
        order[number] = slot
    return larger, order


# ------------------------------------------------------------------------------------------------ Bytewax


def bytewax(batches: list[list[Entry]]) -> list[Summary]:
    flow = Dataflow("network_monitor")
    entries = op.input("entries", flow, source(batches))
    windows = w.count_window(
        "window",
        entries,
        event_clock(lambda entry: at(entry.ts), wait=timedelta(seconds=SECONDS)),
        w.TumblingWindower(length=timedelta(seconds=SECONDS), align_to=START),
        key=lambda entry: str(entry.uid),
    )
    summaries = op.map("summary", windows.down, _summary)
    return run_flow(flow, op.filter("threshold", summaries, lambda summary: summary.total > THRESHOLD))


def _summary(keyed: tuple[str, tuple[int, int]]) -> Summary:
    uid, (window, total) = keyed
    return Summary(int(uid), total, (window + 1) * float(SECONDS))


NETWORK_MONITOR = Pipeline("network monitoring", program, data, python_loop, kernel, bytewax)
