"""`ab.start`: a program as a stream that goes on, and goes on again where it was stopped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anabranch.api.app import App
from anabranch.api.base import Sink
from anabranch.api.where import caller
from anabranch.dataflow.result import Metrics
from anabranch.errors import UsageError
from anabranch.graph.degree import asked_channels
from anabranch.graph.forms import FORMS, Form
from anabranch.graph.model import Program
from anabranch.graph.settings import FUSIONS, Channels, Settings
from anabranch.run import as_program, must_be_one

if TYPE_CHECKING:
    from anabranch.engines.spark.streams.query import Query

__all__ = ["start"]

_MB = 2**20


def start(
    program: Program | App[...] | Sink,
    *more: Sink,
    checkpoint: str | Path,
    once: bool = False,
    batch_mb: float = 64,
    form: Form = "auto",
    channels: Channels = "auto",
    fuse: str = "all",
    spark: Any = None,
    master: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    ui: bool = False,
    metrics: Metrics | None = None,
) -> Query:
    """Start a program on what arrives: files that are moved into a folder, lines from TCP, a beacon.

    `checkpoint` is a folder for all that has to survive a stop or a crash. A start on a folder that a stream was
    stopped or killed in goes on from there: files and `collect` hold every tuple once and in order, `for_each` and
    `write_tcp` may see those of the last batch again. `once=True` processes what is there now, and is done.

    `batch_mb` is how much one micro-batch takes at most. The number of `channels` is fixed by the first start (four
    for each core, if none is given). The other parameters are those of `ab.run` on Spark.

    The query that is returned has `progress`, `stop()`, `finish()` (what has arrived is all there is) and
    `await_done()`.
    """
    return start_program(
        program,
        *more,
        checkpoint=checkpoint,
        once=once,
        batch_mb=batch_mb,
        form=form,
        channels=channels,
        fuse=fuse,
        spark=spark,
        master=master,
        spark_conf=spark_conf,
        ui=ui,
        metrics=metrics,
    )


def start_program(
    program: Program | App[...] | Sink,
    *more: Sink,
    checkpoint: str | Path,
    once: bool,
    batch_mb: float,
    form: Form,
    channels: Channels,
    fuse: str = "all",
    spark: Any = None,
    master: str | None,
    spark_conf: Mapping[str, str] | None,
    ui: bool,
    metrics: Metrics | None = None,
    starting: Callable[[], None] = lambda: None,
) -> Query:
    """`start`, for who wants to know when a session is asked for: what needs none has been looked at by then."""
    from anabranch.dataflow.streams.checkpoint import folder_of

    with caller().blamed():  # what is wrong at first sight: before Spark is started
        must_be_one(form, "form of generated code", FORMS)
        must_be_one(fuse, "fusion", FUSIONS)
        _must_be_a_size(batch_mb)
        folder = folder_of(checkpoint)
    graph = as_program(program, *more).graph
    from anabranch.compiler import compile, this_machine
    from anabranch.engines.spark.session.session import spark_options
    from anabranch.engines.spark.streams import start as streams

    plan = compile(graph, Settings(this_machine(), form=form, fuse=fuse), until="ordering")
    with caller().blamed():
        options = spark_options(spark, master, spark_conf, ui, graph.name)
        asked_channels(plan, channels)
    return streams.start(
        plan,
        folder,
        channels=channels,
        form=form,
        options=options,
        metrics=metrics,
        once=once,
        batch_bytes=max(1, int(batch_mb * _MB)),
        starting=starting,
    )


def _must_be_a_size(batch_mb: object) -> None:
    is_number = isinstance(batch_mb, int | float) and not isinstance(batch_mb, bool)
    if not is_number or not 0 < cast(float, batch_mb) < math.inf:
        raise UsageError(f"batch_mb={batch_mb!r} is not a size of batches", hint="use a number of megabytes above 0")
