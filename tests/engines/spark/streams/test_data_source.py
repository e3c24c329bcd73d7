"""What a batch takes is decided by the log of arrivals and the limit in bytes alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes

from anabranch.dataflow.sources.source_slices import Numbers
from anabranch.dataflow.streams.entries import Entry, EntryLog
from anabranch.engines.spark.streams import data_source
from anabranch.engines.spark.streams.data_source import Entries, _Reader


class Reading:
    """A reader over a log of entries of these sizes."""

    def __init__(self, folder: Path, *sizes: int, most_bytes: int = 100, tasks: int = 2) -> None:
        self.log = EntryLog(folder / "arrivals.jsonl")
        self.log.mend()
        self.add(*sizes)
        self.reader = _Reader(str(folder / "arrivals.jsonl"), b"", tasks, most_bytes, None)

    def add(self, *sizes: int) -> None:
        self.log.append([Entry("s", Numbers(at, at + 1), 1.5, size) for at, size in enumerate(sizes, len(self.log))])

    def latest(self, start: int, limit: ReadLimit | None = None) -> int:
        return self.reader.latestOffset({"entries": start}, limit or self.reader.getDefaultReadLimit())["entries"]


def test_a_batch_takes_as_many_entries_as_the_limit_allows(tmp_path: Path) -> None:
    reading = Reading(tmp_path, 40, 60, 1, 99, 1)
    assert [reading.latest(start) for start in range(6)] == [2, 3, 4, 5, 5, 5]
    assert reading.latest(0, ReadMaxBytes(39)) == 1
    assert reading.latest(0, ReadMaxBytes(101)) == 3
    assert reading.latest(0, ReadAllAvailable()) == 5


def test_an_entry_that_is_larger_than_a_batch_may_be_is_taken_alone(tmp_path: Path) -> None:
    reading = Reading(tmp_path, 10, 1_000, 10)
    assert [reading.latest(start) for start in range(4)] == [1, 2, 3, 3]


def test_a_batch_takes_not_too_many_entries_however_small_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_source, "_MOST_ENTRIES", 3)
    reading = Reading(tmp_path, *[0] * 8)
    assert [reading.latest(start) for start in (0, 3, 6, 8)] == [3, 6, 8, 8]


def test_what_is_appended_later_is_seen_and_changes_no_batch_that_was_planned(tmp_path: Path) -> None:
    reading = Reading(tmp_path, 60)
    assert reading.latest(0) == 1
    planned = reading.reader.partitions({"entries": 0}, {"entries": 1})
    reading.add(10, 10)
    assert reading.latest(1) == 3
    again = reading.reader.partitions({"entries": 0}, {"entries": 1})
    assert [part.entries for part in again] == [part.entries for part in planned]  # type: ignore[attr-defined]


def test_the_entries_of_a_batch_are_dealt_out_in_order(tmp_path: Path) -> None:
    reading = Reading(tmp_path, *[1] * 9, tasks=4)
    parts = reading.reader.partitions({"entries": 2}, {"entries": 9})
    assert all(isinstance(part, Entries) for part in parts)
    assert [part.value for part in parts] == [2, 4, 6, 8]
    found = [entry.piece for part in parts for entry in part.entries]  # type: ignore[attr-defined]
    assert found == [Numbers(at, at + 1) for at in range(2, 9)]
