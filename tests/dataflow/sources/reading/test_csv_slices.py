"""A CSV file read in slices gives the rows that the row reader gives, whatever stands in it."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.dataflow.sources.reading import read_slice, slices_of
from anabranch.errors import SourceError
from anabranch.operators.base import Unreadable
from tests.dataflow.sources.reading.compare import assert_same, small_limits, source, written


class Numbers(NamedTuple):
    a: int
    b: float


class Place(NamedTuple):
    x: int
    names: list[str]


class Everything(NamedTuple):
    number: int
    real: float
    flag: bool
    text: str
    day: date
    moment: datetime
    data: bytes
    number_or_none: int | None
    real_or_none: float | None
    flag_or_none: bool | None
    text_or_none: str | None
    day_or_none: date | None
    moment_or_none: datetime | None
    values: list[int] | None
    place: Place | None


INTS = ["7", "-12", "9223372036854775807", "-9223372036854775808", "-0", "007"]
ODD_INTS = [
    "+5",
    "1_000",
    " 1",
    "1 ",
    "\t1",
    "0x1F",
    "-0x1",
    "9223372036854775808",
    "1.0",
    "1e3",
    "-",
    "--1",
    "",
    "\u0663",
]
FLOATS = ["1.5", "-2", "0.1", "1e5", "-0.0", "-0", "1E-7", "123456789.123456789", "4.9e-324", "5.", ".5"]
ODD_FLOATS = [
    "nan", "-nan", "NaN", "inf", "-INF", "Infinity", "-infinity", "1e999", "-1e999", "1e-999", "+1.5", ".", "e5", "1e",
    "1_0.0", "0x1p3", "0x10", " 1.5", "1.5 ", "", "nan(1)", "1.5f", "1,5", "tiny", "1" + "0" * 400, "--1", "1e5.5",
    "in",
]  # fmt: skip
BOOLS = ["true", "false", "TRUE", "False", "1", "0", "tRUE"]
ODD_BOOLS = ["yes", "t", "", " true", "true ", "2", "truefalse", "\u212a"]
TEXTS = ["a", "", "New York", "\u00e9\u00e8", "\U0001d11e", "null", "NA", "nan", "  ", "#", "'", "\\", "425"]
ODD_TEXTS = ["\ufeff", "\ufeffx", "\0", "\x0b", "\u2028", "\x85", "x" * 70, "\ufffe"]
DATES = ["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31"]
ODD_DATES = [
    "2023-02-29",
    "0000-01-01",
    "2024-13-01",
    "2024-2-9",
    "20240229",
    "",
    "-001-01-01",
    "2024-02-29T00:00",
    " 2024-02-29",
]
MOMENTS = [
    "2024-02-29T10:11:12",
    "2024-02-29 10:11",
    "2024-02-29",
    "2024-02-29T10:11:12.5",
    "1969-12-31T23:59:59.999999",
]
ZONED = ["2024-02-29T10:11:12Z", "2024-02-29T10:11:12.25+05:30", "2024-02-29 10:11-0800", "2024-02-29T10:11+05"]
ODD_MOMENTS = [
    "2024-02-29T10", "2024-02-29T101112", "2024-02-29T1011", "2024-02-29T24:00", "2024-02-29T10:11:60", "",
    "2024-02-29T10:11:12.", "2024-02-29T10:11:12.1234567", "2024-02-29t10:11", "2024-02-29T10:11:12z",
    "2024-02-30T10:11",
    "2024-02-29Z", "2024-02-29T10:60", "2024-02-29T10:11+24:00", "2024-02-29T10:11+05:60", "2024-02-29T10:11+23:59",
    "0001-01-01T00:00+01:00", "0001-01-01T00:00-01:00", "0000-12-31T23:59-01:00", "9999-12-31T23:59:59-00:01",
    "0000-01-01", "9999-12-31T23:59:59.999999", "0001-01-01", "2024-02-29T10:11:12-00:00", "2024-02-29T10:11:12 Z",
    "2024-02-29T10:11:12.5Z", "2024-02-29 10Z", "2024-02-29T10+01",
]  # fmt: skip
LISTS = ["[]", "[1,2]", "[1"]
PLACES = ['{"x":1,"names":[]}', '{"x":1,"names":["a"]}', '{"x":1}', "[]"]
CELLS = {
    "number": INTS, "real": FLOATS, "flag": BOOLS, "text": TEXTS, "day": DATES, "moment": MOMENTS, "data": ["AP8=", ""],
    "number_or_none": [*INTS, "", ""], "real_or_none": [*FLOATS, "", ""], "flag_or_none": [*BOOLS, ""],
    "text_or_none": TEXTS, "day_or_none": [*DATES, ""], "moment_or_none": [*MOMENTS, "", ""],
    "values": [*LISTS[:2], ""],
    "place": [*PLACES[:2], ""], "a": INTS, "b": FLOATS,
}  # fmt: skip
ODD_CELLS = [*ODD_INTS, *ODD_FLOATS, *ODD_BOOLS, *ODD_TEXTS, *ODD_DATES, *ODD_MOMENTS, *LISTS, *PLACES, *ZONED]
ALL_CELLS = [*INTS, *FLOATS, *BOOLS, *TEXTS, *DATES, *MOMENTS, *ODD_CELLS]
ODD_PIECES = [
    b'"', b'""', b'"x"y', b'x"y"', b'5" pipe', b"\r", b"\r\r\n", b"\n\n", b"\n\r\n", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b",",
    b",,", b"\0", b"\xef\xbb\xbf", b'\n"', b'"\n', b'","', b" ", b'"\r\n"', b'"a""b"', b'""""', b'"\r', b"\n \n",
]  # fmt: skip


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def as_cell(text: str, *, always: bool = False) -> bytes:
    return (quoted(text) if always or any(each in text for each in ',"\n\r') else text).encode("utf-8", "surrogatepass")


@st.composite
def csv_files(draw: st.DrawFn, row_type: type, names: list[str]) -> bytes:
    """Rows of good cells, with a few that are odd, and pieces that break the rows themselves."""
    order = draw(st.permutations(names))
    newline = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    quoting = draw(st.sampled_from([0.0, 0.0, 0.3]))
    oddness = draw(st.sampled_from([0.0, 0.0, 0.02, 0.2]))
    brokenness = draw(st.sampled_from([0.0, 0.0, 0.0, 0.02, 0.1]))
    zones = draw(st.sampled_from(["none", "all", "some"]))
    random = draw(st.randoms(use_true_random=False))
    moments = {"none": MOMENTS, "all": ZONED, "some": [*MOMENTS, *ZONED]}[zones]
    content = (
        draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\n"])) + b",".join(name.encode() for name in order) + newline
    )
    for _ in range(draw(st.integers(0, 25))):
        cells = []
        for name in order:
            good = moments if name == "moment" else [*moments, ""] if name == "moment_or_none" else CELLS[name]
            text = random.choice(ODD_CELLS if random.random() < oddness else good)
            cells.append(as_cell(text, always=random.random() < quoting))
        row = b",".join(cells) + (newline if random.random() < 0.95 else b"\n")
        while random.random() < brokenness:
            at = random.randrange(len(row))
            row = row[:at] + random.choice(ODD_PIECES) + row[at:]
        content += row
    return content if draw(st.booleans()) else content.rstrip(b"\n")


subsets = st.lists(st.sampled_from(Everything._fields), min_size=1, max_size=4, unique=True)
sizes = st.one_of(st.integers(1, 60), st.integers(1, 3000))
soup = st.lists(
    st.one_of(
        st.sampled_from(ODD_PIECES),
        st.sampled_from(
            [b"\n", b",", b"1", b'"', b"-2.5", b'"\n', b'"a"', b"\r\n", b"a,b\n", b"1,2\n", b'1,"2"\n', b"3,4.5\r\n"]
        ),
        st.binary(max_size=3),
    ),
    max_size=60,
).map(b"".join)


def subset_type(names: list[str]) -> type:
    annotations = Everything.__annotations__
    return NamedTuple("Subset", [(name, annotations[name]) for name in names])  # type: ignore[misc]


@settings(max_examples=300, deadline=None)
@given(st.data(), subsets, sizes, st.integers(1, 12), st.sampled_from([16, 64, 400, 2000]))
def test_columns_of_every_type_are_those_of_the_rows(
    data: st.DataObject, names: list[str], size: int, chunk_size: int, block: int
) -> None:
    row_type = subset_type(names)
    content = data.draw(csv_files(row_type, names))
    with written(content) as pattern, small_limits(block):
        assert_same(source("csv", row_type, pattern), size=size, chunk_size=chunk_size)


@settings(max_examples=300, deadline=None)
@given(soup, st.booleans(), sizes, st.integers(1, 5), st.sampled_from([1, 16, 200]), st.sampled_from([20, 90, 10_000]))
def test_quotes_newlines_and_bytes_that_are_no_text_are_cut_where_rows_end(
    content: bytes, header: bool, size: int, chunk_size: int, block: int, longest_row: int
) -> None:
    with written(content) as pattern, small_limits(block, longest_row):
        assert_same(source("csv", Numbers, pattern, header=header), size=size, chunk_size=chunk_size)
    with written(b"t,u\n" + content) as pattern, small_limits(block, longest_row):
        assert_same(source("csv", Text, pattern), size=size, chunk_size=chunk_size)


class Text(NamedTuple):
    t: str
    u: str


@settings(max_examples=100, deadline=None)
@given(soup, st.sampled_from([";", "\t", " ", "\0", "a", "2", "\x7f", ".", "-"]), sizes)
def test_any_delimiter_of_one_byte_separates_cells(content: bytes, delimiter: str, size: int) -> None:
    content = content.replace(b",", delimiter.encode())
    with written(content) as pattern, small_limits():
        assert_same(source("csv", Text, pattern, delimiter=delimiter, header=False), size=size, chunk_size=3)


@pytest.mark.parametrize("name", Everything._fields)
def test_a_cell_means_the_same_in_a_column_and_in_a_row(name: str) -> None:
    row_type = subset_type([name])
    for cell in ALL_CELLS:
        for more in (b"", b'"",x\n'):
            with written(f"{name},rest\n".encode() + as_cell(cell) + b",x\n" + more) as pattern:
                assert_same(source("csv", row_type, pattern), size=1000, chunk_size=1)


def test_each_file_has_its_own_header(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,1.5\n")
    (tmp_path / "2.csv").write_text("b,other,a\n2.5,x,2\n")
    definition = source("csv", Numbers, f"{tmp_path}/*.csv")
    assert_same(definition, size=1, chunk_size=10)


def test_a_file_without_a_column_is_an_error_when_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,1.5\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    (tmp_path / "3.csv").write_text("a,b\n1,1.5\n")
    definition = source("csv", Numbers, f"{tmp_path}/*.csv")
    assert_same(definition, size=1, chunk_size=10)
    slices = slices_of(definition)
    assert slices is not None
    assert len(slices) == 3
    with pytest.raises(SourceError, match="there is no column 'b'"):
        next(read_slice(definition, slices[1], chunk_size=10))


def test_a_bad_row_far_inside_a_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    rows = [f"{number},{number / 4}\n" for number in range(60_000)]
    for bad in (7, 31_000, 59_999):
        rows[bad] = f"x{bad},1\n"
    path.write_text("a,b\n" + "".join(rows))
    definition = source("csv", Numbers, path)
    slices = slices_of(definition, size=100_000)
    assert slices is not None
    found = [piece for each in slices for piece in read_slice(definition, each, chunk_size=1000)]
    assert [piece.where for piece in found if isinstance(piece, Unreadable)] == [
        f"{path}:{bad + 2}" for bad in (7, 31_000, 59_999)
    ]
    assert_same(definition, size=100_000, chunk_size=1000)
