"""What stops a stream is said in one line, with the folder it is about and what to do."""

from __future__ import annotations

import errno
import os
import socket
import socketserver
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark import accumulators

import anabranch as ab
from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.engines.spark.session.gone_java import hush
from anabranch.engines.spark.streams import failures
from anabranch.engines.spark.streams.failures import stream_error
from anabranch.errors import RunError
from tests.engines.spark.streams.test_query import Going, is_free, query_of


class Item(NamedTuple):
    n: int


ITEMS = [Item(n) for n in range(9)]


# Spark's --------------------------------------------------------------------------------------------------------------


def test_a_java_that_has_gone_is_said_with_what_to_do(tmp_path: Path) -> None:
    for problem in (EOFError(), ConnectionResetError(104, "Connection reset by peer"), Py4JNetworkError("no answer")):
        assert str(stream_error(problem, tmp_path)).splitlines() == [
            "Spark failed: its Java has ended, or was killed",
            "  try: start the stream again: it goes on where it was",
        ]


@pytest.mark.parametrize(
    "said",
    [
        "[STREAM_FAILED] Query [id = 1] terminated with exception: Checksum error: file:/state/spark/offsets/3 at 0",
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state. SQLSTATE: 58030",
        "RuntimeError: the checkpoint is damaged: the state of a channel in Spark's store has another checksum",
    ],
)
def test_damage_that_spark_finds_is_said_with_what_to_do(said: str, tmp_path: Path) -> None:
    found = stream_error(RuntimeError(said), tmp_path)
    assert found.message.startswith(f"{tmp_path}: Spark cannot use its part of the checkpoint: ")
    assert "restore the folder from a backup" in (found.hint or "")


@pytest.mark.parametrize(("least", "named"), [("checkpoint", "checkpoint"), ("temporary", "temporary")])
def test_a_disk_that_is_full_for_spark_is_named(
    least: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {name: tmp_path / name for name in ("checkpoint", "temporary")}
    monkeypatch.setattr("tempfile.tempdir", str(folders["temporary"]))
    monkeypatch.setattr(failures, "_room", lambda folder: 0 if folder == folders[least] else 10**9)
    found = stream_error(RuntimeError("java.io.IOException: No space left on device"), folders["checkpoint"])
    assert found.message == f"{folders[named]}: the disk is full, and Spark cannot write there"
    assert "make room there, and start the stream again" in (found.hint or "")


def test_what_is_neither_is_left_as_spark_says_it(tmp_path: Path) -> None:
    assert stream_error(RuntimeError("no such table"), tmp_path).message == "Spark failed: RuntimeError: no such table"


@pytest.mark.parametrize(("problem", "is_said"), [(EOFError(), False), (ValueError("a wrong token"), True)])
def test_threads_of_pyspark_are_silent_where_java_has_gone(
    problem: Exception, is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            raise problem

    hush()
    server: Any = accumulators.AccumulatorTCPServer(("127.0.0.1", 0), Failing, "token")
    try:
        with socket.create_connection(server.server_address):
            server.handle_request()
    finally:
        server.server_close()
    assert ("a wrong token" in capsys.readouterr().err) is is_said


# Ours -----------------------------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_when_something_arrives_is_said_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = tmp_path / "state"
    query, _ = query_of(ab.from_items(Item, ITEMS).collect("out"), folder=folder)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(RunError) as caught:
            query.begin(lambda batch: Going())
    assert str(caught.value).splitlines() == [
        f"{folder}: the checkpoint cannot be written: No space left on device",
        "  try: make room there, and start the stream again: it goes on where it was",
    ]
    assert is_free(folder)


def test_a_lock_that_says_nonsense_is_one_of_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"1\xb2 \xff3")
    assert is_free(tmp_path)
    assert Checkpoint(tmp_path).identity() is None
