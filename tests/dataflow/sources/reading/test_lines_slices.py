"""Plain lines read in slices are the lines that the row reader gives, with their numbers."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dataflow.sources.reading.compare import assert_same, small_limits, source, written


class Line(NamedTuple):
    text: str


class NumberedLine(NamedTuple):
    number: int
    text: str


class LineWithNumber(NamedTuple):
    text: str
    number: int


PIECES = [
    b"a",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\r\r\n",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"\0",
    b"\x0b",
    b"\xe2\x80\xa8",
    b"long " * 9,
]
texts = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)
bad_texts = st.lists(st.sampled_from([*PIECES, b"\xff", b"\xc3", b"\xed\xa0\x80"]), max_size=60).map(b"".join)


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.one_of(texts, bad_texts), min_size=1, max_size=2),
    st.sampled_from([Line, NumberedLine, LineWithNumber]),
    st.integers(1, 200),
    st.integers(1, 12),
    st.sampled_from([1, 8, 50, 2000]),
    st.sampled_from([5, 40, 10_000]),
)
def test_lines_and_their_numbers_are_those_of_the_rows(
    contents: list[bytes], row_type: type, size: int, chunk_size: int, block: int, longest_row: int
) -> None:
    with written(*contents) as pattern, small_limits(block, longest_row):
        assert_same(source("lines", row_type, pattern), size=size, chunk_size=chunk_size)


@pytest.mark.parametrize("content", [b"", b"\n", b"\r", b"\r\n", b"\r\r", b"a\r", b"a\r\r", b"a\r\r\n", b"\n\r", b"a"])
def test_the_last_line_needs_no_newline(content: bytes) -> None:
    with written(content, b"x") as pattern:
        assert_same(source("lines", NumberedLine, pattern), size=100, chunk_size=10)
