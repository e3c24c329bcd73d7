"""The Spark session that a run uses: the caller's, the active one, or one of ours (`starting.py`)."""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary

from anabranch.engines.spark.session.spark_errors import SparkError, spark_error
from anabranch.engines.spark.session.starting import SparkOptions, spark_options, start_session
from anabranch.errors import UsageError

__all__ = [
    "SparkError",
    "SparkOptions",
    "cores_of",
    "has_session",
    "is_on_this_machine",
    "session_for",
    "spark_options",
]

_MANY = 100_000  # more numbers than any cluster has cores


def session_for(options: SparkOptions) -> Any:
    """The session; one that we make lives as long as this process, so that the next run finds it."""
    given, what = options.session, "an existing session"
    if given is None:
        given, what = _active(), "the session that is active"
    if given is None:
        return start_session(options)
    if _is_stopped(given):
        raise UsageError("the Spark session given has been stopped", hint="give one that runs, or none at all")
    _must_fit(given, options, what)
    return given


def has_session(options: SparkOptions) -> bool:
    """Whether there is one already, so that none has to be started."""
    return options.session is not None or _active() is not None


def _active() -> Any:
    if "pyspark" not in sys.modules:
        return None
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        found = SparkSession.active()
    except (PySparkException, Py4JError):  # there is none, or the Java that it lived in has gone
        return None
    return None if _is_stopped(found) else found


def _is_stopped(session: Any) -> bool:
    context = _context(session)
    # Sessions over Connect can be asked; the others show it by having let go of their Java.
    return bool(session.is_stopped) if context is None else context._jsc is None


def _context(session: Any) -> Any:
    """What only a session has whose Java this process started."""
    return getattr(session, "sparkContext", None)


def _must_fit(session: Any, options: SparkOptions, what: str) -> None:
    """What was asked for is what the session has: it is not ours to change."""
    wanted = {"master": options.master} if options.master is not None else {}
    if options.ui:
        wanted["ui"] = "true"
    names = {"master": "spark.master", "ui": "spark.ui.enabled"}
    for name, value in {**wanted, **options.conf}.items():
        if name == "master" and value.startswith("sc://") and _context(session) is None:
            continue  # the servers' own masters are none of the callers' business
        found = session.conf.get(names.get(name, name), None)
        if found != value:
            said = f"{name}={value!r} cannot change {what}"
            raise UsageError(
                f"{said}, which has {found!r}" if found is not None else said,
                hint="stop it first (SparkSession.active().stop()), or set it up as it should be",
            )


def is_on_this_machine(session: Any) -> bool:
    """Whether all of it runs here, in whatever number of processes."""
    context = _context(session)
    return context is not None and str(context.master).startswith("local")


_cores: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def cores_of(session: Any) -> int:
    """How many tasks run at a time: what Spark calls its default parallelism."""
    context = _context(session)
    if context is not None:
        return max(1, int(context.defaultParallelism))
    if session not in _cores:
        _cores[session] = _parts_of_a_range(session)
    return _cores[session]


def _parts_of_a_range(session: Any) -> int:
    """Over Connect nobody says how many cores there are, but a frame of numbers is cut in as many parts."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions

    parts = session.range(_MANY).select(functions.spark_partition_id().alias("part"))
    try:
        return int(parts.agg(functions.max("part")).collect()[0][0]) + 1
    except PySparkException as problem:
        raise spark_error(problem) from None  # its context is there for who wants all of it
