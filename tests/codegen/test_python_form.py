"""The Python form of generated code is the oracle: same tuples, same types, same order, same errors, same figures."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import PythonElement, python_form
from anabranch.errors import RunError
from anabranch.graph.model import Program
from anabranch.graph.schema import schema_of
from anabranch.run import as_program
from tests.codegen.by_batches import batches, by_element, by_oracle, part_of_program
from tests.codegen.palette import Item, Running, programs

RANDOM = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@RANDOM
@given(programs(), SIZES)
def test_random_programs_give_what_the_oracle_gives(program: Program, sizes: list[int]) -> None:
    assert by_element(program, python_form, itertools.cycle(sizes)) == by_oracle(program)


# State --------------------------------------------------------------------------------------------------------------


@RANDOM
@given(programs(), SIZES)
def test_another_element_goes_on_with_what_one_has_saved(program: Program, sizes: list[int]) -> None:
    def moved(element: ProcessingElement) -> ProcessingElement:
        other = python_form(part_of_program(program.graph))
        other.restore(element.save())
        return other

    assert by_element(program, python_form, itertools.cycle(sizes), moved) == by_oracle(program)


@RANDOM
@given(programs(), SIZES, st.integers(1, 4))
def test_changes_and_the_whole_before_them_are_the_state(program: Program, sizes: list[int], every: int) -> None:
    saved: list[bytes] = []

    def moved(element: ProcessingElement) -> ProcessingElement:
        saved.append(element.save_changes() if saved else element.save())
        if len(saved) % every:
            return element
        other = build(part_of_program(program.graph))
        other.restore(saved[0], saved[1:])
        return other

    def build(part: Part) -> PythonElement:
        return python_form(part, tracks_changes=True)

    assert by_element(program, build, itertools.cycle(sizes), moved) == by_oracle(program)


class Held:
    """Gives at a punctuation what came since the last."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def process(self, item: Item) -> None:
        self.items.append(item)

    def punctuation(self) -> Iterator[Item]:
        yield from self.items
        self.items = []


def test_what_a_punctuation_from_inside_changes_is_among_the_changes() -> None:
    items = [Item(n, 0.0, "", None, 0.0) for n in range(6)]

    def build() -> PythonElement:
        # Only every third tuple comes to the operator, so it is a punctuation alone that changes it last.
        kept = ab.from_items(Item, []).punctuate(count=2).filter(lambda item: item.n % 3 == 0)
        return element_of(kept.process(Held).collect("out"), tracks_changes=True)

    element, saved, found = build(), [], []
    for item in items:
        [chunk] = element.process(batch_of([item]))
        found += chunk.rows
        saved.append(element.save_changes() if saved else element.save())
        element = build()
        element.restore(saved[0], saved[1:])
    assert [item.n for item in found] == [0, 3]


def element_of(*sinks: Any, **options: Any) -> PythonElement:
    return python_form(part_of_program(as_program(*sinks).graph), **options)


def batch_of(items: list[Any], *, is_last: bool = False) -> Batch:
    return Batch((Chunk.of_rows(schema_of(type(items[0])), items, is_last=is_last),))


def item(n: int, x: float = 1.0, ts: float = 0.0) -> Item:
    return Item(n, x, "s", None, ts)


def test_changes_hold_the_keys_that_were_touched_and_no_others() -> None:
    element = element_of(ab.from_items(Item, []).process(Running, key="n").collect("out"), tracks_changes=True)
    element.process(batch_of([item(n) for n in range(1000)]))
    whole = element.save()
    element.process(batch_of([item(7)]))
    assert len(element.save_changes()) < len(whole) / 20
    nothing = element.save_changes()
    element.process(batch_of([item(7)]))
    assert len(nothing) < len(element.save_changes())


def test_a_key_that_is_nan_is_still_the_same_key_after_a_restore() -> None:
    def build() -> PythonElement:
        windowed = ab.from_items(Item, []).window(ab.tumbling(count=2), key="x")
        return element_of(windowed.aggregate(Counted, n=ab.count()).collect("out"))

    one, other = build(), build()
    one.process(batch_of([item(1, math.nan)]))
    other.restore(one.save())
    [chunk] = other.process(batch_of([item(2, math.nan)]))
    assert chunk.rows == [Counted(2)]


class Counted(NamedTuple):
    n: int


def test_what_cannot_be_saved_is_named() -> None:
    class Keeper:
        def __init__(self) -> None:
            self.count = 0
            self.reader = (line for line in ["a"])

        def process(self, item: Item) -> Iterator[Item]:
            self.count += 1
            yield item

    element = element_of(ab.from_items(Item, []).process(Keeper, key="n").named("keeper").collect("out"))
    element.process(batch_of([item(1)]))
    with pytest.raises(RunError, match=r"'keeper' cannot be saved: `reader` of Keeper: .*generator"):
        element.save()


def test_a_class_that_cannot_be_imported_is_saved() -> None:
    class Local:
        def __init__(self) -> None:
            self.count = 0

        def process(self, item: Item) -> Iterator[Item]:
            self.count += 1
            yield item._replace(n=self.count)

    def build() -> PythonElement:
        return element_of(ab.from_items(Item, []).process(Local, key="s").collect("out"))

    one, other = build(), build()
    one.process(batch_of([item(1), item(1)]))
    other.restore(one.save())
    [chunk] = other.process(batch_of([item(1)]))
    assert [each.n for each in chunk.rows] == [3]


# Origins ------------------------------------------------------------------------------------------------------------


@RANDOM
@given(programs())
def test_origins_are_the_numbers_of_the_items_that_tuples_come_from(program: Program) -> None:
    part = part_of_program(program.graph)
    expected: list[list[int]] = [[] for _ in part.outputs]
    one_by_one = python_form(part)
    try:
        for number, batch in enumerate(batches(part, itertools.repeat(1))):
            for origins, chunk in zip(expected, one_by_one.process(batch), strict=True):
                origins += [number] * len(chunk)
    except Exception:
        return  # errors are compared elsewhere
    element = python_form(part, origins=True)
    [batch] = batches(part, itertools.repeat(1000))
    assert [chunk.origins.tolist() for chunk in element.process(batch)] == expected  # type: ignore[union-attr]


# Generated text -----------------------------------------------------------------------------------------------------


def source_of(make: Callable[[Any], Any]) -> str:
    return element_of(make(ab.from_items(Item, [])).collect("out")).source


ALONE = """
import anabranch as ab
from anabranch.codegen.python import python_form
from anabranch.run import as_program
from tests.codegen.by_batches import part_of_program
from tests.codegen.palette import Item, Running

stream = ab.from_items(Item, []).filter(lambda item: item.n > 3).process(Running, key="n")
print(python_form(part_of_program(as_program(stream.collect("out")).graph)).source)
"""


def test_functions_are_written_into_the_loop(tmp_path: Path) -> None:
    # In a process of its own: whatever code is loaded counts when a class is looked at, also that of other tests.
    file = tmp_path / "alone.py"
    file.write_text(ALONE)
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    source = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=True, env=environment
    ).stdout
    assert re.search(r"if not \(n_\d+ > 3\):", source)
    assert re.search(r"fields_\d\[0\] \+= 1", source), "without an object for the instance"
    assert "clamp(" not in source, "functions of functions, too"
    assert "# process 'Running', " in source


def test_a_tuple_that_nobody_needs_is_not_made() -> None:
    source = source_of(
        lambda items: (
            items.map(lambda item: Item(item.n + 1, item.x, item.s, None, item.ts), out=Item)
            .filter(lambda item: item.n > 3)
            .window(ab.tumbling(count=5))
            .aggregate(Counted, n=ab.count())
        )
    )
    assert "Item" not in source.partition("# filter")[2].partition("Counted")[0]


def test_replacing_an_attribute_of_a_tuple_makes_no_tuple_either() -> None:
    source = source_of(
        lambda items: items.map(lambda item: item._replace(n=item.n + 1), out=Item).filter(lambda item: item.n > 3)
    )
    assert "_replace" not in source.replace("'_replace", "")
    assert "Item" in source.partition("# filter")[2], "it is made where it leaves"


def test_a_function_whose_names_may_change_is_called() -> None:
    limit = 3

    def raise_limit() -> None:
        nonlocal limit
        limit += 1

    assert "function_1(row)" in source_of(lambda items: items.filter(lambda item: item.n > limit))
    raise_limit()
