"""Chunks: rows become columns and columns become rows, and nothing changes on the way."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.graph.schema import AttributeType, Schema, schema_of
from tests.codegen.exactness import exact


class Point(NamedTuple):
    x: float
    name: str | None


class Leg(NamedTuple):
    start: Point
    stops: list[Point | None]


class Everything(NamedTuple):
    n: int
    value: float
    flag: bool
    text: str
    data: bytes
    at: datetime
    day: date
    numbers: list[int]
    maybe_numbers: list[list[float] | None] | None
    maybe_n: int | None
    maybe_value: float | None
    maybe_flag: bool | None
    maybe_text: str | None
    maybe_data: bytes | None
    maybe_at: datetime | None
    maybe_day: date | None
    leg: Leg
    maybe_leg: Leg | None


class Moment(NamedTuple):
    at: datetime
    others: list[datetime]


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(),
    "bool": st.booleans(),
    "str": st.text(st.characters(exclude_categories=["Cs"])),
    "bytes": st.binary(),
    "date": st.dates(),
}


def values(kind: AttributeType, zone: Any) -> st.SearchStrategy[Any]:
    if kind.element is not None:
        each = st.lists(values(kind.element, zone), max_size=3)
    elif kind.nested is not None:
        each = tuples(kind.nested, zone)
    elif kind.kind == "datetime":
        each = st.datetimes().map(lambda at: at.replace(tzinfo=zone, fold=0))
    else:
        each = SCALARS[kind.kind]
    return st.none() | each if kind.optional else each


def tuples(schema: Schema, zone: Any) -> st.SearchStrategy[Any]:
    return st.tuples(*[values(each.type, zone) for each in schema.attributes]).map(schema.type._make)


def there_and_back(schema: Schema, rows: list[Any], *, start: int = 0) -> list[Any]:
    batch = Chunk.of_rows(schema, rows).batch
    assert batch.num_rows == len(rows)
    return Chunk.of_batch(schema, batch.slice(start)).rows


EVERYTHING = schema_of(Everything)


@settings(deadline=None)
@given(st.data())
def test_rows_come_back_from_columns_exactly(data: st.DataObject) -> None:
    zone = data.draw(st.sampled_from([None, UTC]))
    rows = data.draw(st.lists(tuples(EVERYTHING, zone), max_size=5))
    assert exact(there_and_back(EVERYTHING, rows)) == exact(rows)


@settings(deadline=None)
@given(st.data())
def test_a_slice_of_columns_gives_the_rows_of_the_slice(data: st.DataObject) -> None:
    rows = data.draw(st.lists(tuples(EVERYTHING, None), max_size=5))
    start = data.draw(st.integers(0, len(rows)))
    assert exact(there_and_back(EVERYTHING, rows, start=start)) == exact(rows[start:])


def test_one_column_may_be_in_utc_and_another_have_no_zone() -> None:
    rows = [Moment(datetime(2020, 1, 1, tzinfo=UTC), [datetime(2020, 1, 1)])]
    [back] = there_and_back(schema_of(Moment), rows)
    assert back.at.tzinfo is UTC
    assert back.others[0].tzinfo is None


@pytest.mark.parametrize(
    "rows",
    [
        [Moment(datetime(2020, 1, 1), []), Moment(datetime(2020, 1, 1, tzinfo=UTC), [])],
        [Moment(datetime(2020, 1, 1), [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)])],
    ],
)
def test_datetimes_with_a_zone_and_without_have_no_column_together(rows: list[Any]) -> None:
    chunk = Chunk.of_rows(schema_of(Moment), rows)
    with pytest.raises(NoColumns, match="with a zone and without"):
        _ = chunk.batch
    assert chunk.rows is rows


def test_nan_is_not_none() -> None:
    rows = [Point(math.nan, None)]
    batch = Chunk.of_rows(schema_of(Point), rows).batch
    assert (batch.column(0).null_count, batch.column(1).null_count) == (0, 1)


def test_a_chunk_is_converted_once() -> None:
    chunk = Chunk.of_rows(schema_of(Point), [Point(1.0, "a")])
    assert chunk.batch is chunk.batch
    again = Chunk.of_batch(schema_of(Point), chunk.batch)
    assert again.rows is again.rows
