"""Streams in a host: how long their micro-batches took, in Spark's own words."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import anabranch as ab
from anabranch.engines.spark.streams.query import Query
from benchmarks.spark.host import FOLDER

_MB = 2**20


def new_folder(name: str) -> Path:
    """An empty one: what a stream has left behind would make the next go on from there."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def start(session: Any, program: Any, folder: Path, batch_bytes: int, **options: Any) -> tuple[Query, Any]:
    """One of our programs as a stream, and what Spark calls its query. A batch takes one file, or so many bytes."""
    query = ab.start(program, checkpoint=folder / "checkpoint", batch_mb=batch_bytes / _MB, spark=session, **options)
    [of_spark] = [each for each in session.streams.active if str(each.id) not in _known]
    _known.add(str(of_spark.id))
    return query, of_spark


_known: set[str] = set()


def milliseconds(of_spark: Any) -> list[float]:
    """Of each batch, from the look for new data to the commit. The last is missing where a stop came before its end."""
    return [float(each.durationMs["triggerExecution"]) for each in _with_data(of_spark)]


def number_of_last(of_spark: Any) -> int:
    """Of the last batch that has ended."""
    return max((int(each.batchId) for each in _with_data(of_spark)), default=-1)


def seconds_of(of_spark: Any, first: int, stop: int) -> float:
    """How long some batches took together, with whatever was between them."""
    batches = _with_data(of_spark)[first:stop]
    assert len(batches) == stop - first, f"there are no {stop} batches"
    began, last = (datetime.fromisoformat(each.timestamp) for each in (batches[0], batches[-1]))
    return (last - began).total_seconds() + batches[-1].durationMs["triggerExecution"] / 1000


def _with_data(of_spark: Any) -> list[Any]:
    return [each for each in of_spark.recentProgress if each.numInputRows]
