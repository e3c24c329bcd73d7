"""Whether a checkpoint is what was written, as a whole: asked before Spark starts and before any output is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from anabranch.dataflow.sources.reading import Slice
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from anabranch.dataflow.streams.entries import EntryLog
from anabranch.dataflow.streams.sealed_files import DamagedCheckpoint, read_sealed
from anabranch.engines.spark.streams.spark_files import SparkLogs, check_files, read_logs
from anabranch.graph.model import Graph
from anabranch.operators.sinks.base import SinkDefinition


def check_intact(checkpoint: Checkpoint) -> Commit | None:
    """What was committed last, if every file is as it was written and they agree; None where nothing has begun."""
    try:
        return _checked(checkpoint)
    except OSError as problem:
        path = Path(os.fsdecode(problem.filename or checkpoint.folder))
        raise DamagedCheckpoint(path, f"it cannot be read: {problem.strerror or problem}") from None


def _checked(checkpoint: Checkpoint) -> Commit | None:
    if checkpoint.identity() is None:
        return None
    commit = checkpoint.commit()
    if commit is None:  # it is written before anything arrives, and before Spark begins
        raise DamagedCheckpoint(checkpoint.folder / "commit.json", "it is missing")
    for name in commit.state:
        checkpoint.read_state(name)
    logs = read_logs(checkpoint.spark)
    check_files(checkpoint.spark, logs.done)
    log = EntryLog(checkpoint.arrivals)
    if checkpoint.arrivals.exists():
        log.look()
    _check_agreement(checkpoint, commit, logs, len(log))
    _check_spool(checkpoint, log, logs.planned.get(logs.done, 0))
    return commit


def _check_agreement(checkpoint: Checkpoint, commit: Commit, logs: SparkLogs, entries: int) -> None:
    """Each file may be whole, and yet older or newer than the others: then batches would be taken for others."""
    offsets = checkpoint.spark / "offsets"
    if commit.batch >= 0 and commit.batch not in logs.planned:
        raise DamagedCheckpoint(
            offsets, f"batch {commit.batch} was committed, and Spark's own checkpoint does not know of it"
        )
    if logs.done > commit.batch:
        raise DamagedCheckpoint(
            checkpoint.folder / "commit.json", f"it is of batch {commit.batch}, and Spark has done batch {logs.done}"
        )
    planned = logs.planned.get(commit.batch, 0)
    if commit.batch >= 0 and planned != commit.entries:
        raise DamagedCheckpoint(
            offsets / str(commit.batch), f"it goes to entry {planned:,}, and {commit.entries:,} were processed"
        )
    taken = max(commit.entries, *logs.planned.values(), 0)
    if entries < taken:
        raise DamagedCheckpoint(checkpoint.arrivals, f"{taken:,} entries were taken from it, and it has {entries:,}")


def _check_spool(checkpoint: Checkpoint, log: EntryLog, first: int) -> None:
    """Lines that were kept: those of batches which Spark may read again are there, and all are as they came."""
    spool = checkpoint.folder / "spool"
    for path in sorted(spool.glob("*/*.lines")):
        read_sealed(path)
    for entry in log.each(first, len(log)) if len(log) else ():
        kept = Path(entry.piece.path) if isinstance(entry.piece, Slice) else None
        if kept is not None and kept.is_relative_to(spool) and not kept.exists():
            raise DamagedCheckpoint(kept, "it is missing, and has lines that are still to be read")


def check_outputs_are_there(graph: Graph, commit: Commit, checkpoint: Checkpoint) -> None:
    """All that a commit says was written is in the outputs: looked at in all of them before the first is cut back."""
    for sink in graph.sinks:
        position = commit.sinks.get(sink.id)
        if position is not None:
            meaning = cast(SinkDefinition, sink.definition).meaning(sink)
            meaning.check_written(position, checkpoint.sink_folder(sink.id))
