"""What docs/meaning.md says of zones, gaps, edges, zeros and limits, on a real Spark: one program of each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.run import as_program
from tests.meaning import test_limits_of_time, test_windows_everywhere, test_zones
from tests.meaning.everywhere import seen

MIXED = "a6 b7z b8 a99z a16 b17 a18z b26"


def zeros() -> Any:
    window = ab.tumbling(delta=4, on="ts")
    source = ab.from_items(test_windows_everywhere.Reading, test_windows_everywhere.ZEROS).window(window, key="k")
    return source.aggregate(test_windows_everywhere.Shown, **test_windows_everywhere.COLUMNS)


def gaps() -> Any:
    window = ab.sliding(delta=5, slide=10, on="ts")
    source = ab.from_items(test_windows_everywhere.Reading, test_windows_everywhere.GAPS).window(window, key="k")
    return source.aggregate(test_windows_everywhere.Shown, **test_windows_everywhere.COLUMNS)


def zones(on_error: str) -> Any:
    windows = test_zones.readings(MIXED).window(ab.tumbling(seconds=10, on="at"), key="who")
    return windows.aggregate(test_zones.Count, **test_zones.COLUMNS, on_error=on_error)


def limits() -> Any:
    items = [test_limits_of_time.Day(k, day) for k, day in ((1, date(2024, 1, 1)), (2, date.max), (1, date.max))]
    windows = ab.from_items(test_limits_of_time.Day, items).window(ab.tumbling(days=1, on="t"), key="k")
    return windows.aggregate(test_limits_of_time.edged(date), edge=ab.window_end())


PROGRAMS: dict[str, Callable[[], Any]] = {
    "zeros": zeros,
    "gaps": gaps,
    "zones that stop": lambda: zones("stop"),
    "zones that are skipped": lambda: zones("skip"),
    "zones of a join": lambda: test_zones.joined("a1 b9z a2 b3 c99z c4 a5", "c1 a1 b2 a9z b77z c3 a4", "skip"),
    "limits": limits,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_spark_gives_what_the_oracle_gives(name: str, session: Any) -> None:
    graph = as_program(PROGRAMS[name]().collect("out")).graph
    found = seen(run_on, SparkTransport(session), compile(graph), Metrics(), "python", channels=2, stretch=3)
    assert found == seen(sequential.run, graph)
