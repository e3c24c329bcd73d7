"""Which channels share a partition of Spark's state: as many in each, and the same after a restart on other cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from anabranch.engines.spark.streams.prepare import Prepared, prepare
from anabranch.engines.spark.streams.routes import murmur3, routes
from anabranch.graph.degree import Channels
from anabranch.run import as_program


class Item(NamedTuple):
    key: int


class Count:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        yield Item(self.count)


def prepared(folder: Path, *, cores: int, channels: Channels = "auto", regions: int = 1) -> Prepared:
    stream = ab.from_items(Item, [Item(1)])
    for _ in range(regions):
        stream = stream.process(Count, key="key")
    graph = as_program(stream.collect("out")).graph
    return prepare(compile(graph), Checkpoint(folder), cores, channels, "python")


@pytest.mark.parametrize(("channels", "partitions"), [(8, 4), (7, 3), (3, 8), (1, 1)])
def test_every_channel_has_a_key_of_its_own_and_partitions_get_them_in_turn(channels: int, partitions: int) -> None:
    keys = routes(channels, partitions)
    assert len(set(keys)) == channels
    signed = [(murmur3(key) ^ 1 << 31) - (1 << 31) for key in keys]
    assert [each % partitions for each in signed] == [channel % partitions for channel in range(channels)]
    assert max(Counter(each % partitions for each in signed).values()) == -(-channels // partitions)


def test_a_core_has_two_partitions_for_its_channels(tmp_path: Path) -> None:
    found = prepared(tmp_path, cores=2)
    assert (found.levels, found.partitions) == ([8], 4)


def test_there_are_no_more_partitions_than_channels(tmp_path: Path) -> None:
    assert prepared(tmp_path, cores=8, channels=3).partitions == 3


def test_partitions_stay_when_a_stream_goes_on_with_other_cores(tmp_path: Path) -> None:
    first = prepared(tmp_path, cores=2)
    Checkpoint(tmp_path).write_commit(Commit())  # it has begun
    assert prepared(tmp_path, cores=4).partitions == first.partitions


def test_a_restart_on_other_cores_may_name_the_channels_of_one_region(tmp_path: Path) -> None:
    """Those of the others are not asked for: they stay, whatever would be usual by now."""
    first = prepared(tmp_path, cores=1, channels={"R1": 3}, regions=2)
    Checkpoint(tmp_path).write_commit(Commit())
    assert prepared(tmp_path, cores=2, channels={"R1": 3}, regions=2).levels == first.levels == [3, 4]
