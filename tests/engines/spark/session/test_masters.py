"""An address that leads nowhere is refused before Java starts, and not after minutes."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator

import pytest

from anabranch.engines.spark.session import masters, starting
from anabranch.engines.spark.session.masters import addresses_of_masters, master_must_answer, server_must_listen
from anabranch.engines.spark.session.session import SparkError, SparkOptions
from anabranch.errors import UsageError


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        found.listen()
        yield int(found.getsockname()[1])


@pytest.fixture
def unused() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_master_may_have_others_for_when_it_fails() -> None:
    assert addresses_of_masters("spark://one:7077,two:7078") == [("one", 7077), ("two", 7078)]


@pytest.mark.parametrize("name", ["MASTER", "SPARK_REMOTE"])
def test_what_the_environment_says_is_looked_at_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv(name, "spark://host")
    with pytest.raises(UsageError, match=f"{name}=spark://host in the environment names no port"):
        starting.start_session(SparkOptions())


def test_a_master_that_answers_is_asked_nothing_else(listening: int, unused: int) -> None:
    master_must_answer(f"spark://127.0.0.1:{listening}")
    master_must_answer(f"spark://127.0.0.1:{unused},127.0.0.1:{listening}")


def test_a_master_that_is_not_there_is_said_at_once(unused: int) -> None:
    master = f"spark://127.0.0.1:{unused}"
    with pytest.raises(SparkError, match=f"no Spark master answers at {master}: the connection was refused") as failed:
        starting.start_session(SparkOptions(master=master))
    assert "--master" in (failed.value.hint or "")
    with pytest.raises(SparkError, match=r"no Spark master answers at spark://no\.invalid:7077: there is no such host"):
        starting.start_session(SparkOptions(master="spark://no.invalid:7077"))


def test_a_master_that_keeps_silent_is_left_to_spark_with_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def waited(*_: object) -> socket.socket:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", waited)
    with caplog.at_level(logging.WARNING, "anabranch"):
        master_must_answer("spark://host:7077")
    assert caplog.messages == ["no answer from spark://host:7077 in 3 s; Spark tries on for a minute"]


def test_a_server_of_an_unknown_host_is_refused_unless_a_proxy_may_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in masters._PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(SparkError, match=r"no Spark Connect server listens at sc://no\.invalid: there is no such host"):
        server_must_listen("sc://no.invalid")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    server_must_listen("sc://no.invalid")
