"""A stream gives the oracle's tuples in the oracle's order, whatever its batches are and however often it crashes.

Batches are run in this process (`simulated_stream.py`): what is shown is that state, commits and order are right. That
Spark runs batches as it should, and outlives a kill, is shown by `tests/engines/spark/streams/test_faults.py`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import RunError
from anabranch.graph.model import Graph, Program
from anabranch.passes.layout.source_reading import must_stay
from tests.codegen.exactness import exact
from tests.codegen.palette import programs
from tests.dataflow.channels.test_groups_exactly import grouped
from tests.dataflow.channels.test_joins_exactly import joined
from tests.dataflow.channels.test_punctuations_exactly import punctuated
from tests.dataflow.channels.test_windows_exactly import windowed
from tests.dataflow.layout import test_outputs_exactly
from tests.dataflow.layout.test_layouts_exactly import meetings
from tests.dataflow.outcomes import expected
from tests.engines.spark.streams.simulated_stream import Crash, Disk, SimulatedStream
from tests.examples_drawn import drawn


def as_stream(graph: Graph, folder: Path, seed: int, chance: float, **options: Any) -> tuple[Any, str | None]:
    """What the sinks hold at the end, after as many restarts as there were crashes, and the error."""
    rng = random.Random(seed)
    disk = Disk(folder)
    while True:
        stream = SimulatedStream(graph, disk, rng, chance=chance, **options)
        try:
            result, error = stream.run(), None
        except Crash:
            continue
        except RunError as problem:
            result, error = stream.tail.tail.result(), str(problem)
        return {name: exact(items) for name, items in result.collected.items()}, error


def check(program: Program, folder: Path, seed: int, chance: float, **options: Any) -> None:
    if must_stay(program.graph) is None:
        at_once = 1 if len(program.graph.sources) > 1 else seed % 7 + 1
        assert as_stream(program.graph, folder, seed, chance, at_once=at_once, **options) == expected(program.graph)


@drawn(4)  # each is compiled
@given(programs(), st.integers(1, 3), st.integers(0, 10**6))
def test_any_program_as_a_stream_in_native_code(
    tmp_path_factory: Any, program: Program, channels: int, seed: int
) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="auto")


@drawn(15)
@given(programs(), st.integers(1, 3), st.integers(0, 10**6))
def test_any_program_as_a_stream_that_crashes(
    tmp_path_factory: Any, program: Program, channels: int, seed: int
) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.1, channels=channels, form="python")


@drawn(15)
@given(meetings(), st.integers(1, 3), st.integers(0, 10**6))
def test_streams_that_meet(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    folder = tmp_path_factory.mktemp("stream")
    found = as_stream(program.graph, folder, seed, 0.05, channels=channels, at_once=1, form="python")
    assert found == expected(program.graph)


@drawn(6)
@given(test_outputs_exactly.programs(), st.integers(1, 3), st.integers(0, 10**6))
def test_places_with_several_outputs(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="python")


@drawn(8)
@given(joined(), st.integers(2, 3), st.integers(0, 10**6))
def test_joins_over_windows_of_time(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    # Of several sources a stream takes turns, also where a bounded run compares their tuples.
    if all(source.definition.order_by is None for source in program.graph.sources):  # type: ignore[attr-defined]
        check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="python")


@drawn(12)
@given(windowed(), st.integers(1, 3), st.integers(0, 10**6))
def test_windows_of_many_keys(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="python")


@drawn(4)
@given(windowed(), st.integers(2, 3), st.integers(0, 10**6))
def test_windows_of_many_keys_in_native_code(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="auto")


@drawn(6)
@given(grouped(), st.integers(2, 3), st.integers(0, 10**6))
def test_windows_with_a_key_and_groups(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="python")


@drawn(12)
@given(punctuated(), st.integers(1, 3), st.integers(0, 10**6))
def test_punctuations(tmp_path_factory: Any, program: Program, channels: int, seed: int) -> None:
    check(program, tmp_path_factory.mktemp("stream"), seed, 0.05, channels=channels, form="python")
