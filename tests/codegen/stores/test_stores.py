"""Stores: what an operator keeps can be taken out of one element between any two tuples, and put into another.

The other may be in another form. What comes out is the oracle's, in order, wherever that is done.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import python_form
from anabranch.graph.model import Program
from anabranch.run import as_program
from tests.codegen.by_batches import by_element, by_oracle, part_of_program
from tests.codegen.comparing import Comparison, difference
from tests.codegen.palette import programs
from tests.codegen.programs import forget_modules, items, written
from tests.codegen.stores.keeping import KEEPING, keeping
from tests.codegen.stores.test_native_code_goes_on import SHAPES, compared, events
from tests.codegen.test_native import SEEDS
from tests.examples_drawn import drawn

pytestmark = pytest.mark.usefixtures("own_cache")
CHANGES = 10  # of one run, about: making an element takes long
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


# In the Python form -------------------------------------------------------------------------------------------------


def moved_in_python(program: Program) -> Callable[[ProcessingElement], ProcessingElement]:
    def moved(element: ProcessingElement) -> ProcessingElement:
        other = python_form(part_of_program(program.graph))
        other.take_stores(element.stores())
        return other

    return moved


@drawn(25)
@given(programs(), SIZES)
def test_random_programs_go_on_with_the_stores_of_another_element(program: Program, sizes: list[int]) -> None:
    found = by_element(program, python_form, itertools.cycle(sizes), moved_in_python(program))
    assert found == by_oracle(program)


@pytest.mark.parametrize("name", KEEPING)
def test_whatever_an_operator_keeps_is_in_its_store(name: str) -> None:
    for seed in range(4):
        program = as_program(keeping(name, seed))
        found = by_element(program, python_form, itertools.cycle([1 + seed, 3]), moved_in_python(program))
        assert found == by_oracle(program)


# From form to form --------------------------------------------------------------------------------------------------


class Changing:
    """Now and then another element goes on with the stores, in any form, perhaps with those that it just gave."""

    def __init__(self, comparison: Comparison, seed: int, often: float) -> None:
        self.comparison, self.choices = comparison, random.Random(seed)
        self.often = often
        self.forms: set[str] = set()

    def __call__(self, element: Any) -> Any:
        if self.choices.random() > self.often:
            return element
        is_native = self.choices.random() < 0.5
        other = self.comparison.element() if is_native else python_form(self.comparison.part)
        other.take_stores(element.stores())
        for name, figures in element.metrics.items():
            own = other.metrics[name]
            own.received, own.emitted, own.late = figures.received, figures.emitted, figures.late
            own.skipped = figures.skipped
        self.forms.add(other.form)
        return other


def check(comparison: Comparison, seed: int) -> set[str]:
    want, given_items = comparison.expected(), comparison.items()
    size = (1, 3, 40)[seed % 3]
    cuts = list(range(size, len(given_items), size))
    changing = Changing(comparison, seed, CHANGES / max(len(cuts), 1))
    problem = difference(want, comparison.given(given_items, cuts, None, changing))
    assert problem is None, f"in chunks of {size}: {problem}"
    return changing.forms


@pytest.mark.parametrize("shape", SHAPES)
def test_forms_take_turns_with_every_kind_of_state(shape: Callable[[Any], list[Any]]) -> None:
    first: Comparison | None = None
    forms: set[str] = set()
    for seed in range(4):
        comparison = compared(shape, events(0.01, seed), first)
        first = first or comparison
        forms |= check(comparison, seed)
    assert forms == {"native", "python"}


@pytest.fixture
def _alone() -> Iterator[None]:
    yield
    forget_modules()


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("seed", SEEDS)
def test_forms_take_turns_in_random_programs(seed: int, tmp_path: Path) -> None:
    module = written(seed, tmp_path)
    first: Comparison | None = None
    for number in range(4):
        inputs = items(module.Item, 10 * seed + number), items(module.Item, 10 * seed + number + 5)
        comparison = Comparison(*module.program(*inputs), like=first)
        first = first or comparison
        check(comparison, number)
