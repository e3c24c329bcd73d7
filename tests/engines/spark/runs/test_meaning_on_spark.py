"""What docs/meaning.md says of zones, gaps, edges, zeros, extremes and limits, on a real Spark: one program of each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

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


class Sample(NamedTuple):
    who: str
    ts: float
    v: float


class Tenth(NamedTuple):
    who: str
    start: float
    end: float
    at: list[float]


class Extremes(NamedTuple):
    who: str
    low: float
    high: float
    first: float


def zeros() -> Any:
    window = ab.tumbling(delta=4, on="ts")
    source = ab.from_items(test_windows_everywhere.Reading, test_windows_everywhere.ZEROS).window(window, key="k")
    return source.aggregate(test_windows_everywhere.Shown, **test_windows_everywhere.COLUMNS)


def extremes() -> Any:
    """Of zeros that are equal, the first: of -0.0 before 0.0, and the other way round, also behind smaller values."""
    runs = {"a": (-0.0, 0.0), "b": (0.0, -0.0), "c": (-1.0, -0.0, 0.0), "d": (1.0, 0.0, -0.0)}
    values = [(who, v) for n in range(3) for who, some in runs.items() for v in some[n : n + 1]]
    source = ab.from_items(Sample, [Sample(who, float(n), v) for n, (who, v) in enumerate(values)])
    columns = {"low": ab.min_("v"), "high": ab.max_("v"), "first": ab.arg_max("ts", by="v")}
    return source.window(ab.tumbling(delta=100, on="ts"), key="who").aggregate(Extremes, **columns)


def tenths() -> Any:
    """0.3 is an edge, though `0.3 // 0.1` is 2; 0.7 - 0.4 lies before it, and 0.1 * 3 behind it."""
    times = sorted([n / 10 for n in range(-20, 60)] + [0.29, 0.7 - 0.4, 0.1 * 3])
    source = ab.from_items(Sample, [Sample("ab"[n % 2], ts, 0.0) for n, ts in enumerate(times)])
    edges = {"start": ab.window_start(), "end": ab.window_end()}
    return source.window(ab.tumbling(seconds=0.1, on="ts"), key="who").aggregate(Tenth, **edges, at=ab.collect("ts"))


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
    "extremes of zeros": extremes,
    "times at edges": tenths,
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
