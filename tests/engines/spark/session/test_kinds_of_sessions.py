"""Each kind of session in a process of its own: one that we start, spark-submit, Spark Connect, a cluster."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from anabranch.engines.spark.session.java import find_java
from tests.engines.spark.session.test_sessions import wait_until

ROOT = Path(__file__).parents[4]
SPARK_HOME = Path(pyspark.__file__).parent
# For a Spark that we do not start: it should start soon, with what we would give it.
SOON = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
OF_SPARK = {"JAVA_HOME": str(find_java()), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}

# Stands in a file beside the scripts, which the workers cannot import.
CHECKED = """
from typing import NamedTuple
import anabranch as ab

class Item(NamedTuple):
    n: int
    s: str = ""

class Running:
    def __init__(self):
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count, item.s) if self.count % 3 else None

class Busy:
    def __init__(self):
        self.total = 0

    def process(self, item: Item) -> Item:
        for number in range(100_000):
            self.total = (self.total + number * item.n) % 1_000_003
        return Item(self.total, item.s)

def numbered(number: int) -> Item:
    return Item(number * 7919 % 1009, "abcdefg"[number % 7])

@ab.app
def running(count: int = 30_000):
    ab.beacon(Item, numbered, count=count).process(Running, key="n").process(Running, key="s").collect("out")

@ab.app
def endless():
    ab.beacon(Item, numbered, count=10_000_000).process(Busy, key="s").collect("out")

expected = ab.run(running, engine="sequential").items("out")

def check(**options):
    result = ab.run(running, engine="spark", **options)
    assert len(expected) > 10_000
    print("exact" if result.items("out") == expected else "wrong", result.metrics.notes)

def refused(**options):
    try:
        ab.run(running, engine="spark", **options)
    except ab.AnabranchError as error:
        print(type(error).__name__, "|", str(error))
"""


class Process:
    """Runs scripts in a folder of their own, and sees to it that nothing stays behind."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder / "scripts"
        self.scratch = folder / "scratch"
        self.server: subprocess.Popen[bytes] | None = None
        self.patience = 240  # seconds
        self.folder.mkdir()
        self.scratch.mkdir()
        (self.folder / "checked.py").write_text(CHECKED)
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("SPARK", "PYSPARK", "PYTHONPATH"))
            },
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.scratch),
            "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={self.scratch}",
            "ANABRANCH_CACHE": str(cache),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }

    def run(self, script: str, *command: str, **variables: str) -> tuple[str, str]:
        """What a script printed, and what it complained of."""
        # Workers do not know of it: they have to be told where this package is.
        path = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        (self.folder / "script.py").write_text(path + textwrap.dedent(script))
        done = subprocess.run(
            [*(command or [sys.executable]), "script.py"],
            cwd=self.folder,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=self.patience,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def has_left_nothing(self) -> bool:
        wait_until(lambda: not self.still_running())
        assert sorted(each.name for each in self.folder.iterdir()) == ["checked.py", "script.py"]
        assert list(self.scratch.iterdir()) == []
        assert not (SPARK_HOME / "work").exists()
        return True

    def still_running(self) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.scratch).encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text()[:200])
            except OSError:  # it has ended, or is not ours
                continue
        return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def process(tmp_path: Path, cache: Path) -> Process:
    return Process(tmp_path, cache)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


OF_OUR_OWN = """
import json, urllib.request
from checked import check, refused
from pyspark.sql import SparkSession

refused(spark_conf={"spark.driver.memory": "1k"})
check(ui=True)
session = SparkSession.active()
check(ui=True)
print(SparkSession.active() is session, session.conf.get("spark.master"))

url = session.sparkContext.uiWebUrl
def asked(what):
    with urllib.request.urlopen(f"{url}/api/v1/applications/{session.sparkContext.applicationId}{what}") as answer:
        return json.load(answer)

print(asked("")["name"], sorted({job["description"] for job in asked("/jobs")}))
print(*sorted({stage["name"] for stage in asked("/stages")}), sep="; ")
plan = asked("/sql?details=true&planDescription=true")[-1]["planDescription"]
print("Arguments: R1 (Running)(" in plan, "Arguments: R2 (Running_2)(" in plan)
print(url.rpartition(":")[0])
port = "%04X" % int(url.rpartition(":")[2])
listening = [line.split()[1] for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}") if " 0A " in line]
print({place.rpartition(":")[0] for place in listening if place.endswith(f":{port}")} <= LOOPBACK)
session.stop()
check(master="local[1]")
"""


def test_a_session_of_our_own(process: Process) -> None:
    loopback = {"0100007F", "0" * 16 + "FFFF00000100007F"}
    printed, complained = process.run(OF_OUR_OWN.replace("LOOPBACK", repr(loopback)))
    lines = printed.splitlines()
    assert lines == [
        "SparkError | Spark's Java does not start",
        "  Error occurred during initialization of VM",
        "  Too small maximum heap",
        "exact []",
        "exact []",
        "True local[*,4]",
        "running ['running: sources (beacon); R1 (Running); R2 (Running_2)']",
        "R1 (Running); R2 (Running_2); for the driver (out); sources (beacon)",
        "True True",
        "http://127.0.0.1",
        "True",
        "exact []",
    ]
    assert complained.startswith("Spark's pages: http://127.0.0.1:")
    assert complained.count("\n") == 1, "nothing else is said"
    assert process.has_left_nothing()


def test_a_script_of_spark_submit_has_the_settings_given_there(process: Process) -> None:
    script = """
        from checked import check
        from pyspark.sql import SparkSession
        check()
        session = SparkSession.active()
        print([session.conf.get(f"spark.{name}") for name in ("master", "app.name", "shuffle.compress", "ui.enabled")])
    """
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--name", "named there"]
    command += ["--driver-java-options", SOON]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.shuffle.compress=true"]
    printed, _ = process.run(script, *command, **OF_SPARK)
    assert printed == "exact []\n['local[2]', 'named there', 'true', 'false']\n"


CONNECTED = """
import os, signal
from checked import check, endless
import anabranch as ab
from anabranch.engines.spark.session.session import cores_of
from pyspark.sql import SparkSession

session = SparkSession.builder.remote("URL").getOrCreate()
print(type(session).__module__, cores_of(session))
check(spark=session)
check()
before = dict(session.conf.getAll)

def interrupt(stages, inflight_tasks, operation_id, done):
    if inflight_tasks:
        session.removeProgressHandler(interrupt)
        os.kill(os.getpid(), signal.SIGINT)

session.registerProgressHandler(interrupt)
try:
    ab.run(endless, engine="spark", form="python")
except KeyboardInterrupt:
    print("interrupted")
check()
print(dict(session.conf.getAll) == before)
session.stop()
check(master="URL")
check(master="URL")
"""


@contextmanager
def connect_server(process: Process) -> Iterator[str]:
    """The address of a Spark Connect server on this machine, which is a process of its own too."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    command = [SPARK_HOME / "bin" / "spark-submit", "--master", "local[2]", "--driver-java-options", SOON]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    server = subprocess.Popen(
        command,
        cwd=process.folder,
        env={**process.environment, **OF_SPARK, "SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    process.server = server
    try:
        wait_until(lambda: server.poll() is not None or is_listening(port))
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


def is_listening(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_sessions_over_connect(process: Process) -> None:
    with connect_server(process) as url:
        printed, complained = process.run(CONNECTED.replace("URL", url))
    assert printed.splitlines() == [
        "pyspark.sql.connect.session 2",
        "exact []",
        "exact []",
        "interrupted",
        "exact []",
        "True",
        "exact []",
        "exact []",
    ]
    assert complained == ""


def test_connect_without_a_server_or_its_packages(process: Process) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        script = f"""
            import sys
            from checked import refused
            refused(master="sc://127.0.0.1:{free_port()}")
            sys.modules["grpc"] = None
            refused(master="sc://127.0.0.1:{silent.getsockname()[1]}")
        """
        printed, complained = process.run(script)
    first, _, second, hint = printed.splitlines()
    assert first.startswith("SparkError | no Spark Connect server listens at sc://127.0.0.1:")
    assert second.startswith("SparkError | Spark Connect lacks a package: grpcio >= ")
    assert hint == f"  try: {sys.executable} -m pip install 'anabranch[connect]'"
    assert complained == ""


def test_a_cluster_of_several_processes(process: Process) -> None:
    script = """
        import os
        from typing import NamedTuple
        import anabranch as ab
        from checked import check
        from pyspark.sql import SparkSession
        check(master="local-cluster[2,1,1024]")
        session = SparkSession.active()
        print(session.sparkContext.defaultParallelism, "SPARK_HOME" in os.environ)

        def process_ids(batches):
            import os, pyarrow
            for batch in batches:
                yield pyarrow.record_batch([pyarrow.array([os.getppid()])], ["id"])

        # Each executor starts its own Python, and that the workers.
        print(len({row.id for row in session.range(0, 8, 1, 8).mapInArrow(process_ids, "id long").collect()}))

        class Line(NamedTuple):
            text: str

        # A path that is another one for each process.
        try:
            ab.run(ab.read_lines("/proc/self/cwd/checked.py", Line).collect("out"), engine="spark")
        except ab.SourceError as error:
            print(error.message)
    """
    printed, complained = process.run(script)
    unseen = f"no such file on {socket.gethostname()}, where a worker of Spark's has to read it"
    assert printed.splitlines() == ["exact []", "2 False", "2", f"/proc/self/cwd/checked.py: {unseen}"]
    assert complained == ""
    assert process.has_left_nothing()
