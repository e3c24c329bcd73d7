"""Frames of Arrow, pandas and Polars as sources: on every engine the same tuples as the rows that they hold."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.codegen.columns import batch_of
from anabranch.graph.schema import schema_of
from tests.codegen.exactness import exact
from tests.engines.every_engine import assert_same_everywhere

BERLIN = dt.timezone(dt.timedelta(hours=1))


class Inner(NamedTuple):
    a: int
    b: str | None


class Every(NamedTuple):
    i: int
    f: float
    b: bool
    s: str
    y: bytes
    t: dt.datetime
    z: dt.datetime
    d: dt.date
    n: list[int]
    p: Inner
    oi: int | None
    of: float | None
    ob: bool | None
    os: str | None
    oy: bytes | None
    ot: dt.datetime | None
    od: dt.date | None


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 1, 123456)
ROWS = [
    Every(
        -(2**63), math.nan, True, "é", b"\xff", MOMENT, MOMENT.replace(tzinfo=dt.UTC), dt.date(1, 1, 1), [1, 2],
        Inner(1, None), 2**63 - 1, math.inf, False, "", b"", dt.datetime.min, dt.date.max,
    ),
    Every(
        2**63 - 1, -0.0, False, "x" * 40, b"", dt.datetime.max, dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.date.max, [],
        Inner(-1, "b"), None, None, None, None, None, None, None,
    ),
]  # fmt: skip


def table_of(rows: list[Any]) -> pa.Table:
    return pa.Table.from_batches([batch_of(schema_of(type(rows[0])), rows)])


def given(source: Any) -> Any:
    """The tuples of a source, which all engines agree about."""
    collected, _, error = assert_same_everywhere(source.collect("out"))
    assert error is None
    return collected["out"]


def failure(source: Any) -> str:
    _, _, error = assert_same_everywhere(source.collect("out"))
    assert error is not None
    return error


def refused(make: Any) -> str:
    with pytest.raises(ab.BuildError) as raised:
        make()
    assert raised.value.location.file == __file__
    return str(raised.value)


# Every type of attributes, in and out ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["sequential", "fused"])
@pytest.mark.parametrize("made_of", ["arrow", "pandas", "polars"])
def test_every_type_goes_out_and_comes_in_again(engine: str, made_of: str) -> None:
    result = ab.run(ab.from_items(Every, ROWS * 3).collect("out"), engine=engine)
    frame = getattr(result, f"to_{made_of}")("out")
    source = getattr(ab, f"from_{made_of}")(frame, Every)
    assert given(source) == exact(ROWS * 3)


def test_what_came_as_columns_goes_out_as_columns_and_as_tuples() -> None:
    result = ab.run(ab.from_arrow(table_of(ROWS), Every).filter(lambda e: e.i != 0).collect("out"), engine="fused")
    assert exact(result.items("out")) == exact(ROWS)
    found = ab.run(ab.from_arrow(table_of(ROWS), Every).collect("out"), engine="fused").to_arrow("out")
    assert found.schema.equals(table_of(ROWS).schema)
    assert given(ab.from_arrow(found, Every)) == exact(ROWS)


def test_columns_are_found_by_name_and_others_are_ignored() -> None:
    class Pair(NamedTuple):
        b: int
        a: str

    table = pa.table({"a": ["x"], "c": [1.5], "b": [7]})
    for source in (
        ab.from_arrow(table, Pair),
        ab.from_pandas(table.to_pandas(), Pair),
        ab.from_polars(pl.from_arrow(table), Pair),
    ):
        assert given(source) == exact([Pair(7, "x")])


def test_streams_of_record_batches_are_read_when_the_source_is_built() -> None:
    class Number(NamedTuple):
        n: int

    batches = [pa.record_batch({"n": [1, 2]}), pa.record_batch({"n": [3]})]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    source = ab.from_arrow(reader, Number)
    for _ in range(2):
        assert given(source) == exact([Number(1), Number(2), Number(3)])
    assert given(ab.from_arrow(batches[1], Number)) == exact([Number(3)])
    assert given(ab.from_arrow(pl.DataFrame({"n": [4]}), Number)) == exact([Number(4)])
    assert given(ab.from_arrow(batches[0].schema.empty_table(), Number)) == exact([])


def test_several_frames_are_drawn_as_other_sources_are() -> None:
    class Event(NamedTuple):
        ts: int
        who: str

    a = pa.table({"ts": [1, 2, 3], "who": ["a"] * 3})
    b = pd.DataFrame({"ts": [2, 9], "who": ["b"] * 2})

    def drawn(**how: Any) -> Any:
        return given(ab.from_arrow(a, Event, **how).union(ab.from_pandas(b, Event, **how)))

    alternately = [(1, "a"), (2, "b"), (2, "a"), (9, "b"), (3, "a")]
    assert drawn() == exact([Event(*each) for each in alternately])
    by_order = [(1, "a"), (2, "a"), (2, "b"), (3, "a"), (9, "b")]
    assert drawn(order_by="ts") == exact([Event(*each) for each in by_order])


def test_a_frame_that_changes_later_does_not_change_the_program() -> None:
    class Number(NamedTuple):
        n: int

    frame = pd.DataFrame({"n": np.array([1, 2])})
    source = ab.from_pandas(frame, Number)
    frame.loc[0, "n"] = 99
    assert given(source) == exact([Number(1), Number(2)])


# What is missing ---------------------------------------------------------------------------------------------------


class Maybe(NamedTuple):
    v: Any


def maybe(kind: Any) -> Any:
    return NamedTuple("Maybe", [("v", kind)])


@pytest.mark.parametrize(
    ("series", "kind", "expected"),
    [
        (pd.Series([1.5, math.nan]), float | None, [1.5, math.nan]),  # a float like others
        (pd.Series([1.5, None], dtype="Float64"), float | None, [1.5, None]),
        (pd.Series([2**62 + 1, None], dtype="Int64"), int | None, [2**62 + 1, None]),
        (pd.Series([True, None], dtype="boolean"), bool | None, [True, None]),
        (pd.Series(["a", None], dtype="string"), str | None, ["a", None]),
        (pd.Series(["a", None, math.nan, pd.NA]), str | None, ["a", None, None, None]),
        (pd.Series([pd.Timestamp("2024-01-01"), pd.NaT]), dt.datetime | None, [dt.datetime(2024, 1, 1), None]),
        (pd.Series(["a", None, "a"]).astype("category"), str | None, ["a", None, "a"]),
        (pd.Series([3, None], dtype="category"), float | None, [3.0, None]),
        (pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64())), int | None, [1, None]),
        (pd.Series([dt.date(2024, 1, 1), None, pd.NaT]), dt.date | None, [dt.date(2024, 1, 1), None, None]),
        (pd.Series([[1, 2], None, np.array([3])]), list[int] | None, [[1, 2], None, [3]]),
        (pd.Series([{"a": 1, "b": None}, None]), Inner | None, [Inner(1, None), None]),
        (pd.Series([1, 2.5, np.float32(0.5)], dtype=object), float, [1.0, 2.5, 0.5]),
        (pd.Series([b"a", bytearray(b"b")]), bytes, [b"a", b"b"]),
    ],
)
def test_what_pandas_has_for_none(series: pd.Series, kind: Any, expected: list[Any]) -> None:
    made = maybe(kind)
    assert given(ab.from_pandas(pd.DataFrame({"v": series}), made)) == exact([made(value) for value in expected])


@pytest.mark.parametrize(
    ("array", "kind", "expected"),
    [
        (pa.array(["a", None, "b"]).dictionary_encode(), str | None, ["a", None, "b"]),
        (pa.array(["a", "b"], pa.large_string()), str, ["a", "b"]),
        (pa.array(["a", "b"], pa.string_view()), str, ["a", "b"]),
        (pa.array([b"a"], pa.large_binary()), bytes, [b"a"]),
        (pa.array([1, 2], pa.uint8()), int, [1, 2]),
        (pa.array([1, 2], pa.int16()), float, [1.0, 2.0]),
        (pa.array([1.5], pa.float16()), float, [1.5]),
        (pa.array([1000], pa.timestamp("ns")), dt.datetime, [dt.datetime(1970, 1, 1, 0, 0, 0, 1)]),
        (pa.array([0], pa.timestamp("s", "Europe/Berlin")), dt.datetime, [dt.datetime(1970, 1, 1, tzinfo=dt.UTC)]),
        (pa.array([0], pa.date64()), dt.date, [dt.date(1970, 1, 1)]),
        (pa.nulls(2), int | None, [None, None]),
        (pa.array([[1], None, []], pa.large_list(pa.int8())), list[int] | None, [[1], None, []]),
        (pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None])), str | None, ["a", None]),
    ],
)
def test_what_arrow_has_for_the_same_values(array: pa.Array, kind: Any, expected: list[Any]) -> None:
    made = maybe(kind)
    assert given(ab.from_arrow(pa.table({"v": array}), made)) == exact([made(value) for value in expected])


@pytest.mark.parametrize(
    ("series", "kind", "expected"),
    [
        (pl.Series(["a", None, "a"], dtype=pl.Categorical), str | None, ["a", None, "a"]),
        (pl.Series(["a"], dtype=pl.Enum(["a", "b"])), str, ["a"]),
        (pl.Series([dt.datetime(2024, 1, 1)], dtype=pl.Datetime("ns")), dt.datetime, [dt.datetime(2024, 1, 1)]),
        (pl.Series([math.nan, None]), float | None, [math.nan, None]),
        (pl.Series([[1], []]), list[int], [[1], []]),
        (pl.Series([{"a": 1, "b": "x"}]), Inner, [Inner(1, "x")]),
    ],
)
def test_what_polars_has_for_the_same_values(series: pl.Series, kind: Any, expected: list[Any]) -> None:
    made = maybe(kind)
    assert given(ab.from_polars(pl.DataFrame({"v": series}), made)) == exact([made(value) for value in expected])


# What cannot be read, row by row -----------------------------------------------------------------------------------

FINE = pd.Timestamp("2024-01-01T00:00:00.000000001")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (ab.from_arrow(pa.table({"v": [1, None]}), maybe(int)), "column 'v': null, where int is expected"),
        (ab.from_pandas(pd.DataFrame({"v": ["a", math.nan]}), maybe(str)), "nothing (nan), where str is expected"),
        (ab.from_pandas(pd.DataFrame({"v": [FINE - FINE + FINE, FINE]}), maybe(dt.datetime)), "has nanoseconds"),
        (ab.from_pandas(pd.DataFrame({"v": ["a", 5]}), maybe(str)), "str expected, got 5"),
        (ab.from_pandas(pd.DataFrame({"v": [1, 2**70]}), maybe(int)), "does not fit into 64 bits"),
        (ab.from_pandas(pd.DataFrame({"v": [dt.date.min, dt.datetime.min]}), maybe(dt.date)), "date expected"),
        (ab.from_pandas(pd.DataFrame({"v": ["a", b"a"]}), maybe(str)), "str expected, got b'a'"),
        (ab.from_pandas(pd.DataFrame({"v": [[1], 2]}), maybe(list[int])), "list expected, got 2"),
        (ab.from_pandas(pd.DataFrame({"v": [{"a": 1, "b": ""}, {}]}), maybe(Inner)), "Inner expected, got {}"),
        (ab.from_arrow(pa.table({"v": pa.array([1, 2**64 - 1], pa.uint64())}), maybe(int)), "64 bits"),
        (ab.from_polars(pl.DataFrame({"v": [1, None]}), maybe(int)), "null, where int is expected"),
    ],
)
def test_a_row_that_is_no_tuple_stops_the_run_with_its_number(source: Any, message: str) -> None:
    error = failure(source)
    assert message in error
    assert "row 2" in error or FINE.isoformat()[:10] in error


def test_on_error_governs_rows() -> None:
    table = pa.table({"v": [1, None, 3]})
    kind = maybe(int)
    skipping = ab.from_arrow(table, kind, on_error="skip")
    collected, skipped, _ = assert_same_everywhere(skipping.collect("out"))
    assert (collected["out"], list(skipped.values())) == (exact([kind(1), kind(3)]), [1])
    source = ab.from_arrow(table, kind, on_error="dead_letter")
    collected, _, _ = assert_same_everywhere(source.collect("out"), source.outputs.dead_letter.collect("bad"))
    assert "where int is expected" in str(collected["bad"])


# What no frame can be ----------------------------------------------------------------------------------------------


class Sensor(NamedTuple):
    sensor: str
    value: float


def test_a_column_that_is_missing_is_said_at_the_users_line() -> None:
    said = refused(lambda: ab.from_arrow(pa.table({"sensor": ["a"], "val": [1.0]}), Sensor))
    assert "there is no column 'value' in the table, which Sensor needs; its columns are sensor, val" in said
    indexed = pd.DataFrame({"sensor": ["a"], "value": [1.0]}).set_index("value")
    assert "frame.reset_index()" in refused(lambda: ab.from_pandas(indexed, Sensor))
    assert "no column 'value'" in refused(lambda: ab.from_polars(pl.DataFrame({"sensor": ["a"]}), Sensor))


def test_a_column_that_is_there_twice_is_refused() -> None:
    twice = pa.table([pa.array(["a"]), pa.array([1.0]), pa.array([2.0])], names=["sensor", "value", "value"])
    assert "there are 2 columns 'value'" in refused(lambda: ab.from_arrow(twice, Sensor))
    frame = pd.DataFrame([["a", 1.0, 2.0]], columns=["sensor", "value", "value"])
    assert "there are 2 columns 'value'" in refused(lambda: ab.from_pandas(frame, Sensor))
    other = pd.DataFrame([["a", 1.0, 2.0, 3.0]], columns=["sensor", "value", "x", "x"])
    assert given(ab.from_pandas(other, Sensor)) == exact([Sensor("a", 1.0)])


def sparse(values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"v": pd.arrays.SparseArray(values)})


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (
            lambda: ab.from_arrow(pa.table({"sensor": ["a"], "value": ["1"]}), Sensor),
            "column 'value' is of type string, which cannot be read as float",
            'table["value"].cast(pa.float64())',
        ),
        (
            lambda: ab.from_pandas(pd.DataFrame({"sensor": [1], "value": [1.0]}), Sensor),
            "column 'sensor' is of type int64, which cannot be read as str",
            'frame["sensor"].astype("string")',
        ),
        (
            lambda: ab.from_polars(pl.DataFrame({"sensor": ["a"], "value": [True]}), Sensor),
            "column 'value' is of type bool, which cannot be read as float",
            'frame.with_columns(pl.col("value").cast(pl.Float64))',
        ),
        (
            lambda: ab.from_arrow(pa.table({"v": pa.array([1], pa.decimal128(5, 2))}), maybe(float)),
            "is of type decimal128(5, 2), which cannot be read as float",
            "convert it before, where that loses nothing",
        ),
        (
            lambda: ab.from_pandas(pd.DataFrame({"v": pd.Series(["1.5"], dtype="string")}), maybe(float)),
            "column 'v' is of type string, which cannot be read as float",
            'frame["v"].astype("float64")',
        ),
        (
            lambda: ab.from_pandas(pd.DataFrame({"v": [1j]}), maybe(float)),
            "column 'v' is of type complex128, which cannot be read as float",
            "convert it before",
        ),
        (
            lambda: ab.from_pandas(pd.DataFrame({"v": pd.to_datetime(["2024-01-01"])}), maybe(dt.date)),
            "cannot be read as date",
            'frame["v"].dt.date',
        ),
        *(
            (
                lambda values=values, kind=kind: ab.from_pandas(
                    pd.DataFrame({"v": pd.arrays.SparseArray(values)}), maybe(kind)
                ),
                "column 'v' is sparse (Sparse[",
                'frame["v"].sparse.to_dense()',
            )
            for values, kind in (([0, 0, 1], int), ([0.0, 1.5], float), ([True, False], bool), (["a", None], str))
        ),
    ],
)
def test_a_column_of_another_type_is_refused_with_what_to_do(make: Any, message: str, hint: str) -> None:
    said = refused(make)
    assert message in said
    assert hint in said


def test_what_is_no_frame_is_told_where_it_belongs() -> None:
    assert "a DataFrame goes to ab.from_polars" in refused(lambda: ab.from_pandas(pl.DataFrame({"v": [1]}), Sensor))
    assert "frame.collect()" in refused(lambda: ab.from_polars(pl.LazyFrame({"v": [1]}), Sensor))
    assert "ab.from_items" in refused(lambda: ab.from_arrow([Sensor("a", 1.0)], Sensor))
    assert "to_frame" in refused(lambda: ab.from_pandas(pd.Series([1.0]), Sensor))


def test_a_stream_that_breaks_off_is_said_at_the_users_line() -> None:
    def batches() -> Any:
        yield pa.record_batch({"sensor": ["a"], "value": [1.0]})
        raise OSError("the connection was lost")

    schema = pa.schema({"sensor": pa.string(), "value": pa.float64()})
    said = refused(lambda: ab.from_arrow(pa.RecordBatchReader.from_batches(schema, batches()), Sensor))
    assert "the Arrow data cannot be read: " in said
    assert "the connection was lost" in said


# Results -----------------------------------------------------------------------------------------------------------


def test_results_keep_none_apart_from_nan() -> None:
    kind = maybe(float | None)
    result = ab.run(ab.from_items(kind, [kind(math.nan), kind(None)]).collect("out"), engine="sequential")
    frame = result.to_pandas("out")
    assert frame["v"].isna().tolist() == [False, True] or str(frame["v"].dtype) == "Float64"
    assert given(ab.from_pandas(frame, kind)) == exact([kind(math.nan), kind(None)])


def test_results_without_columns_and_names_that_are_not_there_are_told() -> None:
    kind = maybe(dt.datetime)
    rows = [kind(MOMENT), kind(MOMENT.replace(tzinfo=dt.UTC))]
    result = ab.run(ab.from_items(kind, rows).collect("out"), engine="fused")
    with pytest.raises(ab.UsageError, match=r"(?s)has no columns: .*give all datetimes of an attribute a zone"):
        result.to_arrow("out")
    with pytest.raises(ab.UsageError, match="nothing was collected as 'other'"):
        result.to_pandas("other")
    assert ab.run(ab.from_items(kind, []).collect("out"), engine="fused").to_polars("out").shape == (0, 1)
