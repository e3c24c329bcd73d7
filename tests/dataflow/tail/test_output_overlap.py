"""A program does not write over what it reads, nor does a stream read what it writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.tail.output_overlap import check_output_is_no_input
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


@pytest.mark.parametrize("engine", ["sequential", "fused", "multicore", "spark"])  # said before Spark is asked
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


@pytest.mark.parametrize("engine", ["sequential", "fused", "multicore", "spark"])
@pytest.mark.parametrize(
    ("source", "out"),
    [
        ("in", "in/out.csv"),
        ("in/*.csv", "in/../in/out.csv"),
        ("in", "in/"),
        ("**/*.csv", "new/deep/out.csv"),
        ("*/*", "new/"),
        ("**", "in/new/"),
        ("linked/*.csv", "in/out.csv"),
        ("linked/**/*.csv", "in/new/out.csv"),
        ("l*/*.csv", "in/out.csv"),
        ("in/*.csv", "linked/out.csv"),
    ],
)
def test_what_the_next_run_would_read_is_not_written(folder: Path, engine: Any, source: str, out: str) -> None:
    (folder / "linked").symlink_to("in")
    with pytest.raises(SinkError, match=r"'read_csv' would read what|would write to what 'read_csv' reads") as caught:
        ab.run(ab.read_csv(source, Item).write_csv(out), engine=engine)
    assert caught.value.location is not None
    assert os.listdir(folder / "in") == ["items.csv"]


@pytest.mark.parametrize(
    ("source", "out"),
    [
        ("in", "out.csv"),
        ("in/*.csv", "in/out.jsonl"),
        ("in", "in/_out.csv"),
        ("in", "in/.out.csv"),
        ("in/items.csv", "in/out.csv"),
        ("in/*", "in/out/"),
        ("in/**/*.csv", "in/_new/out.csv"),
    ],
)
def test_what_no_run_would_read_may_be_written_beside_it(folder: Path, source: str, out: str) -> None:
    for _ in range(2):
        ab.run(ab.read_csv(source, Item).write_csv(out), engine="sequential")
    found = folder / out
    assert (found / "part-00000000.csv" if out.endswith("/") else found).read_text() == "n\n1\n2\n"


def test_a_current_folder_whose_name_looks_like_a_glob_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a[b]").mkdir()
    (folder / "in").rename(folder / "a[b]" / "in")
    monkeypatch.chdir(folder / "a[b]")
    for source in ("in", "in/*.csv"):
        with pytest.raises(SinkError, match="'read_csv' would read what 'write_csv' writes"):
            ab.run(ab.read_csv(source, Item).write_csv("in/out.csv"), engine="sequential")
    ab.run(ab.read_csv("in", Item).write_csv("out.csv"), engine="sequential")


def test_what_a_run_did_not_complete_is_not_read_by_the_next(folder: Path) -> None:
    (folder / "in" / "out.csv.partial").write_text("n\n3\n")
    (folder / "in" / "many.partial").mkdir()
    (folder / "in" / "many.partial" / "part-00000000.csv").write_text("n\n4\n")
    for pattern in ("in", "in/*", "in/**", "**/items*", "in/**/*.csv"):
        result = ab.run(ab.read_csv(pattern, Item).collect("out"), engine="sequential")
        assert result.items("out") == [Item(1), Item(2)], pattern
    named = ["in/out.csv.partial", "in/many.partial", "in/*.csv.partial", "in/many.partial/*.csv"]
    found = [ab.run(ab.read_csv(each, Item).collect("out"), engine="sequential").items("out") for each in named]
    assert found == [[Item(3)], [Item(4)], [Item(3)], [Item(4)]]


@pytest.mark.parametrize("source", ["out.csv.partial", "many.partial"])
def test_what_was_kept_is_not_replaced_while_it_is_read(folder: Path, source: str) -> None:
    (folder / "out.csv.partial").write_text("n\n3\n")
    (folder / "many.partial").mkdir()
    (folder / "many.partial" / "part-00000000.csv").write_text("n\n4\n")
    out = {"out.csv.partial": "out.csv", "many.partial": "many/"}[source]
    with pytest.raises(SinkError, match="would write to what 'read_csv' reads"):
        ab.run(ab.read_csv(source, Item).write_csv(out), engine="sequential")
    ab.run(ab.read_csv(source, Item).write_csv("elsewhere.csv"), engine="sequential")


@pytest.mark.parametrize("out", ["in/out.csv", "in/../in/out.csv", "link.csv"])
@pytest.mark.parametrize("source", ["in", "in/*.csv", "./in/"])
def test_a_stream_does_not_write_into_the_folder_that_it_reads(folder: Path, source: str, out: str) -> None:
    with pytest.raises(SinkError, match="'read_csv' would read what 'write_csv' writes"):
        check_output_is_no_input(as_program(ab.read_csv(source, Item).write_csv(out)).graph)


@pytest.mark.parametrize(
    ("source", "out"),
    [("in", "out.csv"), ("in/*.csv", "in/out.jsonl"), ("in", "in/.out.csv"), ("in/items.csv", "in/out.csv")],
)
def test_a_stream_may_write_what_it_will_not_find(folder: Path, source: str, out: str) -> None:
    check_output_is_no_input(as_program(ab.read_csv(source, Item).write_csv(out)).graph)
