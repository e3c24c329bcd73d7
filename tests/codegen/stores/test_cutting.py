"""A processing element may be cut in two between any two tuples and joined again: stores go where operators go."""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.api.app import App
from anabranch.codegen.build import build_elements, generate
from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import python_form
from anabranch.codegen.stages import PEs, cut_into
from anabranch.errors import BuildError
from anabranch.graph.model import Program
from anabranch.graph.plan import Segment
from anabranch.operators.sinks.collect import Collect
from anabranch.passes.fusion.cuts import cut_up
from tests.codegen.by_batches import by_element, by_oracle, part_of_program
from tests.codegen.palette import programs
from tests.codegen.stores.waiting import waits
from tests.examples_drawn import drawn

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)
EXAMPLES = sorted(path.stem for path in (Path(__file__).parents[3] / "examples").glob("*.py") if path.stem[0] != "_")
COUNT = 250  # tuples of an example
IN_ONE_PIECE = ("linear_road", "sensor_query", "tweet_nlp", "vwap")  # where fusion finds no place to cut

Groups = tuple[tuple[str, ...], ...]


def cuts_of(part: Part) -> list[Groups]:
    """The part in one piece, in two in every way that fusion may cut it, and in as many as can be."""
    found: dict[Groups, None] = {(part.operators,): None}
    inside = [edge for edge in part.graph.edges if edge.source in part.operators and edge.target in part.operators]
    wanted = [[(edge.source, edge.target)] for edge in inside]
    for pairs in [*wanted, [(edge.source, edge.target) for edge in inside]]:
        separates = partial(_is_one_of, pairs)
        groups = tuple(group.operators for group in cut_up(part.graph, part.operators, separates))
        try:
            cut_into(part, groups)
        except BuildError:
            continue  # what passes by would be cut, too
        found[groups] = None
    return list(found)


def _is_one_of(pairs: Sequence[tuple[str, str]], one: Any, other: Any) -> bool:
    return (one.id, other.id) in pairs


def in_pieces(part: Part, groups: Groups, form: Literal["python", "native"] = "python") -> ProcessingElement:
    return build_elements(generate(part, [[Segment(each, form)] for each in groups]))


class Recutting:
    """Now and then another element goes on, which is cut otherwise."""

    def __init__(self, part: Part, cuts: Sequence[Groups], seed: int) -> None:
        self.part, self.choices = part, random.Random(seed)
        self.waiting = list(cuts)
        self.cut = 0

    def __call__(self, element: ProcessingElement) -> ProcessingElement:
        is_cut = isinstance(element, PEs)
        if self.choices.random() < 0.6 or not (is_cut or self.waiting):
            return element
        # Each way to cut once, if there are as many tuples, and in one piece in between.
        other = in_pieces(self.part, (self.part.operators,) if is_cut else self.waiting.pop())
        self.cut += isinstance(other, PEs)
        other.take_stores(element.stores())
        return other


@drawn(20)
@given(programs(), SIZES, st.integers(0, 99))
def test_random_programs_are_cut_while_tuples_come(program: Program, sizes: list[int], seed: int) -> None:
    part = part_of_program(program.graph)
    recutting = Recutting(part, cuts_of(part), seed)
    assert by_element(program, python_form, itertools.cycle(sizes), recutting) == by_oracle(program)


def example(name: str, folder: Path) -> Program:
    """A program of the examples, which collects what it would write."""
    module = importlib.import_module(f"examples.{name}")
    [app] = [each for each in map(partial(getattr, module), dir(module)) if isinstance(each, App)]
    program: Program = app(**module.generate(COUNT, folder))
    graph = program.graph
    operators = tuple(replace(each, definition=Collect(each.id)) if each.is_sink else each for each in graph.operators)
    return Program(graph.part(operators, graph.edges))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_cut_in_every_way_while_tuples_come(name: str, tmp_path: Path) -> None:
    program = example(name, tmp_path)
    part = part_of_program(program.graph)
    cuts = cuts_of(part)
    recutting = Recutting(part, cuts, 1)
    assert by_element(program, python_form, itertools.cycle([1, 2, 5]), recutting) == by_oracle(program)
    assert recutting.cut or name in IN_ONE_PIECE
    assert not recutting.waiting


# In both forms ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_cache")
def test_pieces_change_their_form_too() -> None:
    choices = random.Random(1)
    for seed in range(4):
        program = waits(seed)
        part = part_of_program(program.graph)
        cuts = cuts_of(part)
        assert len(cuts) == 5

        def moved(element: ProcessingElement, part: Part = part, cuts: Sequence[Groups] = cuts) -> ProcessingElement:
            if choices.random() < 0.8:
                return element
            other = in_pieces(part, choices.choice(cuts), choices.choice(("native", "python")))
            other.take_stores(element.stores())
            return other

        assert by_element(program, python_form, itertools.cycle([1, 4]), moved) == by_oracle(program)
