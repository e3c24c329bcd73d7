"""A job in a session: its settings and its name while it runs, its end when nobody waits for it, its errors."""

from __future__ import annotations

import signal
import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from anabranch.engines.spark.job.naming import job_named, stages_named
from anabranch.engines.spark.session.session_settings import settings
from anabranch.engines.spark.session.spark_errors import spark_error
from anabranch.engines.spark.session.waiting import told_while_waiting

# Chunk rows are large: few of them at a time keep memory bounded. Partitions are channels: nobody may join them, and
# nobody has to look at them in between, which would make starting a job as long as running it.
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.adaptive.enabled": "false",
}


def rows_of(
    session: Any, name: str, frame: Callable[[], Any], stages: Sequence[str] = ()
) -> Generator[Any, None, None]:
    """The rows of a frame, run as one job with named stages. It ends when all are taken, or nobody asks for more."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with settings(session, _SETTINGS), job_named(session, name), _tagged(session), told_while_waiting(session):
            with _unbroken():
                made = frame()
                with stages_named(session, made, stages):
                    rows = iter(made.toLocalIterator(prefetchPartitions=False))
            yield from rows
    except (PySparkException, Py4JError, EOFError, OSError) as problem:
        raise spark_error(problem) from None  # its context is there for who wants all of it


@contextmanager
def _tagged(session: Any) -> Iterator[None]:
    """Whatever of a job still runs when its consumer stops is not needed any more."""
    tag = f"anabranch-{uuid.uuid4().hex}"
    session.addTag(tag)
    try:
        yield
    except BaseException:
        with suppress(Exception), _unbroken():  # what went wrong may be that there is nobody to tell
            session.interruptTag(tag)
        raise
    finally:
        with suppress(Exception):
            session.removeTag(tag)


@contextmanager
def _unbroken() -> Iterator[None]:
    """Ctrl-C waits: a call to Java that is broken off leaves an answer that the next call would take for its own."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(signal.SIGINT, came[0])
