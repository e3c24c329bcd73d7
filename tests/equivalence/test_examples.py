"""Every example gives the oracle's files and tuples, however many channels and however large the stretches."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.api.app import App
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.sources.source_slices import STRETCH
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.session.session import SparkOptions, session_for
from anabranch.graph.forms import Form
from anabranch.graph.model import Program
from anabranch.graph.settings import Settings, Target
from tests.dataflow.simulated import Simulated

EXAMPLES = sorted(path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.py") if path.stem[0] != "_")
COUNT = 1_500


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def program_of(name: str, folder: Path) -> Callable[[], Program]:
    """Makes the program of an example, over data in a folder."""
    module = importlib.import_module(f"examples.{name}")
    [app] = [each for each in map(partial(getattr, module), dir(module)) if isinstance(each, App)]
    return partial(app, **module.generate(COUNT, folder))


def check(name: str, folder: Path, runs: list[Callable[[Program], Result]]) -> None:
    """All runs write and collect the same as the first, which is the oracle's."""
    program = program_of(name, folder)
    expected: Any = None
    for run in [partial(ab.run, engine="sequential"), *runs]:
        collected = run(program()).collected
        found = contents(folder), collected
        expected = expected or found
        assert found == expected
    assert len(expected[0]) > 1 or expected[1]


def on_simulated(program: Program, channels: int, stretch: int) -> Result:
    return run_on(Simulated(seed=stretch), compile(program.graph), Metrics(), channels=channels, stretch=stretch)


@pytest.mark.parametrize("name", EXAMPLES)
def test_in_the_layout_of_spark(name: str, tmp_path: Path) -> None:
    check(
        name,
        tmp_path,
        [partial(on_simulated, channels=2, stretch=64), partial(on_simulated, channels=3, stretch=5_000)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_in_the_layout_of_spark_with_odd_channels_and_stretches(name: str, tmp_path: Path) -> None:
    degrees = [(1, 1), (1, 1_000), (2, 7), (3, 1), (5, 200), (8, 64)]
    check(name, tmp_path, [partial(on_simulated, channels=channels, stretch=stretch) for channels, stretch in degrees])


def with_light_work_in_one_place(program: Program) -> Result:
    """As for so many tuples that native code pays, and some of it is not worth its channels."""
    plan = compile(program.graph, Settings(Target("spark", cores=2), expected=10_000_000))
    assert plan.light
    metrics = Metrics()
    metrics.start(program.graph)
    return execute(RunConfig(Simulated(), plan, metrics, 100))


@pytest.mark.parametrize("name", ["linear_road", "mobility_fraud", "network_monitor"])
def test_with_light_work_in_one_place(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, [with_light_work_in_one_place])


def on_spark(program: Program, channels: int, stretch: int, form: Form = "auto") -> Result:
    cluster = SparkTransport(session_for(SparkOptions()))
    return run_on(cluster, compile(program.graph), Metrics(), form, channels=channels, stretch=stretch)


@pytest.mark.parametrize("name", ["network_monitor"])
def test_on_spark_over_many_stretches(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, [partial(on_spark, channels=2, stretch=64)])


@pytest.mark.slow
def test_on_spark_in_native_code(tmp_path: Path) -> None:
    check("mobility_fraud", tmp_path, [partial(on_spark, channels=2, stretch=500, form="native")])


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_on_spark(name: str, tmp_path: Path) -> None:
    degrees = [(1, 64), (2, 1_000), (3, 64), (3, 1_000), (2, STRETCH)]
    check(name, tmp_path, [partial(on_spark, channels=channels, stretch=stretch) for channels, stretch in degrees])
