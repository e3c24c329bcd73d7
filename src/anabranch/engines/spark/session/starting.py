"""Starts a Spark: quiet, with settings for chunk rows, and with workers that have this interpreter and this package."""

from __future__ import annotations

import atexit
import logging
import os
import re
import signal
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anabranch.engines.spark.session.gone_java import hush
from anabranch.engines.spark.session.java import find_java
from anabranch.engines.spark.session.java_folder import end_starting_java, make_java_folder, remove_java_folder
from anabranch.engines.spark.session.masters import (
    MASTERS,
    STANDALONE,
    master_must_answer,
    must_be_a_master,
    server_must_listen,
)
from anabranch.engines.spark.session.spark_errors import SparkError, innermost, spark_error
from anabranch.errors import UsageError, shown

LOCAL = "local[*,4]"  # on all cores, and a task that fails is tried four times, as on a cluster
_LINES_SHOWN = 6
_IS_NO_REASON = re.compile(
    r"\tat |WARNING: |Picked up |Using Spark's default |\S+ \S+ (WARN|INFO) "
)  # of what Java says
_LEAST_HEAP, _MOST_HEAP = 1_024, 4_096  # MB
_OF_MASTERS = re.compile(r"\bmaster\b", re.IGNORECASE)
_GAVE_UP = re.compile(r"stopped SparkContext|masters are unresponsive")
_CLUSTER_HERE = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")

# What moves chunk rows is copied, not compressed. Those of a job are in jobs.py.
_SETTINGS = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
}
# For a session on this machine alone: nobody else has to reach it, and it should start soon.
_LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Out of memory, a thread of Spark's would end and the job wait for it for ever.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError",
}


@dataclass(frozen=True)
class SparkOptions:
    """Where and how to run: `session` is one that exists; else `master` says where to make one (sc://: Connect)."""

    session: Any = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    ui: bool = False
    name: str = "anabranch"  # of the application, if a session is made


def spark_options(session: Any, master: Any, conf: Any, ui: bool, name: str = "anabranch") -> SparkOptions:
    """What a user asked for, looked at before Spark starts; settings are text, as Spark has them."""
    if session is not None and (isinstance(session, type) or not hasattr(session, "createDataFrame")):
        raise UsageError(f"spark={shown(session)} is no Spark session", hint="give what SparkSession.builder makes")
    if master is not None and not isinstance(master, str):
        raise UsageError(f"master={shown(master)} is no address", hint='for example master="local[4]"')
    if master is not None:
        must_be_a_master(master, f"master={master!r}")
    if conf is not None and not isinstance(conf, Mapping):
        raise UsageError(
            f"spark_conf={shown(conf)} has no settings by name", hint='for example {"spark.executor.memory": "4g"}'
        )
    settings = {key: _as_text(value) for key, value in (conf or {}).items()}
    said = settings.pop("spark.master", None)
    if said is not None:
        must_be_a_master(said, f"spark.master={said}")
        if master not in (None, said):
            raise UsageError(f"master={master!r} and spark.master={said} are two places", hint="give one of them")
    return SparkOptions(session, master or said, settings, ui, name)


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def start_session(options: SparkOptions) -> Any:
    """A new session."""
    master = options.master or _from_environment("SPARK_REMOTE")
    with warnings.catch_warnings(), _signals_kept():
        warnings.simplefilter("ignore")
        if master is not None and master.startswith("sc://"):
            return _connected(master, options)
        if "PYSPARK_GATEWAY_PORT" in os.environ:
            return _submitted(options)
        return _started_here(master or _from_environment("MASTER") or LOCAL, options)


def _from_environment(name: str) -> str | None:
    """Where Spark runs, as the environment has it: looked at like what a caller gives."""
    found = os.environ.get(name)
    if found:
        must_be_a_master(found, f"{name}={found} in the environment")
    return found or None


def _connected(url: str, options: SparkOptions) -> Any:
    """A session of a server that somebody else has started and set up."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    server_must_listen(url)
    try:
        session = _built(SparkSession.builder.remote(url), options.conf)
        session.version  # noqa: B018 - the server is called for the first time
    except ImportError as problem:
        raise SparkError(
            f"Spark Connect lacks a package: {innermost(str(problem))}",
            hint=f"{sys.executable} -m pip install 'anabranch[connect]'",
        ) from None
    except PySparkException as problem:
        raise spark_error(problem, f"no session at {url}") from None
    return session


def _submitted(options: SparkOptions) -> Any:
    """The session of a script that spark-submit runs: set up by whoever called that, changed where asked to."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if options.master is not None:
        builder = builder.master(options.master)
    settings = {"spark.ui.enabled": "true"} if options.ui else {}
    return _built(builder, {**settings, **options.conf})


def _started_here(master: str, options: SparkOptions) -> Any:
    if master.startswith(STANDALONE):
        master_must_answer(master)
    environment = {
        "JAVA_HOME": str(find_java()),
        "PYSPARK_PYTHON": options.conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON", sys.executable),
        "PYTHONPATH": _path_with_this_package(),
    }
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        # Else Spark's pages would be open to the network.
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    folder = make_java_folder()
    option = f'-Djava.io.tmpdir="{folder}"'
    environment["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {option}".strip()
    places = {} if "SPARK_LOCAL_DIRS" in os.environ else {"spark.local.dir": str(folder)}
    if is_cluster_here := _CLUSTER_HERE.fullmatch(master) is not None:
        environment["SPARK_HOME"] = str(_home_of_links(folder))
        places["spark.executor.extraJavaOptions"] = option
    builder = SparkSession.builder.appName(options.name).master(master)
    hush()
    with _left_behind_only_if_started(folder), _environment(environment), _quiet(master):
        session = _built(builder, {**_settings(master, options), **places, **options.conf})
        session.sparkContext.setLogLevel("ERROR")
    if is_cluster_here:  # its workers would go on for a while, and write
        atexit.register(_stop, session)
    if options.ui:
        print(f"Spark's pages: {session.sparkContext.uiWebUrl}", file=sys.stderr)
    return session


@contextmanager
def _left_behind_only_if_started(folder: Path) -> Iterator[None]:
    """Logging in which py4j is silent, and a folder, are there as long as Spark is; not where it does not start."""
    from pyspark import SparkContext

    java = SparkContext._gateway
    py4j, root = logging.getLogger("py4j"), logging.getLogger()
    level, is_filtered = py4j.level, _is_not_of_py4j in root.filters
    py4j.setLevel(logging.CRITICAL)  # what it has to say, its errors say too
    root.addFilter(_is_not_of_py4j)
    try:
        yield
    except BaseException:
        py4j.setLevel(level)
        if not is_filtered:
            root.removeFilter(_is_not_of_py4j)
        if SparkContext._gateway is java:  # else there is a Java, which the next start finds, and it knows the folder
            end_starting_java(folder)
            remove_java_folder(folder)
        raise


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Where Java does not answer, or a signal comes in between, py4j logs tracebacks in the name of the program."""
    return Path(record.pathname).parent.name != "py4j"


def _built(builder: Any, settings: Mapping[str, str]) -> Any:
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _settings(master: str, options: SparkOptions) -> dict[str, str]:
    settings = {**_SETTINGS, "spark.ui.enabled": "true" if options.ui else "false"}
    if master.startswith("local"):
        settings |= {**_LOCAL_SETTINGS, "spark.driver.memory": f"{_heap_in_mb()}m"}
    if master == LOCAL:
        settings["spark.default.parallelism"] = str(len(os.sched_getaffinity(0)))
    elif here := _CLUSTER_HERE.fullmatch(master):
        # Spark knows only the cores of workers that have come up already.
        settings["spark.default.parallelism"] = str(int(here[1]) * int(here[2]))
    return settings


def _heap_in_mb() -> int:
    """A quarter of the machine's memory, up to what is of use: chunk rows are large, and Spark sorts them."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return min(max(machine // 4, _LEAST_HEAP), _MOST_HEAP)


# What Java and the workers are given ----------------------------------------------------------------------------------


def _path_with_this_package() -> str:
    """PYTHONPATH for the workers on this machine: they do not know of this process's `sys.path`."""
    folder = str(Path(__file__).resolve().parents[3])
    known = os.environ.get("PYTHONPATH", "")
    if folder in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *known.split(os.pathsep)):
        return known
    return os.pathsep.join([folder, known] if known else [folder])


def _home_of_links(folder: Path) -> Path:
    """A SPARK_HOME for a cluster on this machine: its workers write there, and the installed package is not theirs."""
    import pyspark

    found = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    home = folder / "home"
    home.mkdir()
    for each in found.iterdir():
        if each.name not in ("work", "logs"):
            (home / each.name).symlink_to(each)
    return home


def _stop(session: Any) -> None:
    with suppress(Exception):  # it may have been stopped before
        session.stop()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Java takes the environment as it is when it starts; this process keeps its own."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _quiet(master: str) -> Iterator[None]:
    """What Java says goes into a file without a name, for as long as it runs; where it does not start, it is shown."""
    from pyspark import java_gateway
    from pyspark.errors import PySparkRuntimeError

    # Only Java: what this process says meanwhile, such as that it waits for Java, is to be seen.
    launching: Any = java_gateway
    usual = launching.Popen
    with tempfile.TemporaryFile() as said:
        launching.Popen = partial(usual, stdout=said, stderr=said)
        try:
            yield
        except PySparkRuntimeError:
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
            words = [f"  {line}" for line in lines if line.strip() and not _IS_NO_REASON.match(line)]
            message = "\n".join(["Spark's Java does not start", *words[-_LINES_SHOWN:]])
            raise SparkError(message, hint=_hint(message)) from None
        except Exception as problem:
            raise _why_not(problem, master) from None
        finally:
            launching.Popen = usual


def _why_not(problem: Exception, master: str) -> SparkError:
    error = spark_error(problem, "Spark does not start")
    if master.startswith(STANDALONE) and _GAVE_UP.search(error.message):
        # Spark asks for a minute, stops what it has begun, and then uses it.
        return SparkError(f"no Spark master answers at {master}", hint=MASTERS)
    return SparkError(error.message, hint=error.hint or _hint(error.message))


def _hint(message: str) -> str | None:
    return MASTERS if _OF_MASTERS.search(message) else None


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
