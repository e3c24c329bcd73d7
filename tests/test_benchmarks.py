"""The benchmarks run, and end with figures that a program can read; what is wrong, or too slow, shows there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks.channels import __main__ as channels
from benchmarks.channels.part import Part
from benchmarks.codegen.measure import Figure
from benchmarks.spark.figures import Asked

ROOT = Path(__file__).parents[1]


def last_line_of(folder: Path, name: str, *options: str) -> dict[str, Any]:
    """Of a benchmark, as a command in a folder of its own."""
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_the_last_line_of_the_benchmarks_on_spark_is_one_json_object(tmp_path: Path) -> None:
    figures = last_line_of(tmp_path, "spark", "--quick", "--only", "order_cost")
    assert figures["order_cost"] > 0
    assert figures["seconds"] >= 0


def test_frames_are_measured_against_files(tmp_path: Path) -> None:
    figures = last_line_of(tmp_path, "frames", "--quick", "--only", "arrow", "--rows", "2000")
    assert figures["rows"] == 2000
    assert figures["arrow"]["times"] > 0


@pytest.mark.slow
def test_each_figure_of_channels_is_measured(tmp_path: Path) -> None:
    figures = last_line_of(tmp_path, "channels", "--quick")
    assert all(figures[name] > 0 for name in channels.PARTS)


@pytest.mark.slow
def test_what_the_tripwire_costs_is_measured(tmp_path: Path) -> None:
    figures = last_line_of(tmp_path, "tripwire", "--quick")["tripwire"]
    assert all(each["percent"] > 0 and each["names"] > 0 for each in figures.values())


@pytest.mark.slow
def test_what_state_costs_is_measured(tmp_path: Path) -> None:
    figures = last_line_of(tmp_path, "state", "--quick")
    assert all(figures[name]["native"] > 0 and figures[name]["python"] > 0 for name in ("save_ms", "restore_ms"))


# What is wrong or too slow ------------------------------------------------------------------------------------------


def measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str, **parts: Callable[[], Figure]
) -> tuple[dict[str, Any], int]:
    """The last line and the exit code of the benchmark of channels with other parts, of which 1.5 is asked."""

    def part(measure: Callable[[], Figure]) -> Part:
        def measure_it(_console: Console, _is_quick: bool) -> Figure:
            return measure()

        return Part(Asked("a ratio", least=1.5), measure_it)

    monkeypatch.setattr(channels, "PARTS", {name: part(measure) for name, measure in parts.items()})
    monkeypatch.setattr(sys, "argv", ["benchmarks.channels", *options])
    code = 0
    try:
        channels.main()
    except SystemExit as ended:
        code = int(str(ended.code))
    return json.loads(capsys.readouterr().out.splitlines()[-1]), code


def wrong() -> Figure:
    raise AssertionError("not the same tuples in the same order")


def fast() -> Figure:
    return Figure.of([1.9, 2.0, 2.1])


def slow() -> Figure:
    return Figure.of([1.3, 1.4, 1.6])


def test_a_wrong_answer_is_no_figure_and_the_others_are_there(monkeypatch: Any, capsys: Any) -> None:
    for options in ([], ["--quick"]):
        figures, code = measured(monkeypatch, capsys, *options, wrong=wrong, fast=fast)
        assert (figures["wrong"], figures["fast"], figures["missed"], code) == (None, 2.0, [], 1)


def test_a_figure_that_is_not_what_was_asked_for_is_named(monkeypatch: Any, capsys: Any) -> None:
    figures, code = measured(monkeypatch, capsys, slow=slow, fast=fast)
    assert (figures["slow"], figures["missed"], code) == (1.4, ["slow"], 1)
    assert measured(monkeypatch, capsys, fast=fast)[1] == 0


def test_a_look_tells_of_a_miss_and_does_not_fail(monkeypatch: Any, capsys: Any) -> None:
    figures, code = measured(monkeypatch, capsys, "--quick", slow=slow)
    assert (figures["missed"], code) == (["slow"], 0)
