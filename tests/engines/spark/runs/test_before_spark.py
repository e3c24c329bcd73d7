"""Spark takes ten seconds to start: what is wrong at first sight is said before, as the sequential engine says it."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.dataflow.streams.sealed_files import write_sealed
from anabranch.engines.spark.runs import engine
from anabranch.engines.spark.streams import start as streams
from anabranch.errors import RunError, SinkError, SourceError, UsageError
from anabranch.graph.model import Program
from anabranch.operators.sinks.base import SinkDefinition
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream


class Item(NamedTuple):
    n: int


class SparkWasAsked(Exception):
    pass


class Running:
    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.total += 1
        yield Item(self.total)


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(options: Any) -> Any:
        raise SparkWasAsked

    monkeypatch.setattr(engine, "session_for", asked)
    monkeypatch.setattr(streams, "session_for", asked)


def items() -> Any:
    return ab.from_items(Item, [Item(1), Item(2)]).process(Running, key="n")


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# Runs -----------------------------------------------------------------------------------------------------------------


def a_folder_where_a_file_should_be(folder: Path) -> Any:
    return items().write_csv(a_folder(folder))


def a_folder(folder: Path) -> Path:
    (folder / "out").mkdir(exist_ok=True)
    return folder / "out"


def a_file_where_a_folder_should_be(folder: Path) -> Any:
    (folder / "out").touch()
    return items().write_csv(f"{folder}/out/")


def a_file_where_the_folder_above_should_be(folder: Path) -> Any:
    (folder / "file").touch()
    return items().write_parquet(folder / "file" / "out.parquet")


def a_folder_of_somebody_else(folder: Path) -> Any:
    (folder / "out").mkdir(exist_ok=True)
    (folder / "out" / "precious").touch()
    return items().write_jsonl(f"{folder}/out/")


def a_folder_that_nobody_can_make(folder: Path) -> Any:
    return items().write_jsonl("/proc/nothing/out.jsonl")


def an_input_that_is_missing(folder: Path) -> Any:
    return ab.read_csv(folder / "in.csv", Item).process(Running, key="n").collect("out")


def an_input_of_another_type(folder: Path) -> Any:
    (folder / "in.csv").write_text("m\n1\n")
    return ab.read_csv(folder / "in.csv", Item).process(Running, key="n").collect("out")


@pytest.mark.parametrize(
    "make",
    [
        a_folder_where_a_file_should_be,
        a_file_where_a_folder_should_be,
        a_file_where_the_folder_above_should_be,
        a_folder_of_somebody_else,
        a_folder_that_nobody_can_make,
        an_input_that_is_missing,
        an_input_of_another_type,
    ],
)
def test_what_cannot_be_read_or_written_is_said_as_by_the_sequential_engine(
    make: Callable[[Path], Any], tmp_path: Path
) -> None:
    program = as_program(make(tmp_path))
    before = files_in(tmp_path)
    found = []
    for chosen in ("sequential", "spark"):
        with pytest.raises((SinkError, SourceError)) as caught:
            ab.run(program, engine=chosen)
        error = caught.value
        assert error.result is not None
        found.append((type(error), str(error), error.location, error.result.collected))
        assert files_in(tmp_path) == before
    assert found[0] == found[1]


def test_of_several_mistakes_the_first_is_said(tmp_path: Path) -> None:
    """A connection cannot be tried without being seen, so what stands behind it is not looked at before it."""
    stream = items()
    bad = stream.write_csv(tmp_path)
    with pytest.raises(SinkError, match="is a directory"):
        ab.run(bad, engine="spark")
    with pytest.raises(SparkWasAsked):
        ab.run(as_program(stream.write_tcp(1), stream.write_csv(tmp_path)), engine="spark")
    with pytest.raises(SourceError, match="no such file"):
        ab.run(ab.read_csv(tmp_path / "in.csv", Item).write_csv(tmp_path), engine="spark")


def test_a_look_at_an_output_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("precious")
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "part-00000000.csv").write_text("precious")
    before = files_in(tmp_path)
    stream = items()
    sinks = [stream.write_csv(tmp_path / "one.csv"), stream.write_csv(f"{tmp_path}/many/")]
    with pytest.raises(SparkWasAsked):
        ab.run(as_program(*sinks), engine="spark")
    assert files_in(tmp_path) == before
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "many" / "part-00000000.csv").read_text() == "precious"


def test_a_look_at_a_pipe_writes_nothing_to_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    [sink] = as_program(items().write_csv(pipe)).graph.sinks
    assert isinstance(sink.definition, SinkDefinition)
    sink.definition.check(sink)
    assert reader.is_alive()  # it has seen no end either
    with pipe.open("wb") as last:
        last.write(b"last")
    reader.join()
    assert read == [b"last"]


def test_a_look_at_outputs_makes_no_folder_that_another_would_stumble_over(tmp_path: Path) -> None:
    stream = items()
    sinks = [stream.write_csv(tmp_path / "out"), stream.write_csv(tmp_path / "out" / "deep" / "a.csv")]
    with pytest.raises(SparkWasAsked):  # as with the sequential engine, only the end tells
        ab.run(as_program(*sinks), engine="spark")
    assert files_in(tmp_path) == []


def test_behind_an_output_that_only_opening_tells_of_nothing_is_looked_at(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    stream = items()
    sinks = [stream.write_csv(tmp_path / "pipe"), stream.write_csv(a_folder(tmp_path))]
    with pytest.raises(SparkWasAsked):
        ab.run(as_program(*sinks), engine="spark")


def test_how_long_spark_took_to_start_is_a_figure_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(options: Any) -> Any:
        time.sleep(0.05)
        return None

    def run_checked(transport: Any, plan: Any, settings: Any, metrics: Metrics, *more: Any) -> Any:
        return metrics

    monkeypatch.setattr(engine, "session_for", slowly)
    monkeypatch.setattr(engine, "SparkTransport", lambda session: None)
    monkeypatch.setattr(engine, "run_checked", run_checked)
    found: Any = ab.run(items().collect("out"), engine="spark")
    assert 0.05 <= found.spark_start <= found.elapsed


def not_parallel() -> Any:
    return ab.from_items(Item, [Item(1), Item(2)]).process(Running)


@pytest.mark.parametrize(("has_session", "is_said"), [(False, True), (True, False)])
def test_where_nothing_is_parallel_it_is_said_before_spark_starts_and_what_is_faster(
    has_session: bool, is_said: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine, "has_session", lambda options: has_session)
    with pytest.raises(SparkWasAsked):
        ab.run(not_parallel().collect("out"), engine="spark")
    assert ["nothing in it can run in parallel" in each for each in caplog.messages] == [True] * is_said
    assert all("--engine fused" in each for each in caplog.messages)


def test_where_something_is_parallel_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine, "has_session", lambda options: False)
    with pytest.raises(SparkWasAsked):
        ab.run(items().collect("out"), engine="spark")
    assert caplog.messages == []


# Streams --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        a_folder_where_a_file_should_be,
        a_file_where_a_folder_should_be,
        a_file_where_the_folder_above_should_be,
        a_folder_that_nobody_can_make,
        an_input_that_is_missing,
    ],
)
def test_a_stream_that_cannot_begin_says_so(make: Callable[[Path], Any], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    program = as_program(make(data))
    before = files_in(data)
    with pytest.raises((SinkError, SourceError)):
        ab.start(program, checkpoint=tmp_path / "state")
    assert files_in(data) == before
    with Checkpointed(tmp_path / "state") as folder:  # nobody holds it
        assert folder.identity() is None
        assert folder.commit() is None


def a_source_of_files_by_partitions(folder: Path) -> Any:
    (folder / "in").mkdir(exist_ok=True)
    return ab.read_csv(folder / "in", Item, partition_by="n")


def a_function_that_cannot_be_called_again(folder: Path) -> Any:
    return ab.generate(Item, lambda: iter([Item(1)]))


def items_that_are_made_anew(folder: Path) -> Any:
    return ab.from_items(Item, {Item(1): None})


def items_by_partitions(folder: Path) -> Any:
    return ab.from_items(Item, [Item(1)], partition_by="n")


def a_beacon_that_counts(folder: Path) -> Any:
    shared: list[int] = []

    def counted(number: int) -> Item:
        shared.append(number)
        return Item(len(shared))

    return ab.beacon(Item, counted, count=10)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (a_source_of_files_by_partitions, "has partition_by=, which speaks of files that are all there"),
        (a_function_that_cannot_be_called_again, "'generate' cannot be a source of a stream"),
        (items_that_are_made_anew, "'from_items' cannot be a source of a stream"),
        (items_by_partitions, "'from_items' cannot be a source of a stream"),
        (a_beacon_that_counts, "'beacon' may share something with the operators"),
    ],
)
def test_what_cannot_be_a_source_of_a_stream_is_said_before_anything_is_begun(
    make: Callable[[Path], Any], said: str, tmp_path: Path
) -> None:
    sink = make(tmp_path).process(Running, key="n").collect("out")
    with pytest.raises(UsageError, match=said) as caught:
        ab.start(sink, checkpoint=tmp_path / "state")
    assert caught.value.location is not None
    assert caught.value.hint is not None
    assert not (tmp_path / "state").exists()


class Checkpointed:
    """A checkpoint that is locked meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder)

    def __enter__(self) -> Checkpoint:
        self.checkpoint.lock()
        return self.checkpoint

    def __exit__(self, *problem: object) -> None:
        self.checkpoint.unlock()


def test_a_look_at_the_output_of_a_stream_leaves_nothing(tmp_path: Path) -> None:
    os.symlink(tmp_path / "target.csv", tmp_path / "link.csv")
    stream = items()
    sinks = [
        stream.write_csv(tmp_path / "link.csv"),
        stream.write_csv(tmp_path / "new" / "deep" / "out.csv"),
        stream.write_parquet(tmp_path / "other" / "parts"),
    ]
    for _ in range(2):
        with pytest.raises(SparkWasAsked):
            ab.start(as_program(*sinks), checkpoint=tmp_path / "state")
        assert files_in(tmp_path) == ["link.csv", "state", "state/lock"]


class Doubled:
    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.total += 2
        yield Item(self.total)


def begun(program: Program, folder: Path) -> None:
    SimulatedStream(program.graph, Disk(folder), random.Random(0)).run()


def test_a_checkpoint_of_another_program_or_version_is_refused_before_spark(tmp_path: Path) -> None:
    state = tmp_path / "state"
    begun(as_program(items().collect("out")), state)
    other = ab.from_items(Item, [Item(1), Item(2)]).process(Doubled, key="n").collect("out")
    with pytest.raises(CheckpointError, match="written by another program"):
        ab.start(other, checkpoint=state)
    with pytest.raises(CheckpointError, match="since its first start, and cannot have 7"):
        ab.start(items().collect("out"), checkpoint=state, channels=7)
    with pytest.raises(SparkWasAsked):  # and nobody has kept it locked
        ab.start(items().collect("out"), checkpoint=state)
    content = (state / "commit.json").read_bytes()
    (state / "commit.json").write_bytes(content.replace(b'"batch": ', b'"batch": 1'))
    with pytest.raises(RunError, match=r"commit\.json: the checkpoint is damaged"):
        ab.start(items().collect("out"), checkpoint=state)
    (state / "commit.json").write_bytes(content)
    identity = Checkpoint(state).identity() or {}
    write_sealed(state / "stream.json", json.dumps({**identity, "format": 1}).encode())
    with pytest.raises(CheckpointError, match="by another version"):
        ab.start(items().collect("out"), checkpoint=state)
    (state / "stream.json").write_text("{")
    with pytest.raises(RunError, match=r"stream\.json: the checkpoint is damaged"):
        ab.start(items().collect("out"), checkpoint=state)


def test_a_checkpoint_that_another_run_works_with_is_refused_before_spark(tmp_path: Path) -> None:
    with Checkpointed(tmp_path / "state"), pytest.raises(CheckpointError, match="another run"):
        ab.start(items().collect("out"), checkpoint=tmp_path / "state")
