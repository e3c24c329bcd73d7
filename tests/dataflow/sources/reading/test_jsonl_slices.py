"""JSON lines read in slices give the rows that the row reader gives, whatever stands in them."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dataflow.sources.reading.compare import assert_same, small_limits, source, written


class Place(NamedTuple):
    x: int


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
    text_or_none: str | None
    moment_or_none: datetime | None
    values: list[int]
    place: Place | None


GOOD = {
    "number": ["1", "-7", "9223372036854775807", "-0"],
    "real": ["1.5", "-2", "1e5", "-0.0", "12345678901234567890", "0.1"],
    "flag": ["true", "false"],
    "text": ['"a"', '""', '"\\u00e9"', '"\u00e9"', '"\\n"', '"\\""', '"\\ud834\\udd1e"', '"}{"', '"\\u0000"', '"1"'],
    "day": ['"2024-02-29"', '"0001-01-01"'],
    "moment": ['"2024-02-29T10:11:12"', '"2024-02-29"'],
    "data": ['"AP8="', '""'],
    "values": ["[]", "[1,2]"],
    "place": ['{"x":1}', "null"],
}
GOOD |= {f"{name}_or_none": [*GOOD[name], "null"] for name in ("number", "real", "text", "moment")}
ALL_GOOD = [value for values in GOOD.values() for value in values]
ODD = [
    "null", "1", "-0", "-0 ", "-0.0", "1.0", "1e3", "1E400", "-1e400", "1" + "0" * 310, "9223372036854775808", "01",
    "1.", ".5", "NaN", "Infinity", "-Infinity", "nan", "true", "True", '"a"', '""', '"\\ud800"', '"\\udc00\\ud800"',
    '"\\x"', '"\t"', "'a'", '"2024-02-29T10:11:12Z"', '"0000-01-01"', '"2023-02-29"', '"AP8"', "[]", "[1]", "{}",
    '{"x":2}', '{"x":2,"x":3}', "[" * 30 + "]" * 30, "+1", "0x1", "1_0", "", '"\u00e9', "\u00e9", '"\x7f"', "1/**/",
    "-", "1e", '"\\u00"', "1e-400", "0e0",
]  # fmt: skip
ODD_LINES = [
    b"", b"  ", b"\r", b"\t\r", b"{}", b"[]", b"1", b"null", b"{", b"}", b"}{", b"\xff", b'{"number":1}{"number":2}',
    b",", b'{"number":1} {"number":2}', b'{"number":1},', b'{"number":\n1}', b'{"number":1\n}', b'{"number":1}x',
    b"\xef\xbb\xbf", b'{"number":1} ', b' {"number":1}', b'{"number":[{"a":1}\n,{"a":2}]}', b'{"a":{}}',
    b'{"number"\n:1}\n{}{}', b"\0", b'{"text":"\xc3"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"a\nb"}',
]  # fmt: skip


@st.composite
def json_files(draw: st.DrawFn, names: list[str]) -> bytes:
    """Objects of good members, a few of them odd, there twice, missing or unknown; and lines that are no objects."""
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    oddness = draw(st.sampled_from([0.0, 0.0, 0.02, 0.1]))
    random = draw(st.randoms(use_true_random=False))
    content = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    for _ in range(draw(st.integers(0, 25))):
        members = []
        for name in names:
            value = random.choice(ODD if random.random() < oddness else GOOD[name])
            members.append(f'"{name}":{random.choice(["", "", " "])}{value}')
        if random.random() < oddness:
            members.append(random.choice(members))
        if random.random() < oddness:
            members.pop(random.randrange(len(members)))
        if random.random() < 0.1 + oddness:
            members.append(f'"other":{random.choice(ODD if random.random() < oddness else ALL_GOOD)}')
        if random.random() < oddness:
            members.append(f'"\\u006eumber":{random.choice(GOOD["number"])}')
        random.shuffle(members)
        content += ("{" + ",".join(members) + "}" + newline).encode("utf-8", "surrogatepass")
        if random.random() < oddness:
            content += random.choice(ODD_LINES) + newline.encode()
    return content if draw(st.booleans()) else content.rstrip(b"\n")


def subset_type(names: list[str]) -> type:
    return NamedTuple("Subset", [(name, Everything.__annotations__[name]) for name in names])  # type: ignore[misc]


def type_with_a_default(name: str) -> type:
    return subset_type([name, "number_or_none"] if name != "number_or_none" else [name])


subsets = st.lists(st.sampled_from(Everything._fields), min_size=1, max_size=4, unique=True)


@settings(max_examples=250, deadline=None)
@given(st.data(), subsets, st.integers(1, 3000), st.integers(1, 12), st.sampled_from([16, 64, 400, 5000]))
def test_columns_of_every_type_are_those_of_the_rows(
    data: st.DataObject, names: list[str], size: int, chunk_size: int, block: int
) -> None:
    with written(data.draw(json_files(names))) as pattern, small_limits(block):
        assert_same(source("jsonl", subset_type(names), pattern), size=size, chunk_size=chunk_size)


@pytest.mark.parametrize("name", Everything._fields)
def test_a_member_means_the_same_in_a_column_and_in_a_row(name: str) -> None:
    good = f'"{name}":{GOOD[name][0]}'
    for value in [*ODD, *ALL_GOOD]:
        for members in (f'"{name}":{value}', f'{good},"other":{value}', f'{good},"{name}":{value}'):
            with written(f"{{{members}}}\n".encode("utf-8", "surrogatepass")) as pattern:
                assert_same(source("jsonl", type_with_a_default(name), pattern), size=1000, chunk_size=10)


@pytest.mark.parametrize("broken", [
    b'{"number":1,"other":[{"a":1}\n,{"a":2}]}',
    b'{"number":1,"other":\n{"a":1}}', b'{"number":1}\n \n', b'{"number":1\n}',
])  # fmt: skip
def test_an_object_on_two_lines_and_two_on_one_are_not_three_lines_of_objects(broken: bytes) -> None:
    for lines in ([broken, b'{"number":2}{"number":3}'], [b'{"number":2}{"number":3}', broken], [broken]):
        with written(b"\n".join([b'{"number":0}', *lines, b'{"number":4}'])) as pattern:
            assert_same(source("jsonl", subset_type(["number"]), pattern), size=1000, chunk_size=10)


def test_a_byte_order_mark_inside_a_file_is_none() -> None:
    with written(b'\xef\xbb\xbf{"number":1}\n\xef\xbb\xbf{"number":2}\n') as pattern:
        for size in (1, 1000):
            assert_same(source("jsonl", subset_type(["number"]), pattern), size=size, chunk_size=10)


@pytest.mark.parametrize("first", ODD_LINES)
def test_lines_that_are_no_objects_stay_lines(first: bytes) -> None:
    row_type = subset_type(["number"])
    for second in [*ODD_LINES, b'{"number":1}']:
        for content in (first + b"\n" + second, b'{"number":1}\n' + first + b"\n" + second + b'\n{"number":1}'):
            with written(content) as pattern:
                assert_same(source("jsonl", row_type, pattern), size=1000, chunk_size=10)


@pytest.mark.parametrize("count", [250, 290, 299, 300, 320, 400, 5000])
@pytest.mark.parametrize("name", ["number", "real", "text"])
def test_numbers_of_hundreds_of_digits_mean_the_same_also_where_nobody_asks_for_them(count: int, name: str) -> None:
    digits = "9" * count
    for value in (digits, f"-{digits}", f"{digits}.5", f"1.{digits}", f"1e{digits}", f"0.{'0' * count}1e{count}"):
        lines = [f'{{"{name}":{GOOD[name][0]},"other":{value}}}', f'{{"{name}":{value}}}']
        for line in lines:
            with written((line + "\n").encode()) as pattern:
                assert_same(source("jsonl", subset_type([name]), pattern), size=10_000, chunk_size=10)


@pytest.mark.parametrize("depth", [10, 150, 250, 900, 100_000])
def test_what_is_nested_deeply_means_the_same_also_where_nobody_asks_for_it(depth: int) -> None:
    lists = "[" * depth + "]" * depth
    objects = '{"a":' * depth + "1" + "}" * depth
    for value in (lists, objects):
        content = f'{{"number":1,"other":{value}}}\n{{"number":2}}\n{{"number":{value}}}\n'.encode()
        with written(content) as pattern:
            assert_same(source("jsonl", subset_type(["number"]), pattern), size=10_000_000, chunk_size=10)
