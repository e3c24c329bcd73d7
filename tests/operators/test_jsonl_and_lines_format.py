"""JSON lines and plain lines: what is accepted, what is unreadable, and what is written."""

from __future__ import annotations

import io
import math
from datetime import date, datetime
from typing import Any, NamedTuple

import pytest

from anabranch.errors import BuildError, SinkError
from anabranch.graph.schema import schema_of
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import text_format
from anabranch.operators.formats.lines_format import check_lines_schema


class Place(NamedTuple):
    x: float
    name: str | None


class Call(NamedTuple):
    phone: int
    place: Place | None
    tags: list[str]


class Whole(NamedTuple):
    n: int


class Real(NamedTuple):
    f: float


class Line(NamedTuple):
    text: str


def rows_of(content: str | bytes, row_type: type, name: str = "jsonl") -> list[Any]:
    data = content.encode() if isinstance(content, str) else content
    return list(text_format(name).read_stream(io.BytesIO(data), "calls.jsonl", schema_of(row_type)))


def line_of(item: Any, name: str = "jsonl") -> str:
    return text_format(name).encoder(schema_of(type(item)))(item)


def test_members_are_found_by_name_and_extra_ones_ignored() -> None:
    content = '{"tags": ["a"], "extra": {}, "place": {"x": 1, "y": 2}, "phone": 7}\n'
    assert rows_of(content, Call) == [Call(7, Place(1.0, None), ["a"])]


def test_a_missing_member_is_none_where_that_is_allowed() -> None:
    assert rows_of('{"phone": 1, "tags": []}', Call) == [Call(1, None, [])]


def test_a_missing_member_that_is_needed_is_unreadable_and_the_row_says_what_it_has() -> None:
    [row] = rows_of('{"phone": 1, "place": null}', Call)
    assert row == Unreadable(
        "member 'tags' is missing; the object has phone, place", "calls.jsonl:1", '{"phone": 1, "place": null}'
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("true", "member 'n': int expected, got true"),
        ("1.0", "member 'n': int expected, got 1.0"),
        ("1e2", "member 'n': int expected, got 100.0"),
        ('"1"', "member 'n': int expected, got the string '1'"),
        ("null", "member 'n': int expected, got null"),
        ("[1]", "member 'n': int expected, got a list"),
        ("9223372036854775808", "member 'n': 9223372036854775808 does not fit into 64 bits"),
        ("9" * 5000, "member 'n': an int of 5,000 digits does not fit into 64 bits"),
    ],
)
def test_an_int_must_be_a_json_int_of_64_bits(value: str, message: str) -> None:
    [bad, good] = rows_of(f'{{"n": {value}}}\n{{"n": 5}}\n', Whole)
    assert bad.message == message
    assert good == Whole(5)


def test_a_float_may_be_an_int_or_one_of_the_special_literals_but_not_true() -> None:
    rows = rows_of('{"f": 3}\n{"f": -Infinity}\n{"f": NaN}\n{"f": true}\n', Real)
    assert rows[0] == Real(3.0)
    assert type(rows[0].f) is float
    assert rows[1] == Real(-math.inf)
    assert math.isnan(rows[2].f)
    assert rows[3].message == "member 'f': float expected, got true"


def test_bytes_dates_and_datetimes_are_strings() -> None:
    class Stamped(NamedTuple):
        raw: bytes
        day: date
        at: datetime

    item = Stamped(b"\x00\xff", date(2024, 2, 29), datetime(2024, 2, 29, 12))
    assert line_of(item) == '{"raw":"AP8=","day":"2024-02-29","at":"2024-02-29T12:00:00"}\n'
    assert rows_of(line_of(item), Stamped) == [item]
    [bad] = rows_of('{"raw": 5, "day": "2024-02-29", "at": "2024-02-29"}', Stamped)
    assert bad.message == "member 'raw': bytes as a string expected, got 5"


@pytest.mark.parametrize(
    "text", ["{", "[1]", "5", "null", '{"n": 1} x', "{'n': 1}", '{"n": 1,}', "[" * 100_000, '{"n":"\\ud800"}']
)
def test_what_is_not_an_object_of_this_type_is_unreadable_and_the_next_row_is_read(text: str) -> None:
    [bad, good] = rows_of(f'{text}\n{{"n": 1}}\n', Whole)
    assert isinstance(bad, Unreadable)
    assert (bad.where, bad.raw) == ("calls.jsonl:1", text)
    assert good == Whole(1)


def test_a_lone_surrogate_in_a_string_is_unreadable() -> None:
    [bad] = rows_of('{"text": "\\ud800"}', Line)
    assert "not valid Unicode" in bad.message


def test_blank_lines_windows_line_ends_and_a_byte_order_mark_are_skipped() -> None:
    assert rows_of(b'\xef\xbb\xbf{"n":1}\r\n\r\n  \n{"n":2}', Whole) == [Whole(1), Whole(2)]


def test_bytes_that_are_not_utf8_spoil_only_their_line() -> None:
    [bad, good] = rows_of(b'{"n": 1, "s": "\xff"}\n{"n": 2}\n', Whole)
    assert bad.message == "not valid UTF-8: byte 0xff at position 16 of line 1"
    assert good == Whole(2)


def test_an_object_is_written_compactly_with_its_members_in_order_of_the_attributes() -> None:
    item = Call(7, Place(math.nan, "Zürich"), ["a\nb"])
    assert line_of(item) == '{"phone":7,"place":{"x":NaN,"name":"Zürich"},"tags":["a\\nb"]}\n'


def test_no_rows_are_in_an_empty_file() -> None:
    assert rows_of("", Whole) == []
    assert rows_of("", Line, "lines") == []


# Plain lines ------------------------------------------------------------------------------------------------


def test_lines_end_at_newlines_only_and_lose_one_carriage_return() -> None:
    rows = rows_of("a\r\nb\rc\r\r\n\n\u2028\x0b\x0c\x85\nlast", Line, "lines")
    assert rows == [Line("a"), Line("b\rc\r"), Line(""), Line("\u2028\x0b\x0c\x85"), Line("last")]


def test_a_line_that_is_not_utf8_is_unreadable_at_its_place() -> None:
    rows = rows_of(b"a\n\xe9t\xe9\r\nb\n", Line, "lines")
    assert rows[0] == Line("a")
    assert (rows[1].where, rows[1].raw) == ("calls.jsonl:2", "\ufffdt\ufffd")
    assert rows[2] == Line("b")


@pytest.mark.parametrize("text", ["a\nb", "\n", "a\r"])
def test_text_that_would_not_be_read_back_as_one_line_is_not_written(text: str) -> None:
    with pytest.raises(SinkError, match="cannot be written as one line"):
        line_of(Line(text), "lines")


class NumberedLine(NamedTuple):
    number: int
    text: str


def test_a_line_that_is_read_may_be_told_its_number_in_the_file() -> None:
    rows = rows_of(b"a\n\xe9\nb\n", NumberedLine, "lines")
    assert [rows[0], rows[2]] == [NumberedLine(1, "a"), NumberedLine(3, "b")]


def test_a_line_that_is_written_has_no_number() -> None:
    text_format("lines").check_read_schema(schema_of(NumberedLine))
    with pytest.raises(BuildError, match="exactly one attribute, a str"):
        text_format("lines").check_schema(schema_of(NumberedLine))


class MaybeLine(NamedTuple):
    text: str | None


class TwoTexts(NamedTuple):
    a: str
    b: str


@pytest.mark.parametrize("row_type", [Whole, MaybeLine, TwoTexts])
def test_lines_need_a_type_with_exactly_one_text(row_type: type) -> None:
    with pytest.raises(BuildError, match="exactly one attribute, a str"):
        check_lines_schema(schema_of(row_type))
    with pytest.raises(BuildError, match="a line of text is a str"):
        text_format("lines").check_read_schema(schema_of(row_type))
    check_lines_schema(schema_of(Line))
