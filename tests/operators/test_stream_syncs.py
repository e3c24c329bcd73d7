"""Files of streams: what a sync makes durable, what it says after a failure, and what it keeps besides rows."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from anabranch.codegen.columns import batch_of
from anabranch.errors import SinkError
from anabranch.graph.schema import schema_of
from anabranch.operators.formats import parquet_writer, text_writer
from tests.operators.streaming import (
    HERE,
    ONE,
    THREE,
    TWO,
    Word,
    by_rows,
    content,
    every_format,
    fail,
    file_sink,
    resumed,
    synced,
)


class Stamped(NamedTuple):
    at: datetime | None


# Durability ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def forced_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was forced out to the disk, in order."""
    names: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return names


def test_a_growing_file_is_forced_out_with_its_name_and_only_where_it_grew(
    tmp_path: Path, forced_out: list[str]
) -> None:
    out = tmp_path / "a" / "b" / "out.csv"
    meaning = resumed(file_sink("csv", out), None)
    position = synced(meaning, [ONE])
    assert sorted(forced_out[:-1]) == sorted([tmp_path.name, "a", "b"])
    assert forced_out[-1] == "out.csv"
    forced_out.clear()
    assert meaning.sync() == position
    assert resumed(file_sink("csv", out), position).sync() == position
    assert forced_out == []
    synced(meaning, [TWO])
    assert forced_out == ["out.csv"]


def test_a_part_is_forced_out_before_it_has_its_name_and_the_folder_behind_it(
    tmp_path: Path, forced_out: list[str]
) -> None:
    out = tmp_path / "out"
    meaning = resumed(file_sink("parquet", out), None)
    assert forced_out == [tmp_path.name]
    forced_out.clear()
    position = synced(meaning, [ONE])
    assert [name.partition("-")[0] for name in forced_out] == [".anabranch", "out"]
    forced_out.clear()
    assert meaning.sync() == position
    assert forced_out == []


# Failures -----------------------------------------------------------------------------------------------------------


@every_format
def test_rows_that_a_full_disk_cost_are_never_taken_for_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_writer, "_BUFFER", 20)
    monkeypatch.setattr(parquet_writer, "_ROW_GROUP", 5)
    meaning = resumed(file_sink(name, tmp_path / "out"), None)
    position = synced(meaning, [ONE])
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", fail)
        patch.setattr(parquet_writer.pq.ParquetWriter, "write_table", fail)
        with pytest.raises(SinkError, match="out: the disk is full"):
            by_rows(meaning, [TWO] * 10)
    for _ in range(2):  # the disk has room again, and still there are rows missing
        with suppress(SinkError):
            meaning.process(0, TWO)
        with pytest.raises(SinkError, match="out: the disk is full") as caught:
            meaning.sync()
        assert caught.value.location == HERE
    meaning.close()
    synced(resumed(meaning, position), [THREE])
    assert content(name, tmp_path / "out") == [ONE, THREE]


@every_format
def test_a_sync_that_failed_fails_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meaning = resumed(file_sink(name, tmp_path / "out"), None)
    position = synced(meaning, [ONE])
    by_rows(meaning, [TWO])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(SinkError, match="the disk is full"):
            meaning.sync()
    with pytest.raises(SinkError, match="the disk is full"):
        meaning.sync()
    meaning.close()
    resumed(meaning, position)
    assert content(name, tmp_path / "out") == [ONE]


def test_a_part_that_cannot_be_begun_fails_at_its_row_and_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meaning = resumed(file_sink("parquet", tmp_path / "out"), None)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail)
        assert meaning.write_chunk(batch_of(schema_of(Word), [ONE])) == 0
        with pytest.raises(SinkError, match="the disk is full"):
            meaning.process(0, ONE)
    meaning.process(0, TWO)
    with pytest.raises(SinkError, match="the disk is full"):
        meaning.sync()


def test_a_tuple_that_cannot_be_written_costs_only_itself(tmp_path: Path) -> None:
    meaning = resumed(file_sink("lines", tmp_path / "out"), None)
    meaning.process(0, ONE)
    with pytest.raises(SinkError, match="cannot be written as one line"):
        meaning.process(0, Word("two\nlines"))
    synced(meaning, [THREE])
    assert content("lines", tmp_path / "out") == [ONE, THREE]


# Datetimes in Parquet -----------------------------------------------------------------------------------------------

NAIVE, ZONED = Stamped(datetime(2024, 5, 31, 12)), Stamped(datetime(2024, 5, 31, 12, tzinfo=UTC))
ABSENT = Stamped(None)


def test_whether_datetimes_have_a_zone_is_decided_once_for_all_parts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    undecided = synced(resumed(file_sink("parquet", out, Stamped), None), [ABSENT])
    decided = synced(resumed(file_sink("parquet", out, Stamped), undecided), [ZONED, ABSENT])
    assert decided == {"parts": 2, "zones": {"at": True}}
    meaning = resumed(file_sink("parquet", out, Stamped), decided)
    with pytest.raises(SinkError) as caught:
        meaning.process(0, NAIVE)
    assert caught.value.message == (
        f"{out}: column 'at' cannot hold datetimes with a zone and without; "
        "2024-05-31 12:00:00 has none, unlike those before it"
    )
    assert meaning.write_chunk(batch_of(schema_of(Stamped), [NAIVE])) == 0
    assert meaning.sync() == decided, "there is no part without rows"
    synced(meaning, [ABSENT])
    parts = [pq.read_schema(file).field("at").type.tz for file in sorted(out.glob("*"))]
    assert parts == [None, "UTC", "UTC"]
    assert content("parquet", out, Stamped) == [ABSENT, ZONED, ABSENT, ABSENT]


@pytest.mark.parametrize("rows", [[NAIVE], [ABSENT, ABSENT, NAIVE]])
def test_a_datetime_without_a_zone_decides_also_behind_a_row_group_of_none(
    rows: list[Stamped], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_writer, "_ROW_GROUP", 2)
    meaning = resumed(file_sink("parquet", tmp_path / "out", Stamped), None)
    assert synced(meaning, [ABSENT, ABSENT, ABSENT]) == {"parts": 1}
    assert synced(meaning, rows) == {"parts": 2, "zones": {"at": False}}
    with pytest.raises(SinkError, match="cannot hold datetimes with a zone and without"):
        meaning.process(0, ZONED)
