"""A Parquet file read in slices gives the rows that the row reader gives, whatever types its columns have."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.dataflow.sources.reading import parquet_slices, read_slice, slices_of
from anabranch.errors import SourceError
from anabranch.operators.formats import parquet_format
from tests.dataflow.sources.reading.compare import assert_same, source, written

PRESENT = {"int": int, "float": float, "bool": bool, "str": str, "bytes": bytes, "date": date, "datetime": datetime}

COLUMNS: list[tuple[str, list[Any], pa.DataType]] = [
    ("int", [1, -5, 2**62, 7], pa.int64()),
    ("int", [1, -5, 100, 7], pa.int8()),
    ("int", [1, 2**63, 2**64 - 1, 7], pa.uint64()),
    ("float", [1.5, -0.0, float("nan"), float("-inf")], pa.float64()),
    ("float", [1.5, -0.0, 0.1, float("inf")], pa.float32()),
    ("float", [1.5, -0.0, 0.25, float("inf")], pa.float16()),
    ("float", [1, 2**53 + 1, -(2**63), 2**53 + 2], pa.int64()),
    ("float", [1, 2, 3, 4], pa.uint8()),
    ("bool", [True, False, True, True], pa.bool_()),
    ("str", ["a", "", "\u00e9", "\0"], pa.string()),
    ("str", ["a", "", "\u00e9", "b"], pa.large_string()),
    ("str", ["a", "b", "a", "a"], pa.dictionary(pa.int32(), pa.string())),
    ("bytes", [b"", b"\xff", b"a", b"b"], pa.binary()),
    ("bytes", [b"ab", b"\xff\0", b"cd", b"ef"], pa.binary(2)),
    ("bytes", [b"ab", b"\xff\0", b"cd", b"ef"], pa.large_binary()),
    ("date", [0, 19_000, -719_162, 2_932_896], pa.date32()),
    ("date", [0, 19_000, -719_163, 2_932_897], pa.date32()),
    ("date", [0, 86_400_000, -86_400_000, 5], pa.date64()),
    ("datetime", [0, 1, -1, 10**15], pa.timestamp("us")),
    ("datetime", [0, 1, -1, 10**15], pa.timestamp("us", tz="Europe/Berlin")),
    ("datetime", [0, 1, -1, 10**9], pa.timestamp("ms", tz="UTC")),
    ("datetime", [0, 1000, 1, -1000], pa.timestamp("ns")),
    ("datetime", [0, 10**9, 10**12, -(10**12)], pa.timestamp("s")),
    ("datetime", [-62_135_596_800, 253_402_300_799, 0, 253_402_300_800], pa.timestamp("s", tz="UTC")),
    ("int", [None, None, None, None], pa.null()),
]


def column_of(values: list[Any], kind: pa.DataType, count: int, nulls: set[int]) -> pa.Array:
    repeated = [None if at in nulls else values[at % len(values)] for at in range(count)]
    if pa.types.is_dictionary(kind):
        return pa.array(repeated, kind.value_type).dictionary_encode()
    if pa.types.is_temporal(kind):
        whole = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return pa.array(repeated, whole).view(kind)
    return pa.array(repeated, kind)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(COLUMNS), st.booleans(), st.sets(st.integers(0, 30), max_size=2)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 30),
    st.integers(1, 30),
    st.integers(1, 400),
    st.integers(1, 12),
)
def test_columns_of_every_type_are_those_of_the_rows(
    columns: list[tuple[tuple[str, list[Any], pa.DataType], bool, set[int]]],
    count: int,
    group: int,
    size: int,
    chunk_size: int,
) -> None:
    names = [f"c{at}" for at in range(len(columns))]
    fields = [
        (name, PRESENT[kind] | None if optional else PRESENT[kind])
        for name, ((kind, _, _), optional, _) in zip(names, columns, strict=True)
    ]
    arrays = [column_of(values, kind, count, nulls) for (_, values, kind), _, nulls in columns]
    row_type = NamedTuple("Row", fields)  # type: ignore[misc]
    with written(b"", b"") as pattern:
        for path in sorted(Path(pattern).parent.iterdir()):
            pq.write_table(
                pa.table(dict(zip(reversed(names), reversed(arrays), strict=True))), path, row_group_size=group
            )
        assert_same(source("parquet", row_type, pattern), size=size, chunk_size=chunk_size)


class Inner(NamedTuple):
    x: int
    when: datetime | None


class Nested(NamedTuple):
    values: list[int | None]
    inner: Inner | None


def test_lists_and_nested_tuples_are_those_of_the_rows(tmp_path: Path) -> None:
    values = [[1, None], [], None, [3]] * 10
    inner = [{"x": 1, "when": datetime(2024, 1, 1)}, None, {"x": None, "when": None}, {"x": 2, "when": None}] * 10
    pq.write_table(pa.table({"values": values, "inner": inner}), tmp_path / "nested.parquet", row_group_size=7)
    assert_same(source("parquet", Nested, tmp_path / "nested.parquet"), size=1, chunk_size=3)


class Text(NamedTuple):
    text: str


def test_a_string_that_is_no_text_spoils_its_row_alone(tmp_path: Path) -> None:
    bad = pa.array([b"a", b"\xff", b"\xed\xa0\x80", b"b"] * 5).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"text": bad}), tmp_path / "bad.parquet", row_group_size=6)
    assert_same(source("parquet", Text, tmp_path / "bad.parquet"), size=1, chunk_size=4)


class Number(NamedTuple):
    number: int


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_damaged_file_gives_the_rows_before_the_damage(tmp_path: Path, place: float) -> None:
    path = tmp_path / "damaged.parquet"
    table = pa.table({"number": list(range(40_000))})
    pq.write_table(
        table,
        path,
        row_group_size=9000,
        compression="none",
        use_dictionary=False,
        data_page_size=4096,
        write_page_checksum=True,
    )
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 0xFF
    path.write_bytes(content)
    assert_same(source("parquet", Number, path), size=1, chunk_size=1000)


def test_a_file_that_is_no_parquet_file_is_an_error_when_it_is_reached(tmp_path: Path) -> None:
    pq.write_table(pa.table({"number": [1, 2]}), tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(b"number\n1\n")
    definition = source("parquet", Number, f"{tmp_path}/*.parquet")
    assert_same(definition, size=1, chunk_size=10)


def test_slices_are_of_row_groups_of_about_the_size(tmp_path: Path) -> None:
    pq.write_table(pa.table({"number": list(range(1000))}), tmp_path / "a.parquet", row_group_size=100)
    definition = source("parquet", Number, tmp_path / "a.parquet")
    one_each, all_in_one = slices_of(definition, size=1), slices_of(definition, size=10**6)
    assert one_each is not None
    assert [(each.start, each.stop, each.before) for each in one_each] == [(at, at + 1, 100 * at) for at in range(10)]
    assert all_in_one is not None
    assert [(each.start, each.stop, each.before) for each in all_in_one] == [(0, 10, 0)]


class One(NamedTuple):
    n: int


def test_a_file_with_other_row_groups_than_it_had_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    pq.write_table(pa.table({"n": range(100)}), path, row_group_size=10)
    definition = source("parquet", One, path)
    slices = slices_of(definition, size=1) or []
    for rows, group in ((50, 10), (100, 20), (200, 10)):
        pq.write_table(pa.table({"n": range(rows)}), path, row_group_size=group)
        if group == 10 and rows == 200:  # the same groups, and more
            (chunk,) = read_slice(definition, slices[-1], chunk_size=100)
            assert chunk.batch.column("n").to_pylist() == list(range(90, 100))
        else:
            with pytest.raises(SourceError, match="it has other row groups than when it was found"):
                list(read_slice(definition, slices[-1], chunk_size=100))


class Named(NamedTuple):
    n: int
    text: str


@pytest.mark.parametrize("groups", [[100], [3, 100, 3, 3], [100, 100, 1], [3, 0, 100]])
def test_a_row_group_that_is_too_large_is_cut_by_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: list[int]
) -> None:
    path = tmp_path / "file.parquet"
    with pq.ParquetWriter(path, pa.schema({"n": pa.int64(), "text": pa.string()})) as writer:
        for rows in groups:
            values = [None if at == 70 else at for at in range(rows)]
            texts = pa.array([str(at) for at in range(rows)], pa.string())
            writer.write_table(pa.table({"n": pa.array(values, pa.int64()), "text": texts}))
    monkeypatch.setattr(parquet_slices, "_LARGEST", 300)
    monkeypatch.setattr(parquet_format, "_BATCH", 8)
    definition = source("parquet", Named, path)
    for size in (1, 10**9):
        slices = slices_of(definition, size=size) or []
        assert [part.rows is not None for part in slices].count(True) >= 3
        assert_same(definition, size=size, chunk_size=5)
