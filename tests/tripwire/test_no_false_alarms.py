"""Operators that are safe run in channels without an alarm, in workers that have objects of their own.

The examples and the random programs do so in tests/equivalence and tests/dataflow: every run there has the
tripwire.
"""

from __future__ import annotations

import pytest

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.shipping import CannotBeSent
from anabranch.engines.on_transport import run_on
from tests.analysis.corpus.registry import Entry
from tests.dataflow.outcomes import expected, outcome
from tests.equivalence.test_corpus import ENTRIES, program_of
from tests.examples_drawn import TIMES
from tests.tripwire.unsafe import Apart, analysis_switched_off

EVERY = 1 if TIMES > 1 else 25  # a sample in `make test`


@pytest.mark.parametrize("entry", ENTRIES[::EVERY], ids=lambda entry: entry.id)
def test_an_operator_of_the_corpus(entry: Entry) -> None:
    """They are safe, so nobody has to ask the analysis, which takes what is loaded beside them into account."""
    graph = program_of(entry)
    with analysis_switched_off():
        plan = compile(graph)
    cluster = Apart()
    try:
        found = outcome(run_on, cluster, plan, Metrics(), channels=3, stretch=7)
    except CannotBeSent:
        return  # it runs in the driver, in one place
    assert found == expected(graph)
    assert cluster.last is not None
    assert cluster.last.tripwire._expected or entry.topic == "clean_unkeyed", "something was looked at"
