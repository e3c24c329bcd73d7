"""A file that is written from record batches is the one written from rows, and so is every error on the way."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.codegen.columns import batch_of
from anabranch.errors import Location, SinkError
from anabranch.graph.model import Operator, Port
from anabranch.graph.schema import schema_of
from anabranch.operators.formats import FILE_FORMATS, file_format, parquet_writer, text_writer
from anabranch.operators.sinks.write_file import WriteFile, WriteFileMeaning

HERE = Location("app.py", 12)


class Word(NamedTuple):
    text: str


class Stamped(NamedTuple):
    at: datetime | None
    others: list[datetime]


def meaning_of(name: str, path: Path | str, row_type: type[Any] = Word) -> WriteFileMeaning:
    definition = WriteFile(name, path)
    return definition.meaning(Operator("sink", definition, (Port("in", schema_of(row_type)),), (), HERE))


def feed(meaning: WriteFileMeaning, rows: list[Any]) -> Iterator[Any]:
    """Give the rows one by one; what was taken."""
    for row in rows:
        meaning.process(0, row)
        yield row


def feed_batch(meaning: WriteFileMeaning, rows: list[Any]) -> Iterator[Any]:
    """The same as an engine does it that has a batch."""
    taken = meaning.write_chunk(batch_of(meaning.operator.inputs[0].schema, rows)) if rows else 0
    yield from rows[:taken]
    yield from feed(meaning, rows[taken:])


Feed = Callable[[WriteFileMeaning, list[Any]], Iterator[Any]]


def outcome(meaning: WriteFileMeaning, parts: list[tuple[Feed, list[Any]]]) -> tuple[list[Any], list[str]]:
    """Which rows were taken, and every error with its place, closing included."""
    taken: list[Any] = []
    errors = []
    meaning.open()
    try:
        for give, rows in parts:
            taken.extend(give(meaning, rows))
    except SinkError as problem:
        errors.append(str(problem))
    try:
        meaning.close()
    except SinkError as problem:
        errors.append(f"closing: {problem}")
    return taken, errors


@contextmanager
def small(monkeypatch: pytest.MonkeyPatch, **sizes: int) -> Iterator[None]:
    """Small sizes, so that a few rows reach all of them."""
    with monkeypatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(parquet_writer if hasattr(parquet_writer, name) else text_writer, name, size)
        yield


words = st.text('ab"\\,é', max_size=12).map(Word)
feeds = st.sampled_from([feed, feed_batch])
parts = st.lists(st.tuples(feeds, st.lists(words, max_size=12)), max_size=5)
random_parts = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))


def by_rows(given_parts: list[tuple[Feed, list[Any]]]) -> list[tuple[Feed, list[Any]]]:
    return [(feed, rows) for _, rows in given_parts]


# Files --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILE_FORMATS)
@random_parts
@given(given_parts=parts)
def test_rows_and_batches_in_any_order_give_the_file_of_the_rows(
    name: str, given_parts: list[tuple[Feed, list[Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small(monkeypatch, _BUFFER=40, _ENCODED_ROWS=3, _ROW_GROUP=5):
        assert outcome(meaning_of(name, tmp_path / "mixed"), given_parts) == outcome(
            meaning_of(name, tmp_path / "rows"), by_rows(given_parts)
        )
    if name == "parquet":
        mixed, rows = [pq.ParquetFile(tmp_path / each) for each in ("mixed", "rows")]
        assert mixed.read().equals(rows.read())
        assert mixed.num_row_groups == rows.num_row_groups
    else:
        assert (tmp_path / "mixed").read_bytes() == (tmp_path / "rows").read_bytes()


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_the_file_is_at_its_place_only_when_it_is_closed(name: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")
    meaning = meaning_of(name, tmp_path / "out")
    meaning.open()
    rows = [Word(f"word {number}") for number in range(100_000)]  # several buffers, and more than a row group
    assert meaning.write_chunk(batch_of(schema_of(Word), rows)) == len(rows)
    assert (tmp_path / "out").read_text() == "before"
    meaning.close()
    assert list(file_format(name).read(tmp_path / "out", schema_of(Word))) == rows
    assert os.listdir(tmp_path) == ["out"]


# Errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_row_that_is_no_line_fails_at_its_place(at: int, tmp_path: Path) -> None:
    rows = [Word("fine")] * 5
    rows[at] = Word("two\nlines")
    taken, errors = outcome(meaning_of("lines", tmp_path / "out"), [(feed_batch, [Word("before")]), (feed_batch, rows)])
    assert taken == [Word("before"), *rows[:at]]
    assert len(errors) == 1
    assert "'two\\nlines' cannot be written as one line" in errors[0]
    assert (tmp_path / "out").read_text() == "before\n" + at * "fine\n"


@pytest.mark.parametrize("name", ["csv", "jsonl", "lines"])
@random_parts
@given(given_parts=parts, room=st.integers(8, 300))
def test_a_disk_that_fills_up_is_met_by_the_same_row_and_leaves_the_same_rows(
    name: str,
    given_parts: list[tuple[Feed, list[Any]]],
    room: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pwrite = os.pwrite

    def write_until_full(descriptor: int, data: Any, offset: int) -> int:
        if offset >= room:
            raise OSError(28, "No space left on device")
        return pwrite(descriptor, data[: room - offset], offset)

    def run(give_parts: list[tuple[Feed, list[Any]]]) -> tuple[Any, bytes]:
        return outcome(meaning_of(name, tmp_path / "out"), give_parts), (tmp_path / "out").read_bytes()

    with small(monkeypatch, _BUFFER=40, _ENCODED_ROWS=3), monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", write_until_full)
        assert run(given_parts) == run(by_rows(given_parts))


def test_a_pipe_that_is_closed_is_met_by_the_same_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Word(f"word {number}") for number in range(100)]

    def run(give: Feed) -> Any:
        os.mkfifo(tmp_path / "pipe")
        reader = threading.Thread(target=lambda: os.close(os.open(tmp_path / "pipe", os.O_RDONLY)))
        reader.start()
        meaning = meaning_of("csv", tmp_path / "pipe")
        meaning._writer._heading = ""  # type: ignore[attr-defined]  # the pipe may be closed before or after it
        meaning.open()
        reader.join()
        monkeypatch.setattr(meaning, "open", lambda: None)
        found = outcome(meaning, [(give, rows)])
        (tmp_path / "pipe").unlink()
        return found

    with small(monkeypatch, _BUFFER=200):
        taken, errors = run(feed)
        assert 0 < len(taken) < len(rows)
        assert len(errors) == 1
        assert run(feed_batch) == (taken, errors)


@pytest.mark.parametrize("at", [3, 5, 6])
def test_a_disk_that_fills_up_with_a_row_group_is_met_by_its_last_row(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    rows = [Word(f"word {number}") for number in range(at)]
    with small(monkeypatch, _ROW_GROUP=3), monkeypatch.context() as patch:
        patch.setattr(parquet_writer.pq.ParquetWriter, "write_table", fail)
        patch.setattr(parquet_writer.pq.ParquetWriter, "close", fail)
        taken, errors = outcome(meaning_of("parquet", tmp_path / "out"), [(feed_batch, rows)])
        assert (taken, errors) == outcome(meaning_of("parquet", tmp_path / "out"), [(feed, rows)])
    assert taken == rows[:2]
    assert "out: the disk is full" in errors[0]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_a_failure_that_nobody_asked_for_is_said_when_the_file_is_closed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with small(monkeypatch, _BUFFER=40, _ROW_GROUP=3), monkeypatch.context() as patch:
        meaning = meaning_of(name, tmp_path / "out")
        meaning.open()
        patch.setattr(os, "pwrite", fail)
        patch.setattr(parquet_writer.pq.ParquetWriter, "write_table", fail)
        assert meaning.write_chunk(batch_of(schema_of(Word), [Word("some words")] * 9)) < 9
        with pytest.raises(SinkError, match="the disk is full"):
            meaning.close()


# Datetimes in Parquet -----------------------------------------------------------------------------------------------

NAIVE, ZONED = datetime(2024, 5, 31, 12), datetime(2024, 5, 31, 12, tzinfo=UTC)
stamps = st.sampled_from([Stamped(None, []), Stamped(NAIVE, []), Stamped(ZONED, []), Stamped(NAIVE, [ZONED])])
uniform = [Stamped(None, []), Stamped(ZONED, []), Stamped(None, [NAIVE]), Stamped(ZONED, [NAIVE, NAIVE])]


@random_parts
@given(given_parts=st.lists(st.tuples(feeds, st.lists(st.sampled_from(uniform), max_size=4)), max_size=4))
def test_zones_are_those_of_the_first_datetimes_however_these_come(
    given_parts: list[tuple[Feed, list[Any]]], tmp_path: Path
) -> None:
    meanings = [meaning_of("parquet", tmp_path / each, Stamped) for each in ("mixed", "rows")]
    assert outcome(meanings[0], given_parts) == outcome(meanings[1], by_rows(given_parts))
    assert pq.read_table(tmp_path / "mixed").equals(pq.read_table(tmp_path / "rows"))


@random_parts
@given(given_parts=st.lists(st.tuples(feeds, st.lists(stamps, max_size=1)), max_size=4))
def test_a_datetime_unlike_those_before_it_fails_at_its_place(
    given_parts: list[tuple[Feed, list[Any]]], tmp_path: Path
) -> None:
    def run(give_parts: list[tuple[Feed, list[Any]]]) -> Any:
        return outcome(meaning_of("parquet", tmp_path / "out", Stamped), give_parts), pq.read_table(tmp_path / "out")

    assert run(given_parts) == run(by_rows(given_parts))
