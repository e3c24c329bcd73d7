"""A CSV text is cut only where the row reader ends a row."""

from __future__ import annotations

import io
from itertools import product
from typing import NamedTuple

import pytest

from anabranch.dataflow.sources.reading.cuts import ByteRange, end_of_rows, row_end_in
from anabranch.operators.formats.csv_records import csv_records
from anabranch.operators.formats.text_lines import text_lines
from tests.dataflow.sources.reading.compare import assert_same, small_limits, source, written


class Pair(NamedTuple):
    a: str
    b: str


def row_ends(content: bytes) -> list[int]:
    """Where the row reader ends a row; a quote that is never closed ends none."""
    within = ByteRange(io.BytesIO(content), 0, len(content))
    records = csv_records(text_lines(within, ""), ",")
    return [within.at for record in records if "never closed" not in (record.problem or "")]


def test_a_row_starts_at_every_cut_of_every_short_text() -> None:
    for characters in product(b',"\n\rx', repeat=6):
        content = bytes(characters)
        for least in (1, 3, 6):
            end = row_end_in(content, least, ",")
            if end is not None:
                assert end >= least
                before = content[:end]
                assert row_ends(before + b"x,y\n") == [*row_ends(before), end + 4], content


def test_whole_rows_of_what_has_come_so_far_are_found_in_every_short_text() -> None:
    for characters in product(b',"\n\rx', repeat=6):
        content = bytes(characters)
        for most in (1, 3, 6):
            end = end_of_rows(content, most, ",")
            before = content[:end]
            assert row_ends(before + b"x,y\n") == [*row_ends(before), end + 4], content
            ends = [place for place in row_ends(content) if content[place - 1] == ord("\n")]
            assert end > 0 or not ends, content  # where quotes are odd it may be less than all: the rest comes next
            assert end <= max(most, min(ends, default=end)), content


@pytest.mark.parametrize("size", [1, 2, 5, 9, 30])
@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf"a\nb"x,c\n"d\ne",f\n',
        b'\xef\xbb\xbf"a\nb",c\n"d\ne",f\n',
        b'\xef\xbb\xbf"a\nb',
        b'1,\r"\n",\n"x,y\n1,2\n',
        b'5" pipe,"a\nb"\n6" pipe,"c\nd"\n',
        b'"a"x"\n,"b"\n"c\n",d\n',
        b'"never\nclosed,1\n2,3\n',
    ],
)
def test_rows_of_odd_quotes_stay_whole(content: bytes, size: int) -> None:
    for block in (1, 8, 1000):
        with written(content) as pattern, small_limits(block):
            assert_same(source("csv", Pair, pattern, header=False), size=size, chunk_size=2)


def test_what_stands_far_inside_a_row_too_long_to_hold_opens_no_quotes() -> None:
    too_long = b"x" * 1050 + b',"' + b"y" * 200 + b"\n"
    content = b"1,2\n" + too_long + b'3,",\n4"\n5,6\n' + too_long + b'7,"8\n"\n' + too_long
    for size in range(1, 2600, 7):
        with written(content) as pattern, small_limits(2000, longest_row=1100):
            assert_same(source("csv", Pair, pattern, header=False), size=size, chunk_size=2)
