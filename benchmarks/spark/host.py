"""Contestants in processes of their own, each with a Spark session that is set up as suits it and stays warm.

A host is asked to do one thing at a time, by lines of JSON, and says how long it took. All hosts of a race stay open,
so that rounds can be interleaved; one that is not asked does nothing.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.codegen.own_process import environment

MASTER = "local[2]"
FOLDER = Path("build/bench")
_LINES_SHOWN = 25
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


class Host:
    """The other end of a process with a session: ours, or a plain one with the given settings."""

    def __init__(self, name: str, settings: Mapping[str, str] | None = None, *, master: str = MASTER) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._log = FOLDER / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.spark.host", json.dumps(settings), master],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment(),
            )
        self.session_seconds: float = self._answer()["seconds"]

    @property
    def pid(self) -> int:
        return self._process.pid

    def do(self, function: str, **arguments: Any) -> dict[str, Any]:
        """Call `module:name` with the session and these arguments: its answer, and the seconds that it took."""
        assert self._process.stdin is not None
        print(json.dumps([function, arguments]), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            said = self._log.read_text(errors="replace").splitlines()[-_LINES_SHOWN:]
            raise RuntimeError("\n".join([f"a contestant stopped; all it said is in {self._log}:", *said]))
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """No more work: the process ends by itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(settings: Mapping[str, str] | None, master: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed goes to the log

    def answer(start: float, found: Mapping[str, Any] | None) -> None:
        print(json.dumps({"seconds": time.perf_counter() - start, **(found or {})}), file=answers, flush=True)

    start = time.perf_counter()
    session = _our_session(master) if settings is None else _plain_session(settings, master)
    answer(start, None)
    for line in sys.stdin:
        function, arguments = json.loads(line)
        module, name = function.split(":")
        work = getattr(importlib.import_module(module), name)
        start = time.perf_counter()
        answer(start, work(session, **arguments))
    session.stop()


def _our_session(master: str) -> Any:
    from anabranch.engines.spark.session.session import SparkOptions, session_for

    return session_for(SparkOptions(master=master))


def _plain_session(settings: Mapping[str, str], master: str) -> Any:
    from pyspark.sql import SparkSession

    from anabranch.engines.spark.session.java import find_java

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java())
    builder = SparkSession.builder.master(master)
    for name, value in {**_QUIET, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]), sys.argv[2])
