"""CSV: the grammar of cells, quoting, line numbers, and rows that do not parse."""

from __future__ import annotations

import csv
import io
import math
import sys
import tracemalloc
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import SourceError
from anabranch.graph.schema import AttributeType, schema_of
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import text_lines
from anabranch.operators.formats.cells import cell_parser, cell_writer
from anabranch.operators.formats.csv_format import CSV
from anabranch.operators.formats.csv_records import csv_line, csv_records


class Call(NamedTuple):
    phone: int
    area: str


class Note(NamedTuple):
    text: str


def rows_of(content: str | bytes, row_type: type = Call, **options: Any) -> list[Any]:
    data = content.encode() if isinstance(content, str) else content
    return list(CSV.read_stream(io.BytesIO(data), "calls.csv", schema_of(row_type), **options))


def parse(kind: str, text: str) -> Any:
    return cell_parser(AttributeType(kind))(text)


# Cells ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", "42", 42),
        ("int", "+7", 7),
        ("int", "-9223372036854775808", -(2**63)),
        ("int", "0" * 6000 + "9", 9),
        ("int", "-000", 0),
        ("float", "1", 1.0),
        ("float", ".5", 0.5),
        ("float", "5.", 5.0),
        ("float", "-1.5E+3", -1500.0),
        ("float", "INF", math.inf),
        ("float", "-Infinity", -math.inf),
        ("bool", "TRUE", True),
        ("bool", "0", False),
        ("str", " kept as is ", " kept as is "),
        ("bytes", "AP8=", b"\x00\xff"),
        ("bytes", "", b""),
        ("date", "2024-02-29", date(2024, 2, 29)),
        ("datetime", "2024-02-29", datetime(2024, 2, 29)),
        ("datetime", "2024-02-29T10:11", datetime(2024, 2, 29, 10, 11)),
        ("datetime", "2024-02-29 10:11:12.5", datetime(2024, 2, 29, 10, 11, 12, 500000)),
        ("datetime", "2024-02-29T10:11:12Z", datetime(2024, 2, 29, 10, 11, 12, tzinfo=UTC)),
        ("datetime", "2024-02-29T10:11:12+0530", datetime(2024, 2, 29, 4, 41, 12, tzinfo=UTC)),
    ],
)
def test_a_cell_of_the_grammar_is_its_value(kind: str, text: str, value: Any) -> None:
    parsed = parse(kind, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *[("int", text) for text in ("", " 1", "1 ", "1_0", "1.0", "\u0663", "+", "0x1", str(2**63), "9" * 5000)],
        *[("float", text) for text in ("", " 1", "1_0", "1e", "e5", ".", "0x1p3", "\u0661.5", "na", "\u0131nf", "1,5")],
        *[("bool", text) for text in ("", "yes", "t", "2", " true", "ﬁ")],
        *[("bytes", text) for text in ("AP8", "A P8=", "AP8=\n", "é", "AP8==")],
        *[("date", text) for text in ("", "2024-2-1", "20240201", "2024-02-30", "2024-02-01T00:00", "2024-W01-1")],
        *[
            ("datetime", text)
            for text in (
                "", "2024-02-29x10:11", "20240229T101112", "2024-02-29T24:00", "2024-02-29T10", "2024-02-30T10:11",
                "2024-02-29T10:11:12,5", "2024-02-29T10:11:12.1234567", "2024-02-29T10:11 Z", "2024-02-29T10:60",
                "0001-01-01T00:00+10:00", "2024-02-29T10:11+99:00", "1709200000",
            )
        ],
    ],
)  # fmt: skip
def test_a_cell_outside_the_grammar_is_no_value(kind: str, text: str) -> None:
    with pytest.raises(ValueProblem):
        parse(kind, text)


@given(st.floats())
def test_the_text_of_a_float_is_read_back_as_the_same_bits(value: float) -> None:
    kind = AttributeType("float")
    assert repr(cell_parser(kind)(cell_writer(kind)(value))) == repr(value)


@pytest.mark.parametrize("kind", ["int", "float", "bool", "str", "bytes", "datetime", "date"])
def test_an_empty_cell_of_an_optional_attribute_is_none(kind: str) -> None:
    assert cell_parser(AttributeType(kind, optional=True))("") is None


def test_lists_and_nested_tuples_are_json_in_a_cell() -> None:
    class Trip(NamedTuple):
        stops: list[int]
        last: Call | None

    content = 'stops,last\n"[1,2]","{""phone"":1,""area"":""é""}"\n[],\n[1.5],\n'
    first, second, third = rows_of(content, Trip)
    assert first == Trip([1, 2], Call(1, "é"))
    assert second == Trip([], None)
    assert third.message == "column 'stops': int expected, got 1.5"
    encode = CSV.encoder(schema_of(Trip))
    assert encode(first) == '"[1,2]","{""phone"":1,""area"":""é""}"\n'


# Rows -------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name_and_extra_ones_ignored() -> None:
    assert rows_of("area,x,phone\nA,?,1\n") == [Call(1, "A")]


def test_without_a_header_columns_are_taken_by_position() -> None:
    assert rows_of("1,A\n2,B\n", header=False) == [Call(1, "A"), Call(2, "B")]


def test_a_missing_column_is_an_error_of_the_file_that_lists_what_it_has() -> None:
    with pytest.raises(SourceError) as caught:
        rows_of("phone,zone\n1,A\n")
    assert caught.value.message == "calls.csv: there is no column 'area'; the file has phone, zone"
    assert "header=False" in str(caught.value.hint)


def test_a_column_that_occurs_twice_is_an_error_of_the_file() -> None:
    with pytest.raises(SourceError, match="several columns 'phone'"):
        rows_of("phone,area,phone\n1,A,2\n")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_lacks_its_header(content: bytes) -> None:
    with pytest.raises(SourceError, match="is empty; a header row was expected"):
        rows_of(content)
    assert rows_of(content, header=False) == []


def test_a_header_alone_is_a_file_without_rows() -> None:
    assert rows_of("phone,area") == []


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_data() -> None:
    assert rows_of(b'\xef\xbb\xbfphone,area\r\n1,A\r\n2,"B"\r\n\r\n') == [Call(1, "A"), Call(2, "B")]


def test_a_bad_row_is_unreadable_at_its_place_and_the_next_is_read() -> None:
    rows = rows_of("phone,area\n1,A\nx,B\n3,C,D\n4\n5,E\n")
    assert rows == [
        Call(1, "A"),
        Unreadable("column 'phone': 'x' is not an int", "calls.csv:3", "x,B"),
        Unreadable("2 cells expected, got 3", "calls.csv:4", "3,C,D"),
        Unreadable("2 cells expected, got 1", "calls.csv:5", "4"),
        Call(5, "E"),
    ]


def test_line_numbers_count_physical_lines_inside_quotes_and_blank_ones() -> None:
    rows = rows_of('phone,area\n1,"a\n\nb"\n\nx,"c\nd"\ny,e\n')
    assert rows[0] == Call(1, "a\n\nb")
    assert [(row.where, row.raw) for row in rows[1:]] == [("calls.csv:6", 'x,"c\nd"'), ("calls.csv:8", "y,e")]


def test_a_windows_line_end_inside_quotes_belongs_to_the_cell() -> None:
    assert rows_of('phone,area\r\n1,"a\r\nb"\r\n') == [Call(1, "a\r\nb")]


def test_bytes_that_are_not_utf8_spoil_only_their_row() -> None:
    rows = rows_of(b'phone,area\n1,A\n2,\xff\n3,"x\n\xc3"\n4,D\n')
    assert rows[0] == Call(1, "A")
    assert rows[1].where == "calls.csv:3"
    assert rows[1].message == "not valid UTF-8: byte 0xff at position 3 of line 3"
    assert rows[1].raw == "2,\ufffd"
    assert rows[2].where == "calls.csv:4"
    assert rows[3] == Call(4, "D")


def test_a_quote_that_is_never_closed_is_one_unreadable_row() -> None:
    rows = rows_of('phone,area\n1,A\n2,"B\n3,C\n')
    assert rows[0] == Call(1, "A")
    assert [(row.message, row.where) for row in rows[1:]] == [("a quote is opened and never closed", "calls.csv:3")]


def test_text_after_a_closing_quote_spoils_the_row() -> None:
    rows = rows_of('phone,area\n1,"A"B\n2,C\n')
    assert "follows a closing quote" in rows[0].message
    assert rows[1] == Call(2, "C")


def test_a_quote_inside_an_unquoted_cell_is_a_character() -> None:
    assert rows_of('phone,area\n1,5" pipe\n') == [Call(1, '5" pipe')]


def test_a_lone_carriage_return_outside_quotes_spoils_the_row() -> None:
    rows = rows_of('phone,area\n1,A\rB\n2,"x",\r\n3,C\n')
    assert rows[0] == Unreadable("a carriage return outside quotes", "calls.csv:2", "1,A\rB")
    assert rows[2] == Call(3, "C")


def test_another_delimiter_is_used_for_reading_and_writing() -> None:
    assert rows_of("phone;area\n1;a,b\n", delimiter=";") == [Call(1, "a,b")]
    assert CSV.encoder(schema_of(Call), delimiter=";")(Call(1, "a;b")) == '1;"a;b"\n'


def test_cells_beyond_the_limit_of_the_standard_module_are_read_and_leave_it_alone() -> None:
    before = csv.field_size_limit()
    huge = "x" * (before + 1) + '""\n' * 1000
    assert rows_of(f'text\n"{huge}"\n{"y" * (before + 1)}\n', Note) == [
        Note(huge.replace('""', '"')),
        Note("y" * (before + 1)),
    ]
    assert csv.field_size_limit() == before


def test_a_row_too_long_to_hold_is_unreadable_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "LONGEST_ROW", 1000)
    monkeypatch.setattr(sys.modules["anabranch.operators.formats.csv_records"], "LONGEST_ROW", 1000)
    quoted = '"' + "z\n" * 2000 + '"'
    rows = rows_of(f"text\n{'x' * 5000}\na\n{quoted}\nb\n", Note)
    assert [row if isinstance(row, Note) else row.where for row in rows] == [
        "calls.csv:2", Note("a"), "calls.csv:4", Note("b"),
    ]  # fmt: skip
    assert all(len(row.raw) < 1100 for row in rows if isinstance(row, Unreadable))


def test_reading_takes_memory_for_a_row_and_not_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("phone,area\n" + '1,"A"\n' * 40_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in CSV.read(path, schema_of(Call))) == 40_000
        assert tracemalloc.get_traced_memory()[1] < 150_000
    finally:
        tracemalloc.stop()


cell_texts = st.text(st.sampled_from('ab",;\n\r é'), max_size=6)


@given(st.lists(st.lists(cell_texts, min_size=2, max_size=3), max_size=4))
@settings(max_examples=200, deadline=None)
def test_the_standard_module_reads_what_is_written_and_the_other_way_round(rows: list[list[str]]) -> None:
    ours = "".join(csv_line(row, ",") for row in rows)
    assert list(csv.reader(io.StringIO(ours, newline=""))) == rows
    theirs = io.StringIO(newline="")
    csv.writer(theirs).writerows(rows)
    lines = text_lines.text_lines(io.BytesIO(theirs.getvalue().encode()), "rows")
    assert [record.cells for record in csv_records(lines, ",")] == rows


@given(st.text(st.sampled_from('ab",\n'), max_size=20))
@settings(max_examples=300, deadline=None)
def test_records_are_those_of_the_standard_module_where_that_finds_no_fault(content: str) -> None:
    try:
        expected = [row for row in csv.reader(io.StringIO(content, newline=""), strict=True) if row]
    except csv.Error:
        expected = None
    found = list(csv_records(text_lines.text_lines(io.BytesIO(content.encode()), "rows"), ","))
    assert (expected is None) == any(record.problem for record in found)
    if expected is not None:
        assert [record.cells for record in found] == expected
