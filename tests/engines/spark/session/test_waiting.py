"""A run that a cluster gives nothing to run on says what it waits for, what it asked for and what there is."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from anabranch.engines.spark.session import waiting
from anabranch.engines.spark.session.waiting import (
    Asked,
    Offered,
    Worker,
    offered_by,
    told_while_waiting,
    waiting_in_words,
)
from tests.engines.spark.session.test_sessions import wait_until

MASTER = "spark://host:7077"
FREE = Worker("one", 4, 4, 1_024, 1_024)
BUSY = Worker("one", 4, 0, 4_096, 3_072)
STATE = {
    "status": "ALIVE",
    "workers": [
        {"host": "one", "state": "ALIVE", "cores": 4, "coresfree": 1, "memory": 2048, "memoryfree": 512},
        {"host": "two", "state": "DEAD", "cores": 8, "coresfree": 8, "memory": 2048, "memoryfree": 2048},
    ],
    "activeapps": [
        {"id": "app-1", "name": "report", "cores": 3},
        {"id": "app-2", "name": "mine", "cores": 0},
        {"id": "app-3", "name": "idle", "cores": 0},
    ],
}


def test_executors_that_are_larger_than_all_workers() -> None:
    assert waiting_in_words(Asked(MASTER, 4_096), Offered((FREE,))).splitlines() == [
        "waiting: no executor of spark://host:7077 has come yet",
        "  asked for: executors with 4,096 MB and all free cores of a worker each",
        "  there: one with 4 of 4 cores and 1,024 of 1,024 MB free",
        "  try: no worker has so much memory: --spark-conf spark.executor.memory=1024m, or less",
    ]
    assert waiting_in_words(Asked(MASTER, 512, 8, 16), Offered((FREE,))).splitlines()[1:] == [
        "  asked for: executors with 512 MB and 8 cores each, at most 16 cores in all",
        "  there: one with 4 of 4 cores and 1,024 of 1,024 MB free",
        "  try: no worker has so many cores: --spark-conf spark.executor.cores=4, or fewer",
    ]


def test_cores_that_another_application_holds() -> None:
    assert waiting_in_words(Asked(MASTER, 1_024), Offered((BUSY,), (("report", 4),))).splitlines()[2:] == [
        "  there: one with 0 of 4 cores and 3,072 of 4,096 MB free",
        "  held: 4 cores by 'report'",
        "  try: wait until others have ended, or have them take less: spark.cores.max, spark.executor.memory",
    ]


def test_a_master_without_workers() -> None:
    *_, there, hint = waiting_in_words(Asked(MASTER, 1_024), Offered(())).splitlines()
    assert there == "  there: no worker"
    assert hint == "  try: start a worker for it: start-worker.sh spark://host:7077"


def test_executors_that_come_and_go_though_there_is_room() -> None:
    *_, ended, hint = waiting_in_words(
        Asked(MASTER, 1_024), Offered((FREE,)), "Command exited with code 1"
    ).splitlines()
    assert ended == "  an executor came and ended: Command exited with code 1"
    assert "spark.driver.host" in hint


def test_executors_that_were_granted_and_have_not_come() -> None:
    *_, granted, hint = waiting_in_words(Asked(MASTER, 1_024), Offered((BUSY,), (), 4)).splitlines()
    assert granted == "  granted: 4 cores, but nothing came of it"
    assert "spark.driver.host" in hint


def test_a_master_that_cannot_be_asked_is_told_of_without_what_it_has() -> None:
    assert waiting_in_words(Asked("yarn", 1_024, 2), None).splitlines()[1:] == [
        "  asked for: executors with 1,024 MB and 2 cores each",
        "  try: see the cluster's own pages for what is free, or ask for less: --spark-conf spark.executor.memory=…",
    ]


def test_of_many_workers_some_are_shown() -> None:
    words = waiting_in_words(Asked(MASTER, 4_096), Offered((FREE,) * 7))
    assert words.count("one with 4 of 4 cores") == 5
    assert "; and 2 workers more" in words


def test_what_a_master_says_of_itself_is_read_without_the_dead_and_without_the_application_that_asks() -> None:
    worker = Worker("one", 4, 1, 2_048, 512)
    assert offered_by(STATE, "app-2") == Offered((worker,), (("report", 3),))
    assert offered_by(STATE, "app-1") == Offered((worker,), (), 3)


class Cluster:
    """A Spark that has executors after a while."""

    master = MASTER
    applicationId = "app-2"

    def __init__(self, *executors: int) -> None:
        self.executors = iter(executors)
        self.has_been_asked = 0
        self._jsc = SimpleNamespace(
            sc=lambda: SimpleNamespace(statusTracker=lambda: self, executorMemory=lambda: 4_096)
        )

    def getExecutorInfos(self) -> list[None]:
        self.has_been_asked += 1
        return [None] * (1 + next(self.executors))

    def getConf(self) -> dict[str, str]:
        return {"spark.executor.cores": "2"}


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SECONDS", 0.001)


@pytest.mark.usefixtures("soon")
def test_it_is_said_whenever_it_is_new_until_there_are_executors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = Cluster(0, 0, 0, 1)
    offers = iter([Offered(()), Offered(()), Offered((FREE,))])
    monkeypatch.setattr(waiting, "_offered", lambda context: next(offers))
    with caplog.at_level(logging.WARNING, "anabranch"), told_while_waiting(SimpleNamespace(sparkContext=cluster)):
        wait_until(lambda: cluster.has_been_asked == 4)
    assert ["there: no worker" in message for message in caplog.messages] == [True, False]
    assert all("2 cores each" in message for message in caplog.messages)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    "session", [SimpleNamespace(), SimpleNamespace(sparkContext=SimpleNamespace(master="local[2]"))]
)
def test_nothing_is_asked_of_a_spark_on_this_machine_or_of_a_server(session: Any) -> None:
    with told_while_waiting(session):
        pass
