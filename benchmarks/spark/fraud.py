"""Mobility fraud from CSV to CSV, every alert in the order of the calls, against the same written by hand."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pyarrow.csv

from benchmarks.spark import ours
from benchmarks.spark.alerts import AREA, LIMIT, alerts
from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import calls_file
from benchmarks.spark.race import Answer, Contestant, Times, race

OURS = "anabranch"
# By the name of their module in benchmarks/handwritten.
FAST = ("window_functions", "map_in_pandas", "map_in_pandas_by_tuple")
SLOW = ("apply_in_pandas",)


def write_alerts(session: Any, calls: str, out: str, area: str, limit: float) -> None:
    ours.run(session, alerts(calls=calls, out=out, area=area, limit=limit))


def contest(rivals: tuple[str, ...], count: int, few: int, rounds: int) -> Times:
    """The times of ours and of the rivals on `count` calls, once they have written the same alerts.

    A run on `few` calls stands before each that is timed.
    """
    with ExitStack() as hosts:
        contestants = list(_contestants(hosts, rivals, calls_file(count), calls_file(few)))
        return race(contestants, rounds, _must_agree)


def _contestants(hosts: ExitStack, rivals: tuple[str, ...], calls: str, few: str) -> Iterator[Contestant]:
    host = hosts.enter_context(Host(OURS))
    yield _contestant(OURS, host, "benchmarks.spark.fraud", calls, few)
    for name in rivals:
        module = f"benchmarks.handwritten.{name}"
        host = hosts.enter_context(Host(name, importlib.import_module(module).SETTINGS))
        yield _contestant(name, host, module, calls, few)


def _contestant(name: str, host: Host, module: str, calls: str, few: str) -> Contestant:
    arguments = {"calls": calls, "out": _out(name), "area": AREA, "limit": LIMIT}
    warming = {**arguments, "calls": few, "out": _out(f"few-{name}")}
    return Contestant(name, host, f"{module}:write_alerts", arguments, warming)


def _out(name: str) -> str:
    return str(FOLDER / f"alerts-{name}.csv")


def _must_agree(answers: dict[str, Answer]) -> None:
    """The same alerts in the same order. Java writes large numbers differently, so it is numbers that are compared."""
    expected = pyarrow.csv.read_csv(_out(OURS))
    assert expected.num_rows, "no alerts to compare"
    for name in answers:
        found = pyarrow.csv.read_csv(_out(name))
        assert found.equals(expected), f"{name} wrote other alerts than {OURS}"
