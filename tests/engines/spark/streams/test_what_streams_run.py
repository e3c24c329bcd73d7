"""What is shown of a stream is what runs: what its tasks and its tail called and sent is what its plan's JSON says."""

from __future__ import annotations

import random
from contextlib import nullcontext
from itertools import cycle
from pathlib import Path

import pytest

from anabranch.dataflow.streams.source_checks import check_sources
from anabranch.errors import UsageError
from anabranch.graph.model import Graph
from tests.dataflow.channels.test_several_outputs import KINDS, met
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream
from tests.equivalence.shown_facts import shown
from tests.equivalence.test_examples import EXAMPLES, program_of
from tests.equivalence.test_what_runs import MOVES, by_time


def check(graph: Graph, folder: Path, channels: int) -> None:
    stream = SimulatedStream(graph, Disk(folder), random.Random(channels), channels=channels, at_once=3, form="python")
    stream.run()
    assert set(stream.metrics.executed) == shown(stream.prepared.plan)


# That no stream takes: sources that are drawn by their times, or are partitions of what is all there.
REFUSED = ("finance_bargains", "network_monitor", "sensor_query")


@pytest.mark.parametrize("example", EXAMPLES)
def test_which_examples_are_streams(example: str, tmp_path: Path) -> None:
    graph = program_of(example, tmp_path)().graph
    with pytest.raises(UsageError) if example in REFUSED else nullcontext():
        check_sources(graph, once=False)


@pytest.mark.parametrize(
    ("example", "channels"), list(zip([each for each in EXAMPLES if each not in REFUSED], cycle([2, 3, 1])))
)
def test_what_an_example_executes_as_a_stream_is_what_its_plan_shows(
    example: str, channels: int, tmp_path: Path
) -> None:
    check(program_of(example, tmp_path)().graph, tmp_path / "state", channels)


@pytest.mark.parametrize("kind", KINDS)
def test_what_operators_with_several_outputs_execute_in_a_stream_is_what_their_plan_shows(
    kind: str, tmp_path: Path
) -> None:
    check(met(kind, has_regions_behind=True), tmp_path / "state", 2)


@pytest.mark.parametrize("kind", MOVES)
def test_what_moves_the_time_of_a_stream_is_what_its_plan_shows(kind: str, tmp_path: Path) -> None:
    check(by_time(kind), tmp_path / "state", 3)
