"""The tripwire in a stream: a batch in which something shared has changed is never committed."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.errors import SharedStateError
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream
from tests.tripwire.traps import Reading
from tests.tripwire.unsafe import analysis_switched_off, copied

late: list[int] = []


def remembers(r: Reading) -> Reading:
    if r.value >= 80:
        late.append(r.value)
    return r._replace(value=r.value + len(late))


class Remembers:
    def process(self, r: Reading) -> Iterator[Reading]:
        yield remembers(r)


def operators(stream: Any) -> dict[str, Any]:
    return {
        "where it is read": stream.map(remembers),
        "in channels": stream.process(Remembers, key="key", out=Reading),
    }


@pytest.mark.parametrize("where", ["where it is read", "in channels"])
@pytest.mark.parametrize("seed", range(3))
def test_batches_before_it_are_committed_and_that_one_is_not(tmp_path: Path, where: str, seed: int) -> None:
    items = [Reading(n % 5, n) for n in range(100)]
    out = tmp_path / "out.csv"
    graph = as_program(operators(ab.from_items(Reading, items))[where].write_csv(str(out))).graph
    with analysis_switched_off():
        stream = SimulatedStream(graph, Disk(tmp_path / "state"), random.Random(seed))
    stream.prepared = replace(stream.prepared, job=copied(stream.prepared.job))
    with pytest.raises(SharedStateError) as caught:
        stream.run()
    assert "the global `late`" in caught.value.what
    written = values(out)
    assert written == list(range(len(written))), "all of it is right"
    assert 0 < len(written) <= 80
    commit = stream.checkpoint.commit()
    assert commit is not None
    assert commit.entries == len(written)


def values(path: Path) -> list[int]:
    with path.open() as file:
        return [int(row["value"]) for row in csv.DictReader(file)]
