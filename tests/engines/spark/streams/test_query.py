"""A stream knows when Spark has failed, and ends whatever happens on the way: seen without Spark."""

from __future__ import annotations

import errno
import fcntl
import random
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.streams import checkpoint as checkpoints
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.engines.spark.session.session_settings import settings
from anabranch.engines.spark.streams import query as queries
from anabranch.engines.spark.streams.connected import must_be_shared
from anabranch.engines.spark.streams.query import Query
from anabranch.errors import RunError, SinkError, SourceError, UsageError
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream


class Item(NamedTuple):
    n: int


ITEMS = [Item(n) for n in range(9)]


class Failed:
    """A query of Spark's that has stopped by itself."""

    isActive = False
    lastProgress = None

    def exception(self) -> Exception:
        return RuntimeError("the disk of an executor is full")

    def stop(self) -> None:
        pass


class Going(Failed):
    isActive = True


class Frame:
    """A batch that says only how far it goes."""

    def toArrow(self) -> Frame:
        return self

    def to_batches(self) -> list[Any]:
        return []


def query_of(*sinks: Any, folder: Path) -> tuple[Query, SimulatedStream]:
    graph = as_program(*sinks).graph
    stream = SimulatedStream(graph, Disk(folder), random.Random(0))
    arrivals = partial(Arrivals, graph, stream.log, stream.checkpoint.folder)
    return Query(stream.checkpoint, stream.log, stream.tail, arrivals, stream.metrics, once=True), stream


def is_free(folder: Path) -> bool:
    """Whether another run may work in a checkpoint."""
    other = Checkpoint(folder)
    other.lock()
    other.unlock()
    return True


# When Spark has failed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["is_active", "progress"])
def test_whoever_asks_learns_that_spark_has_failed(tmp_path: Path, asked: str) -> None:
    query, _ = query_of(ab.from_items(Item, ITEMS).collect("out"), folder=tmp_path)
    query.begin(lambda batch: Failed())
    getattr(query, asked)
    assert query._over.is_set()
    assert not query.is_active
    with pytest.raises(RunError, match="the disk of an executor is full"):
        query.await_done()
    assert is_free(tmp_path)


# How it ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["stop", "finish", "await_done"])
def test_a_sink_that_waits_for_the_end_of_its_own_batch_is_told_so(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(item: Item) -> None:
        getattr(query, call)()

    query, stream = query_of(ab.from_items(Item, ITEMS).for_each(end), folder=tmp_path)
    written: list[Callable[[Any, int], None]] = []

    def launch(batch: Callable[[Any, int], None]) -> Going:
        written.append(batch)
        return Going()

    query.begin(launch)
    monkeypatch.setattr(queries, "rows_in", lambda _: stream._rows(0, len(stream.log), stream.disk.states))
    with pytest.raises(RunError, match=rf"{call}\(\) waits until the batch has been written") as caught:
        written[0](Frame(), 0)
    assert f"threading.Thread(target=query.{call}).start()" in str(caught.value)
    query.stop()
    assert is_free(tmp_path)


def test_a_signal_while_a_stream_is_being_stopped_stops_nothing_twice(tmp_path: Path) -> None:
    """A handler runs in the thread that it interrupts: it must not wait for that thread."""

    class Interrupted(Going):
        def stop(self) -> None:
            stopped.append(query.stop())

    stopped: list[Any] = []
    query, _ = query_of(ab.from_items(Item, ITEMS).collect("out"), folder=tmp_path)
    query.begin(lambda batch: Interrupted())
    stopping = threading.Thread(target=query.stop, daemon=True)
    stopping.start()
    stopping.join(60)
    assert not stopping.is_alive()
    assert len(stopped) == 1
    assert is_free(tmp_path)


def test_a_stream_that_cannot_close_one_thing_closes_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = ab.from_items(Item, ITEMS)
    query, stream = query_of(items.collect("one"), items.collect("other"), folder=tmp_path)
    query.begin(lambda batch: Going())
    closed: list[str] = []

    def close(name: str) -> None:
        closed.append(name)
        if name == "one":
            raise SinkError("the disk is full")

    for name, sink in stream.tail.sinks.items():
        monkeypatch.setattr(sink, "close", partial(close, name))
    with pytest.raises(SinkError, match="the disk is full"):
        query.stop()
    assert closed == ["one", "other"]
    assert is_free(tmp_path)
    assert not query.is_active
    query.stop()  # there is nothing left to do


def test_a_stream_whose_source_cannot_be_opened_has_not_begun(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    query, _ = query_of(ab.read_tcp(port, Item, host="127.0.0.1", format="csv").collect("out"), folder=tmp_path)
    with pytest.raises(SourceError):
        query.begin(lambda batch: Going())
    query, _ = query_of(ab.from_items(Item, ITEMS).collect("another"), folder=tmp_path)
    query.begin(lambda batch: Going())
    query.stop()


def test_a_stream_that_was_finished_says_that_it_reads_nothing_more(tmp_path: Path) -> None:
    graph = as_program(ab.from_items(Item, ITEMS).collect("out")).graph
    first = SimulatedStream(graph, Disk(tmp_path), random.Random(0))
    first.run()
    assert first.metrics.notes == []
    query, _ = query_of(ab.from_items(Item, ITEMS).collect("out"), folder=tmp_path)
    query.begin(lambda batch: Going())
    result = query.await_done()
    assert result is not None
    assert result.items("out") == ITEMS
    assert result.metrics.notes == [queries._WAS_FINISHED]


def test_a_stream_that_was_only_stopped_does_not_say_that_it_was_finished(tmp_path: Path) -> None:
    for _ in range(2):  # the second finds all entries in the log, and none of them processed
        query, stream = query_of(ab.from_items(Item, ITEMS).collect("out"), folder=tmp_path)
        query.begin(lambda batch: Going())
        query.stop()
        assert stream.metrics.notes == []


# What a file system may refuse ----------------------------------------------------------------------------------------


def test_a_disk_that_is_full_is_said_with_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_sealed", full)
    folder = tmp_path / "state"
    with pytest.raises(RunError, match="the checkpoint cannot be written: No space left on device") as caught:
        query_of(ab.from_items(Item, ITEMS).collect("out"), folder=folder)
    assert caught.value.message.startswith(f"{folder}: ")
    assert is_free(folder)


def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: Any, how: int) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(CheckpointError, match="files cannot be locked there: Operation not supported"):
        Checkpoint(tmp_path).lock()


class Context:
    """A cluster whose machines have a disk of their own, or share one."""

    master = "spark://cluster:7077"

    def __init__(self, shares: bool) -> None:
        self.shares = shares

    @property
    def sparkContext(self) -> Context:
        return self

    def parallelize(self, numbers: range, parts: int) -> Context:
        self.numbers = numbers
        return self

    def map(self, function: Callable[[int], bool]) -> Context:
        self.found = [self.shares and function(number) for number in self.numbers]
        return self

    def collect(self) -> list[bool]:
        return self.found


def test_a_checkpoint_that_executors_do_not_see_is_refused(tmp_path: Path) -> None:
    must_be_shared(Context(shares=True), Checkpoint(tmp_path), 2)
    with pytest.raises(CheckpointError, match="the executors of spark://cluster:7077 cannot see this folder"):
        must_be_shared(Context(shares=False), Checkpoint(tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


# What is wrong at first sight -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"checkpoint": "s3://bucket/state"}, "a checkpoint is a folder of a file system, not an address"),
        ({"checkpoint": Path("hdfs://host/state")}, "a checkpoint is a folder of a file system, not an address"),
        ({"checkpoint": 5}, "checkpoint=5 is no folder"),
        ({"checkpoint": ""}, "checkpoint='' is no folder"),
        ({"checkpoint": "a\udcffb"}, "Java cannot name this folder"),
        ({"checkpoint": "state", "form": "nativ"}, "there is no form 'nativ' of generated code"),
        ({"checkpoint": "state", "batch_mb": float("inf")}, "batch_mb=inf is not a size of batches"),
        ({"checkpoint": "state", "batch_mb": float("nan")}, "batch_mb=nan is not a size of batches"),
        ({"checkpoint": "state", "batch_mb": True}, "batch_mb=True is not a size of batches"),
    ],
)
def test_what_a_stream_cannot_be_started_with_is_said_at_the_line_of_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        ab.start(ab.from_items(Item, ITEMS).collect("out"), **options)
    assert said in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    assert list(tmp_path.iterdir()) == []


# Settings of a session ------------------------------------------------------------------------------------------------


class Conf:
    """The settings of a session; one of them cannot be set."""

    def __init__(self) -> None:
        self.values = {"a": "theirs"}

    @property
    def conf(self) -> Conf:
        return self

    def get(self, name: str, default: str | None) -> str | None:
        return self.values.get(name, default)

    def set(self, name: str, value: str) -> None:
        if name == "bad":
            raise ValueError(name)
        self.values[name] = value

    def unset(self, name: str) -> None:
        del self.values[name]


def test_a_setting_is_put_back_when_the_last_who_needs_it_is_done() -> None:
    session = Conf()
    with settings(session, {"a": "ours", "b": "ours"}):
        with settings(session, {"a": "ours", "c": "ours"}):
            assert session.values == {"a": "ours", "b": "ours", "c": "ours"}
        assert session.values == {"a": "ours", "b": "ours"}
    assert session.values == {"a": "theirs"}
    with settings(session, {"a": "ours"}):
        other = settings(session, {"a": "ours"})
        other.__enter__()
    assert session.values == {"a": "ours"}
    other.__exit__(None, None, None)
    assert session.values == {"a": "theirs"}


def test_settings_that_cannot_all_be_made_are_put_back() -> None:
    session = Conf()
    with pytest.raises(ValueError, match="bad"), settings(session, {"a": "ours", "bad": "ours"}):
        pass
    assert session.values == {"a": "theirs"}


def test_who_wants_another_value_of_a_setting_waits() -> None:
    session, seen = Conf(), []

    def other() -> None:
        with settings(session, {"a": "others"}):
            seen.append(session.values["a"])

    thread = threading.Thread(target=other)
    with settings(session, {"a": "ours"}):
        thread.start()
        thread.join(0.2)
        assert seen == []
        assert session.values["a"] == "ours"
    thread.join()
    assert seen == ["others"]
    assert session.values == {"a": "theirs"}
