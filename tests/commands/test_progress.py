"""What is shown while a program runs is what is known of it then."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from rich.console import Console

import anabranch as ab
from anabranch import progress
from anabranch.commands.consoles import plain_console
from anabranch.dataflow.result import Flow, Metrics
from anabranch.engines.spark.streams.query import Progress, Query
from anabranch.graph.places import SOURCES
from anabranch.progress import (
    StreamLine,
    _flow,
    _Line,
    figures,
    figures_so_far,
    spark_start,
    stream_figures,
    stream_told,
    written_so_far,
)
from anabranch.run import as_program
from tests.engines.spark.session.test_sessions import wait_until


class N(NamedTuple):
    n: int


def running(tuples_in: int = 0, **flows: Flow) -> Metrics:
    """The figures of a run that goes on."""
    metrics = Metrics(tuples_in=tuples_in, flows=flows)
    metrics.start(as_program(ab.from_items(N, []).collect("out")).graph)
    return metrics


def lines(metrics: Metrics, *, is_on_spark: bool = False) -> list[str]:
    console = plain_console(soft_wrap=True)
    with console.capture() as captured:
        console.print(_Line("fraud", metrics, is_on_spark=is_on_spark)())
    return captured.get().splitlines()


def test_a_region_has_a_line_under_that_of_the_run_with_its_own_rate() -> None:
    flows = {"R1": Flow(1_000, 900, 0.5), "sources": Flow(4_000, 4_000, 2.0)}
    first, *others = lines(running(**flows))
    assert first.startswith("⠋ fraud   4,000 in · 0 out · ")
    assert others == [
        "    R1        1,000 in · 900 out · 2,000 tuples/s",
        "    sources   4,000 in · 4,000 out · 2,000 tuples/s",
    ]


def test_without_reports_there_is_one_line() -> None:
    [line] = lines(running())
    assert line.startswith("⠋ fraud   0 in · 0 out · 0 tuples/s · ")


def test_until_something_is_known_of_a_run_on_spark_spark_is_starting() -> None:
    [line] = lines(running(), is_on_spark=True)
    assert line.startswith("⠋ fraud   starting Spark · ")
    metrics = running()
    metrics.spark_start = 3.0
    assert lines(metrics, is_on_spark=True)[0].startswith("⠋ fraud   Spark starts its first tasks · ")
    for metrics in (running(1), running(R1=Flow(1, 1, 0.5)), running()):
        if not metrics.tuples_in and not metrics.flows:
            metrics.notes.append("all of it ran in the driver: it reads lines from TCP")
        assert "starting Spark" not in lines(metrics, is_on_spark=True)[0]


def test_of_a_run_that_was_interrupted_only_what_is_kept_is_listed(tmp_path: Path) -> None:
    sinks = [ab.from_items(N, []).write_csv(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv")]
    graph = as_program(*sinks, ab.from_items(N, []).write_tcp(9)).graph
    metrics = Metrics()
    metrics.start(graph)
    for operator in (graph.sinks[0], graph.sinks[1], graph.sinks[3]):
        metrics[operator.id].received = 2
    kept = {graph.sinks[number].id: tmp_path / f"{'abc'[number]}.csv.partial" for number in (0, 2)}
    assert written_so_far(graph, metrics, kept) == [
        f"{tmp_path}/a.csv.partial: 2 tuples",
        f"{tmp_path}/c.csv.partial",
        "tcp://localhost:9: 2 tuples",
    ]


def test_a_region_that_has_just_begun_has_no_rate_yet() -> None:
    assert _flow(Flow(5, 5)) == "5 in · 5 out · 0 tuples/s"


def test_what_the_sources_have_read_counts_before_it_has_come_to_the_driver() -> None:
    assert progress._SOURCES == SOURCES
    assert figures(running(0, sources=Flow(70, 70, 1.0))).startswith("70 in · 0 out · ")
    assert figures(running(80, sources=Flow(70, 70, 1.0))).startswith("80 in · 0 out · ")


def test_when_a_run_is_over_only_what_it_has_processed_counts() -> None:
    metrics = running(60, sources=Flow(70, 70, 1.0))
    metrics.stop()
    assert figures(metrics).startswith("60 in · 0 out · ")


def interrupted(tuples_in: int, **flows: Flow) -> Metrics:
    metrics = running(tuples_in, **flows)
    metrics.started, metrics.stopped = 100.0, 110.0
    return metrics


def test_of_a_run_that_was_interrupted_what_is_known_is_said() -> None:
    assert figures_so_far(interrupted(40)) == "40 in · 0 out · 4 tuples/s · 10.0 s"
    assert figures_so_far(interrupted(0)) == "0 in · 0 out · 0 tuples/s · 10.0 s"
    known = interrupted(0, sources=Flow(70, 70, 1.0))
    assert figures_so_far(known, is_on_spark=True) == "70 in · 7 tuples/s · 10.0 s"
    known["out"].received = 20
    assert figures_so_far(known, is_on_spark=True) == "70 in · 20 out · 7 tuples/s · 10.0 s"


@pytest.mark.parametrize("flows", [{}, {"sources": Flow()}], ids=["nothing", "a task has begun"])
def test_what_workers_have_not_told_of_is_not_called_0(flows: dict[str, Flow]) -> None:
    assert figures_so_far(interrupted(0, **flows), is_on_spark=True) == "10.0 s"


def test_the_time_in_which_spark_started_is_apart_from_the_run() -> None:
    metrics = Metrics(tuples_in=3_000, started=100.0, stopped=110.0)
    assert figures(metrics) == "3,000 in · 0 out · 300 tuples/s · 10.0 s"
    assert spark_start(metrics) is None
    metrics.spark_start = 7.0
    assert figures(metrics) == "3,000 in · 0 out · 1,000 tuples/s · 3.0 s"
    assert spark_start(metrics) == "Spark started in 7.0 s, not counted above"
    metrics.spark_start = 0.01  # it was there
    assert spark_start(metrics) is None


class Started:
    """A stream that is as far as it is told."""

    def __init__(self, *progress: Progress) -> None:
        self._progress = list(progress)

    @property
    def progress(self) -> Progress:
        return self._progress.pop(0) if len(self._progress) > 1 else self._progress[0]


WAITING = Progress(4, 0, 0, 0.0, 0.0, 999, 0.0)


def test_while_a_stream_starts_its_line_says_since_when() -> None:
    line = StreamLine("fraud")
    assert re.fullmatch(r"starting Spark · \d\.\d s", str(line))
    assert line.is_starting
    line.query = cast(Query, Started(WAITING))
    assert re.fullmatch(r"first batch · \d\.\d s · 999 bytes waiting", str(line))
    assert line.is_starting
    line.query = cast(Query, Started(replace(WAITING, batch=5)))
    assert str(line).startswith("batch 5 · ")
    assert not line.is_starting


def test_a_stream_without_anything_to_process_has_started() -> None:
    line = StreamLine("fraud")
    line.query = cast(Query, Started(replace(WAITING, batch=-1, backlog=0)))
    assert str(line) == "no batch yet · 0 bytes waiting"
    assert not line.is_starting


def test_without_a_terminal_a_line_comes_now_and_then_until_a_stream_has_started() -> None:
    said = io.StringIO()
    line = StreamLine("fraud")
    with stream_told(Console(file=said, width=200), line, every=0.001):
        wait_until(lambda: "starting Spark" in said.getvalue())
        line.query = cast(Query, Started(*[WAITING] * 20, replace(WAITING, batch=5)))
        wait_until(lambda: not line.is_starting)
    told = said.getvalue().splitlines()
    assert told[0].startswith("fraud: starting Spark · ")
    assert any(each.startswith("fraud: first batch · ") for each in told)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (Progress(-1, 0, 0, 0.0, 0.0, 999, 0.0), "no batch yet · 999 bytes waiting"),
        (
            Progress(1_234, 5_000, 40, 99.6, 2_000.4, 1_500_000, 0.25),
            "batch 1,234 · 5,000 in · 40 out · 100 tuples/s come · 2,000 tuples/s processed · 1.5 MB waiting"
            " · 0.2 s behind",
        ),
    ],
)
def test_a_stream_says_how_far_it_is_on_one_line(given: Progress, shown: str) -> None:
    assert stream_figures(given) == shown
