"""Parquet: which columns are accepted, rows that cannot be read, and files that are always whole."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anabranch.errors import SinkError, SourceError
from anabranch.graph.schema import schema_of
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import parquet_writer
from anabranch.operators.formats.arrow_types import arrow_schema
from anabranch.operators.formats.parquet_format import PARQUET


class Whole(NamedTuple):
    n: int


class Real(NamedTuple):
    f: float


class Text(NamedTuple):
    s: str


class Flag(NamedTuple):
    b: bool


class Raw(NamedTuple):
    y: bytes


class Moment(NamedTuple):
    at: datetime | None


class Day(NamedTuple):
    day: date


class Pair(NamedTuple):
    n: int
    at: datetime


class Nested(NamedTuple):
    pairs: list[Pair]


def rows_of(folder: Path, column: Any, row_type: Any) -> list[Any]:
    pq.write_table(pa.table({row_type._fields[0]: column}), folder / "rows.parquet")
    return list(PARQUET.read(folder / "rows.parquet", schema_of(row_type)))


def written(path: Path, row_type: type, rows: list[Any]) -> Any:
    writer = PARQUET.writer(schema_of(row_type))
    writer.open(path)
    for row in rows:
        writer.write(row)
    writer.close()
    return pq.ParquetFile(path)


@pytest.mark.parametrize(
    ("row_type", "column", "expected"),
    [
        (Whole, pa.array([1, -2], pa.int8()), [1, -2]),
        (Whole, pa.array([1, 2], pa.uint32()), [1, 2]),
        (Real, pa.array([1, 2], pa.int64()), [1.0, 2.0]),
        (Real, pa.array([0.5], pa.float32()), [0.5]),
        (Text, pa.array(["a"], pa.large_string()), ["a"]),
        (Text, pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (Flag, pa.array([True]), [True]),
        (Raw, pa.array([b"ab"], pa.binary(2)), [b"ab"]),
        (Moment, pa.array([1500, None], pa.timestamp("ms")), [datetime(1970, 1, 1, 0, 0, 1, 500000), None]),
        (Moment, pa.array([1000], pa.timestamp("ns")), [datetime(1970, 1, 1, 0, 0, 0, 1)]),
        (Moment, pa.array([0], pa.timestamp("s", "Asia/Tokyo")), [datetime(1970, 1, 1, tzinfo=UTC)]),
        (Moment, pa.nulls(2), [None, None]),
        (Day, pa.array([date(2024, 1, 2)], pa.date64()), [date(2024, 1, 2)]),
    ],
)
def test_a_column_of_a_fitting_type_is_read(tmp_path: Path, row_type: type, column: Any, expected: list[Any]) -> None:
    values = [row[0] for row in rows_of(tmp_path, column, row_type)]
    assert values == expected
    assert [type(value) for value in values] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("row_type", "column", "types"),
    [
        (Whole, pa.array([1.0]), ("double", "int")),
        (Whole, pa.array(["1"]), ("string", "int")),
        (Whole, pa.array([True]), ("bool", "int")),
        (Real, pa.array(["x"]), ("string", "float")),
        (Text, pa.array([b"x"]), ("binary", "str")),
        (Flag, pa.array([1]), ("int64", "bool")),
        (Moment, pa.array([date(2024, 1, 1)]), ("date32[day]", "datetime | None")),
        (Nested, pa.array([[1]]), ("int64", "Pair")),
        (Nested, pa.array([1]), ("int64", "list[Pair]")),
    ],
)
def test_a_column_of_another_type_is_an_error_of_the_file_that_names_both(
    tmp_path: Path, row_type: type, column: Any, types: tuple[str, str]
) -> None:
    with pytest.raises(SourceError) as caught:
        rows_of(tmp_path, column, row_type)
    assert f"is of type {types[0]}, which cannot be read as {types[1]}" in caught.value.message


def test_a_missing_column_is_an_error_of_the_file_that_lists_what_it_has(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "rows.parquet")
    for act in (lambda: list(PARQUET.read(tmp_path / "rows.parquet", schema_of(Whole))),
                lambda: PARQUET.probe(tmp_path / "rows.parquet", schema_of(Whole))):  # fmt: skip
        with pytest.raises(SourceError, match="there is no column 'n'; the file has a, b"):
            act()


def test_a_missing_member_of_a_nested_column_is_an_error_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"column 'pairs\[\]' has no single member 'at'; it has n"):
        rows_of(tmp_path, pa.array([[{"n": 1}]]), Nested)


def test_columns_are_found_by_name_and_extra_ones_ignored(tmp_path: Path) -> None:
    table = pa.table({"x": [9], "at": [datetime(2024, 1, 1)], "n.x": [0], "n": [1]})
    pq.write_table(table, tmp_path / "rows.parquet")
    assert list(PARQUET.read(tmp_path / "rows.parquet", schema_of(Pair))) == [Pair(1, datetime(2024, 1, 1))]


def test_a_null_in_an_attribute_that_is_not_optional_is_unreadable_and_the_next_row_is_read(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, pa.array([1, None, 3]), Whole)
    assert rows == [
        Whole(1),
        Unreadable("row 2: column 'n': null, where int is expected", f"{tmp_path}/rows.parquet:row 2", "{'n': None}"),
        Whole(3),
    ]


@pytest.mark.parametrize(
    ("row_type", "column"),
    [
        (Whole, pa.array([1, 2**63, 3], pa.uint64())),
        (Moment, pa.array([0, 1, 0], pa.timestamp("ns"))),  # Python's datetimes have no nanoseconds
        (Moment, pa.array([0, 2**62, 0], pa.timestamp("us"))),  # after the year 9999
        (Text, pa.array([b"a", b"\xff", b"c"]).view(pa.string())),
    ],
)
def test_a_value_python_cannot_hold_spoils_only_its_row(tmp_path: Path, row_type: type, column: Any) -> None:
    rows = rows_of(tmp_path, column, row_type)
    assert [isinstance(row, Unreadable) for row in rows] == [False, True, False]
    assert "row 2" in rows[1].message


def test_row_numbers_go_on_across_batches(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, pa.array([0] * 10_000 + [None]), Whole)
    assert len(rows) == 10_001
    assert "row 10001" in rows[-1].message


@pytest.mark.parametrize("content", [b"", b"PAR1", b"phone,area\n1,A\n", b"PAR1" * 100])
def test_a_file_that_is_not_parquet_is_an_error_of_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(SourceError, match=r"rows\.parquet: not a Parquet file"):
        list(PARQUET.read(tmp_path / "rows.parquet", schema_of(Whole)))


def test_damage_in_a_later_row_group_comes_after_the_rows_before_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": range(20_000)}), path, row_group_size=10_000, write_page_checksum=True)
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 4] ^= 0xFF
    path.write_bytes(data)
    rows: list[Whole] = []
    with pytest.raises(SourceError, match="nothing after row"):
        rows.extend(PARQUET.read(path, schema_of(Whole)))
    assert rows == [Whole(n) for n in range(len(rows))]
    assert len(rows) > 5000


# Writing ----------------------------------------------------------------------------------------------------


def test_the_file_has_the_explicit_arrow_schema(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.parquet", Nested, [Nested([Pair(1, datetime(2024, 1, 1))])])
    assert file.schema_arrow.equals(arrow_schema(schema_of(Nested)))
    member = file.schema_arrow.field("pairs").type.value_type
    assert (member.field("n").type, member.field("at").type) == (pa.int64(), pa.timestamp("us"))
    assert not member.field("n").nullable


def test_a_first_datetime_with_a_zone_makes_the_column_utc(tmp_path: Path) -> None:
    rows = [Moment(None), Moment(datetime(2024, 1, 1, tzinfo=UTC))]
    file = written(tmp_path / "rows.parquet", Moment, rows)
    assert file.schema_arrow.field("at").type == pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize("first_zone", [None, UTC])
def test_datetimes_with_and_without_a_zone_do_not_mix_and_what_came_before_is_kept(
    tmp_path: Path, first_zone: Any
) -> None:
    first = datetime(2024, 1, 1, tzinfo=first_zone)
    second = datetime(2024, 1, 2, tzinfo=None if first_zone else UTC)
    path = tmp_path / "rows.parquet"
    writer = PARQUET.writer(schema_of(Nested))
    writer.open(path)
    writer.write(Nested([Pair(1, first)]))
    with pytest.raises(SinkError, match=r"column 'pairs\[\]\.at' cannot hold datetimes with a zone and without"):
        writer.write(Nested([Pair(2, first + timedelta(1)), Pair(2, second)]))
    writer.close()
    assert list(PARQUET.read(path, schema_of(Nested))) == [Nested([Pair(1, first)])]


def test_rows_are_flushed_in_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "_ROW_GROUP", 100)
    file = written(tmp_path / "rows.parquet", Whole, [Whole(n) for n in range(250)])
    assert [file.metadata.row_group(group).num_rows for group in range(3)] == [100, 100, 50]
    assert list(PARQUET.read(tmp_path / "rows.parquet", schema_of(Whole))) == [Whole(n) for n in range(250)]


def test_heavy_rows_are_flushed_earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "_HEAVIEST", 1000)
    file = written(tmp_path / "rows.parquet", Text, [Text("x" * 600)] * 4)
    assert file.metadata.num_row_groups == 2
