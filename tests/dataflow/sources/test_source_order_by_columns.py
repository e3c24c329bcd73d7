"""Drawn by columns, sources that say `order_by` give what they give drawn by rows, item for item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import cycle, repeat
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.dataflow.sources import source_order_by_columns
from anabranch.dataflow.sources.source_count import Failed
from anabranch.dataflow.sources.source_order import draw
from anabranch.dataflow.sources.source_order_by_columns import ColumnReader, draw_by_columns
from anabranch.errors import SourceError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.base import FINAL, SourceDefinition, Unreadable
from anabranch.run import as_program
from tests.examples_drawn import drawn


class Int(NamedTuple):
    k: int
    at: int


class Float(NamedTuple):
    k: int
    at: float


class Bool(NamedTuple):
    k: int
    at: bool


class Str(NamedTuple):
    k: int
    at: str


class Bytes(NamedTuple):
    k: int
    at: bytes


class Day(NamedTuple):
    k: int
    at: date


class Moment(NamedTuple):
    k: int
    at: datetime


class Both(NamedTuple):
    """With another attribute that need not have columns."""

    k: datetime
    at: int


NOON = datetime(2024, 2, 29, 12)
VALUES: dict[type, Any] = {
    Int: st.integers(-2, 3) | st.sampled_from([2**63 - 1, 2**63 - 2, -(2**63), 2**53, 2**53 + 1]),
    Float: st.sampled_from([-math.inf, -1.5, -1e-300, -0.0, 0.0, 5e-324, 1.0, 2.0**53, math.inf, math.nan]),
    Bool: st.booleans(),
    Str: st.text("ab\0é\uffff\U0001f600", max_size=2),
    Bytes: st.binary(max_size=1) | st.sampled_from([b"a\0", b"a", b"\xff"]),
    Day: st.sampled_from([date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]),
    Moment: st.integers(-2, 2).map(lambda n: NOON + timedelta(microseconds=n)),
}
ZONED = st.integers(-2, 2).map(lambda n: NOON.replace(tzinfo=UTC) + timedelta(microseconds=n))


def tuples(kind: type, values: Any | None = None, most: int = 12) -> Any:
    k = st.sampled_from([NOON, NOON.replace(tzinfo=UTC)]) if kind is Both else st.integers(0, 3)
    return st.lists(st.builds(kind, k, VALUES.get(kind, VALUES[Int]) if values is None else values), max_size=most)


BAD: Any = (1, [], "no tuple of such a source")


def with_bad(draw_one: st.DrawFn, items: list[Any]) -> list[Any]:
    for _ in range(draw_one(st.sampled_from([0, 0, 0, 1, 2, 3]))):
        items.insert(draw_one(st.integers(0, len(items))), BAD)
    return items


def sources_of(*lists: tuple[type, Sequence[Any]], **options: Any) -> Graph:
    sources: list[Any] = [ab.from_items(kind, list(items), order_by="at", **options) for kind, items in lists]
    return as_program(*(source.collect(f"out_{number}") for number, source in enumerate(sources))).graph


def cut(source: Operator, items: Iterator[Any], sizes: Iterator[int]) -> Iterator[Any]:
    """What a reader would find: chunks of any size, also empty ones, and at their places what cannot be read."""
    schema = source.outputs[0].schema
    rows: list[Any] = []
    size = next(sizes)
    while True:
        try:
            item = next(items, FINAL)
        except Exception as cause:
            item = Failed(cause)
        if item is FINAL or isinstance(item, Unreadable | Failed):
            yield Chunk.of_rows(schema, rows)
            if item is FINAL:
                return
            yield item
            rows = []
            continue
        rows.append(item)
        if len(rows) >= size:
            yield Chunk.of_rows(schema, rows)
            rows, size = [], next(sizes)


def readers_of(graph: Graph, sizes: Iterator[int]) -> list[ColumnReader]:
    return [
        ColumnReader(source, partition.name, cut(source, iter(partition), sizes))
        for source in graph.sources
        for partition in _definition(source).partitions(source)
    ]


def _definition(source: Operator) -> SourceDefinition:
    assert isinstance(source.definition, SourceDefinition)
    return source.definition


def by_rows(graph: Graph) -> tuple[list[tuple[str, str]], str | None]:
    return listed(draw(graph.sources), graph)


def by_columns(graph: Graph, sizes: Iterator[int]) -> tuple[list[tuple[str, str]], str | None]:
    return listed(draw_by_columns(graph.sources, readers_of(graph, sizes)), graph)


def listed(items: Iterator[Any], graph: Graph) -> tuple[list[tuple[str, str]], str | None]:
    """What is drawn, to the last bit, and the error that ends it."""
    found = []
    try:
        for each in items:
            if isinstance(each, Batch):
                found += [(graph.sources[number].id, repr(item)) for number, item in in_turns(each)]
            else:
                found.append((each[0].id, repr(each[1])))
    except SourceError as problem:
        return found, str(problem)
    return found, None


def in_turns(batch: Batch) -> Iterator[tuple[int, Any]]:
    rows = [iter(chunk.rows if chunk is not None else ()) for chunk in batch.chunks]
    assert batch.turns is not None
    for number in batch.turns.tolist():
        yield number, next(rows[number])
    assert [list(each) for each in rows] == [[] for _ in rows]


SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(cycle)


@pytest.mark.parametrize("kind", [*VALUES, Both])
@drawn(30)
@given(st.data(), st.integers(1, 4), SIZES)
def test_any_values_in_any_chunks(kind: type, data: st.DataObject, count: int, sizes: Iterator[int]) -> None:
    is_sorted = data.draw(st.booleans())
    lists = []
    for _ in range(count):
        items = data.draw(tuples(kind))
        if is_sorted:
            items.sort(key=lambda item: (item.at != item.at, item.at))
        lists.append((kind, with_bad(data.draw, items)))
    graph = sources_of(*lists)
    assert by_columns(graph, sizes) == by_rows(graph)


@drawn(60)
@given(st.data(), SIZES)
def test_values_of_several_types(data: st.DataObject, sizes: Iterator[int]) -> None:
    kinds = data.draw(st.sampled_from([(Int, Float), (Int, Bool), (Bool, Float, Int)]))
    graph = sources_of(*((kind, with_bad(data.draw, data.draw(tuples(kind)))) for kind in kinds))
    assert by_columns(graph, sizes) == by_rows(graph)


@drawn(80)
@given(st.data(), st.integers(2, 3), SIZES)
def test_datetimes_that_cannot_be_compared(data: st.DataObject, count: int, sizes: Iterator[int]) -> None:
    """The tuples before them come all the same, and then the error of the sequential engine."""
    lists = []
    for _ in range(count):
        values = data.draw(st.sampled_from([VALUES[Moment], ZONED]))
        items = data.draw(tuples(Moment, values)) + data.draw(tuples(Moment, VALUES[Moment] | ZONED, most=3))
        lists.append((Moment, with_bad(data.draw, items)))
    graph = sources_of(*lists)
    assert by_columns(graph, sizes) == by_rows(graph)


@drawn(120)
@given(st.data(), st.integers(1, 2), SIZES)
def test_partitions(data: st.DataObject, count: int, sizes: Iterator[int]) -> None:
    """A key that two of them have is told where the second has it."""
    sources: list[Any] = []
    kind = data.draw(st.sampled_from([Int, Float, Str]))
    for _ in range(count):
        lists = [data.draw(tuples(kind)) for _ in range(data.draw(st.integers(1, 4)))]
        if not data.draw(st.booleans()):
            lists = [[item._replace(k=item.k % 2 + at * 2) for item in items] for at, items in enumerate(lists)]
        key = data.draw(st.sampled_from(["k", "k", "at", ["k", "at"]]))
        read = partial(items_of, [with_bad(data.draw, items) for items in lists])
        options: dict[str, Any] = {"partitions": list(range(len(lists))), "partition_by": key, "order_by": "at"}
        sources.append(ab.generate(kind, read, **options))
    graph = as_program(*(source.collect(f"out_{number}") for number, source in enumerate(sources))).graph
    assert by_columns(graph, sizes) == by_rows(graph)


def items_of(lists: list[list[Any]], number: int) -> list[Any]:
    return lists[number]


def refused(*_: Any) -> Any:
    raise AssertionError("this should be drawn by columns")


@pytest.mark.parametrize("kind", VALUES)
def test_nothing_is_drawn_by_rows_where_all_values_are_of_one_type(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        Int: [3, 1, 2], Float: [2.0, math.nan, -0.0], Bool: [True, False, True], Str: ["b", "", "é"],
        Bytes: [b"b", b"", b"c"], Day: [date(2024, 1, 2), date(2024, 1, 1)], Moment: [NOON, NOON - timedelta(days=1)],
    }[kind]  # fmt: skip
    items = [kind(number, value) for number, value in enumerate(values)]
    graph = sources_of((kind, items), (kind, items[::-1]), (kind, []))
    expected = by_rows(graph)
    monkeypatch.setattr(source_order_by_columns, "draw_rest", lambda rest, guards: iter(()) if not rest else refused())
    assert by_columns(graph, repeat(2)) == expected


def test_a_key_in_one_partition_only_is_no_reason_for_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Int(number % 3, number // 2) for number in range(40)]
    graph = sources_of((Int, items), (Int, items), partition_by="k")
    expected = by_rows(graph)
    monkeypatch.setattr(source_order_by_columns, "draw_rest", lambda rest, guards: iter(()) if not rest else refused())
    assert by_columns(graph, repeat(5)) == expected


def test_crumbs_are_drawn_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_order_by_columns, "_MANY", 6)
    crumbs = [item for number in range(20) for item in (Int(1, number // 2), BAD)]
    graph = sources_of((Int, crumbs), (Int, [Int(2, number // 3) for number in range(40)]))
    assert by_columns(graph, repeat(4)) == by_rows(graph)
    items = list(draw_by_columns(graph.sources, readers_of(graph, repeat(4))))
    assert sum(isinstance(each, Batch) for each in items) < 6


def test_of_each_source_no_more_than_a_chunk_is_read_ahead() -> None:
    """Also of one that is far behind."""
    items = [Int(0, number) for number in range(100)]
    graph = sources_of((Int, items), (Int, [Int(1, number + 50) for number in range(100)]))
    read = [0, 0]
    drawn_so_far = [0, 0]

    def counted(number: int, found: Iterator[Any]) -> Iterator[Any]:
        for chunk in found:
            read[number] += len(chunk)
            yield chunk

    readers = [
        ColumnReader(each.operator, each.name, counted(at, iter(each.found)))
        for at, each in enumerate(readers_of(graph, repeat(4)))
    ]
    for each in draw_by_columns(graph.sources, readers):
        if isinstance(each, Batch):
            drawn_so_far = [
                so_far + (0 if chunk is None else len(chunk))
                for so_far, chunk in zip(drawn_so_far, each.chunks, strict=True)
            ]
        assert all(ahead - so_far <= 4 for ahead, so_far in zip(read, drawn_so_far, strict=True))
    assert drawn_so_far == [100, 100]


def test_rows_that_cannot_be_read_come_at_once_behind_what_is_before_them() -> None:
    graph = sources_of((Int, [Int(0, 5), BAD, Int(0, 1), Int(0, 6)]), (Int, [BAD, Int(1, 5), Int(1, 9), BAD]))
    found, error = by_columns(graph, repeat(10))
    assert error is None
    short = ["bad" if "Unreadable" in item else item for _, item in found]
    assert short == [
        "bad", "Int(k=0, at=5)", "bad", "Int(k=0, at=1)", "Int(k=1, at=5)", "Int(k=0, at=6)", "FINAL",
        "Int(k=1, at=9)", "bad", "FINAL",
    ]  # fmt: skip


def test_a_source_that_fails_comes_at_its_place() -> None:
    graph = sources_of((Int, [Int(0, 1), Int(0, 5)]), (Int, [Int(1, 2), Int(1, 3)]))
    one, two = readers_of(graph, repeat(10))
    failed = Failed(ValueError("gone"))
    readers = [one, ColumnReader(two.operator, two.name, [*two.found, failed])]
    items = list(draw_by_columns(graph.sources, readers))
    at = items.index((two.operator, failed))
    before = [item for each in items[:at] if isinstance(each, Batch) for _, item in in_turns(each)]
    assert before == [Int(0, 1), Int(1, 2), Int(1, 3)]
    assert items[-1] == (one.operator, FINAL)
