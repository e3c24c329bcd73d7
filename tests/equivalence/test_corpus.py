"""The operators of the analysis corpus give the oracle's tuples in channels, where the compiler allows them."""

from __future__ import annotations

from typing import Any

import pytest

import anabranch as ab
from anabranch.run import as_program
from tests.analysis.corpus import worlds
from tests.analysis.corpus.registry import Entry
from tests.analysis.corpus.samples import samples
from tests.engines.spark.test_layouts_exactly import expected, on_simulated

# What one run leaves behind outside of the operator would show in the next.
ENTRIES = [
    entry
    for entry in worlds.load_all()
    if not entry.trap and entry.kind != "for_each" and (entry.is_class or entry.state != "stateful")
]


def program_of(entry: Entry) -> Any:
    stream: Any = ab.from_items(entry.input, samples(entry.input, 60))
    match entry.kind:
        case "map":
            stream = stream.map(entry.operator, out=entry.output)
        case "filter":
            stream = stream.filter(entry.operator)
        case "flat_map":
            stream = stream.flat_map(entry.operator, out=entry.output)
        case "process":
            stream = stream.process(entry.operator, key=list(entry.keyed) or None, out=entry.output)
    return as_program(stream.collect("out")).graph


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_operator_of_the_corpus(entry: Entry) -> None:
    graph = program_of(entry)
    assert on_simulated(graph, 3, 7) == expected(graph)
