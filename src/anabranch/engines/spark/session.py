"""The Spark session that a run uses: the caller's, the active one, or one of ours, quiet and on this machine."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anabranch.engines.spark.java import find_java
from anabranch.errors import RunError, UsageError, in_words

LOCAL = "local[*]"
_LINES_SHOWN = 12

# Chunk rows are large: few of them at a time keep memory bounded, and what moves them is copied, not compressed.
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.adaptive.enabled": "false",  # partitions are channels: nobody may join them
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
}
# For a session on this machine alone: nobody else has to reach it, and it should start soon.
_LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class SparkError(RunError):
    """Spark itself could not do what was asked of it."""


@dataclass(frozen=True)
class SparkOptions:
    """Where and how to run. `session` is one that exists; else `master` says which to make (or `remote`, a Connect)."""

    session: Any = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    ui: bool = False


def session_for(options: SparkOptions) -> Any:
    """The session; one that we make lives as long as this process, so that the next run finds it."""
    if options.session is not None:
        _must_fit(options, "an existing session")
        return options.session
    with warnings.catch_warnings(), _signals_kept():
        warnings.simplefilter("ignore")
        active = _active()
        if active is not None:
            _must_fit(options, "the session that is active")
            return active
        return _made(options)


def _must_fit(options: SparkOptions, what: str) -> None:
    if options.master is not None or options.conf or options.ui:
        given = "master" if options.master is not None else "conf" if options.conf else "ui"
        raise UsageError(
            f"{given}= cannot change {what}", hint="stop it first (session.stop()), or set it up as it should be"
        )


def _active() -> Any:
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _made(options: SparkOptions) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    master = options.master or os.environ.get("MASTER") or LOCAL
    is_remote = master.startswith("sc://")
    if not is_remote:
        os.environ["JAVA_HOME"] = str(find_java())
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("anabranch")
    settings = {**_SETTINGS, **(_LOCAL_SETTINGS if master.startswith("local") else {})}
    settings["spark.ui.enabled"] = "true" if options.ui else "false"
    if master == LOCAL:
        settings["spark.default.parallelism"] = str(len(os.sched_getaffinity(0)))
    for name, value in {**settings, **options.conf}.items():
        builder = builder.config(name, value)
    builder = builder.remote(master) if is_remote else builder.master(master)
    with _quiet():
        session = builder.getOrCreate()
    if not is_remote:
        session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _quiet() -> Iterator[None]:
    """What Java says goes into a file without a name, for as long as it runs; where it does not start, it is shown."""
    sys.stderr.flush()
    own = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        except Exception as problem:
            said.seek(0)
            words = said.read().decode(errors="replace").strip().splitlines()[-_LINES_SHOWN:]
            raise SparkError("\n".join([f"Spark does not start: {in_words(problem)}", *words])) from problem
        finally:
            os.dup2(own, 2)
            os.close(own)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Spark takes Ctrl-C for itself; a run has its own way to end between two tuples."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
