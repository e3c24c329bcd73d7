"""DataFrames of Spark as sources and results: in the order that was asked for, on every engine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.operators.sinks import in_spark
from tests.codegen.exactness import exact


class Keyed(NamedTuple):
    key: str
    value: int


class Sums:
    def __init__(self) -> None:
        self.sum = 0

    def process(self, row: Keyed) -> Iterator[Keyed]:
        self.sum += row.value
        yield Keyed(row.key, self.sum)


class Inner(NamedTuple):
    a: int


class Every(NamedTuple):
    i: int
    f: float | None
    b: bool | None
    s: str | None
    y: bytes | None
    t: dt.datetime | None
    z: dt.datetime | None
    d: dt.date | None
    n: list[int] | None
    p: Inner | None


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 1, 123456)
ROWS = [
    Every(1, 1.5, True, "é", b"\xff", MOMENT, MOMENT.replace(tzinfo=dt.UTC), MOMENT.date(), [1, 2], Inner(3)),
    Every(2, float("nan"), False, "", b"", MOMENT, MOMENT.replace(tzinfo=dt.UTC), MOMENT.date(), [], Inner(-1)),
    Every(3, None, None, None, None, None, None, None, None, None),
]


def test_a_table_of_arrow_is_read_by_tasks(session: Any) -> None:
    table = pa.table({"key": [f"{n % 7}" for n in range(50_000)], "value": list(range(50_000))})
    program = ab.from_arrow(table, Keyed).process(Sums, key="key").collect("out")
    expected = ab.run(program, engine="sequential")
    found = ab.run(program, engine="spark", spark=session)
    assert found.items("out") == expected.items("out")
    assert found.metrics.notes == []


def test_rows_come_in_the_order_of_a_column_on_every_engine(session: Any) -> None:
    frame = session.createDataFrame([(f"{n % 3}", n * 7919 % 1000) for n in range(1000)], "key string, value bigint")
    frame = frame.repartition(5)
    expected = [Keyed(f"{n % 3}", n * 7919 % 1000) for n in range(1000)]
    expected.sort(key=lambda row: row.value)
    source = ab.from_spark(frame, Keyed, order_by="value")
    for how in ({"engine": "sequential"}, {"engine": "fused"}, {"engine": "spark", "spark": session}):
        assert ab.run(source.collect("out"), **how).items("out") == expected
    program = source.process(Sums, key="key").collect("out")
    sums = ab.run(program, engine="sequential").items("out")
    assert ab.run(program, engine="spark", spark=session).items("out") == sums


@pytest.mark.parametrize("is_large", [False, True])
def test_every_type_goes_out_and_comes_in_again(session: Any, is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_spark, "_LARGE", 0 if is_large else 1_000_000)
    result = ab.run(ab.from_items(Every, ROWS).collect("out"), engine="fused")
    frame = result.to_spark("out", session)
    assert [field.dataType.simpleString() for field in frame.schema][5:8] == ["timestamp_ntz", "timestamp", "date"]
    assert [row.i for row in frame.collect()] == [1, 2, 3]
    found = ab.run(ab.from_spark(frame, Every, order_by="i").collect("out"), engine="spark", spark=session)
    assert exact(found.items("out")) == exact(ROWS)


def test_ties_are_refused_unless_they_do_not_matter(session: Any) -> None:
    frame = session.createDataFrame([("a", 1), ("b", 2), ("c", 2), ("d", None)], "key string, value bigint")
    frame = frame.repartition(3).na.fill({"value": 9})
    source = ab.from_spark(frame, Keyed, order_by="value")
    for how in ({"engine": "sequential"}, {"engine": "spark", "spark": session}):
        with pytest.raises(ab.SourceError, match=r"several rows .* equal by order_by='value' \(2\)") as raised:
            ab.run(source.collect("out"), **how)
        assert raised.value.location is not None
        assert raised.value.location.file == __file__
    both = ab.from_spark(frame, Keyed, order_by=["value", "key"])
    assert [row.key for row in ab.run(both.collect("out"), engine="sequential").items("out")] == list("abcd")
    either = ab.run(ab.from_spark(frame, Keyed, order_by="value", ties="any").collect("out"), engine="sequential")
    assert sorted(row.key for row in either.items("out")) == list("abcd")


def test_what_is_no_frame_of_these_tuples_is_refused_at_the_users_line(session: Any) -> None:
    frame = session.createDataFrame([("a", 1)], "key string, val bigint")
    with pytest.raises(ab.BuildError, match="there is no column 'value' in the DataFrame"):
        ab.from_spark(frame, Keyed, order_by="val")
    with pytest.raises(ab.BuildError, match="order_by= names 'ts', which is no column"):
        ab.from_spark(frame.withColumnRenamed("val", "value"), Keyed, order_by="ts")
    with pytest.raises(ab.BuildError, match=r"decimal128\(5, 2\), which cannot be read as int") as raised:
        ab.from_spark(frame.selectExpr("key", "cast(val as decimal(5, 2)) value"), Keyed, order_by="key")
    assert 'df["value"].cast("bigint")' in str(raised.value)
    with pytest.raises(ab.BuildError, match="not a DataFrame of Spark"):
        ab.from_spark([Keyed("a", 1)], Keyed, order_by="value")
    with pytest.raises(ab.BuildError, match="order_by= names columns"):
        ab.from_spark(frame, Keyed, order_by=[])


def test_a_dataframe_that_fails_and_one_that_is_empty(session: Any) -> None:
    frame = session.createDataFrame([("a", 1)], "key string, value bigint")
    failing = frame.selectExpr("key", "cast(raise_error('no such customer') as bigint) value")
    with pytest.raises(ab.SourceError, match=r"the DataFrame cannot be read: .*no such customer"):
        ab.run(ab.from_spark(failing, Keyed, order_by="key").collect("out"), engine="sequential")
    empty = ab.from_spark(frame.where("value > 1"), Keyed, order_by="key").collect("out")
    assert ab.run(empty, engine="spark", spark=session).items("out") == []
    assert ab.run(empty, engine="fused").to_spark("out", session).count() == 0


class AllTypes(NamedTuple):
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
    ot: dt.datetime | None
    od: dt.date | None


def of_all_types(n: int) -> AllTypes:
    is_there = n % 3 != 0
    later = MOMENT + dt.timedelta(microseconds=n)
    return AllTypes(
        n - 2**40, float("nan") if n % 5 == 0 else n / 7, n % 2 == 0, "é" * (n % 4), bytes([n % 256]), later,
        later.replace(tzinfo=dt.UTC), dt.date(1970, 1, 1) + dt.timedelta(days=n), [n] * (n % 3), Inner(n),
        n if is_there else None, n / 3 if is_there else None, n % 2 == 0 if is_there else None,
        str(n) if is_there else None, later if is_there else None, later.date() if is_there else None,
    )  # fmt: skip


def same(row: AllTypes) -> AllTypes:
    return row


@pytest.mark.parametrize("made_of", ["arrow", "pandas", "polars"])
def test_frames_of_every_type_go_through_a_run_of_spark(made_of: str, session: Any) -> None:
    rows = [of_all_types(n) for n in range(400)]
    frame = getattr(ab.run(ab.from_items(AllTypes, rows).collect("out"), engine="fused"), f"to_{made_of}")("out")
    source = getattr(ab, f"from_{made_of}")(frame, AllTypes)
    result = ab.run(source.map(same).collect("out"), engine="spark", spark=session, channels=2)
    assert exact(result.items("out")) == exact(rows)
    given = getattr(result, f"to_{made_of}")("out")
    back = getattr(ab, f"from_{made_of}")(given, AllTypes).collect("out")
    assert exact(ab.run(back, engine="sequential").items("out")) == exact(rows)
    if made_of == "arrow":
        spark = result.to_spark("out", session)
        again = ab.from_spark(spark, AllTypes, order_by="i").collect("out")
        assert exact(ab.run(again, engine="spark", spark=session).items("out")) == exact(rows)
