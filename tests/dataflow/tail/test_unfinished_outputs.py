"""What a run wrote takes the place of an earlier output when the run has succeeded; else it is kept beside it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from anabranch.engines import sequential
from anabranch.errors import RunError, SinkError
from anabranch.operators.formats import text_writer
from tests.dataflow.tail.unfinished import (
    BAD,
    ENGINES,
    LINES,
    READERS,
    Line,
    fail,
    interrupt,
    on_spark,
    program,
    rows_before,
    rows_of,
)

every_format = pytest.mark.parametrize("kind", READERS)
every_engine = pytest.mark.parametrize("engine", ENGINES)
file_and_folder = pytest.mark.parametrize("out", ["out", "out/"])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Errors and interrupts ----------------------------------------------------------------------------------------------


@every_engine
@every_format
@file_and_folder
def test_an_error_leaves_an_earlier_output_as_it_is_and_keeps_its_own_beside_it(
    here: Path, engine: str, kind: str, out: str
) -> None:
    run = ENGINES[engine]
    run(program(LINES, out, kind=kind))
    with pytest.raises(RunError, match="a bad line") as caught:
        run(program([*LINES[:40], BAD, *LINES[40:]], out, kind=kind))
    assert rows_of(out, kind) == rows_before(100)
    assert rows_of(f"{here}/out.partial", kind) == rows_before(40)
    assert "\n  what was written before it is in out.partial" in str(caught.value)
    assert caught.value.kept == {f"write_{kind}": here / "out.partial"}
    assert sorted(os.listdir(here)) == ["out", "out.partial"]


@every_engine
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@file_and_folder
def test_where_nothing_stood_before_nothing_does_after_an_error(here: Path, engine: str, kind: str, out: str) -> None:
    with pytest.raises(RunError, match="a bad line"):
        ENGINES[engine](program([*LINES[:40], BAD, *LINES[40:]], out, kind=kind))
    assert os.listdir(here) == ["out.partial"]
    assert rows_of("out.partial", kind) == rows_before(40)


@pytest.mark.parametrize("out", ["out", "out/"])
@every_format
def test_in_any_order_too(here: Path, kind: str, out: str) -> None:
    on_spark(program(LINES, out, kind=kind, ordered=False))
    with pytest.raises(RunError, match="a bad line") as caught:
        on_spark(program([*LINES[:40], BAD, *LINES[40:]], out, kind=kind, ordered=False))
    assert sorted(rows_of(out, kind)) == sorted(rows_before(100))
    assert set(rows_of("out.partial", kind)) <= {*rows_before(100)}
    assert caught.value.kept == {f"write_{kind}": here / "out.partial"}


@pytest.mark.parametrize("engine", ["sequential", "fused"])
@every_format
@file_and_folder
def test_an_interrupt_keeps_what_was_written_before_it(here: Path, engine: str, kind: str, out: str) -> None:
    run = ENGINES[engine]
    run(program(LINES, out, kind=kind))
    with pytest.raises(KeyboardInterrupt) as caught:
        run(program([*LINES[:40], BAD, *LINES[40:]], out, kind=kind, check=interrupt))
    assert rows_of(out, kind) == rows_before(100)
    kept = [row for row in rows_of("out.partial", kind) if row.text != "bad 1"]  # tuples that were begun are whole
    assert kept[:40] == rows_before(40)
    assert kept == rows_before(len(kept))
    assert caught.value.__notes__ == ["what was written before it is in out.partial"]
    assert sorted(os.listdir(here)) == ["out", "out.partial"]


@pytest.mark.parametrize("ordered", [True, False])
@every_format
def test_of_a_folder_that_tasks_write_an_interrupt_leaves_whole_files(here: Path, kind: str, ordered: bool) -> None:
    on_spark(program(LINES, "out/", kind=kind))
    lines = [*LINES, BAD]
    with pytest.raises(KeyboardInterrupt):
        on_spark(program(lines, "out/", kind=kind, check=interrupt, ordered=ordered))
    assert rows_of("out/", kind) == rows_before(100)
    if (here / "out.partial").exists():  # which of the tasks come first is by chance
        assert set(rows_of("out.partial", kind)) <= {*rows_before(100), Line("bad 1")}
    assert set(os.listdir(here)) <= {"out", "out.partial"}


def test_an_interrupt_that_comes_while_rows_are_written_down_is_still_in_time(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequential.run(program(LINES[:3], "out"))
    pwrite = os.pwrite

    def interrupted(*given: Any) -> int:
        signal.raise_signal(signal.SIGINT)
        return pwrite(*given)

    monkeypatch.setattr(os, "pwrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sequential.run(program(LINES, "out"))
    assert rows_of("out") == rows_before(3)
    assert rows_of("out.partial") == rows_before(100)


# The names ------------------------------------------------------------------------------------------------------------


@every_engine
@file_and_folder
def test_the_next_run_replaces_what_was_kept_and_one_that_succeeds_removes_it(
    here: Path, engine: str, out: str
) -> None:
    run = ENGINES[engine]
    for bad in (40, 20):
        with pytest.raises(RunError, match="a bad line"):
            run(program([*LINES[:bad], BAD], out))
        assert rows_of("out.partial") == rows_before(bad)
    run(program(LINES, out))
    assert os.listdir(here) == ["out"]


@every_engine
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@file_and_folder
def test_a_sink_that_got_no_tuple_keeps_nothing(here: Path, engine: str, kind: str, out: str) -> None:
    run = ENGINES[engine]
    with pytest.raises(RunError, match="a bad line") as caught:
        run(program([BAD, *LINES], out, kind=kind))
    assert os.listdir(here) == []
    assert caught.value.kept == {}
    with pytest.raises(RunError, match="a bad line"):
        run(program([*LINES[:40], BAD], out, kind=kind))
    with pytest.raises(RunError, match="a bad line"):
        run(program([BAD, *LINES], out, kind=kind))
    assert rows_of("out.partial", kind) == rows_before(40), "nothing newer is there"


@every_engine
@file_and_folder
def test_a_folder_of_others_is_not_replaced_and_another_name_is_found(here: Path, engine: str, out: str) -> None:
    (here / "out.partial").mkdir()
    (here / "out.partial" / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError) as caught:
        ENGINES[engine](program([*LINES[:40], BAD], out))
    assert (here / "out.partial" / "thesis.txt").read_text() == "years of work"
    assert list(caught.value.kept.values()) == [here / "out.2.partial"]
    assert rows_of("out.2.partial") == rows_before(40)
    ENGINES[engine](program(LINES, out))
    assert sorted(os.listdir(here)) == ["out", "out.partial"]


def test_a_link_and_a_file_in_the_place_of_a_folder_stay_too(here: Path) -> None:
    (here / "elsewhere").write_text("mine")
    (here / "out.partial").symlink_to("elsewhere")
    (here / "many.partial").write_text("mine")
    with pytest.raises(RunError) as caught:
        sequential.run(program([*LINES[:40], BAD], "out", "many/"))
    assert list(caught.value.kept.values()) == [here / "out.2.partial", here / "many.2.partial"]
    assert (here / "out.partial").is_symlink()
    assert (here / "many.partial").read_text() == (here / "elsewhere").read_text() == "mine"


def test_what_a_link_points_to_has_the_unfinished_output_beside_it(here: Path) -> None:
    (here / "data").mkdir()
    (here / "data" / "real").write_text("old\n")
    (here / "out").symlink_to("data/real")
    with pytest.raises(RunError) as caught:
        sequential.run(program([*LINES[:40], BAD], "out"))
    assert list(caught.value.kept.values()) == [here / "data" / "real.partial"]
    assert "is in data/real.partial" in str(caught.value)
    assert (here / "out").read_text() == "old\n"


@every_engine
@file_and_folder
def test_a_program_that_goes_to_another_folder_writes_where_it_began(here: Path, engine: str, out: str) -> None:
    (here / "away").mkdir()

    def wander(item: Line) -> Line:
        os.chdir(here / "away")
        return fail(item)

    ENGINES[engine](program(LINES, out, check=wander))
    os.chdir(here)
    assert rows_of(out) == rows_before(100)
    with pytest.raises(RunError) as caught:
        ENGINES[engine](program([*LINES[:40], BAD], out, check=wander))
    assert f"is in {here}/out.partial" in str(caught.value)
    os.chdir(here)
    assert rows_of(out) == rows_before(100)
    assert os.listdir(here / "away") == []


def test_a_name_that_is_too_long_for_more_keeps_what_was_written_where_it_is(here: Path) -> None:
    with pytest.raises(RunError) as caught:
        sequential.run(program([*LINES[:40], BAD], "o" * 250))
    [kept] = caught.value.kept.values()
    assert rows_of(str(kept)) == rows_before(40)
    sequential.run(program(LINES, "o" * 250))
    assert os.listdir(here) == ["o" * 250]


def test_a_pipe_has_nothing_beside_it(here: Path) -> None:
    with pytest.raises(RunError) as caught:
        sequential.run(program([*LINES[:40], BAD], "/dev/null"))
    assert caught.value.kept == {}
    assert not os.path.lexists("/dev/null.partial")


@every_engine
def test_what_others_put_into_a_folder_during_the_run_stays(here: Path, engine: str) -> None:
    def visit(item: Line) -> Line:
        (here / "out" / "thesis.txt").write_text("years of work")
        return item

    ENGINES[engine](program(LINES, "out/"))
    with pytest.raises(SinkError, match=r"holds 'thesis\.txt'") as caught:
        ENGINES[engine](program(LINES[:7], "out/", check=visit))
    assert (here / "out" / "thesis.txt").read_text() == "years of work"
    assert list(caught.value.kept.values()) == [here / "out.partial"]
    assert rows_of("out.partial") == rows_before(7)


# Several sinks --------------------------------------------------------------------------------------------------------


@every_engine
def test_of_several_outputs_none_is_replaced_where_one_cannot_be_completed(
    here: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ENGINES[engine](program(LINES, "a", "b", "c/"))
    close = text_writer.TextWriter._close_descriptor

    def closed(self: Any) -> None:
        is_open = self._descriptor >= 0
        close(self)
        if is_open and self._path.name == "b":
            raise SinkError("b: the disk is full")

    monkeypatch.setattr(text_writer.TextWriter, "_close_descriptor", closed)
    with pytest.raises(SinkError, match="b: the disk is full") as caught:
        ENGINES[engine](program(LINES[:7], "a", "b", "c/"))
    assert [rows_of(out) for out in ("a", "b", "c")] == [rows_before(100)] * 3
    assert [rows_of(f"{out}.partial") for out in ("a", "b", "c")] == [rows_before(7)] * 3
    assert "what was written before it is in a.partial, b.partial, c.partial" in str(caught.value)
