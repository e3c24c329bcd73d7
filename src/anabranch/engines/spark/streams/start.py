"""Starts a stream on Spark: Structured Streaming over what arrives, with the state of channels in its store."""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from anabranch.dataflow.channels.tripwires import check_here
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import notes_of
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.checkpoint import Checkpoint, folder_of
from anabranch.dataflow.streams.entries import EntryLog
from anabranch.dataflow.streams.source_checks import check_sources
from anabranch.dataflow.streams.stream_tail import StreamTail
from anabranch.dataflow.tail.output_overlap import check_output_is_no_input
from anabranch.dataflow.transport.shipping import CannotBeSent, ship
from anabranch.engines.spark.job.exchange import job_title
from anabranch.engines.spark.job.row_batches import ROW
from anabranch.engines.spark.session.gone_java import hush
from anabranch.engines.spark.session.session import SparkOptions, cores_of, is_on_this_machine, session_for
from anabranch.engines.spark.session.session_settings import settings
from anabranch.engines.spark.session.spark_errors import is_of_gone_java
from anabranch.engines.spark.streams.channel_state import Channels
from anabranch.engines.spark.streams.connected import ServedQuery, is_connect, must_be_seen, must_be_shared
from anabranch.engines.spark.streams.data_source import data_source
from anabranch.engines.spark.streams.failures import stream_error
from anabranch.engines.spark.streams.handover import Giver, Taker, await_servers
from anabranch.engines.spark.streams.intact import check_intact, check_outputs_are_there
from anabranch.engines.spark.streams.prepare import Prepared, prepare
from anabranch.engines.spark.streams.query import Query
from anabranch.engines.spark.streams.routes import routes
from anabranch.errors import UsageError
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Channels as AskedChannels
from anabranch.operators.sinks.base import SinkDefinition
from anabranch.operators.sources.located import located
from anabranch.operators.sources.patterns import has_pattern
from anabranch.operators.sources.read_files import ReadFiles

BATCH_BYTES = 64 * 2**20
_TASKS_PER_CORE = 2  # that read what has arrived

_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # The usual one starts ten programs of the system, `readlink` and `chmod`, for each small file that it writes.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Rows are few: to generate code for them, in every task anew, takes longer than to do without.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.adaptive.enabled": "false",
}


def start(
    plan: Plan,
    checkpoint: str | Path,
    *,
    channels: AskedChannels = "auto",
    form: Form = "auto",
    options: SparkOptions | None = None,
    metrics: Metrics | None = None,
    once: bool = False,
    batch_bytes: int = BATCH_BYTES,
    starting: Callable[[], None] = lambda: None,
) -> Query:
    """Start a program as a stream, or go on where the checkpoint says that it was stopped or killed.

    `starting` is called when a session is asked for, behind all that can be looked at without one.
    """
    metrics = metrics or Metrics()
    metrics.start(plan.graph)
    check_sources(plan.graph, once)
    folder = Checkpoint(folder_of(checkpoint))
    folder.lock()
    taker: Taker | None = None
    try:
        await_servers(folder)
        prepared: Prepared | None = None
        committed = check_intact(folder)  # before Spark is started, and anything is kept or cut off
        if committed is None:
            _check_files(plan.graph)
            _check_outputs(plan.graph)
        else:  # all numbers are those of the first start, whatever cores there are now
            prepared = prepare(plan, folder, 1, channels, form)
            check_outputs_are_there(plan.graph, committed, folder)
        starting()
        session = session_for(options or SparkOptions())
        cores = cores_of(session)
        if is_connect(session):
            taker = Taker(folder)
            must_be_seen(session, taker.handover, folder)
        else:
            hush()
            folder.java_is(_java(session))
            if not is_on_this_machine(session):
                must_be_shared(session, folder, cores)
        if prepared is None:
            prepared = prepare(plan, folder, cores, channels, form)
        metrics.notes += notes_of(prepared.plan)
        shipment = ship(prepared.job)  # before anything is begun that a program without this mistake could not use
        folder.mend()
        log = EntryLog(folder.arrivals)
        with folder.told():
            log.mend()
        check = partial(check_here, prepared.job, plan.graph)
        tail = StreamTail(prepared.plan, metrics, folder, check)
        query = Query(folder, log, tail, partial(Arrivals, plan.graph, log, folder.folder), metrics, once=once)
        query.begin(partial(_launch, session, prepared, shipment, folder, batch_bytes, _TASKS_PER_CORE * cores, taker))
        if taker is not None and not taker.is_taking:  # there was nothing to do
            taker.close()
        return query
    except CannotBeSent as problem:
        _let_go(folder, taker)
        raise UsageError(
            f"the program cannot be sent to Spark's workers: {problem}",
            hint="its operators cannot hold what exists only in one process: open files, sockets, locks, generators",
        ) from None
    except BaseException as problem:
        _let_go(folder, taker)
        if is_of_gone_java(problem):
            raise stream_error(problem, folder.folder) from None
        raise


def _let_go(folder: Checkpoint, taker: Taker | None) -> None:
    if taker is not None:
        taker.close()
    folder.unlock()


def _check_files(graph: Graph) -> None:
    """What names neither a folder nor a pattern is a file that has to be there, and none is one of the stream's."""
    for source in graph.sources:
        if isinstance(source.definition, ReadFiles) and not has_pattern(source.definition.pattern):
            with located(source):
                source.definition.files()
    check_output_is_no_input(graph)


def _check_outputs(graph: Graph) -> None:
    """What a stream that begins cannot write to."""
    for sink in graph.sinks:
        cast(SinkDefinition, sink.definition).meaning(sink).check_new()


def _java(session: Any) -> int | None:
    """The process of Spark's Java, if it is a child of this one."""
    process = getattr(getattr(session.sparkContext, "_gateway", None), "proc", None)
    return int(process.pid) if process is not None else None


def _launch(
    session: Any,
    prepared: Prepared,
    shipment: bytes,
    checkpoint: Checkpoint,
    batch_bytes: int,
    tasks: int,
    taker: Taker | None,
    batch: Callable[[Any, int], None],
) -> Any:
    """Start Spark's query, which calls `batch` with the rows for the tail, or over Connect has them taken there."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    # Spark calls in a thread of its own, and the contexts of decimals and numpy are those of a thread.
    context = contextvars.copy_context()

    def in_context(frame: Any, number: int) -> None:
        context.run(batch, frame, number)

    handover = taker.handover if taker is not None else None
    function = Giver(handover) if handover is not None else in_context
    name = f"{prepared.layout.graph.name}-{uuid.uuid4().hex[:8]}"
    try:
        with settings(session, {**_SETTINGS, "spark.sql.shuffle.partitions": str(prepared.partitions)}):
            source = data_source(f"anabranch-{name}", checkpoint.arrivals, shipment, tasks, batch_bytes, handover)
            session.dataSource.register(source)
            frame = session.readStream.format(source.name()).load()
            for level, channels in enumerate(prepared.levels, 1):
                processor = Channels(shipment, name, level, str(checkpoint.folder))
                frame = _level(frame, channels, prepared.partitions, processor)
            writer = frame.writeStream.foreachBatch(function).queryName(f"{job_title(prepared.layout)} ({name})")
            # As it stands: Hadoop takes the percent signs of a URI to be part of the name.
            writer = writer.option("checkpointLocation", f"file://{checkpoint.spark}")
            if taker is None:
                return writer.start()
            taker.start(in_context)
            return ServedQuery(session, writer.start(), taker)
    except (PySparkException, Py4JError) as problem:
        raise stream_error(problem, checkpoint.folder) from None


def _level(frame: Any, channels: int, partitions: int, processor: Channels) -> Any:
    """The channels of a level, each with a key of its own; all partitions have about as many of them."""
    from pyspark.sql import functions

    keys = functions.array(*map(functions.lit, routes(channels, partitions)))
    route = functions.element_at(keys, functions.col("channel") % channels + 1)
    return frame.withColumn("route", route).groupBy("route").transformWithState(processor, ROW, "Append", "None")
