"""Streams on a real Spark: what arrives comes out once and in order, over stops, restarts and tasks that fail."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError, Commit
from anabranch.engines.spark.streams.query import Query
from anabranch.errors import RunError, UsageError
from anabranch.run import as_program
from tests.engines.spark.session.test_kinds_of_sessions import ROOT
from tests.engines.spark.streams.running_streams import wait_until
from tests.equivalence.shown_facts import shown


class Item(NamedTuple):
    n: int
    s: str


class Running:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count, item.s) if self.count % 3 else None


class Failing:
    """Fails when a key has come for the hundredth time."""

    def __init__(self) -> None:
        self.left = 100

    def process(self, item: Item) -> Item:
        self.left -= 1
        return Item(1_000_000 // self.left + item.n, item.s)


def numbered(number: int) -> Item:
    return Item(number * 7919 % 1009, "abcdefg"[number % 7])


def same(item: Item) -> Item:
    return item


class Folder:
    """Files that are moved into a folder, a stream over them, and what the oracle makes of the same files."""

    def __init__(self, path: Path, session: Any) -> None:
        self.path = path
        self.session = session
        self.checkpoint = path / "state"
        (path / "in").mkdir()
        self.files = 0

    def feed(self, rows: int = 300) -> None:
        part = self.path / "in" / f".{self.files}"
        items = [numbered(self.files * 1000 + at) for at in range(rows)]
        part.write_text("n,s\n" + "".join(f"{item.n},{item.s}\n" for item in items))
        part.rename(self.path / "in" / f"{self.files:03}.csv")
        self.files += 1

    def program(self, out: str = "out.csv") -> Any:
        items = ab.read_csv(self.path / "in", Item).process(Running, key="n").process(Running, key="s")
        return items.write_csv(self.path / out)

    def start(self, program: Any = None, **options: Any) -> Query:
        return ab.start(program or self.program(), checkpoint=self.checkpoint, spark=self.session, **options)

    def once(self, program: Any = None, **options: Any) -> Any:
        return self.start(program, once=True, **options).await_done()

    def is_exact(self) -> bool:
        ab.run(self.program("expected.csv"), engine="sequential")
        expected = (self.path / "expected.csv").read_text()
        return (self.path / "out.csv").read_text() == expected and expected.count("\n") > 100


@pytest.fixture
def folder(tmp_path: Path, session: Any) -> Folder:
    return Folder(tmp_path, session)


def committed(query: Query, batches: int = 1) -> None:
    """Wait until some more batches have been committed."""
    before = query.progress.batch
    wait_until(lambda: query.progress.batch >= before + batches or not query.is_active)
    assert query.is_active, query.await_done()


def test_what_a_stream_executes_is_what_its_plan_shows(folder: Folder) -> None:
    folder.feed()
    program = as_program(folder.program())
    result = folder.start(program, channels=2).finish()
    assert result is not None
    assert result.metrics.tuples_in == 300
    assert set(result.metrics.executed) == shown(result.plan)
    assert shown(result.plan) == shown(ab.explain(program, stream=True, channels=2).plan)


# Stops and restarts ---------------------------------------------------------------------------------------------------


def test_a_stream_that_is_stopped_goes_on_where_it_was(folder: Folder) -> None:
    with folder.start(channels=3) as query:
        folder.feed()
        committed(query)
        assert query.progress.tuples_in == 300
    assert folder.is_exact()
    folder.feed()
    folder.feed()
    with folder.start() as query:
        committed(query)
        folder.feed()
        assert query.finish() is not None
    assert folder.is_exact()
    folder.feed()  # comes too late
    with folder.start() as query:
        assert query.await_done() is not None
        assert query.progress.tuples_in == 0


def test_a_folder_may_have_any_name_and_state_is_kept_in_rocksdb(folder: Folder) -> None:
    folder.checkpoint = folder.path / "a b=é,@+:%20#?*{[日" / "state"
    folder.checkpoint.parent.mkdir()
    for _ in range(2):
        folder.feed()
        with folder.start(channels=2) as query:
            committed(query)
            described = query._spark.name
    assert folder.is_exact()
    assert sorted(path.name for path in folder.path.iterdir() if path.is_dir()) == [folder.checkpoint.parent.name, "in"]
    kept = [path.suffix for path in (folder.checkpoint / "spark" / "state").rglob("*") if path.is_file()]
    assert ".changelog" in kept  # which only that store writes, and only where it is told to
    assert described.startswith("program: sources (read_csv); R1 (Running); R2 (Running_2)")


def test_a_stream_that_was_stopped_while_spark_wrote_its_first_offset_goes_on(folder: Folder) -> None:
    offsets = folder.checkpoint / "spark" / "offsets"
    with folder.start():
        wait_until(offsets.exists)
    (offsets / ".0.1a2b.tmp").write_text("v1")
    folder.feed()
    folder.once()
    assert folder.is_exact()


@pytest.mark.slow
def test_what_is_there_is_processed_once(folder: Folder) -> None:
    for _ in range(2):
        folder.feed()
        folder.once()
        assert folder.is_exact()


def test_windows_stay_open_over_a_restart(folder: Folder) -> None:
    def program(out: str) -> Any:
        windows = ab.read_csv(folder.path / "in", Item).window(ab.sliding(count=30, slide=7), key="s")
        return windows.aggregate(Item, n=ab.sum_("n"), s=ab.first("s")).write_csv(folder.path / out)

    for _ in range(2):
        folder.feed()
        folder.once(program("out.csv"), channels=3)
    folder.feed()
    with folder.start(program("out.csv")) as query:
        query.finish()
    ab.run(program("expected.csv"), engine="sequential")
    assert (folder.path / "out.csv").read_text() == (folder.path / "expected.csv").read_text()


SECOND = """
import sys
import anabranch as ab
from tests.engines.spark.streams.test_streams_on_spark import Item
try:
    ab.start(ab.read_csv(sys.argv[1], Item).collect("out"), checkpoint=sys.argv[2])
except ab.AnabranchError as problem:
    print(problem)
"""


@pytest.mark.slow
def test_while_a_stream_runs_a_second_one_on_its_checkpoint_is_refused(folder: Folder) -> None:
    words = f"{folder.checkpoint}: another run (process {os.getpid()}) works with this checkpoint"
    with folder.start():
        with pytest.raises(CheckpointError, match="works with this checkpoint"):
            folder.start()
        other = subprocess.run(
            [sys.executable, "-c", SECOND, str(folder.path / "in"), str(folder.checkpoint)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert other.stdout.splitlines()[0] == words
    folder.feed()
    folder.once()  # nobody works there any more
    assert folder.is_exact()


@pytest.mark.slow
def test_the_checkpoint_of_another_program_is_refused(folder: Folder) -> None:
    folder.once()
    items = ab.read_csv(folder.path / "in", Item)
    for other, what in (
        (items.process(Running, key="n").process(Failing, key="s"), "it had an operator 'Running_2'"),
        (items.process(Running, key="n").process(Running, key="n"), "'Running_2' had the key s, and now n"),
        (items.process(Running, key="n").process(Running, key="s").map(same), "it had no operator 'same'"),
    ):
        with pytest.raises(CheckpointError, match=f"written by another program: .*{what}"):
            folder.start(other.write_csv(folder.path / "out.csv"))

    @ab.app
    def named() -> None:
        folder.program()

    with pytest.raises(CheckpointError, match="by 'program', and this is 'named'"):
        folder.start(named())


@pytest.mark.slow
def test_the_number_of_channels_is_that_of_the_first_start(folder: Folder) -> None:
    folder.once(channels={"R1": 2, "R2": 3})
    with pytest.raises(CheckpointError) as caught:
        folder.start(channels=2)
    assert str(caught.value).splitlines() == [
        f"{folder.checkpoint}: the stream has 3 channels in R2 since its first start, and cannot have 2",
        "  try: leave the number of channels out, or begin with a new folder",
    ]
    assert (Checkpoint(folder.checkpoint).identity() or {})["channels"] == {"R1": 2, "R2": 3}
    folder.feed()
    folder.once()
    assert folder.is_exact()


@pytest.mark.slow
def test_an_output_that_is_not_of_this_stream_is_left_alone(folder: Folder) -> None:
    (folder.path / "out.csv").write_text("mine\n")
    with pytest.raises(RunError, match=r"out\.csv exists, and is not of this stream"):
        folder.start()
    assert (folder.path / "out.csv").read_text() == "mine\n"


# Failures -------------------------------------------------------------------------------------------------------------


@ab.declare(state="partitioned", because="what it does to its process leaves no trace in the tuples")
class Dying(Running):
    """Ends the worker that it runs in, once."""

    marker = ""
    driver = 0

    def process(self, item: Item) -> Item | None:
        if item.n % 77 == 0 and os.getpid() != self.driver and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os._exit(1)
        return super().process(item)


def test_a_task_that_fails_is_tried_again(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = folder.path / "died"
    monkeypatch.setattr(Dying, "marker", str(marker))
    monkeypatch.setattr(Dying, "driver", os.getpid())
    folder.feed(2_000)
    items = ab.read_csv(folder.path / "in", Item).process(Running, key="s").process(Dying, key="n")
    folder.once(items.write_csv(folder.path / "out.csv"), channels=3)
    assert marker.exists()
    ab.run(items.write_csv(folder.path / "expected.csv"), engine="sequential")
    assert (folder.path / "out.csv").read_text() == (folder.path / "expected.csv").read_text()


def test_an_error_is_the_oracles_and_comes_again_after_a_restart(folder: Folder) -> None:
    def program(out: str) -> Any:
        items = ab.read_csv(folder.path / "in", Item).process(Running, key="n")
        return items.process(Failing, key="s").write_csv(folder.path / out)

    folder.feed()
    folder.once(program("out.csv"))
    folder.feed(1_500)
    folder.feed()
    with pytest.raises(ab.OperatorError) as expected:
        ab.run(program("expected.csv"), engine="sequential")
    assert "ZeroDivisionError" in str(expected.value)
    assert "on Item(" in str(expected.value)
    for _ in range(2):
        with pytest.raises(ab.OperatorError) as found:
            folder.once(program("out.csv"))
        # A bounded run also says where it keeps what it wrote.
        assert str(found.value) == str(expected.value).partition("\n  what was written")[0]
        assert found.value.item == expected.value.item
        assert (folder.path / "out.csv").read_text() == (folder.path / "expected.csv.partial").read_text()


@pytest.mark.slow
def test_what_exists_only_in_this_process_cannot_be_in_a_stream(folder: Folder) -> None:
    lock = threading.Lock()

    @ab.declare(state="stateless", because="the lock is not for the tuples")
    def locked(item: Item) -> Item:
        with lock:
            return item

    folder.feed()
    items = ab.read_csv(folder.path / "in", Item).process(Running, key="n").map(locked)
    with pytest.raises(UsageError, match="cannot be sent to Spark's workers"):
        folder.start(items.write_csv(folder.path / "out.csv"))


@pytest.mark.slow
def test_a_beacon_that_may_share_something_with_operators_is_refused(folder: Folder) -> None:
    shared: list[int] = []

    def counted(number: int) -> Item:
        shared.append(number)
        return Item(len(shared), "a")

    with pytest.raises(UsageError, match="'beacon' may share something with the operators"):
        folder.start(ab.beacon(Item, counted, count=10).process(Running, key="s").collect("out"))


# Other sources and sinks ----------------------------------------------------------------------------------------------


class Server:
    """Sends lines to whoever connects."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.port: int = listening.getsockname()[1]

    @contextmanager
    def connection(self) -> Iterator[Callable[[range], None]]:
        accepted: list[socket.socket] = []
        thread = threading.Thread(target=lambda: accepted.append(self._listening.accept()[0]))
        thread.start()

        def send(numbers: range) -> None:
            thread.join()
            accepted[0].sendall("".join(f"{number},{'abc'[number % 3]}\n" for number in numbers).encode())

        try:
            yield send
        finally:
            thread.join()
            accepted[0].close()


@pytest.fixture
def server() -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield Server(listening)


def test_lines_from_tcp_are_processed_once_over_a_restart(folder: Folder, server: Server) -> None:
    items = ab.read_tcp(server.port, Item, host="127.0.0.1", format="csv").process(Running, key="s")
    program = items.write_csv(folder.path / "out.csv")
    with server.connection() as send, folder.start(program, channels=2) as query:
        send(range(100))
        committed(query)
        send(range(100, 150))
        committed(query)
    with server.connection() as send, folder.start(program) as query:
        send(range(150, 250))
        committed(query)
        send(range(250, 300))
        wait_until(lambda: query.progress.tuples_in == 150)
        query.finish()
    expected = ab.from_items(Item, [Item(n, "abc"[n % 3]) for n in range(300)]).process(Running, key="s")
    ab.run(expected.write_csv(folder.path / "expected.csv"), engine="sequential")
    assert (folder.path / "out.csv").read_text() == (folder.path / "expected.csv").read_text()


@pytest.mark.slow
def test_a_beacon_with_a_rate_goes_on_at_its_number(folder: Folder) -> None:
    program = ab.beacon(Item, numbered, rate=400).process(Running, key="s").collect("out")
    for _ in range(2):
        with folder.start(program, channels=2) as query:
            committed(query, 2)
    result = query.result
    drawn = 0
    for entry in (folder.checkpoint / "arrivals.jsonl").read_text().splitlines():
        first, last = json.loads(entry)[1]["piece"]["numbers"]
        assert first == drawn
        drawn = last
    expected = ab.run(ab.beacon(Item, numbered, count=drawn).process(Running, key="s").collect("out")).items("out")
    assert result.items("out") == expected[: len(result.items("out"))]
    assert len(result.items("out")) > 10


@pytest.mark.slow
def test_a_beacon_with_a_count_comes_to_its_end(folder: Folder) -> None:
    windows = ab.beacon(Item, numbered, count=20_000).window(ab.tumbling(count=7), key="s")
    program = as_program(windows.aggregate(Item, n=ab.sum_("n"), s=ab.first("s")).collect("out"))
    result = folder.start(program, channels=2).await_done()
    assert result is not None
    assert result.items("out") == ab.run(program, engine="sequential").items("out")
    assert len(result.items("out")) > 2_000


@pytest.mark.slow
def test_for_each_sees_every_tuple_in_order_and_those_of_a_batch_that_was_not_committed_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Item] = []
    program = ab.read_csv(folder.path / "in", Item).process(Running, key="s").for_each(seen.append)
    folder.feed()
    folder.once(program)
    first = len(seen)

    def fail(checkpoint: Checkpoint, commit: Commit) -> None:
        raise OSError("the disk is full")

    folder.feed()
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "write_commit", fail)
        with pytest.raises(RunError, match="the disk is full"):
            folder.once(program)
    second = seen[first:]
    folder.once(program)
    oracle = ab.read_csv(folder.path / "in", Item).process(Running, key="s").collect("out")
    expected = ab.run(oracle, engine="sequential").items("out")
    assert seen == [*expected, *second]
    assert len(second) > 100
    assert seen[first:] == [*second, *second]
