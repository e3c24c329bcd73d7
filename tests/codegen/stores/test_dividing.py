"""Stores are divided by the hash of their keys, each part goes on by itself, and they are put together again."""

from __future__ import annotations

import random
from typing import Any

import pytest

import anabranch as ab
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part
from anabranch.codegen.python import PythonElement, python_form
from anabranch.codegen.stores.dividing import bucket_of, join, shows_order, split, why_indivisible
from anabranch.codegen.stores.store import Record, Store, WrongStore
from anabranch.dataflow.sources.source_order import draw
from anabranch.engines import sequential
from anabranch.graph.model import Operator
from anabranch.graph.values import key_reader
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import FINAL
from anabranch.operators.join import Join
from anabranch.run import as_program
from tests.codegen.by_batches import part_of_program
from tests.codegen.exactness import exact
from tests.codegen.stores.keeping import BY_TIME, KEEPING, Call, calls, counted, keeping

IN_ONE_PLACE = {
    "connect without a key": "it has no key: one instance takes all tuples",
    "windows of groups alone": "its windows have no key",
    "distinct in the last tuples": "its window counts the tuples of all keys",
    "distinct in a number of tuples": "its window counts the tuples of all keys",
    "join by count": "a window counts the tuples of all keys",
    "sort": "it compares all tuples with one another",
    "merge_by": "it compares the heads of whole streams",
    "barrier": "it pairs tuples by their number in whole streams",
    "punctuate": "it counts the tuples of all keys",
    "feedback": "a loop has rounds that all tuples share",
}
BEHIND_ANOTHER = ["windows between punctuations"]  # of which no part could be told
DIVISIBLE = [name for name in KEEPING if name not in IN_ONE_PLACE and name not in BEHIND_ANOTHER]


def first_operator(name: str) -> Operator:
    """The one that the program is about, or that is before it."""
    part = part_of_program(as_program(keeping(name, 0)).graph)
    known = [part.operator(each) for each in part.operators if part.operator(each).kind not in ("filter", "map")]
    return known[0]


@pytest.mark.parametrize("name", KEEPING)
def test_what_cannot_be_divided_says_why(name: str) -> None:
    if name not in BEHIND_ANOTHER:
        assert why_indivisible(first_operator(name)) == IN_ONE_PLACE.get(name)


def test_what_cannot_be_divided_is_not() -> None:
    element = python_form(part_of_program(as_program(keeping("sort", 0)).graph))
    store = element.stores()["sort"]
    with pytest.raises(WrongStore, match="cannot be divided: it compares all tuples"):
        split(element.part.operator("sort"), store, 2)
    with pytest.raises(WrongStore, match="is in one place: it compares all tuples"):
        join(element.part.operator("sort"), [store, store])


# Parts that go on ---------------------------------------------------------------------------------------------------

Identity = tuple[Any, ...]


class Places:
    """Where records stand among those of all parts: an engine that runs parts knows when their keys came."""

    def __init__(self, operator: Operator, whole: Store, parts: list[Store]) -> None:
        self.operator = operator
        places = {self._identity(name, record): (0, at) for name, at, record in self._records(whole)}
        self.known = [self._known(one, places) for one in parts]

    def _known(self, part: Store, places: dict[Identity, Any]) -> dict[Identity, Any]:
        identities = [self._identity(name, record) for name, _, record in self._records(part)]
        return {each: places[each] for each in identities}

    @staticmethod
    def _records(store: Store) -> list[tuple[str, int, Record]]:
        return [(name, at, each) for name, records in store.tables.items() for at, each in enumerate(records)]

    def _identity(self, table: str, record: Record) -> Identity:
        definition = self.operator.definition
        told = 0
        if table in ("recent", "left", "right", "held"):
            told = 1
        elif table == "windows" and isinstance(definition, WindowAggregate):
            told = definition.window.is_by_time + bool(definition.group_by)
            if not definition.window.is_by_time:
                return table, record.key, record.values[1 : 1 + told]  # behind the number of tuples
        return table, record.key, record.values[:told]

    def note(self, part: int, store: Store, number: int) -> None:
        """What has begun with a tuple, and what is over."""
        before, self.known[part] = self.known[part], {}
        for name, at, record in self._records(store):
            identity = self._identity(name, record)
            self.known[part][identity] = before.get(identity, (number, at))

    def __call__(self, part: int, table: str, record: Record) -> Any:
        return self.known[part][self._identity(table, record)]


class InBuckets:
    """Runs a program of one operator, now in one piece, now in parts, each with the tuples of its keys."""

    def __init__(self, part: Part, seed: int) -> None:
        [name] = part.operators
        self.part, self.operator = part, part.operator(name)
        self.choices = random.Random(seed)
        definition: Any = self.operator.definition
        keys = definition.keys if hasattr(definition, "keys") else [definition.key] * len(part.inputs)
        if isinstance(definition, Join):
            keys = [definition.left_on, definition.right_on]
        self.key_of = [key_reader(port.schema, key) for port, key in zip(self.operator.inputs, keys, strict=True)]
        self.whole: PythonElement | None = python_form(part)
        self.parts: list[PythonElement] = []
        self.found: list[Any] = []
        self.latest: Any = None
        self.splits = 0

    def run(self) -> list[Any]:
        for number, (source, item) in enumerate(draw(self.part.graph.sources), 1):
            port = [stream.operator for stream in self.part.inputs].index(source.id)
            if item is FINAL or self._moves_time(port, item) or self.choices.random() < 0.2:
                self._join()
            elif self.whole is not None and self.choices.random() < 0.8:
                self._split()
            if item is FINAL or self.whole is not None:
                self._give(self._as_whole(), port, item)
            else:
                at = bucket_of(self.key_of[port](item), len(self.parts))
                self._give(self.parts[at], port, item)
                self.places.note(at, self._store(self.parts[at]), number)
        return self.found

    def _moves_time(self, port: int, item: Call) -> bool:
        """Parts would have to be told: their clock is that of all tuples."""
        definition: Any = self.operator.definition
        is_join = isinstance(definition, Join)
        window = (definition.left, definition.right)[port] if is_join else getattr(definition, "window", None)
        if window is None or not window.is_by_time or window.clock == "key":
            return False
        moves = self.latest is None or item.when > self.latest
        self.latest = item.when if moves else self.latest
        return moves

    def _as_whole(self) -> PythonElement:
        assert self.whole is not None
        return self.whole

    def _give(self, element: PythonElement, port: int, item: Any) -> None:
        rows, is_last = ([], True) if item is FINAL else ([item], False)
        schemas = [self.part.schema(stream) for stream in self.part.inputs]
        chunks = tuple(
            Chunk.of_rows(schema, rows if at == port else [], is_last=is_last and at == port)
            for at, schema in enumerate(schemas)
        )
        self.found += element.process(Batch(chunks))[0].rows

    def _store(self, element: PythonElement) -> Store:
        return element.stores()[self.operator.id]

    def _element(self, store: Store) -> PythonElement:
        element = python_form(self.part)
        element.take_stores({self.operator.id: store})
        return element

    def _split(self) -> None:
        store = self._store(self._as_whole())
        stores = split(self.operator, store, self.choices.randrange(2, 5))
        self.places = Places(self.operator, store, stores)
        self.whole, self.parts = None, [self._element(each) for each in stores]
        self.splits += 1

    def _join(self) -> None:
        if self.whole is None:
            # Where the order of keys does not show, nobody has to know it.
            place_of = self.places if shows_order(self.operator) else None
            self.whole = self._element(join(self.operator, [self._store(each) for each in self.parts], place_of))
            self.parts = []


@pytest.mark.parametrize("name", DIVISIBLE)
def test_parts_go_on_and_are_one_again(name: str) -> None:
    for seed in range(3):
        program = as_program(keeping(name, seed))
        running = InBuckets(part_of_program(program.graph), seed)
        assert exact(running.run()) == exact(sequential.run(program.graph).items("out"))
        assert running.splits > 3


def test_parts_that_stand_at_different_times_are_not_joined() -> None:
    windows = counted(ab.from_items(Call, calls(1)).window(BY_TIME, key="area"))
    running = InBuckets(part_of_program(as_program(windows.collect("out")).graph), 1)
    early, late = python_form(running.part), python_form(running.part)
    for element, call in ((early, calls(1)[0]), (late, calls(1)[-1])):
        element.process(Batch((Chunk.of_rows(running.part.schema(running.part.inputs[0]), [call]),)))
    with pytest.raises(WrongStore, match="stand at different times"):
        join(running.operator, [running._store(early), running._store(late)], lambda *_: 0)


def test_the_order_of_keys_must_be_known_where_it_shows() -> None:
    running = InBuckets(part_of_program(as_program(keeping("connect", 1)).graph), 1)
    chunks = tuple(Chunk.of_rows(running.part.schema(stream), calls(1)) for stream in running.part.inputs)
    element = running._as_whole()
    element.process(Batch(chunks))
    parts = split(running.operator, running._store(element), 2)
    with pytest.raises(WrongStore, match="not known in which order the keys of 'Both' came"):
        join(running.operator, parts)


def test_a_part_has_the_keys_of_its_bucket_and_no_others() -> None:
    running = InBuckets(part_of_program(as_program(keeping("windows by count", 1)).graph), 1)
    element = running._as_whole()
    element.process(Batch((Chunk.of_rows(running.part.schema(running.part.inputs[0]), calls(1)),)))
    whole = running._store(element)
    parts = split(running.operator, whole, 3)
    assert sum(len(each.table("windows")) for each in parts) == len(whole.table("windows")) > 3
    for number, each in enumerate(parts):
        assert {bucket_of(record.key, 3) for record in each.table("windows")} == {number}
