"""A stream that runs: its progress, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from anabranch.dataflow.streams.entries import EntryLog
from anabranch.dataflow.streams.stream_tail import Done, StreamTail
from anabranch.dataflow.transport.rows import Row
from anabranch.engines.spark.job.row_batches import rows_in
from anabranch.engines.spark.streams.cells import show_live
from anabranch.engines.spark.streams.failures import stream_error
from anabranch.errors import AnabranchError, RunError, UsageError
from anabranch.graph.drawing.markup import element
from anabranch.graph.page import fragment

_EVERY = 0.1  # seconds: how often it is looked whether Spark has stopped by itself
_SECONDS_TO_COMMIT, _OFTEN = 5.0, 0.02
_WAS_FINISHED = "this stream was finished; what has come since is not read: use a new checkpoint= (--checkpoint)"


@dataclass(frozen=True)
class Progress:
    """How far a stream is."""

    batch: int  # the last that was committed; -1 before the first
    tuples_in: int  # of this run
    tuples_out: int
    input_rate: float  # tuples per second that came in, over the last batches
    processing_rate: float  # tuples per second while the last batch was processed
    backlog: int  # bytes that have arrived and are not processed yet
    latency: float  # seconds from the arrival of the first tuple of the last batch to its commit


def _in_words(progress: Progress) -> str:
    return (
        f"batch {progress.batch}, {progress.tuples_in:,} tuples in ({progress.input_rate:,.0f}/s), "
        f"{progress.tuples_out:,} out, {progress.backlog:,} bytes waiting"
    )


class Query:
    """A stream that was started. It goes on until it is stopped, fails, or all of its sources have ended."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        log: EntryLog,
        tail: StreamTail,
        arrivals: Callable[[Callable[[AnabranchError], None]], Arrivals],
        metrics: Metrics,
        *,
        once: bool,
    ) -> None:
        self._checkpoint = checkpoint
        self._log = log
        self._tail = tail
        self._arrivals = arrivals(self._fail)
        self._metrics = metrics
        self._once = once
        self._spark: Any = None
        self._problem: BaseException | None = None
        self._over = threading.Event()  # there is nothing more to do, or it cannot go on
        self._is_stopping = False
        self._batch_lock = threading.Lock()  # held while a batch is written
        self._closing = threading.RLock()
        self._is_closing = False
        self._is_closed = False
        self._writer: int | None = None  # the thread that writes a batch
        self._last: Done | None = None
        self._last_seconds = 0.0
        self._committed_at: list[tuple[float, int]] = []

    # Its life -----------------------------------------------------------------------------------------------------

    def begin(self, launch: Callable[[Callable[[Any, int], None]], Any]) -> None:
        """Take up the work: `launch` starts Spark's query with a function for its batches."""
        try:
            found = self._checkpoint.commit() or Commit()
            self._arrivals.open(found.entries)  # first: where that fails nothing has begun, and all may change
            if self._arrivals.have_ended and found.entries >= len(self._log):
                self._metrics.notes.append(_WAS_FINISHED)
            self._tail.resume()
            if self._once:
                self._arrivals.look_once()
            self._check_done()
            if not self._over.is_set():
                self._spark = launch(self._batch)
                if not self._once:
                    self._arrivals.start()
        except BaseException:
            self._close()
            raise

    def _batch(self, frame: Any, number: int) -> None:
        """What Spark calls with each batch, in a thread of its own."""
        with self._batch_lock, self._writing():
            if self._is_stopping:
                raise RuntimeError("the stream is stopping")
            began = time.perf_counter()
            try:
                # Also of a batch that was committed before a crash: else Spark's state would lack what it changed.
                rows: list[Row] = list(rows_in(frame.toArrow().to_batches()))
                done = self._tail.batch(number, rows)
            except AnabranchError as problem:
                self._fail(problem)
                raise
            except (EOFError, ConnectionError) as problem:  # before other errors of files: Java has gone
                self._fail(stream_error(problem, self._checkpoint.folder))
                raise
            except OSError as problem:
                self._fail(RunError(f"batch {number} cannot be committed: {problem}"))
                raise
            if done is not None:
                self._note(done, time.perf_counter() - began)
            self._check_done()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None

    def _must_be_outside(self, call: str) -> None:
        """Who writes a batch cannot wait for its end."""
        if self._writer == threading.get_ident():
            raise UsageError(
                f"{call}() waits until the batch has been written, and was called by a sink that writes it",
                hint=f"call it from another thread: threading.Thread(target=query.{call}).start()",
            )

    def _note(self, done: Done, seconds: float) -> None:
        self._last, self._last_seconds = done, seconds
        self._committed_at = [*self._committed_at[-9:], (time.perf_counter(), self._metrics.tuples_in)]
        self._arrivals.processed(done.entries)

    def _check_done(self) -> None:
        is_all = self._once or self._arrivals.have_ended
        if is_all and self._tail.commit.entries >= len(self._log):
            self._over.set()

    def _look(self) -> None:
        """Take note of an end that nobody has told of: all is done, or Spark has stopped by itself."""
        self._check_done()
        if self._spark is None or self._is_stopping or self._over.is_set():
            return
        problem = _failure(self._spark, self._checkpoint.folder)
        if problem is not None and not self._is_stopping:  # else it is this query that has stopped it meanwhile
            self._fail(problem)

    def _fail(self, problem: BaseException) -> None:
        if self._problem is None:
            self._problem = problem
        self._over.set()

    # For its user -------------------------------------------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether it goes on: it was not stopped, has not failed, and its sources have not ended."""
        self._look()
        return not self._is_closed and not self._over.is_set()

    @property
    def progress(self) -> Progress:
        self._look()
        last = self._last
        known = len(self._log)
        backlog = self._log.size(min(self._tail.commit.entries, known), known)
        return Progress(
            batch=self._tail.commit.batch,
            tuples_in=self._metrics.tuples_in,
            tuples_out=self._metrics.tuples_out,
            input_rate=self._input_rate(),
            processing_rate=last.tuples_in / self._last_seconds if last and self._last_seconds else 0.0,
            backlog=backlog,
            latency=last.waited if last else 0.0,
        )

    def _input_rate(self) -> float:
        if len(self._committed_at) < 2:
            return 0.0
        (began, before), (ended, after) = self._committed_at[0], self._committed_at[-1]
        return (after - before) / (ended - began) if ended > began else 0.0

    def __repr__(self) -> str:
        state = "goes on" if self.is_active else "has ended"
        return f"<Query of {self._tail.tail.plan.graph.name}, which {state}: {_in_words(self.progress)}>"

    def _repr_html_(self) -> str:
        return fragment(element("p", repr(self)[1:-1]))

    def _ipython_display_(self) -> None:
        """A cell of a notebook shows how far it is for as long as it goes on."""
        show_live(self, lambda: self.is_active)

    @property
    def result(self) -> Result:
        """What was collected so far, and the figures of this run."""
        return self._tail.tail.result()

    def await_done(self, timeout: float | None = None) -> Result | None:
        """Wait until the stream ends by itself; None where it has not within `timeout` seconds.

        A stream that failed raises its error here.
        """
        self._must_be_outside("await_done")
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._over.wait(_EVERY):
            self._look()
            if self._is_closed or self._over.is_set():
                break
            if deadline is not None and time.monotonic() >= deadline:
                return None
        self._close()
        if self._problem is not None:
            if isinstance(self._problem, RunError):
                self._problem.result = self.result
            raise self._problem
        return self.result

    def finish(self, timeout: float | None = None) -> Result | None:
        """Take what has arrived by now as all there is: the streams end, and what operators do then is done."""
        self._must_be_outside("finish")
        self._arrivals.end()
        return self.await_done(timeout)

    def stop(self) -> Result:
        """Stop behind the batch that is being written. A later start on the same checkpoint goes on from there."""
        self._close()
        return self.result

    def _close(self) -> None:
        """Every step is done, also behind one that fails: a disk that is full must not keep the checkpoint locked."""
        self._must_be_outside("stop")
        with self._closing, ExitStack() as steps:  # the last that is named is done first
            if self._is_closed or self._is_closing:  # a signal may have come while this very thread closes
                return
            self._is_stopping = self._is_closing = True
            steps.callback(setattr, self, "_is_closed", True)
            steps.callback(self._checkpoint.unlock)
            steps.callback(self._metrics.stop)
            steps.callback(self._tail.close)
            steps.callback(self._stop_spark)
            steps.callback(self._await_batch)
            steps.callback(self._arrivals.close)

    def _await_batch(self) -> None:
        with self._batch_lock:
            pass  # a batch that is being written is finished; the next one finds that it should not begin

    def _stop_spark(self) -> None:
        if self._spark is not None:
            self._await_commit()
            with suppress(Exception):  # its Java may have gone
                self._spark.stop()

    def _await_commit(self) -> None:
        """Let Spark note that the last batch is done, or it would do it again at the next start."""
        deadline = time.monotonic() + _SECONDS_TO_COMMIT
        with suppress(Exception):  # its Java may have gone
            while self._last is not None and self._spark.isActive and time.monotonic() < deadline:
                noted = self._spark.lastProgress
                if noted is not None and noted["batchId"] >= self._last.batch:
                    return
                time.sleep(_OFTEN)

    def __enter__(self) -> Query:
        return self

    def __exit__(self, *problem: object) -> None:
        self._close()


def _failure(query: Any, checkpoint: Path) -> BaseException | None:
    """Why Spark has stopped a query by itself, if it has."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        if query.isActive:
            return None
        problem = query.exception()
    except (Py4JError, PySparkException, OSError) as gone:
        return stream_error(gone, checkpoint)
    return stream_error(problem, checkpoint) if problem is not None else RunError("Spark has stopped the stream")
