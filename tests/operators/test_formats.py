"""Formats: what is written is read back, and no damage to a file raises anything but what it should."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import BuildError, SourceError
from anabranch.graph.schema import schema_of
from anabranch.graph.values import normalizer
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import FILE_FORMATS, TEXT_FORMATS, file_format, text_format


class Inner(NamedTuple):
    number: int
    words: list[str]
    when: datetime | None


class Everything(NamedTuple):
    whole: int
    real: float
    flag: bool
    text: str
    raw: bytes
    at: datetime
    day: date
    numbers: list[int]
    nested: Inner
    inners: list[Inner]
    maybe_whole: int | None
    maybe_real: float | None
    maybe_flag: bool | None
    maybe_text: str | None
    maybe_at: datetime | None
    maybe_day: date | None
    maybe_list: list[float | None] | None
    maybe_nested: Inner | None


class OneText(NamedTuple):
    text: str


class OneMaybe(NamedTuple):
    text: str | None


EVERYTHING = schema_of(Everything)

ints = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.sampled_from(
    ['"', '""', "a\nb", "\r", "\r\n", ",", " ", "\ufeff", "null", "\0", "NaN", "é", "\u2028"]
)
filled_texts = texts.filter(bool)
datetimes = st.datetimes(timezones=st.none())
inners = st.builds(Inner, ints, st.lists(texts, max_size=2), st.none() | datetimes)
everything = st.builds(
    Everything,
    ints, st.floats(), st.booleans(), texts, st.binary(max_size=5), datetimes, st.dates(),
    st.lists(ints, max_size=3), inners, st.lists(inners, max_size=2),
    st.none() | ints, st.none() | st.floats(), st.none() | st.booleans(), st.none() | filled_texts,
    st.none() | datetimes, st.none() | st.dates(),
    st.none() | st.lists(st.none() | st.floats(), max_size=3), st.none() | inners,
)  # fmt: skip

SAMPLE = Everything(
    -7, 0.1, True, 'say "hi",\nthen go', b"\x00\xff", datetime(2024, 2, 29, 23, 59, 59, 123456), date(1, 1, 1),
    [1, 2], Inner(3, ["é", ""], None), [Inner(4, [], datetime(1970, 1, 1))],
    None, -math.inf, False, None, None, None, [1.5, None], None,
)  # fmt: skip


def write(format_name: str, path: Path, row_type: type, rows: Iterable[Any], **options: Any) -> None:
    writer = file_format(format_name).writer(schema_of(row_type), **options)
    writer.open(path)
    for row in rows:
        writer.write(row)
    writer.close()


def read(format_name: str, path: Path, row_type: type, **options: Any) -> list[Any]:
    return list(file_format(format_name).read(path, schema_of(row_type), **options))


def with_nan_as_text(value: Any) -> Any:
    """NaN differs from itself, -0.0 equals 0.0: compare floats by what they look like, types included."""
    if isinstance(value, float):
        return f"float {value!r}"
    if isinstance(value, list | tuple):
        return (type(value), [with_nan_as_text(each) for each in value])
    return (type(value), value)


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
@given(rows=st.lists(everything, max_size=4))
@settings(max_examples=60, deadline=None)
def test_tuples_of_every_attribute_type_are_read_back_as_they_were_written(name: str, rows: list[Everything]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows")
        write(name, path, Everything, rows)
        assert with_nan_as_text(read(name, path, Everything)) == with_nan_as_text(rows)


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
@given(moment=st.datetimes(timezones=st.timezones(), min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
@settings(max_examples=30, deadline=None)
def test_datetimes_with_a_zone_are_read_back_as_the_same_moment_in_utc(name: str, moment: datetime) -> None:
    class Moment(NamedTuple):
        at: datetime

    normal = normalizer(schema_of(Moment))(Moment(moment))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows")
        write(name, path, Moment, [normal])
        [again] = read(name, path, Moment)
    assert again == normal
    assert again.at.tzinfo is UTC


@given(rows=st.lists(st.builds(OneText, texts), max_size=5), header=st.booleans(), delimiter=st.sampled_from(",;\t.|é"))
@settings(max_examples=100, deadline=None)
def test_csv_of_one_text_column_is_read_back_whatever_the_text(
    rows: list[OneText], header: bool, delimiter: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        write("csv", path, OneText, rows, header=header, delimiter=delimiter)
        assert read("csv", path, OneText, header=header, delimiter=delimiter) == rows


@given(rows=st.lists(st.builds(OneText, texts.filter(lambda text: "\n" not in text and not text.endswith("\r")))))
@settings(max_examples=100, deadline=None)
def test_lines_are_read_back_whatever_the_text(rows: list[OneText]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.txt")
        write("lines", path, OneText, rows)
        assert read("lines", path, OneText) == rows


def test_the_empty_string_of_an_optional_text_is_read_back_from_csv_as_none(tmp_path: Path) -> None:
    write("csv", tmp_path / "rows.csv", OneMaybe, [OneMaybe(""), OneMaybe(None), OneMaybe("x")])
    assert read("csv", tmp_path / "rows.csv", OneMaybe) == [OneMaybe(None), OneMaybe(None), OneMaybe("x")]


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
def test_the_empty_string_of_an_optional_text_stays_itself_elsewhere(name: str, tmp_path: Path) -> None:
    write(name, tmp_path / "rows", OneMaybe, [OneMaybe(""), OneMaybe(None)])
    assert read(name, tmp_path / "rows", OneMaybe) == [OneMaybe(""), OneMaybe(None)]


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_file_without_rows_is_read_back_as_no_rows(name: str, tmp_path: Path) -> None:
    write(name, tmp_path / "rows", OneText, [])
    assert read(name, tmp_path / "rows", OneText) == []


# Damage -----------------------------------------------------------------------------------------------------


def outcome(name: str, path: Path) -> list[Any] | None:
    """The rows of a damaged file, each in normal form or Unreadable; None where the file as a whole is bad."""
    try:
        rows = read(name, path, Everything)
    except SourceError as caught:
        problem = caught
    else:
        problem = None
    if problem is not None:
        assert str(path) in str(problem)
        return None
    for row in rows:
        if isinstance(row, Unreadable):
            assert row.message
            assert str(row.where).startswith(str(path))
            str(row.raw).encode()  # can be written somewhere
        else:
            assert with_nan_as_text(normalizer(EVERYTHING)(row)) == with_nan_as_text(row)
    return rows


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_a_file_cut_off_at_any_byte_gives_its_whole_rows_or_says_what_is_wrong(name: str, tmp_path: Path) -> None:
    write(name, tmp_path / "whole", Everything, [SAMPLE, SAMPLE])
    data = (tmp_path / "whole").read_bytes()
    for size in range(0, len(data), 7 if name == "parquet" else 1):
        (tmp_path / "cut").write_bytes(data[:size])
        rows = outcome(name, tmp_path / "cut")
        if name == "parquet":
            assert rows is None
        else:
            assert rows is None or all(row == SAMPLE for row in rows[:-1])


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_random_bytes_in_a_file_never_raise_anything_but_a_source_error(name: str, tmp_path: Path) -> None:
    write(name, tmp_path / "whole", Everything, [SAMPLE] * 20)
    data = (tmp_path / "whole").read_bytes()
    dice = random.Random(7)
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(dice.choice([1, 1, 2, 8])):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        (tmp_path / "damaged").write_bytes(damaged)
        outcome(name, tmp_path / "damaged")


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_file_of_noise_never_raises_anything_but_a_source_error(name: str, tmp_path: Path) -> None:
    dice = random.Random(7)
    for _ in range(50):
        (tmp_path / "noise").write_bytes(dice.randbytes(dice.randrange(200)))
        with suppress(SourceError) if name in ("csv", "parquet") else nullcontext():
            read(name, tmp_path / "noise", OneText)


# Files that cannot be opened --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_missing_file_is_a_source_error_that_names_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read(name, tmp_path / "calls.csv", OneText)
    assert caught.value.message == f"{tmp_path}/calls.csv: no such file"
    assert "current folder" in str(caught.value.hint)


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_directory_is_a_source_error_that_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a directory"):
        read(name, tmp_path, OneText)


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_a_file_that_may_not_be_read_is_a_source_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").touch()
    monkeypatch.setattr(Path, "open", refuse)  # file modes do not stop root, who may run these tests
    with pytest.raises(SourceError, match="secret: permission denied"):
        read(name, tmp_path / "secret", OneText)


def test_an_unknown_format_or_option_is_a_build_error() -> None:
    with pytest.raises(BuildError, match="no file format 'xml'"):
        file_format("xml")
    with pytest.raises(BuildError, match="no text format 'parquet'"):
        text_format("parquet")
    with pytest.raises(BuildError, match="no option 'sep'"):
        file_format("csv").check_options({"sep": ";"})
    for delimiter in ("", ",,", '"', "\n", 5):
        with pytest.raises(BuildError, match="cannot separate cells"):
            file_format("csv").check_options({"delimiter": delimiter})
    with pytest.raises(BuildError, match="header='no' is not a bool"):
        file_format("csv").check_options({"header": "no"})
    assert {text_format(name).name for name in TEXT_FORMATS} == set(TEXT_FORMATS)


def test_zones_are_turned_into_utc_when_text_is_read(tmp_path: Path) -> None:
    class Moment(NamedTuple):
        at: datetime

    (tmp_path / "rows.csv").write_text("at\n2024-01-01T01:00+01:00\n2024-01-01 00:00:00Z\n")
    moment = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert read("csv", tmp_path / "rows.csv", Moment) == [Moment(moment), Moment(moment)]
