"""The operators of the analysis corpus give the oracle's tuples in channels, where the compiler allows them.

A trap is one that must not be taken for what it seems to be: if it were, the difference would be seen here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import anabranch as ab
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.analysis.corpus import worlds
from tests.analysis.corpus.alone import alone
from tests.analysis.corpus.registry import Entry
from tests.analysis.corpus.samples import samples
from tests.dataflow.outcomes import expected, on_simulated
from tests.examples_drawn import TIMES

# What one run leaves behind outside of the operator would show in the next.
CORPUS = [entry for entry in worlds.load_all() if entry.kind != "for_each"]
ENTRIES = [entry for entry in CORPUS if not entry.trap and (entry.is_class or entry.state != "stateful")]
# The oracle itself would give something else each time.
CHANCE = ("trap_clocks_and_chance", "trap_files_and_logs", "trap_outside", "trap_identity")
# No programs: the operator is refused when the graph is built.
REFUSED = ("ObjectAsProcess", "PropertyAsProcess")
TRAPS = [entry for entry in CORPUS if entry.trap and entry.topic not in CHANCE and entry.name not in REFUSED]
EVERY = 1 if TIMES > 1 else 25  # a sample in `make test`
DEGREES = [(2, 1), (3, 7), (3, 17)]  # channels, and tuples in a stretch


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
    for channels, stretch in DEGREES:
        assert on_simulated(graph, channels, stretch) == expected(graph)


def in_a_new_program(entry: Entry, run: Callable[[Graph], Any]) -> str:
    """What a trap gives where nothing has called it before; its types are new ones, and show only by their names."""
    with worlds.sandbox(), alone(entry) as fresh:
        return repr(run(program_of(fresh)))


@pytest.mark.parametrize("entry", TRAPS[::EVERY], ids=lambda entry: entry.id)
def test_a_trap_of_the_corpus(entry: Entry) -> None:
    wanted = in_a_new_program(entry, expected)
    for channels, stretch in DEGREES[:2]:
        assert in_a_new_program(entry, partial(on_simulated, channels=channels, stretch=stretch)) == wanted
