"""Streams on other machines: whether these see the checkpoint, and queries of servers, which may not answer."""

from __future__ import annotations

import atexit
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.engines.spark.session.spark_errors import spark_error
from anabranch.engines.spark.session.waiting import told_while_waiting
from anabranch.engines.spark.streams.handover import Handover, Taker

_SECONDS_TO_ANSWER = 15.0
_SECONDS_TO_END = 10.0
_OFTEN = 0.02


def is_connect(session: Any) -> bool:
    return not hasattr(session, "sparkContext")


# Whether it is seen ---------------------------------------------------------------------------------------------------


def must_be_seen(session: Any, handover: Handover, checkpoint: Checkpoint) -> None:
    """The server and its workers have to see the checkpoint under the same path, and that it is locked.

    A source of Spark's tells: the server says what there is to read, and a worker reads it.
    """
    from pyspark.errors import PySparkException

    name = f"anabranch-sees-{uuid.uuid4().hex[:8]}"

    class Sight(DataSource):
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return "by_server boolean, by_worker boolean"

        def reader(self, schema: Any) -> DataSourceReader:
            return _Look(handover)

    try:
        session.dataSource.register(Sight)
        by_server, by_worker = session.read.format(name).load().collect()[0]
    except PySparkException as problem:
        raise spark_error(problem) from None
    if not by_server or not by_worker:
        who = "workers of the Spark Connect server" if by_server else "Spark Connect server"
        raise CheckpointError(
            f"{checkpoint.folder}: the {who} cannot see this folder, or its locks",
            hint="use one that is there under the same path, on a file system that all machines share; or a Spark "
            "of this process: master=local[*], spark://…",
        )


def must_be_shared(session: Any, checkpoint: Checkpoint, tasks: int) -> None:
    """The executors of a cluster keep the state of channels in the checkpoint, each under the path it has here."""
    from py4j.protocol import Py4JError

    token = secrets.token_hex(8)
    file = checkpoint.folder / "seen"
    with checkpoint.told():
        file.write_text(token)
    try:
        looks = session.sparkContext.parallelize(range(tasks), tasks).map(partial(_is_there, file, token))
        with told_while_waiting(session):  # it is the first thing that runs there
            are_there = looks.collect()
    except Py4JError as problem:
        raise spark_error(problem) from None
    finally:
        file.unlink(missing_ok=True)
    if not all(are_there):
        raise CheckpointError(
            f"{checkpoint.folder}: the executors of {session.sparkContext.master} cannot see this folder",
            hint="use one that is there under the same path, on a file system that all machines share",
        )


def _is_there(file: Path, token: str, task: int) -> bool:
    try:
        return file.read_text() == token
    except OSError:
        return False


class _Look(DataSourceReader):
    def __init__(self, handover: Handover) -> None:
        self._handover = handover

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(self._handover.has_client)]

    def read(self, partition: InputPartition) -> Iterator[tuple[bool, bool]]:
        yield partition.value, self._handover.has_client


# Its query ------------------------------------------------------------------------------------------------------------


class ServedQuery:
    """A query of Spark's on a server, as `Query` uses one of this process.

    A call to a server that has gone is tried again for ten minutes. Whether the query goes on can be seen without one.
    """

    def __init__(self, session: Any, query: Any, taker: Taker) -> None:
        self._session = session
        self._query = query
        self._taker = taker
        self._is_gone = False

    @property
    def isActive(self) -> bool:
        return self._taker.handover.has_server

    @property
    def lastProgress(self) -> Any:
        return self._answered(lambda: self._query.lastProgress)

    def exception(self) -> Any:
        return self._answered(self._reason)

    def _reason(self) -> Any:
        with suppress(Exception):  # that is the reason, or the next call says it
            self._query.awaitTermination(_SECONDS_TO_END)
        return self._query.exception()

    def stop(self) -> None:
        try:
            self._answered(self._query.stop)
            deadline = time.monotonic() + _SECONDS_TO_END
            while self.isActive and time.monotonic() < deadline:
                time.sleep(_OFTEN)
        finally:
            self._taker.close()

    def _answered(self, call: Callable[[], Any]) -> Any:
        """What a call gives, if the server is there to answer it."""
        found: list[Any] = []
        problems: list[Exception] = []

        def ask() -> None:
            try:
                found.append(call())
            except Exception as problem:
                problems.append(problem)

        if not self._is_gone:
            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join(_SECONDS_TO_ANSWER)
        if problems:
            raise problems[0]
        if not found:
            self._give_up()
            raise ConnectionError("the server does not answer")
        return found[0]

    def _give_up(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            # The session says goodbye when this process ends, and would try that for ten minutes, too.
            atexit.register(self._session.client.set_retry_policies, [])
