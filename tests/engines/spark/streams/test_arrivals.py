"""What arrives is written down once and in order, also where a run was stopped or killed while it did so."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.engines.reading import Slice
from anabranch.engines.spark.sources import Numbers
from anabranch.engines.spark.streams import arrivals
from anabranch.engines.spark.streams.arrivals import Arrivals
from anabranch.engines.spark.streams.entries import Entry, EntryLog
from anabranch.errors import AnabranchError, SourceError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.engines.spark.streams.running_streams import wait_until


class Word(NamedTuple):
    text: str


def graph_of(stream: ab.Stream[Any]) -> Graph:
    return as_program(stream.collect("out")).graph


def fail(problem: AnabranchError) -> None:
    raise problem


class Log(EntryLog):
    """As a start finds it, with what a start makes of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "arrivals.jsonl")
        self.path = folder / "arrivals.jsonl"
        self.mend()

    @property
    def all(self) -> list[Entry]:
        return self.entries(0, len(self))

    def cut(self, entries: int) -> None:
        """As it was when only so many entries were in it, and a part of the next."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        self.path.write_bytes(b"".join(lines[:entries]) + lines[entries][:20])


def looked(graph: Graph, folder: Path, *, is_ending: bool = False) -> Log:
    log = Log(folder)
    found = Arrivals(graph, log, folder, fail)
    found.open(0)
    if is_ending:
        found.end()
    found.look_once()
    found.close()
    return log


def read(log: EntryLog) -> list[str]:
    """The lines of the slices that are in a log."""
    lines: list[str] = []
    for entry in log.entries(0, len(log)):
        if isinstance(entry.piece, Slice):
            content = Path(entry.piece.path).read_bytes()[entry.piece.start : entry.piece.stop]
            lines += content.decode().splitlines()
    return lines


# Numbers --------------------------------------------------------------------------------------------------------------


def test_what_is_there_of_items_is_all_of_them(tmp_path: Path) -> None:
    log = looked(graph_of(ab.from_items(Word, [Word("a")] * 40_000)), tmp_path)
    assert [entry.piece for entry in log.all] == [
        Numbers(0, 16_384), Numbers(16_384, 32_768), Numbers(32_768, 40_000), None,
    ]  # fmt: skip


def test_what_is_there_of_a_beacon_without_an_end_is_some_of_it(tmp_path: Path) -> None:
    log = looked(graph_of(ab.beacon(Word, lambda number: Word("a"))), tmp_path)
    assert [entry.piece for entry in log.all] == [Numbers(0, 16_384)]


def test_who_ends_a_stream_does_not_wait_for_the_last_of_very_many(tmp_path: Path) -> None:
    log = Log(tmp_path)
    found = Arrivals(graph_of(ab.beacon(Word, lambda number: Word("a"), count=10**12)), log, tmp_path, fail)
    found.open(0)
    found.start()
    wait_until(lambda: len(log) > 3)
    found.end()
    wait_until(lambda: found.have_ended)
    found.close()
    assert [entry.piece is None for entry in log.all] == [False] * (len(log) - 1) + [True]


def test_of_fewer_than_there_were_no_more_are_waited_for(tmp_path: Path) -> None:
    looked(graph_of(ab.from_items(Word, [Word("a")] * 20_000)), tmp_path)
    cut = Log(tmp_path)
    cut.cut(1)
    log = looked(graph_of(ab.from_items(Word, [Word("a")] * 9)), tmp_path)
    assert [entry.piece for entry in log.all] == [Numbers(0, 16_384), None]


def test_a_beacon_without_an_end_does_not_go_before_all_that_arrives(words: Path, tmp_path: Path) -> None:
    log = Log(tmp_path)
    endless = ab.beacon(Word, lambda number: Word("a"))
    found = Arrivals(graph_of(endless.union(ab.read_lines(f"{words}/*.txt", Word))), log, tmp_path, fail)
    found.open(0)
    found.start()
    wait_until(lambda: len(log) > 100)
    (words / ".more").write_text("more\n")
    (words / ".more").rename(words / "more.txt")
    wait_until(lambda: "more" in read(log))
    found.close()
    assert len(log) < 200


def test_a_source_ends_at_the_turn_of_its_next_tuple(tmp_path: Path) -> None:
    one, two = ab.from_items(Word, [Word("a")] * 40_000), ab.from_items(Word, [Word("b")])
    graph = graph_of(one.union(two))
    log = looked(graph, tmp_path)
    names = [each.id for each in graph.sources]
    assert [names.index(entry.source) for entry in log.all] == [0, 1, 0, 1, 0, 0]
    assert [entry.piece is None for entry in log.all] == [False, False, False, True, False, True]


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of a few slices."""
    monkeypatch.setattr(arrivals, "_SLICE", 40)
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "m.txt").write_text("".join(f"word {number}\n" for number in range(30)))
    return folder


def test_a_file_in_the_middle_of_which_a_run_was_killed_is_read_to_its_end_first(words: Path, tmp_path: Path) -> None:
    graph = graph_of(ab.read_lines(words, Word))
    log = looked(graph, tmp_path)
    whole = read(log)
    assert len(log) > 5
    for entries in range(1, len(log)):
        log.cut(entries)
        (words / "a.txt").write_text("earlier by name\n")
        again = looked(graph, tmp_path)
        assert read(again) == [*whole, "earlier by name"]
        (words / "a.txt").unlink()
        log.path.unlink()
        looked(graph, tmp_path)


def test_a_file_that_has_changed_after_a_part_of_it_was_read_is_an_error(words: Path, tmp_path: Path) -> None:
    graph = graph_of(ab.read_lines(words, Word))
    looked(graph, tmp_path).cut(2)
    for content in ("", "other\n" * 100):
        (words / "m.txt").write_text(content)
        with pytest.raises(SourceError, match=r"m\.txt: a part of it was processed, and it has changed since"):
            looked(graph, tmp_path)
    (words / "m.txt").unlink()
    with pytest.raises(SourceError, match=r"m\.txt: a part of it was processed"):
        looked(graph, tmp_path)


def test_files_are_known_by_their_place_however_it_is_written(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = looked(graph_of(ab.read_lines(words, Word)), tmp_path).all
    monkeypatch.chdir(words)
    for pattern in (".", "../words", f"{words}/*.txt", os.path.relpath(words)):
        assert looked(graph_of(ab.read_lines(pattern, Word)), tmp_path).all == before


def test_a_source_has_not_ended_before_its_end_can_be_seen(words: Path, tmp_path: Path) -> None:
    """Else a batch that is over meanwhile would be taken for the last one."""
    seen: list[tuple[Entry, bool]] = []

    class Watching(Log):
        def append(self, entries: Any) -> None:
            seen.extend((entry, found.have_ended) for entry in entries)
            super().append(entries)

    found = Arrivals(graph_of(ab.read_lines(words, Word)), Watching(tmp_path), tmp_path, fail)
    found.open(0)
    found.end()
    found.look_once()
    assert seen[-1][0].piece is None
    assert not any(has_ended for _, has_ended in seen)
    assert found.have_ended


# TCP ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


class Spooling:
    """A run that receives lines."""

    def __init__(self, server: socket.socket, folder: Path, processed: int = 0) -> None:
        self.graph = graph_of(ab.read_tcp(server.getsockname()[1], Word, host="127.0.0.1", format="lines"))
        self.log = Log(folder)
        self.arrivals = Arrivals(self.graph, self.log, folder, fail)
        self.arrivals.open(processed)
        self.connection = server.accept()[0]
        self.source: Any = self.arrivals._sources[0]

    def receive(self, text: str) -> None:
        """Get lines sent, without looking at them."""
        before = len(self.source._waiting)
        self.connection.sendall(text.encode())
        wait_until(lambda: len(self.source._waiting) == before + len(text))

    def look(self) -> None:
        self.arrivals.look_once()

    def stop(self) -> None:
        self.arrivals.close()
        self.connection.close()


def test_lines_that_have_come_before_a_stop_are_there_after_it(server: socket.socket, tmp_path: Path) -> None:
    one = Spooling(server, tmp_path)
    one.receive("a\nb\n")
    one.look()
    one.receive("c\nd\nhalf a li")
    one.stop()
    two = Spooling(server, tmp_path)
    two.receive("e\n")
    two.look()
    two.stop()
    assert read(two.log) == ["a", "b", "c", "d", "e"]


def test_lines_that_were_kept_and_not_written_down_when_a_run_was_killed_are_there(
    server: socket.socket, tmp_path: Path
) -> None:
    one = Spooling(server, tmp_path)
    for text in ("a\n", "b\n"):
        one.receive(text)
        one.look()
    one.log.cut(1)
    one.connection.close()
    two = Spooling(server, tmp_path)
    two.receive("c\n")
    two.look()
    two.stop()
    assert read(two.log) == ["a", "b", "c"]


def test_lines_of_the_last_batch_can_be_read_again_and_others_are_removed(
    server: socket.socket, tmp_path: Path
) -> None:
    run = Spooling(server, tmp_path)
    kept = []
    for number, text in enumerate("abc", 1):
        run.receive(f"{text}\n")
        run.look()
        run.arrivals.processed(number)
        kept.append([path.read_text() for path in sorted(run.source.folder.iterdir())])
    run.stop()
    assert kept == [["a\n"], ["b\n"], ["c\n"]]


def test_a_line_that_is_longer_than_a_file_should_be_comes_alone(
    server: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.engines.spark.streams.tcp_spool._LARGEST", 10)
    run = Spooling(server, tmp_path)
    run.receive("a\nb\n" + "c" * 100 + "\nd\n")
    for _ in range(3):
        run.look()
    run.stop()
    assert read(run.log) == ["a", "b", "c" * 100, "d"]
    assert [entry.size for entry in run.log.all] == [4, 101, 2]
