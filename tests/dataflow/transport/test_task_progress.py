"""What tasks report is added up while they run; the folder for it goes with the run, whatever its tasks still do."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.result import Flow, Metrics
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.task_progress import Reporter, reported, timed, watched
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.explain import explain
from tests.dataflow.simulated import Simulated


class Item(NamedTuple):
    n: int
    s: str


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


def test_of_a_task_that_is_tried_again_only_the_last_attempt_counts(tmp_path: Path) -> None:
    first = Reporter(str(tmp_path), "R1", "4-1")
    first.add(1_000, 900)
    first.write()
    again = Reporter(str(tmp_path), "R1", "4-1")
    assert reported(tmp_path) == {"R1": Flow(0, 0)}
    again.add(70, 60)
    again.write()
    assert reported(tmp_path) == {"R1": Flow(70, 60)}
    other = Reporter(str(tmp_path), "R1", "4-2")
    later = Reporter(str(tmp_path), "R1", "5-2")  # of another round of a loop
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
