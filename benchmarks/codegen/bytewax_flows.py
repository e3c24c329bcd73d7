"""What the Bytewax programs share: batches from a list, event time, one worker in this process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow, Stream
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.operators.windowing import EventClock
from bytewax.testing import TestingSink, run_main

BATCH = 16_384  # tuples per poll of the source: of 256 to 65,536, this is where most of these programs are fastest

START = datetime(2000, 1, 1, tzinfo=UTC)


def batches_of(rows: list[Any]) -> list[list[Any]]:
    """The natural form of an input here: what a source gives at a time."""
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]


class _Partition(StatelessSourcePartition[Any]):
    def __init__(self, batches: list[list[Any]]) -> None:
        self._batches = iter(batches)

    def next_batch(self) -> list[Any]:
        return next(self._batches)


class _Source(DynamicSource[Any]):
    def __init__(self, batches: list[list[Any]]) -> None:
        self._batches = batches

    def build(self, step_id: str, worker_index: int, worker_count: int) -> _Partition:
        return _Partition(self._batches)


def source(batches: list[list[Any]]) -> DynamicSource[Any]:
    """Less work per item than `TestingSource`, which looks for marks among them."""
    return _Source(batches)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def event_clock(time_of: Callable[[Any], datetime], wait: timedelta) -> EventClock[Any]:
    """Event time for data that are replayed; `wait` is how long a window stays open for tuples of earlier times.

    Nothing has to be woken up by the wall clock: the next tuple, or the end, closes a window.
    """
    return EventClock(time_of, wait_for_system_duration=wait, to_system_utc=lambda _: None)


def run_flow(flow: Dataflow, result: Stream[Any]) -> list[Any]:
    out: list[Any] = []
    op.output("out", result, TestingSink(out))
    run_main(flow)
    return out
