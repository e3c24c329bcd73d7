"""Where only a worker does not see a file, the error says that it is a worker, and on which machine."""

from __future__ import annotations

import linecache
import socket
from pathlib import Path
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.transport.shipping import ship_error, unship_error
from anabranch.errors import Location, OperatorError, RunError, SourceError
from anabranch.graph.model import Graph
from anabranch.graph.order_keys import DRAW
from anabranch.run import as_program


class Item(NamedTuple):
    n: int


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return as_program(ab.read_csv(tmp_path / "in.csv", Item).collect("out")).graph


def sent(error: RunError, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> RunError:
    """As it comes from a task on another machine."""
    with monkeypatch.context() as there:
        there.setattr(socket, "gethostname", lambda: "worker-7")
        shipped = ship_error(Moment(DRAW, (0,)), error)
    return unship_error(shipped, graph)[1]


@pytest.mark.parametrize("why", ["no such file", "permission denied", "a part of its path is not a directory"])
def test_a_file_that_is_here_is_missing_there(
    why: str, tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.csv").write_text("n\n1\n")
    location = graph.sources[0].location
    found = sent(SourceError(f"{tmp_path}/in.csv: {why}", location=location), graph, monkeypatch)
    assert isinstance(found, SourceError)
    assert found.message == f"{tmp_path}/in.csv: {why} on worker-7, where a worker of Spark's has to read it"
    assert found.location == location
    assert "same path" in (found.hint or "")


def test_files_of_a_pattern_that_are_here_are_missing_there(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    found = sent(SourceError(f"{tmp_path}/*.csv: no file matches"), graph, monkeypatch)
    assert found.message == f"{tmp_path}/*.csv: no file matches on worker-7, where a worker of Spark's has to read it"


def test_a_file_that_is_gone_here_too_is_no_matter_of_a_machine(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = SourceError(f"{tmp_path}/in.csv: no such file", hint="check the path")
    assert str(sent(error, graph, monkeypatch)) == str(error)


def test_a_file_that_a_worker_reads_and_does_not_understand_is_no_matter_of_a_machine(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.csv").write_text("n\nx\n")
    error = SourceError("n: 'x' is no int", where=f"{tmp_path}/in.csv:2")
    assert str(sent(error, graph, monkeypatch)) == str(error)


def test_an_error_stays_what_it_is_where_a_worker_has_neither_the_file_nor_the_folder_of_the_program(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "program.py"
    source.write_text("first\nsecond\n")
    location = Location(str(source), 2)
    operator = OperatorError("map", location=location, cause=ValueError("no"), item=Item(7), raised_at=location)
    monkeypatch.chdir(tmp_path)
    for error in (operator, SourceError("in.csv: no such column", location=location)):
        with monkeypatch.context() as there:
            there.chdir("/")
            there.setattr(linecache, "getline", lambda file, line: "")
            shipped = ship_error(Moment(DRAW, (0,)), error)
        found = unship_error(shipped, graph)[1]
        assert type(found) is type(error)
        assert str(found) == str(error)
        assert "program.py:2   second" in str(found)
        assert getattr(found, "item", None) == getattr(error, "item", None)
