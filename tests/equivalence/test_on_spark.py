"""Random programs, and the operators of the corpus, on a real Spark: the oracle's tuples in its order, or its error."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.session.session import SparkOptions, session_for
from anabranch.graph.model import Graph
from anabranch.passes.layout.source_reading import must_stay
from tests.analysis.corpus.registry import Entry
from tests.codegen.palette import programs
from tests.dataflow.channels import test_several_outputs_exactly
from tests.dataflow.channels.test_groups_exactly import KINDS as WINDOWS
from tests.dataflow.channels.test_groups_exactly import grouped, groups
from tests.dataflow.channels.test_joins_exactly import joined
from tests.dataflow.channels.test_punctuations_exactly import punctuated
from tests.dataflow.channels.test_windows_exactly import reading, windowed
from tests.dataflow.layout import test_outputs_exactly
from tests.dataflow.layout.test_layouts_exactly import meetings
from tests.dataflow.layout.test_rounds_exactly import looped
from tests.dataflow.outcomes import expected, outcome
from tests.equivalence.test_corpus import ENTRIES, program_of
from tests.examples_drawn import drawn

KINDS = {
    "of operators of every family": programs,
    "whose streams meet": meetings,
    "with punctuations": punctuated,
    "with windows": windowed,
    "with windows and groups": grouped,
    "with joins over time": joined,
    "of places with several outputs": test_outputs_exactly.programs,
    "of operators with several outputs": test_several_outputs_exactly.programs,
    "with loops": looped,
}
CHANNELS = st.integers(1, 3)


def on_spark(graph: Graph, channels: int, stretch: int, form: str = "python") -> Any:
    cluster = SparkTransport(session_for(SparkOptions()))
    return outcome(run_on, cluster, compile(graph), Metrics(), form, channels=channels, stretch=stretch)


@pytest.mark.parametrize("kind", KINDS)
@drawn(3)
@given(st.data())
def test_random_programs(kind: str, data: st.DataObject) -> None:
    graph = data.draw(KINDS[kind]()).graph
    if must_stay(graph) is None:
        wanted = expected(graph)
        for stretch in data.draw(st.sampled_from([(3, 17), (1, 100), (7, 1_000)])):
            assert on_spark(graph, data.draw(CHANNELS), stretch) == wanted


@pytest.mark.slow
@drawn(2)
@given(st.randoms(use_true_random=False), st.sampled_from(WINDOWS[:2]), CHANNELS, st.sampled_from([3, 25]))
def test_random_windows_in_native_code(chance: random.Random, window: Any, channels: int, stretch: int) -> None:
    """Native all of it, or the run would be refused."""
    times = [n / 3 + chance.choice([0, 0, 0, 15, 60, -25]) for n in range(150)]
    items = [reading(chance.randrange(5), n, ts)._replace(s=chance.choice("abc")) for n, ts in enumerate(times)]
    graph = groups(items, window).graph
    assert on_spark(graph, channels, stretch, "native") == expected(graph)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_operator_of_the_corpus(entry: Entry) -> None:
    graph = program_of(entry)
    for channels, stretch in ((1, 17), (2, 3), (3, 100)):
        assert on_spark(graph, channels, stretch) == expected(graph)
