"""As a stream: a state for each phone, and alerts that are appended in order, once for each batch."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle, StreamingQuery

from benchmarks.handwritten import calls as shared

SETTINGS = {
    "spark.driver.memory": "4g",
    # Two for each core: of a stream they cannot become more later.
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}

# A stream cannot number its rows: the calls come with numbers.
SCHEMA = f"row long, {shared.SCHEMA}"


class Speed(StatefulProcessor):
    """The last call of a phone. All calls of a phone in a batch are taken at once, in their order."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getValueState("last", "x double, y double, ts double")

    def handleInputRows(
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,
    ) -> Iterator[pd.DataFrame]:
        frames = list(rows)
        calls = frames[0] if len(frames) == 1 else pd.concat(frames)
        order = np.argsort(calls["row"].to_numpy())
        row, x, y, ts = (calls[name].to_numpy()[order] for name in ("row", "x", "y", "ts"))
        last = self.last.get()
        self.last.update((float(x[-1]), float(y[-1]), float(ts[-1])))
        if last is not None:
            row = np.concatenate(([-1], row))
            x, y, ts = (np.concatenate(([old], new)) for old, new in zip(last, (x, y, ts), strict=True))
        at = 1 + np.flatnonzero(ts[1:] > ts[:-1])
        dx, dy = x[at] - x[at - 1], y[at] - y[at - 1]
        speed = np.sqrt(dx * dx + dy * dy) / ((ts[at] - ts[at - 1]) / 3600)
        at, speed = at[speed > self.limit], speed[speed > self.limit]
        if len(at):
            yield pd.DataFrame({"row": row[at], "phone": key[0], "speed": speed, "ts": ts[at]})


def start(
    session: SparkSession, folder: str, out: str, checkpoint: str, files_at_once: int, area: str, limit: float
) -> StreamingQuery:
    """Process the files that are there, so many in a batch."""
    calls = (
        session.readStream.schema(SCHEMA)
        .option("header", True)
        .option("maxFilesPerTrigger", files_at_once)
        .csv(folder)
        .where(F.col("area") == area)
        .select("row", "phone", "x", "y", "ts")
    )
    alerts = calls.groupBy("phone").transformWithStateInPandas(Speed(limit), shared.ALERT, "Append", "None")
    writer = alerts.writeStream.foreachBatch(OrderedFile(out).append).option("checkpointLocation", checkpoint)
    return writer.trigger(availableNow=True).start()


class OrderedFile:
    """One CSV file of alerts in order; how long it is behind which batch is kept beside it."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.committed = Path(f"{path}.committed")

    def append(self, alerts: DataFrame, batch: int) -> None:
        found = alerts.toArrow()
        last, size = json.loads(self.committed.read_text()) if self.committed.exists() else (-1, 0)
        if batch <= last:
            return  # it had been written before Spark was killed
        with self.path.open("r+b" if size else "wb") as file:
            file.truncate(size)
            file.seek(size)
            ordered = found.sort_by("row").select(["phone", "speed", "ts"])
            pyarrow.csv.write_csv(ordered, file, pyarrow.csv.WriteOptions(include_header=not size))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        part = self.committed.with_suffix(".part")
        part.write_text(json.dumps((batch, size)))
        part.replace(self.committed)
