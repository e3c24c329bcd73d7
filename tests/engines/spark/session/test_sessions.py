"""A Spark session that exists is used as it is and left as it was, and what Spark fails at is said in plain words."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from py4j import java_gateway

import anabranch as ab
from anabranch.engines.spark.job.jobs import rows_of
from anabranch.engines.spark.session.session import SparkError, SparkOptions, session_for, spark_options
from anabranch.errors import UsageError
from anabranch.run import as_program


class Item(NamedTuple):
    n: int
    s: str = ""


class Running:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count, item.s) if self.count % 3 else None


class Busy:
    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Item:
        for number in range(100_000):
            self.total = (self.total + number * item.n) % 1_000_003
        return Item(self.total, item.s)


def numbered(number: int) -> Item:
    return Item(number * 7919 % 1009, "abcdefg"[number % 7])


def program(count: int = 20_000) -> ab.Program:
    stream = ab.beacon(Item, numbered, count=count).process(Running, key="n").process(Running, key="s")
    return as_program(stream.collect("out"))


# A session that exists ------------------------------------------------------------------------------------------------


def test_a_session_with_other_settings_has_ours_for_the_time_of_a_run(session: Any) -> None:
    theirs = session.newSession()
    given = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1GB",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.shuffle.partitions": "7",
    }
    for name, value in given.items():
        theirs.conf.set(name, value)
    theirs.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    before = dict(theirs.conf.getAll)
    rows = rows_of(theirs, "numbers", lambda: theirs.range(3))
    assert next(rows).id == 0
    assert theirs.conf.get("spark.sql.adaptive.enabled") == "false"
    assert theirs.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "16"
    rows.close()
    assert dict(theirs.conf.getAll) == before
    assert ab.run(program(), engine="spark", spark=theirs, channels=3).items("out") == expected()
    assert dict(theirs.conf.getAll) == before


def expected(count: int = 20_000) -> list[Any]:
    return ab.run(program(count), engine="sequential").items("out")


def test_jobs_at_the_same_time_share_the_settings(session: Any) -> None:
    theirs = session.newSession()
    theirs.conf.set("spark.sql.adaptive.enabled", "true")
    one, other = (rows_of(theirs, "numbers", lambda: theirs.range(3)) for _ in range(2))
    assert (next(one).id, next(other).id) == (0, 0)
    one.close()
    assert theirs.conf.get("spark.sql.adaptive.enabled") == "false"
    assert [row.id for row in other] == [1, 2]
    assert theirs.conf.get("spark.sql.adaptive.enabled") == "true"


def test_the_callers_own_job_description_comes_back(session: Any) -> None:
    context = session.sparkContext
    context.setJobDescription("mine")
    try:
        rows = rows_of(session, "numbers", lambda: session.range(3))
        next(rows)
        assert context.getLocalProperty("spark.job.description") == "numbers"
        rows.close()
        assert context.getLocalProperty("spark.job.description") == "mine"
    finally:
        context.setJobDescription(None)


def test_the_active_session_is_used_also_from_another_thread(session: Any) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(session_for(SparkOptions())))
    thread.start()
    thread.join()
    assert found == [session]


def test_a_session_is_taken_for_what_it_is_and_not_changed(session: Any) -> None:
    settings = {"spark.shuffle.compress": "false"}
    assert session_for(SparkOptions(master=session.conf.get("spark.master"), conf=settings)) is session
    as_values = spark_options(session, None, {"spark.shuffle.compress": False}, ui=False)
    assert session_for(as_values) is session
    with pytest.raises(UsageError, match=r"master='local\[4\]' cannot change the session that is active"):
        session_for(SparkOptions(master="local[4]"))
    with pytest.raises(UsageError, match=r"spark.task.cpus='2' cannot change an existing session"):
        session_for(SparkOptions(session, conf={"spark.task.cpus": "2"}))


# What Spark does not manage -------------------------------------------------------------------------------------------


def ends_itself(batches: Iterator[Any]) -> Iterator[Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield from batches


def misses_a_module(batches: Iterator[Any]) -> Iterator[Any]:
    import no_such_module  # type: ignore[import-not-found]

    yield from no_such_module.of(batches)


@pytest.mark.parametrize(
    ("task", "said"),
    [(ends_itself, "Python worker exited unexpectedly"), (misses_a_module, "ModuleNotFoundError: No module named")],
)
def test_a_job_that_fails_says_so_in_one_sentence(session: Any, task: Callable[..., Any], said: str) -> None:
    with pytest.raises(SparkError) as caught:
        list(rows_of(session, "fails", lambda: session.range(4).mapInArrow(task, "id long")))
    assert caught.value.message.startswith(f"Spark failed: {said}")
    assert "\n" not in caught.value.message
    assert [row.id for row in rows_of(session, "works", lambda: session.range(2))] == [0, 1]


def test_an_interrupt_ends_the_job_and_leaves_the_session_as_it_was(session: Any) -> None:
    jobs = session.sparkContext.statusTracker()

    def interrupt() -> None:
        wait_until(lambda: len(jobs.getActiveJobsIds()) > 0)
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    helper = threading.Thread(target=interrupt)
    helper.start()
    endless = as_program(ab.beacon(Item, numbered, count=10_000_000).process(Busy, key="s").collect("out"))
    with pytest.raises(KeyboardInterrupt):
        ab.run(endless, engine="spark", form="python", spark=session)
    helper.join()
    wait_until(lambda: not jobs.getActiveJobsIds())
    assert signal.getsignal(signal.SIGINT) is handler
    assert ab.run(program(), engine="spark", spark=session).items("out") == expected()


@pytest.mark.usefixtures("session")
def test_py4j_does_not_speak_in_the_name_of_the_program(caplog: pytest.LogCaptureFixture) -> None:
    speak = 'logging.error("spoken")'
    exec(compile(speak, str(java_gateway.__file__), "exec"), {"logging": logging})
    assert caplog.messages == []
    exec(compile(speak, __file__, "exec"), {"logging": logging})
    assert caplog.messages == ["spoken"]


def wait_until(is_so: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
