"""What tasks report is added up while they run; the folder for it goes with the run, whatever its tasks still do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.dataflow.result import Flow, Metrics
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.task_progress import Reporter, reported, timed, watched
from anabranch.engines.spark.engine import run_on
from anabranch.engines.spark.exchange import SparkCluster
from anabranch.engines.spark.tasks import _in_folder, task_name
from anabranch.errors import RunError
from anabranch.explain import explain
from tests.engines.spark.simulated import Simulated


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


# What is reported -----------------------------------------------------------------------------------------------------


def test_reports_of_all_tasks_of_a_place_are_added_up_at_the_end_at_the_latest(tmp_path: Path) -> None:
    metrics = Metrics()
    with watched(metrics, str(tmp_path)):
        for number, place in enumerate(["R2", "R1", "R1"]):
            reporter = Reporter(str(tmp_path), place)
            reporter.add(10 + number, 1)
            reporter.write()
    counts = {place: (flow.received, flow.emitted) for place, flow in metrics.flows.items()}
    assert counts == {"R1": (23, 2), "R2": (10, 1)}


def test_of_a_task_that_is_tried_again_only_the_last_attempt_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = SimpleNamespace(stageId=lambda: 4, partitionId=lambda: 1)
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: task)
    first = Reporter(str(tmp_path), "R1", task_name())
    first.add(1_000, 900)
    first.write()
    again = Reporter(str(tmp_path), "R1", task_name())
    assert reported(tmp_path) == {"R1": Flow(0, 0)}
    again.add(70, 60)
    again.write()
    assert reported(tmp_path) == {"R1": Flow(70, 60)}
    task.partitionId = lambda: 2
    other = Reporter(str(tmp_path), "R1", task_name())
    task.stageId = lambda: 5  # of another round of a loop
    later = Reporter(str(tmp_path), "R1", task_name())
    for reporter in (other, later):
        reporter.add(7, 7)
        reporter.write()
    assert reported(tmp_path) == {"R1": Flow(84, 74)}


def test_the_time_of_a_place_is_from_its_first_report_to_the_last_that_says_something_new() -> None:
    began: dict[str, float] = {}
    flows = timed({"R1": Flow(0, 0)}, {}, began, 100.0)
    assert flows == {"R1": Flow(0, 0, 0.0)}
    flows = timed({"R1": Flow(50, 40), "R2": Flow(3, 3)}, flows, began, 105.0)
    assert flows == {"R1": Flow(50, 40, 5.0), "R2": Flow(3, 3, 0.0)}
    flows = timed({"R1": Flow(50, 40), "R2": Flow(4, 3)}, flows, began, 107.0)
    assert flows == {"R1": Flow(50, 40, 5.0), "R2": Flow(4, 3, 2.0)}


@pytest.mark.parametrize("count", [0, 700])
def test_ends_and_times_are_no_tuples_in_the_figures_of_a_place(count: int) -> None:
    """All channels get them, and would count them."""
    windows = ab.beacon(Item, numbered, count=count).window(ab.tumbling(delta=100, on="n"), key="s")
    sink = windows.aggregate(Item, n=ab.count(), s=ab.first("s")).collect("out")
    flows = _flows(Simulated(), sink, channels=3)
    assert (flows["sources"].received, flows["sources"].emitted) == (count, count)
    assert (flows["R1"].received, flows["R1"].emitted) == (count, count // 100 * 7)


def _flows(cluster: Any, *sinks: Any, channels: int) -> dict[str, Flow]:
    metrics = Metrics()
    run_on(cluster, explain(*sinks).plan, metrics, channels=channels)
    return metrics.flows


def test_what_the_tasks_of_a_region_took_and_gave_is_known_at_the_end(session: Any) -> None:
    sink = ab.beacon(Item, numbered, count=2_100).process(Some, key="s").collect("out")
    flows = _flows(SparkCluster(session), sink, channels=2)
    counts = {place: (flow.received, flow.emitted) for place, flow in flows.items()}
    assert counts == {"sources": (2_100, 2_100), "R1": (2_100, 1_400)}


def test_a_task_of_sparks_knows_which_it_is(session: Any) -> None:
    def names(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from (pa.record_batch([pa.array([task_name()])], ["name"]) for _ in batches)

    found = [row.name.split("-") for row in session.range(0, 4, 1, 2).mapInArrow(names, "name string").collect()]
    assert [partition for _, partition in found] == ["0", "1"]
    assert len({stage for stage, _ in found}) == 1


# The folder -----------------------------------------------------------------------------------------------------------


def test_the_folder_is_removed_while_tasks_that_were_broken_off_still_write_into_it() -> None:
    with scratch_folder() as folder, watched(Metrics(), folder):
        until = time.monotonic() + 1

        def write() -> None:
            number = 0
            while time.monotonic() < until and Path(folder).exists():
                number += 1
                Reporter(folder, f"R{number}").write()

        tasks = [threading.Thread(target=write) for _ in range(3)]
        for task in tasks:
            task.start()
    for task in tasks:
        task.join()
    assert not Path(folder).exists()


def test_where_there_is_no_folder_for_temporary_files_an_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(RunError, match="there is no room for temporary files"), scratch_folder():
        pass


def test_a_worker_may_have_been_started_in_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with _in_folder(str(tmp_path)):
        assert Path.cwd() == tmp_path
