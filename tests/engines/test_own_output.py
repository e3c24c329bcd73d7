"""A program does not write over what it reads, nor does a stream read what it writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.engines.own_output import check_output_is_no_input
from anabranch.errors import SinkError
from anabranch.run import as_program


class Item(NamedTuple):
    n: int


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "items.csv").write_text("n\n1\n2\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "in" / "items.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", ["sequential", "fused", "spark"])  # said before Spark is asked
@pytest.mark.parametrize(
    "make",
    [
        lambda: ab.read_csv("in/items.csv", Item).write_csv("in/../in/items.csv"),
        lambda: ab.read_csv("in", Item).write_csv("link.csv"),
        lambda: ab.read_csv("in/*.csv", Item).write_csv("in/"),
    ],
)
def test_a_file_that_is_read_is_not_replaced(folder: Path, engine: Any, make: Callable[[], Any]) -> None:
    with pytest.raises(SinkError, match="'write_csv' would write to what 'read_csv' reads") as caught:
        ab.run(make(), engine=engine)
    assert caught.value.location is not None
    assert (folder / "in" / "items.csv").read_text() == "n\n1\n2\n"
    assert os.listdir(folder / "in") == ["items.csv"]


def test_a_bounded_program_may_write_beside_what_it_reads(folder: Path) -> None:
    ab.run(ab.read_csv("in", Item).write_csv("in/out.csv"), engine="sequential")
    assert (folder / "in" / "out.csv").read_text() == "n\n1\n2\n"


@pytest.mark.parametrize("out", ["in/out.csv", "in/../in/out.csv", "link.csv"])
@pytest.mark.parametrize("source", ["in", "in/*.csv", "./in/"])
def test_a_stream_does_not_write_into_the_folder_that_it_reads(folder: Path, source: str, out: str) -> None:
    with pytest.raises(SinkError, match="would write to what 'read_csv' reads"):
        check_output_is_no_input(as_program(ab.read_csv(source, Item).write_csv(out)).graph)


@pytest.mark.parametrize(
    ("source", "out"),
    [("in", "out.csv"), ("in/*.csv", "in/out.jsonl"), ("in", "in/.out.csv"), ("in/items.csv", "in/out.csv")],
)
def test_a_stream_may_write_what_it_will_not_find(folder: Path, source: str, out: str) -> None:
    check_output_is_no_input(as_program(ab.read_csv(source, Item).write_csv(out)).graph)
