"""Streams whose Spark is a Connect server: the batches come to the process that started them, wherever it is killed."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.spark.session.test_kinds_of_sessions import Process, connect_server
from tests.engines.spark.streams.running_streams import Feeder, check, committed, stream, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, str]]:
    process = Process(tmp_path_factory.mktemp("server"), tmp_path_factory.mktemp("cache"))
    with connect_server(process) as url:
        yield process, url
    wait_until(lambda: not process.still_running())


BEFORE = """
from pathlib import Path
from pyspark.sql import SparkSession
import anabranch as ab
from checked import Item, Running

folder = Path("FOLDER")
session = SparkSession.builder.remote("URL").getOrCreate()

def put(number):
    rows = "".join(f"{n * 7919 % 101},{'abcdefg'[n % 7]}\\n" for n in range(number * 500, (number + 1) * 500))
    (folder / "in" / f"{number}.csv").write_text("n,s\\n" + rows)
"""

STOPPED_AND_STARTED = """
before = dict(session.conf.getAll)

def program(out):
    return ab.read_csv(folder / "in", Item).process(Running, key="s").write_csv(out)

put(0)
query = ab.start(program(folder / "out.csv"), checkpoint=folder / "state", spark=session, channels=2)
while query.progress.batch < 0 and query.await_done(timeout=0.05) is None:
    pass
query.stop()
print(query.progress.batch, query.progress.tuples_in, list((folder / "state" / "connect").iterdir()))

put(1)
with ab.start(program(folder / "out.csv"), checkpoint=folder / "state", spark=session) as query:
    print(query.finish().metrics.tuples_in, query.progress.batch)
ab.run(program(folder / "expected.csv"), engine="sequential")
print((folder / "expected.csv").read_bytes() == (folder / "out.csv").read_bytes())
print(list((folder / "state" / "connect").iterdir()), dict(session.conf.getAll) == before)
"""

FAILED_AND_REFUSED = """
from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.engines.spark.streams.connected import must_be_seen
from anabranch.engines.spark.streams.handover import Handover

class Picky:
    def __init__(self):
        self.left = 50

    def process(self, item: Item) -> Item:
        self.left -= 1
        return Item(item.n // self.left, item.s)

def program(out):
    return ab.read_csv(folder / "in", Item).process(Picky, key="s").write_csv(out)

put(0)
try:
    ab.run(program(folder / "expected.csv"), engine="sequential")
except ab.OperatorError as error:
    expected = str(error)
try:
    ab.start(program(folder / "out.csv"), checkpoint=folder / "state", spark=session, once=True).await_done()
except ab.OperatorError as error:
    print(str(error) == expected)
    print(error)
print((folder / "expected.csv").read_bytes() == (folder / "out.csv").read_bytes())
try:
    must_be_seen(session, Handover(Path("/nowhere")), Checkpoint(Path("/nowhere")))
except ab.UsageError as error:
    print(error)
"""


def run(server: tuple[Process, str], folder: Path, script: str) -> list[str]:
    (folder / "in").mkdir()
    process, url = server
    printed, complained = process.run((BEFORE + script).replace("FOLDER", str(folder)).replace("URL", url))
    assert complained == ""
    return printed.splitlines()


def test_a_stream_over_connect_is_stopped_and_goes_on(tmp_path: Path, server: tuple[Process, str]) -> None:
    assert run(server, tmp_path, STOPPED_AND_STARTED) == ["0 500 []", "500 1", "True", "[] True"]


@pytest.mark.slow
def test_errors_are_those_of_other_sessions_and_a_folder_that_is_not_seen_is_refused(
    tmp_path: Path, server: tuple[Process, str]
) -> None:
    is_same, failed, declared, raised, item, is_written, *refused = run(server, tmp_path, FAILED_AND_REFUSED)
    assert is_same == is_written == "True"
    assert failed == "operator 'Picky' failed: ZeroDivisionError: integer division or modulo by zero"
    assert declared.startswith("  at script.py:")
    assert raised.startswith("  raised at script.py:")
    assert item == "  on Item(n=24, s='a')"
    assert refused == [
        "/nowhere: the Spark Connect server cannot see this folder, or its locks",
        "  try: use one that is there under the same path, on a file system that all machines share; or a Spark of "
        "this process: master=local[*], spark://…",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("program", ["chained", "branched"])
def test_the_process_that_started_a_stream_is_killed(tmp_path: Path, server: tuple[Process, str], program: str) -> None:
    """Its query ends by itself, and the next start goes on, on the same server or elsewhere."""
    generator = random.Random(program)
    feeder = Feeder(tmp_path, seed=5)
    _, url = server
    for kind in ("at a moment", "at a commit", "when all is done"):
        die = ("--die", generator.choice(["before", "after"]), "commit", "3") if kind == "at a commit" else ()
        with stream(tmp_path, program, "--master", url, "--channels", "3", *die) as running:
            before = committed(tmp_path)
            with feeder.feeding(0.3):
                if kind == "at a commit":
                    assert running.wait() < 0
                else:
                    wait_until(lambda: committed(tmp_path) > before or running.popen.poll() is not None)
                    time.sleep(generator.uniform(0, 2))
            if kind == "when all is done":
                time.sleep(5)
            running.kill()
    (tmp_path / "finish").touch()
    with stream(tmp_path, program, "--master", "local[2,4]" if program == "chained" else url) as running:
        assert running.wait() == 0, running.said.read_text()
    check(tmp_path, program)
    assert list((tmp_path / "state" / "connect").iterdir()) == []


@pytest.mark.slow
def test_the_server_is_killed(tmp_path: Path) -> None:
    """Whoever waits for it is told soon, and the stream goes on elsewhere."""
    feeder = Feeder(tmp_path, seed=6)
    process = Process(tmp_path, tmp_path / "cache")
    with connect_server(process) as url, stream(tmp_path, "chained", "--master", url) as running, feeder.feeding(0.3):
        wait_until(lambda: committed(tmp_path) > 0 or running.popen.poll() is not None)
        assert process.server is not None
        process.server.kill()
        assert running.wait(120) == 1
    assert "SparkError: Spark failed: its Java has ended, or was killed" in running.said.read_text()
    (tmp_path / "finish").touch()
    with stream(tmp_path, "chained") as running:
        assert running.wait() == 0, running.said.read_text()
    check(tmp_path, "chained")
