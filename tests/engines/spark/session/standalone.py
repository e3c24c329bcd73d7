"""A standalone cluster of Spark on this machine, for tests: a master and a worker, processes that end by themselves."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from anabranch.engines.spark.session.java import find_java
from tests.engines.spark.session.test_sessions import wait_until

_HERE = "127.0.0.1"
_CLASS = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
_SOON = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SECONDS = "1500"  # after which everything has ended, whatever becomes of the test


@contextmanager
def standalone_cluster(folder: Path, *, cores: int, memory: str) -> Iterator[str]:
    """The address of a master that has one worker of this size."""
    folder.mkdir()
    port = _free_port()
    master = f"spark://{_HERE}:{port}"
    with ExitStack() as running:
        running.enter_context(_daemon(folder, "master.Master", "--port", str(port)))
        wait_until(lambda: _is_listening(port))
        size = ["--cores", str(cores), "--memory", memory, "--work-dir", str(folder / "work")]
        running.enter_context(_daemon(folder, "worker.Worker", *size, master))
        wait_until(lambda: "Successfully registered with master" in (folder / "worker.Worker").read_text())
        yield master


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java()),
        "SPARK_LOCAL_IP": _HERE,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _SOON,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    options = ["--host", _HERE, "--webui-port", "0"]
    command = ["timeout", _SECONDS, _CLASS, f"org.apache.spark.deploy.{name}", *options, *arguments]
    with (folder / name).open("wb") as log:
        started = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        started.terminate()
        started.wait(60)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((_HERE, 0))
        return int(found.getsockname()[1])


def _is_listening(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((_HERE, port)) == 0
