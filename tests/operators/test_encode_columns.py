"""Rows that are encoded from Arrow columns are the very bytes that come from encoding one after the other."""

from __future__ import annotations

import math
import random
import struct
from datetime import UTC, date, datetime
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.codegen.columns import batch_of
from anabranch.graph.schema import Schema, schema_of
from anabranch.operators.formats import text_format
from anabranch.operators.formats.encode_columns import EncodedRows, column_encoder

# Values -------------------------------------------------------------------------------------------------------------

LIMITS = [0.0, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e7, 1e10, 1e15, 2.0**53, 1e16, 1e17, 1e22, 5e-324, 2.0**-24, 1e308]
NEAR_LIMITS = [
    sign * value
    for limit in LIMITS
    for value in (math.nextafter(limit, -math.inf), limit, math.nextafter(limit, math.inf), limit + 0.5)
    for sign in (1.0, -1.0)
]
floats = (
    st.floats()
    | st.sampled_from([*NEAR_LIMITS, math.inf, -math.inf, math.nan])
    | st.integers(-(2**60), 2**60).map(float)
    | st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)
)
special = [
    '"',
    '""',
    "a\nb",
    "\r",
    "x\r",
    "\r\n",
    ",",
    ";",
    "é",
    "\ufeff",
    "null",
    "\0",
    "\x1f",
    "\x7f",
    "\\",
    "\\n",
    '\\"',
]
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=6) | st.sampled_from(
    ["", *special, "\t\b\f", "\u2028", "𝄞", "plain", " "]
)
naive = st.datetimes() | st.sampled_from([datetime.min, datetime.max, datetime(1969, 12, 31, 23, 59, 59, 999999)])
ints = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 0])


Kind = tuple[Any, st.SearchStrategy[Any]]  # an annotation, and the values it allows


def scalars(zone: Any) -> list[Kind]:
    return [
        (int, ints),
        (float, floats),
        (bool, st.booleans()),
        (str, texts),
        (bytes, st.binary(max_size=5)),
        (datetime, naive.map(lambda value: value.replace(tzinfo=zone))),
        (date, st.dates() | st.sampled_from([date.min, date.max])),
    ]


def a_list(kind: Kind) -> Kind:
    return list[kind[0]], st.lists(kind[1], max_size=3)  # type: ignore[name-defined]  # made while the test runs


def a_tuple(kinds: list[Kind]) -> Kind:
    made: Any = NamedTuple("Made", [(f"m{at}", kind[0]) for at, kind in enumerate(kinds)])  # type: ignore[misc]
    return made, st.builds(made, *[kind[1] for kind in kinds])


def or_none(kind: Kind) -> Kind:
    return kind[0] | None, st.none() | kind[1]


def kinds(zone: Any) -> st.SearchStrategy[Kind]:
    scalar = st.sampled_from(scalars(zone))
    return st.recursive(
        scalar | scalar.map(or_none),
        lambda inner: (inner.map(a_list) | st.lists(inner, min_size=1, max_size=3).map(a_tuple)).flatmap(
            lambda kind: st.sampled_from([kind, or_none(kind)])
        ),
        max_leaves=4,
    )


NAMES = ["a", "straße", "n", "e"]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    zone = draw(st.sampled_from([None, UTC]))
    columns = draw(st.lists(kinds(zone), min_size=1, max_size=len(NAMES)))
    row: Any = NamedTuple("Row", [(name, kind[0]) for name, kind in zip(NAMES, columns, strict=False)])  # type: ignore[misc]
    rows = draw(st.lists(st.builds(row, *[kind[1] for kind in columns]), max_size=8))
    return schema_of(row), rows


# The same bytes -----------------------------------------------------------------------------------------------------


def row_by_row(format: str, schema: Schema, rows: list[Any], **options: Any) -> tuple[bytes, list[int]]:
    encode = text_format(format).encoder(schema, **options)
    lines = [encode(row).encode() for row in rows]
    return b"".join(lines), list(accumulate(map(len, lines)))


def encoded(format: str, schema: Schema, batch: pa.RecordBatch, **options: Any) -> EncodedRows | None:
    encode = column_encoder(format, schema, options)
    assert encode is not None
    return encode(batch)


def assert_same_bytes(format: str, schema: Schema, rows: list[Any], **options: Any) -> None:
    for start in (0, 1, 3):  # a slice of a batch has what is before it in its buffers
        found = encoded(format, schema, batch_of(schema, rows).slice(start), **options)
        assert found is not None
        data, ends = row_by_row(format, schema, rows[start:], **options)
        assert found.data == data
        assert found.ends.tolist() == ends


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(",;\t|é1.-+eanTs:=/{u\0𝄞"), st.booleans())
def test_csv_of_any_schema(table: tuple[Schema, list[Any]], delimiter: str, header: bool) -> None:
    assert_same_bytes("csv", *table, delimiter=delimiter, header=header)


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(tables())
def test_json_lines_of_any_schema(table: tuple[Schema, list[Any]]) -> None:
    assert_same_bytes("jsonl", *table)


class OneFloat(NamedTuple):
    x: float


class OneText(NamedTuple):
    text: str


class Texts(NamedTuple):
    text: str
    maybe: str | None
    last: list[str] | None


@pytest.mark.parametrize("delimiter", [",", ";", "é", "a", "\\"])
def test_every_special_character_is_quoted_where_it_must_be(delimiter: str) -> None:
    values = ["", "plain", *special, *[f"a{each}b" for each in special]]
    rows = [
        Texts(text, maybe, last) for text in values for maybe, last in [(None, None), (text, [text]), ("plain", [])]
    ]
    for each in (rows, *([row] for row in rows)):  # a column with other special ones, and without
        assert_same_bytes("csv", schema_of(Texts), each, delimiter=delimiter)
        assert_same_bytes("jsonl", schema_of(Texts), each)


def floats_of_all_sizes() -> list[float]:
    """Any bits, any power of ten, money, whole numbers, and those halfway between two shortest texts."""
    chance = random.Random(20240531)
    bits = [struct.unpack("d", chance.randbytes(8))[0] for _ in range(10_000)]
    sizes = [chance.choice((1, -1)) * chance.uniform(1, 10) * 10.0 ** chance.randint(-12, 20) for _ in range(20_000)]
    money = [round(chance.uniform(-1e6, 1e6), chance.randint(0, 6)) for _ in range(10_000)]
    whole = [float(chance.randint(-(10 ** chance.randint(1, 18)), 10**18)) for _ in range(10_000)]
    halfway = [
        (chance.getrandbits(53) >> chance.randint(0, 52) | 1) / 2.0 ** chance.randint(1, 40) for _ in range(20_000)
    ]
    return [*bits, *sizes, *money, *whole, *halfway, *NEAR_LIMITS]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_floats_are_written_as_python_does(format: str) -> None:
    assert_same_bytes(format, schema_of(OneFloat), [OneFloat(x) for x in floats_of_all_sizes()])


def test_a_column_of_whole_numbers_keeps_its_points() -> None:
    assert_same_bytes("csv", schema_of(OneFloat), [OneFloat(float(n)) for n in range(-5, 5)])


@given(st.lists(texts.filter(lambda text: "\n" not in text and not text.endswith("\r"))))
def test_lines_are_written_as_they_are(lines: list[str]) -> None:
    assert_same_bytes("lines", schema_of(OneText), [OneText(line) for line in lines])


# What goes row by row -----------------------------------------------------------------------------------------------


class Maybe(NamedTuple):
    inner: OneFloat | None
    many: list[int] | None


class OneDatetime(NamedTuple):
    at: datetime


class OneDate(NamedTuple):
    day: date


class Numbers(NamedTuple):
    many: list[int]


NOT_UNICODE = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(struct.pack("ii", 0, 3)), pa.py_buffer(b"\xed\xa0\x80")]
)
NO_NUMBER = pa.array([{"inner": {"x": None}}], pa.struct([("inner", pa.struct([("x", pa.float64())]))]))


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        pytest.param(OneText, [NOT_UNICODE], id="a lone surrogate"),
        pytest.param(OneText, [pa.array(["a"], pa.large_string())], id="another kind of string"),
        pytest.param(OneText, [pa.array([b"a"])], id="another type"),
        pytest.param(OneText, [pa.array(["a"]), pa.array(["a"])], id="another width"),
        pytest.param(OneFloat, [pa.array([1.0, None])], id="None where none may be"),
        pytest.param(Numbers, [pa.array([[1], [None]], pa.list_(pa.int64()))], id="None in a list"),
        pytest.param(
            Maybe, [NO_NUMBER.field("inner"), pa.array([[1]], pa.list_(pa.int64()))], id="None in a nested tuple"
        ),
        pytest.param(OneDatetime, [pa.array([2**60], pa.timestamp("us"))], id="a datetime after the last"),
        pytest.param(OneDatetime, [pa.array([0], pa.timestamp("ns"))], id="other ticks"),
        pytest.param(OneDatetime, [pa.array([0], pa.timestamp("us", "Asia/Tokyo"))], id="another zone"),
        pytest.param(OneDate, [pa.array([2**30], pa.date32())], id="a date after the last"),
    ],
)
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_what_is_no_batch_of_the_schema_goes_row_by_row(format: str, kind: Any, columns: list[pa.Array]) -> None:
    batch = pa.record_batch(columns, [f"c{at}" for at in range(len(columns))])
    assert encoded(format, schema_of(kind), batch) is None


def test_values_behind_a_none_do_not_matter() -> None:
    """Arrow allows anything where a tuple or a list is null."""
    inner = pa.StructArray.from_arrays(
        [pa.array([1.5, None, 2.5])],
        fields=[pa.field("x", pa.float64(), nullable=False)],
        mask=pa.array([False, True, True]),
    )
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), pa.array([7, 8, 9]), mask=pa.array([True, False, True])
    )
    found = encoded("jsonl", schema_of(Maybe), pa.record_batch([inner, lists], ["inner", "many"]))
    assert found is not None
    assert bytes(found.data).decode().splitlines() == [
        '{"inner":{"x":1.5},"many":null}',
        '{"inner":null,"many":[8]}',
        '{"inner":null,"many":null}',
    ]


@pytest.mark.parametrize("line", ["two\nlines", "ends in a return\r"])
def test_what_is_no_line_goes_row_by_row(line: str) -> None:
    batch = batch_of(schema_of(OneText), [OneText("a"), OneText(line), OneText("b")])
    assert encoded("lines", schema_of(OneText), batch) is None


def test_parquet_has_no_lines() -> None:
    assert column_encoder("parquet", schema_of(OneText), {}) is None
