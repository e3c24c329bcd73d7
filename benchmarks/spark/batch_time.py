"""How long a micro-batch takes: two stateful regions by different keys, and an ordered file."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.spark.batches import milliseconds, new_folder, start
from benchmarks.spark.host import Host
from benchmarks.spark.inputs import DISTINCT_A, DISTINCT_B, write_pairs
from benchmarks.spark.pairs import stream_of_two_regions
from benchmarks.spark.race import Answer

TUPLES = 10_000
_WARM_UP = 10  # batches


def measure(batches: int) -> list[float]:
    """The milliseconds of each batch."""
    with Host("batches") as host:
        return list(host.do("benchmarks.spark.batch_time:run", batches=batches)["milliseconds"])


def run(session: Any, batches: int) -> Answer:
    folder = new_folder("stream-batches")
    random = np.random.default_rng(7)
    count = _WARM_UP + batches + 1  # a stop may come before Spark has noted the end of the last
    for number in range(count):
        a, b, value = (random.integers(0, most, TUPLES) for most in (DISTINCT_A, DISTINCT_B, 1_000_000))
        write_pairs(folder / "in" / f"{number:05}.csv", a, b, value)
    program = stream_of_two_regions(pairs=str(folder / "in" / "*.csv"), out=str(folder / "out.csv"))
    query, of_spark = start(session, program, folder, batch_bytes=1, once=True)  # a file in each
    result = query.await_done()
    assert result is not None
    assert result.metrics.tuples_out == count * TUPLES
    found = milliseconds(of_spark)[_WARM_UP : _WARM_UP + batches]
    assert len(found) == batches, "not one batch for each file"
    return {"milliseconds": found}
