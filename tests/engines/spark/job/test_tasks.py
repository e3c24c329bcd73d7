"""Spark's tasks know which they are, say how far they are, and do not depend on the folder they were started in."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.job.tasks import _in_folder, task_name
from anabranch.explain import explain


class Item(NamedTuple):
    n: int
    s: str


class Some:
    """Lets two of three of its key by."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return item if self.count % 3 else None


def numbered(number: int) -> Item:
    return Item(number, "abcdefg"[number % 7])


def test_what_the_tasks_of_a_region_took_and_gave_is_known_at_the_end(session: Any) -> None:
    sink = ab.beacon(Item, numbered, count=2_100).process(Some, key="s").collect("out")
    metrics = Metrics()
    run_on(SparkTransport(session), explain(sink).plan, metrics, channels=2)
    counts = {place: (flow.received, flow.emitted) for place, flow in metrics.flows.items()}
    assert counts == {"sources": (2_100, 2_100), "R1": (2_100, 1_400)}


def test_a_task_of_sparks_knows_which_it_is(session: Any) -> None:
    def names(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from (pa.record_batch([pa.array([task_name()])], ["name"]) for _ in batches)

    found = [row.name.split("-") for row in session.range(0, 4, 1, 2).mapInArrow(names, "name string").collect()]
    assert [partition for _, partition in found] == ["0", "1"]
    assert len({stage for stage, _ in found}) == 1


def test_a_worker_may_have_been_started_in_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with _in_folder(str(tmp_path)):
        assert Path.cwd() == tmp_path


class Numbered(NamedTuple):
    key: str
    number: int


class Counting:
    def __init__(self) -> None:
        self.count = 0

    def process(self, row: Numbered) -> Numbered:
        self.count += 1
        if row.number % 1_000 == 0:
            logging.getLogger("counting").warning("at %s", row.number)
        return row


def test_what_workers_log_is_logged_in_the_driver(session: Any, caplog: pytest.LogCaptureFixture) -> None:
    rows = [Numbered("ab"[number % 2], number) for number in range(5_000)]
    program = ab.from_items(Numbered, rows).process(Counting, key="key").collect("out")
    assert ab.run(program, engine="spark", spark=session).items("out") == rows
    said = [record.getMessage() for record in caplog.records if record.name == "counting"]
    assert said == [f"at {number}" for number in range(0, 5_000, 1_000)]
