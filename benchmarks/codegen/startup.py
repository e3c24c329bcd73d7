"""What has to happen before tuples flow: building a processing element, and the whole way of `anabranch run`.

Each measurement is a process of its own. "Cold" is with an empty cache folder, "cached" with what that left there.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv

from anabranch.codegen import cache_folder
from benchmarks.codegen.elements import NATIVE, PYTHON, Form, Missing, element
from benchmarks.codegen.inputs import column_batches, row_batches
from benchmarks.codegen.own_process import ask, environment
from benchmarks.codegen.pipelines import MOBILITY_FRAUD, PIPELINES

APP = Path(__file__).with_name("first_output_app.py")
FIRST_TUPLES = 1_000


@dataclass(frozen=True)
class Times:
    """In seconds."""

    cold: float
    cached: float


# Building a processing element ------------------------------------------------------------------------------


def build_times(repeats: int) -> dict[tuple[str, str], Times]:
    """By pipeline and form: from the program to the end of a first chunk of 2,000 tuples."""
    found = {}
    for pipeline in PIPELINES:
        for form in (PYTHON, NATIVE) if pipeline.is_native else (PYTHON,):
            runs = [_cold_and_cached(pipeline.name, form) for _ in range(repeats)]
            times = [run for run in runs if run is not None]
            if times:
                found[pipeline.name, form] = Times(
                    statistics.median(each.cold for each in times), statistics.median(each.cached for each in times)
                )
    return found


def _cold_and_cached(name: str, form: Form) -> Times | None:
    with tempfile.TemporaryDirectory() as cache:
        folder = {cache_folder.VARIABLE: cache}
        answers = [ask("benchmarks.codegen.startup", name, form, **folder) for _ in range(2)]
    return None if None in answers else Times(*answers)


def _build(name: str, form: Form) -> float | None:
    """Run in the process of its own."""
    pipeline = next(each for each in PIPELINES if each.name == name)
    data = pipeline.data(2_000)
    batches = (row_batches if form == PYTHON else column_batches)(data)
    empty: list[list[Any]] = [[] for _ in data.streams]
    start = time.perf_counter()
    try:
        built = element(pipeline.program(*empty), form)
    except Missing:
        return None
    built.process(batches[0])
    seconds = time.perf_counter() - start
    assert built.form == form, f"{name} left the {form} form"
    return seconds


# The first output of a command ------------------------------------------------------------------------------


def first_outputs(repeats: int) -> dict[str, Times | None]:
    """Seconds from the start of `anabranch run` to its first line of output; None where it ran in another form."""
    options = {form: ["--engine", "fused", "--form", form] for form in (PYTHON, NATIVE)}
    options["sequential"] = ["--engine", "sequential"]
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls.csv"
        pyarrow.csv.write_csv(MOBILITY_FRAUD.data(FIRST_TUPLES).streams[0], calls)
        return {name: _first_output(calls, given, repeats) for name, given in options.items()}


def _first_output(calls: Path, options: list[str], repeats: int) -> Times | None:
    cold, cached = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_seconds_to_first_line(calls, options, cache))
            cached.append(_seconds_to_first_line(calls, options, cache))
            # An engine may take the Python form for reasons of its own; native code leaves its machine code here.
            if NATIVE in options and not any(Path(cache).iterdir()):
                return None
    return Times(statistics.median(cold), statistics.median(cached))


def _seconds_to_first_line(calls: Path, options: list[str], cache: str) -> float:
    command = [sys.executable, "-m", "anabranch.cli", "run", str(APP), "--calls", str(calls), *options]
    start = time.perf_counter()
    variables = environment(**{cache_folder.VARIABLE: cache})
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        seconds = time.perf_counter() - start
        rest = process.stdout.read()
    assert process.returncode == 0, f"{command} failed"
    assert "speed" in first + rest, f"{command} printed {first + rest!r}"
    return seconds


if __name__ == "__main__":
    print(json.dumps(_build(*sys.argv[1:])))
