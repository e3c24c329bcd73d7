"""Batches come from a process of the server to the client as they were given, or not at all: seen without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.dataflow.streams.sealed_files import DamagedCheckpoint
from anabranch.engines.spark.streams.handover import Giver, Taker


class Frame:
    def toArrow(self) -> pa.Table:
        return pa.table({"n": [1, 2]})


class Client:
    """Takes batches; some are damaged before it looks at them."""

    def __init__(self, folder: Path) -> None:
        self.taken: list[Any] = []
        self.is_damaging = False
        self.taker = Taker(Checkpoint(folder))
        self.taker.start(self.take)
        self.giver: Giver = pickle.loads(pickle.dumps(Giver(self.taker.handover)))

    def take(self, frame: Any, number: int) -> None:
        if self.is_damaging:
            path = self.taker.handover.folder / f"{number}.arrow"
            content = path.read_bytes()
            path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
        self.taken.append((number, frame.toArrow().to_pylist()))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    found = Client(tmp_path)
    yield found
    found.taker.close()


def test_a_batch_is_taken_as_it_was_given(client: Client) -> None:
    client.giver(Frame(), 0)
    client.giver(Frame(), 1)
    assert client.taken == [(number, [{"n": 1}, {"n": 2}]) for number in (0, 1)]


def test_a_batch_that_was_damaged_on_its_way_is_refused(client: Client) -> None:
    client.is_damaging = True
    with pytest.raises(RuntimeError, match=rf"{DamagedCheckpoint.__name__}: .*0\.arrow: the checkpoint is damaged"):
        client.giver(Frame(), 0)
    assert client.taken == []
