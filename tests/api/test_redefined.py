"""A class that is defined again, as by a cell of a notebook that is run again, is told from the class it was."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import anabranch as ab

CLASS = """
from typing import NamedTuple
import anabranch as ab
class Reading(NamedTuple):
    value: float
"""
SOURCE = "readings = ab.from_items(Reading, [Reading(1.0), Reading(2.0)])"
FUNCTION = "def is_high(reading: Reading) -> bool: return reading.value > 1"


class Notebook:
    """Cells that are run in one namespace, each as often as one likes."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "notebook"}
        self._count = 0

    def run(self, cell: str) -> None:
        self._count += 1
        file = f"cell{self._count}"
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        exec(compile(cell, file, "exec", dont_inherit=True), self.names)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


def test_a_stream_of_an_earlier_definition_is_to_be_built_again(notebook: Notebook) -> None:
    for cell in (CLASS, SOURCE, CLASS, FUNCTION):
        notebook.run(cell)
    with pytest.raises(ab.BuildError) as caught:
        notebook.run("high = readings.filter(is_high)")
    assert str(caught.value).splitlines() == [
        "the predicate of filter takes Reading, but the stream carries an earlier definition of Reading, "
        "first used at cell2:1",
        "  at cell5:1   high = readings.filter(is_high)",
        "  try: the class was defined again: build the stream anew, too, from its source on (in a notebook, run those "
        "cells again)",
    ]
    notebook.run(SOURCE)
    notebook.run("high = readings.filter(is_high)")


def test_a_function_for_an_earlier_definition_is_to_be_defined_again(notebook: Notebook) -> None:
    for cell in (CLASS, FUNCTION, CLASS, SOURCE):
        notebook.run(cell)
    with pytest.raises(ab.BuildError) as caught:
        notebook.run("high = readings.filter(is_high)")
    assert str(caught.value).splitlines() == [
        "the predicate of filter takes an earlier definition of Reading than the stream carries, first used at cell4:1",
        "  at cell5:1   high = readings.filter(is_high)",
        "  try: the class was defined again: define the function anew, too (in a notebook, run its cell again)",
    ]
    notebook.run(FUNCTION)
    notebook.run("high = readings.filter(is_high)")


def test_streams_of_two_definitions_do_not_meet(notebook: Notebook) -> None:
    for cell in (CLASS, SOURCE, "before = readings", CLASS, SOURCE):
        notebook.run(cell)
    with pytest.raises(ab.BuildError) as caught:
        notebook.run("before.union(readings)")
    assert "not of two definitions of Reading, first used at cell2:1 and at cell5:1" in str(caught.value)


@pytest.mark.parametrize("engine", ["sequential", "fused"])
def test_a_program_that_makes_tuples_of_a_later_definition_says_so_when_it_runs(
    notebook: Notebook, engine: str
) -> None:
    for cell in (CLASS, SOURCE):
        notebook.run(cell)
    notebook.run("def halved(reading: Reading) -> Reading: return Reading(reading.value / 2)")
    notebook.run("half = readings.map(halved).collect('out')")
    notebook.run(CLASS)
    with pytest.raises(ab.OperatorError) as caught:
        notebook.run(f"ab.run(half, engine='{engine}')")
    assert "Reading expected, got Reading(value=0.5) of another definition of that class" in str(caught.value)
    assert "build the program anew, too" in str(caught.value)


def test_types_of_the_same_name_that_are_defined_elsewhere_are_just_different(notebook: Notebook) -> None:
    notebook.run(CLASS)
    notebook.run(SOURCE)
    notebook.names["__name__"] = "another notebook"
    notebook.run(CLASS)
    notebook.run(FUNCTION)
    with pytest.raises(ab.BuildError, match="takes Reading, but the stream carries Reading\n"):
        notebook.run("readings.filter(is_high)")
