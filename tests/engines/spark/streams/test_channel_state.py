"""The state of a channel in Spark's store: little is written where little changed, and nothing is passed over."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.engines.spark.streams import channel_state
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Cells, Disk, SimulatedStream


class Item(NamedTuple):
    n: int


class Counted:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Item:
        self.seen += 1
        return Item(self.seen)


KEYS, AT_ONCE = 2_000, 200  # tuples, and how many of them are an entry
FIRST = KEYS // AT_ONCE  # entries with all the keys
ITEMS = [*(Item(n) for n in range(KEYS)), *[Item(7)] * (3 * AT_ONCE)]


def stream(folder: Path) -> SimulatedStream:
    """All keys arrive in one batch, and one of them in each of those that follow."""
    program = as_program(ab.from_items(Item, ITEMS).process(Counted, key="n").collect("out"))
    found = SimulatedStream(program.graph, Disk(folder), random.Random(0), channels=1, at_once=AT_ONCE)
    found.tail.resume()
    found.arrivals.open(0)
    found.arrivals.look_once()
    found.checkpoint.unlock()
    return found


def parts(cells: Cells) -> dict[int, bytes]:
    return {key[0]: value[1] for key, value in cells["parts"].items()}


@pytest.fixture
def kept(tmp_path: Path) -> Any:
    """A stream of which three batches have been processed, and its cells."""
    found = stream(tmp_path)
    found._rows(0, FIRST, found.disk.states)
    for at in range(2):
        found._rows(FIRST + at, FIRST + at + 1, found.disk.states)
    return found, found.disk.states[1, 0]


def test_one_changed_key_among_many_writes_little(kept: Any) -> None:
    _, cells = kept
    written = parts(cells)
    assert sorted(written) == [-1, 0, 2, 3]
    assert len(written[0]) > KEYS
    assert max(len(written[2]), len(written[3])) < len(written[0]) / 20


def test_changes_that_are_missing_are_not_passed_over(kept: Any) -> None:
    found, cells = kept
    del cells["parts"][2,]
    channel_state._warm.clear()  # another worker
    with pytest.raises(RuntimeError, match=r"the checkpoint is damaged: .* lacks the changes of version 2"):
        found._rows(FIRST + 2, FIRST + 3, found.disk.states)


def test_what_an_earlier_run_left_in_a_worker_is_forgotten(kept: Any) -> None:
    found, _ = kept
    earlier = found.run_id
    elsewhere = ("elsewhere", earlier, 1, 0)
    channel_state._warm[elsewhere] = channel_state._warm["", earlier, 1, 0]
    found.run_id = "another run"
    found._rows(FIRST + 2, FIRST + 3, found.disk.states)
    assert [run for checkpoint, run, *_ in channel_state._warm if checkpoint == ""] == ["another run"]
    assert elsewhere in channel_state._warm
    channel_state._warm.clear()
