"""Disks that are full and processes that are killed: an earlier output stays, and the next run cleans up."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.engines import sequential
from anabranch.errors import RunError, SinkError
from anabranch.operators.formats import folder_swap, parquet_writer, text_writer
from tests.dataflow.tail.unfinished import BAD, ENGINES, LINES, Line, program, rows_before, rows_of

every_engine = pytest.mark.parametrize("engine", ENGINES)
file_and_folder = pytest.mark.parametrize("out", ["out", "out/"])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Full disks -----------------------------------------------------------------------------------------------------------


def full(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@every_engine
@file_and_folder
def test_a_disk_that_is_full_while_rows_are_written(
    here: Path, engine: str, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ENGINES[engine](program(LINES, out))
    pwrite = os.pwrite
    monkeypatch.setattr(text_writer, "_BUFFER", 8)
    monkeypatch.setattr(os, "pwrite", lambda *given: full() if given[2] > 15 else pwrite(*given))
    with pytest.raises(SinkError, match=r"^out: the disk is full") as caught:
        ENGINES[engine](program(LINES, out))
    assert caught.value.hint == "make room on the disk, or write to another one"
    assert rows_of(out) == rows_before(100)
    kept = rows_of("out.partial")
    assert 0 < len(kept) < 100
    assert kept == rows_before(100)[: len(kept)]


@every_engine
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@file_and_folder
def test_a_disk_that_is_full_when_the_output_takes_its_place(
    here: Path, engine: str, kind: str, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ENGINES[engine](program(LINES, out, kind=kind))
    replace = os.replace
    monkeypatch.setattr(folder_swap, "_renameat2", lambda: None)
    monkeypatch.setattr(
        os, "replace", lambda a, b: full() if Path(b).name == "out" and a != _before(a) else replace(a, b)
    )
    with pytest.raises(SinkError, match="out: the disk is full") as caught:
        ENGINES[engine](program(LINES[:7], out, kind=kind))
    assert rows_of(out, kind) == rows_before(100)
    assert rows_of("out.partial", kind) == rows_before(7)
    assert list(caught.value.kept.values()) == [here / "out.partial"]


def _before(place: Any) -> Any:
    return place if str(place).endswith(".before") else None


@every_engine
def test_behind_an_output_that_cannot_take_its_place_no_other_does(
    here: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outs = ("a", "b", "c/")
    ENGINES[engine](program(LINES, *outs))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: full() if Path(b).name == "b" else replace(a, b))
    with pytest.raises(SinkError, match=r"^b: the disk is full") as caught:
        ENGINES[engine](program(LINES[:7], *outs))
    assert [rows_of(out) for out in outs] == [rows_before(7), rows_before(100), rows_before(100)]
    assert list(caught.value.kept.values()) == [here / "b.partial", here / "c.partial"]
    assert rows_of("c.partial") == rows_before(7)


@every_engine
@file_and_folder
def test_a_parquet_file_that_could_not_be_ended_is_none(
    here: Path, engine: str, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ENGINES[engine](program(LINES, out, kind="parquet"))
    monkeypatch.setattr(parquet_writer.pq.ParquetWriter, "close", full)
    with pytest.raises(SinkError, match=r"^out: the disk is full"):
        ENGINES[engine](program(LINES, out, kind="parquet"))
    assert os.listdir(here) == ["out"]
    assert rows_of(out, "parquet") == rows_before(100)


# Kills ----------------------------------------------------------------------------------------------------------------


def in_a_child(work: Callable[[], Any]) -> int:
    """How a process of its own ended that did some work."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def die(item: Line) -> Line:
    if item.text.startswith("bad"):
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@every_engine
@file_and_folder
def test_a_run_that_is_killed_leaves_an_earlier_output_and_the_next_run_cleans_up(
    here: Path, engine: str, out: str
) -> None:
    ENGINES[engine](program(LINES, out))
    assert in_a_child(lambda: ENGINES[engine](program([*LINES, BAD], out, check=die))) == signal.SIGKILL
    assert rows_of(out) == rows_before(100)
    assert len(os.listdir(here)) == 2, "what it had written"
    ENGINES[engine](program(LINES[:7], out))
    assert os.listdir(here) == ["out"]
    assert rows_of(out) == rows_before(7)


@file_and_folder
def test_two_runs_at_a_time_do_not_touch_what_the_other_writes(here: Path, out: str) -> None:
    def meanwhile(item: Line) -> Line:
        if item.text == "a 20":
            sequential.run(program(LINES[:7], out))
            assert rows_of(out) == rows_before(7)
        return item

    sequential.run(program(LINES, out, check=meanwhile))
    assert rows_of(out) == rows_before(100)
    assert os.listdir(here) == ["out"]


def test_a_folder_is_exchanged_in_one_step_or_put_back_by_the_next_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequential.run(program(LINES, "out/"))
    replace = os.replace

    def killed_between(place: Path, target: Path) -> None:
        if Path(target).name == "out":
            os._exit(9)
        replace(place, target)

    monkeypatch.setattr(folder_swap, "_renameat2", lambda: None)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", killed_between)
        assert in_a_child(lambda: sequential.run(program(LINES[:7], "out/"))) == 9 << 8
    assert not (here / "out").exists()
    with pytest.raises(RunError):
        sequential.run(program([*LINES[:20], BAD], "out/"))
    assert rows_of("out/") == rows_before(100)
    sequential.run(program(LINES[:7], "out/"))
    assert rows_of("out/") == rows_before(7)
    assert os.listdir(here) == ["out"]
