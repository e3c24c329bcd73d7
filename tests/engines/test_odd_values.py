"""Values that only look like those of an attribute: the same value, or the same error in words, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anabranch as ab
from tests.codegen.exactness import exact
from tests.engines.every_engine import assert_same_everywhere


class Number(NamedTuple):
    n: int


class Moment(NamedTuple):
    at: datetime


class MaybeMoment(NamedTuple):
    at: datetime | None


class MaybeMoments(NamedTuple):
    ats: list[datetime | None]


class MaybeAll(NamedTuple):
    n: int | None
    x: float | None
    yes: bool | None
    text: str | None
    raw: bytes | None
    at: datetime | None
    day: date | None
    numbers: list[int | None]
    inner: MaybeMoment | None


FINE = pd.Timestamp("2024-05-31 12:00:00.000001500")
FINE_IN_A_ZONE = pd.Timestamp("2024-05-31 12:00:00.000001500", tz="Europe/Berlin")


def from_every_place(kind: Any, values: list[Any], **options: Any) -> Iterator[ab.Stream[Any]]:
    """A stream of tuples of one attribute, given in each way in which a program can give tuples."""
    made = [kind(value) for value in values]
    yield ab.from_items(kind, made, **options)
    count = ab.from_items(Number, [Number(n) for n in range(len(made))])
    yield count.map(lambda number: kind(values[number.n]), out=kind, **options)
    yield count.map(lambda number: made[number.n], out=kind, **options)
    yield count.flat_map(lambda number: [made[number.n]], out=kind, **options)


def first(seen: Any) -> list[Any]:
    """The values of the tuples collected."""
    outputs, _, error = seen
    assert error is None
    (_, items) = outputs["out"]
    return [values[0] for _, values in items]


def test_nat_is_none_where_the_attribute_allows_none() -> None:
    for stream in from_every_place(MaybeMoment, [pd.NaT, pd.Timestamp(2024, 1, 1), None]):
        seen = assert_same_everywhere(stream.collect("out"))
        assert first(seen) == [exact(None), exact(datetime(2024, 1, 1)), exact(None)]


def test_elsewhere_nat_is_an_error_that_can_be_skipped() -> None:
    for stream in from_every_place(Moment, [pd.NaT]):
        _, _, error = assert_same_everywhere(stream.collect("out"))
        assert "attribute 'at' of Moment: datetime expected, got NaT (NaTType)" in str(error)
    for stream in from_every_place(Moment, [pd.NaT, pd.Timestamp(2024, 1, 1)], on_error="skip"):
        _, skipped, error = assert_same_everywhere(stream.collect("out"))
        assert (error, list(skipped.values())) == (None, [1])


def test_what_pandas_has_for_none_is_none_in_every_attribute_that_allows_it() -> None:
    item = MaybeAll(pd.NA, pd.NA, pd.NA, pd.NA, pd.NA, pd.NA, pd.NaT, [pd.NA, 1], MaybeMoment(pd.NaT))  # type: ignore[arg-type]
    outputs, _, _ = assert_same_everywhere(ab.from_items(MaybeAll, [item]).collect("out"))
    expected = MaybeAll(None, None, None, None, None, None, None, [None, 1], MaybeMoment(None))
    assert outputs["out"] == exact([expected])


@pytest.mark.parametrize("value", [FINE, FINE_IN_A_ZONE])
def test_nanoseconds_are_an_error_that_says_what_to_do(value: Any) -> None:
    for stream in from_every_place(MaybeMoment, [value]):
        _, _, error = assert_same_everywhere(stream.collect("out"))
        assert f"{value} has nanoseconds, and a datetime has microseconds" in str(error)
        assert 'round it before, as pandas does with .round("us")' in str(error)


def test_what_has_been_rounded_to_microseconds_is_a_datetime() -> None:
    rounded = [FINE.round("us"), FINE_IN_A_ZONE.round("us")]
    expected = [datetime(2024, 5, 31, 12, 0, 0, 2), datetime(2024, 5, 31, 10, 0, 0, 2, UTC)]
    for stream in from_every_place(MaybeMoment, rounded):
        assert first(assert_same_everywhere(stream.collect("out"))) == [exact(each) for each in expected]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_parquet_file_may_hold_moments_of_any_unit(tmp_path: Path, unit: str, zone: str | None) -> None:
    path = tmp_path / "moments.parquet"
    moments = pa.array([datetime(2024, 5, 31, 12, tzinfo=UTC if zone else None), None], pa.timestamp(unit, zone))
    pq.write_table(pa.table({"at": moments}), path)
    seen = assert_same_everywhere(ab.read_parquet(path, MaybeMoment).collect("out"))
    assert first(seen) == [exact(datetime(2024, 5, 31, 12, tzinfo=UTC if zone else None)), exact(None)]


@pytest.mark.parametrize("kind", [MaybeMoment, MaybeMoments])
def test_but_not_nanoseconds_that_are_lost(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "moments.parquet"
    moments = pa.array([1000, None, 2001, 3000], pa.timestamp("ns"))
    column = moments if kind is MaybeMoment else pa.array([[each] for each in moments], pa.list_(moments.type))
    pq.write_table(pa.table({kind._fields[0]: column}), path)
    _, _, error = assert_same_everywhere(ab.read_parquet(path, kind).collect("out"))
    assert "has nanoseconds, and a datetime has microseconds" in str(error)
    assert f"{path}:row 3" in str(error)
    outputs, skipped, _ = assert_same_everywhere(ab.read_parquet(path, kind, on_error="skip").collect("out"))
    assert (len(outputs["out"][1]), skipped) == (3, {"read_parquet": 1})


class NoZone(tzinfo):
    def utcoffset(self, moment: datetime | None) -> Any:
        raise LookupError("no such zone")

    tzname = dst = utcoffset  # type: ignore[assignment]


class NoNumber:
    def __index__(self) -> int:
        raise LookupError("no number yet")


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (Moment, datetime(2024, 1, 1, tzinfo=NoZone()), "attribute 'at' of Moment: LookupError: no such zone"),
        (Number, NoNumber(), "attribute 'n' of Number: LookupError: no number yet"),
    ],
)
def test_what_a_value_raises_when_it_is_looked_at_is_the_error_of_its_attribute(
    kind: Any, value: Any, problem: str
) -> None:
    for stream in from_every_place(kind, [value]):
        _, _, error = assert_same_everywhere(stream.collect("out"))
        assert problem in str(error)
    for stream in from_every_place(kind, [value], on_error="skip"):
        _, skipped, error = assert_same_everywhere(stream.collect("out"))
        assert (error, list(skipped.values())) == (None, [1])


class Real(NamedTuple):
    x: float


@pytest.mark.parametrize("value", [10**400, -(10**400), np.longdouble("1e4000"), -np.longdouble("1e4000")])
def test_a_number_beyond_the_range_of_floats_is_an_error(value: Any) -> None:
    for stream in from_every_place(Real, [value]):
        _, _, error = assert_same_everywhere(stream.collect("out"))
        assert "is too large for a float" in str(error)


def test_what_is_infinite_stays_infinite() -> None:
    given = [float("inf"), np.float32("-inf"), np.longdouble("inf")]
    for stream in from_every_place(Real, given):
        seen = assert_same_everywhere(stream.collect("out"))
        assert first(seen) == [exact(float("inf")), exact(float("-inf")), exact(float("inf"))]
    _, _, error = assert_same_everywhere(ab.from_items(Real, [Real(Decimal(1))]).collect("out"))  # type: ignore[arg-type]
    assert "float expected, got Decimal('1')" in str(error)


# Rows of frames ----------------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    at: datetime | None
    n: int


FRAME = pd.DataFrame({"n": [1, 2], "at": [pd.Timestamp(2024, 1, 1), pd.NaT]})


@pytest.mark.parametrize(
    ("frame", "rows"),
    [
        (FRAME, "ab.from_pandas(frame, Sample)"),
        (pa.Table.from_pandas(FRAME), "ab.from_arrow(table, Sample)"),
    ],
    ids=["pandas", "pyarrow"],
)
def test_a_frame_is_no_list_of_tuples_and_the_hint_makes_one(frame: Any, rows: str) -> None:
    with pytest.raises(ab.BuildError, match="which is made of columns, and not a list of Sample") as caught:
        ab.from_items(Sample, frame)
    assert caught.value.hint == rows
    source = eval(rows, {"ab": ab, "Sample": Sample, "frame": frame, "table": frame})
    outputs, _, _ = assert_same_everywhere(source.collect("out"))
    assert outputs["out"] == exact([Sample(datetime(2024, 1, 1), 1), Sample(None, 2)])


@pytest.mark.parametrize(
    ("item", "made"),
    [
        (next(FRAME.itertuples()), "Sample(item.at, item.n)"),
        ({"at": None, "n": 1}, "Sample(**item)"),
        ((None, 1), "Sample(*item)"),
        ([None, 1], "Sample(*item)"),
        (5, "Sample(…)"),
        (None, "Sample(…)"),
    ],
)
def test_what_is_of_another_type_is_to_be_made_a_tuple_and_not_to_be_skipped(item: Any, made: str) -> None:
    _, _, error = assert_same_everywhere(ab.from_items(Sample, [item]).collect("out"))
    assert str(error).endswith(f"  try: make it one: {made}")
    wrong = Sample(None, "1")  # type: ignore[arg-type]
    _, _, error = assert_same_everywhere(ab.from_items(Sample, [wrong]).collect("out"))
    assert str(error).endswith('  try: on_error="skip" passes over such rows and counts them')
