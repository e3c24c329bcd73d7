"""The entries of a stream as a source of Spark's: how far it has come, and what each batch may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes

from anabranch.dataflow.streams.entries import Entry, EntryLog
from anabranch.dataflow.transport.shipping import unship
from anabranch.engines.spark.job.row_batches import ROW
from anabranch.engines.spark.job.tasks import in_batches
from anabranch.engines.spark.streams.handover import Handover

_MOST_ENTRIES = 1_000  # in a batch: each is an epoch, and has rows of its own in every channel


class Entries(InputPartition):
    """Entries that one task reads, which follow one another."""

    def __init__(self, first: int, entries: Sequence[Entry]) -> None:
        super().__init__(first)
        self.entries = entries


class _Reader(DataSourceStreamReader):
    """Offsets are numbers of entries: what a batch is made of is fixed by the log, whoever reads it and when."""

    def __init__(self, log: str, shipment: bytes, tasks: int, most_bytes: int, handover: Handover | None) -> None:
        self._log = log
        self._shipment = shipment
        self._tasks = tasks
        self._most_bytes = most_bytes
        self._handover = handover
        self._entries: EntryLog | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_entries": None}

    def _looked(self) -> EntryLog:
        if self._entries is None:
            self._entries = EntryLog(Path(self._log))
        self._entries.look()
        return self._entries

    def initialOffset(self) -> dict[str, int]:
        return {"entries": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxBytes(self._most_bytes)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        if self._handover is not None:
            self._handover.must_have_client()  # else the query would go on where nobody takes what it gives
        log = self._looked()
        first = stop = start["entries"]
        if isinstance(limit, ReadAllAvailable):
            return {"entries": len(log)}
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else self._most_bytes
        while stop < len(log) and stop - first < _MOST_ENTRIES and (stop == first or log.size(first, stop + 1) <= most):
            stop += 1
        return {"entries": stop}

    def reportLatestOffset(self) -> dict[str, int]:
        return {"entries": len(self._looked())}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        first, stop = start["entries"], end["entries"]
        entries = self._looked().entries(first, stop)
        each = max(1, -(-len(entries) // self._tasks))
        return [Entries(first + at, entries[at : at + each]) for at in range(0, len(entries), each)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from anabranch.dataflow.streams.entry_tasks import EntryTask

        assert isinstance(partition, Entries)
        job = unship(self._shipment)
        return in_batches(EntryTask(job).rows(partition.value, partition.entries), job)


def data_source(
    name: str, log: Path, shipment: bytes, tasks: int, most_bytes: int, handover: Handover | None
) -> type[DataSource]:
    """A class of its own for each stream, as Spark makes the source itself: all it needs travels with the class."""
    reader = partial(_Reader, str(log), shipment, tasks, most_bytes, handover)

    class EntrySource(DataSource):
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return ROW

        def streamReader(self, schema: Any) -> DataSourceStreamReader:
            return reader()

    return EntrySource
