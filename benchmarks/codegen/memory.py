"""Whether memory grows with the input: ten times more tuples of the same keys, chunk by chunk."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Batch
from benchmarks.codegen.elements import NATIVE, Missing, element
from benchmarks.codegen.inputs import Data, column_batches
from benchmarks.codegen.own_process import ask
from benchmarks.codegen.pipelines import PIPELINES

TIMES = 10
MEGABYTE = 1 << 20


def growth(tuples: int) -> dict[str, float]:
    """By pipeline: by how many MB the peak of the native form grows from `tuples` to ten times as many."""
    found: dict[str, float] = ask("benchmarks.codegen.memory", str(tuples))
    return found


def _growths(tuples: int) -> dict[str, float]:
    found = {}
    for pipeline in PIPELINES:
        if pipeline.is_native:
            data = pipeline.data(tuples)
            empty: list[list[Any]] = [[] for _ in data.streams]
            try:
                built = element(pipeline.program(*empty), NATIVE)
            except Missing:
                continue
            peaks = [_peak(built, batches) for batches in _passes(data)]
            assert built.form == NATIVE, f"{pipeline.name} left native code"
            found[pipeline.name] = round((max(peaks) - peaks[0]) / MEGABYTE, 1)
    return found


def _passes(data: Data) -> Iterator[list[Batch]]:
    """The same tuples again and again, each time later; only one pass is in memory at a time."""
    for number in range(TIMES):
        batches = column_batches(_later(data, number))
        for chunk in batches[-1].chunks:
            assert chunk is not None
            chunk.is_last = False
        if batches[-1].turns is not None:
            batches[-1].turns = batches[-1].turns[: -len(data.streams)]
        yield batches


def _later(data: Data, number: int) -> Data:
    times = [stream.column("ts").to_numpy() for stream in data.streams if "ts" in stream.schema.names]
    if not times:
        return data
    span = np.ceil(max(each[-1] for each in times) / 3600) * 3600
    moved = []
    for stream, ts in zip(data.streams, times, strict=True):
        columns = {name: stream.column(name) for name in stream.schema.names}
        columns["ts"] = pa.array(ts + number * span)
        moved.append(pa.record_batch(list(columns.values()), stream.schema))
    return Data(data.types, tuple(moved), data.turns)


def _peak(built: Any, batches: list[Batch]) -> int:
    peak = 0
    for batch in batches:
        for chunk in built.process(batch):
            assert len(chunk.batch) == len(chunk)
        peak = max(peak, _resident())
    return peak


def _resident() -> int:
    """Bytes of memory in use now."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(_growths(int(sys.argv[1]))))
