"""What arrives is written down once and in order, also where a run was stopped or killed while it did so."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import Slice, read_slice, slices_of_file
from anabranch.dataflow.sources.source_slices import Numbers
from anabranch.dataflow.streams import arrivals
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.entries import Entry, EntryLog
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


# Names ----------------------------------------------------------------------------------------------------------------


def test_what_others_leave_beside_data_does_not_arrive(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "_SUCCESS", ".a.txt.crc", "b.txt.partial", "_b.txt"):
        (tmp_path / "in" / name).write_text(f"{name}\n")
    for pattern in ("in", "in/*", "in/*.txt*", "**"):
        folder = tmp_path / "logs" / pattern.replace("/", "-").replace("*", "x")
        folder.mkdir(parents=True)
        log = looked(graph_of(ab.read_lines(tmp_path / pattern, Word)), folder)
        assert read(log)[0] == "a.txt"
        assert not [line for line in read(log)[1:] if line.startswith(("_", ".", "b.txt"))]


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


def test_a_file_that_is_gone_again_when_it_is_opened_is_passed_over(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(ab.read_lines(words, Word))
    (words / "a.txt").write_text("a\n")

    def vanished(definition: Any, path: Path, **options: Any) -> Any:
        if path.name == "a.txt":
            path.unlink()
        return slices_of_file(definition, path, **options)

    monkeypatch.setattr(arrivals, "slices_of_file", vanished)
    log = looked(graph, tmp_path)
    assert {Path(entry.piece.path).name for entry in log.all if isinstance(entry.piece, Slice)} == {"m.txt"}
    monkeypatch.undo()
    (words / "a.txt").write_text("again\n")
    assert read(looked(graph, tmp_path))[-1] == "again"


@pytest.mark.parametrize("content", [b"", b"other,header\n1,2\n"])
def test_what_is_wrong_with_a_file_is_not_kept(tmp_path: Path, content: bytes) -> None:
    """Else it could be mended as often as one likes: the checkpoint would say what it said before."""
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    graph = graph_of(ab.read_csv(path, Word))
    log = looked(graph, tmp_path)
    piece = log.all[0].piece
    assert isinstance(piece, Slice)
    assert piece.problem is None
    with pytest.raises(SourceError):
        list(read_slice(graph.sources[0].definition, piece, chunk_size=10))  # type: ignore[arg-type]
    path.write_text("text\na\nb\n")
    (chunk,) = read_slice(graph.sources[0].definition, piece, chunk_size=10)  # type: ignore[arg-type]
    assert chunk.batch.to_pylist() == [{"text": "a"}, {"text": "b"}]


@pytest.mark.parametrize("content", ["", "word 0\n", "other words\n" * 100])
def test_a_slice_of_a_file_of_another_length_than_it_had_is_an_error(words: Path, tmp_path: Path, content: str) -> None:
    graph = graph_of(ab.read_lines(words, Word))
    log = looked(graph, tmp_path)
    (words / "m.txt").write_text(content)
    for entry in log.all:
        assert isinstance(entry.piece, Slice)
        with pytest.raises(SourceError, match=r"m\.txt: .* since it was found"):
            list(read_slice(graph.sources[0].definition, entry.piece, chunk_size=10))  # type: ignore[arg-type]


def test_a_file_that_was_mended_at_its_length_is_read_on(words: Path, tmp_path: Path) -> None:
    graph = graph_of(ab.read_lines(words, Word))
    log = looked(graph, tmp_path)
    (words / "m.txt").write_text((words / "m.txt").read_text().replace("word 29", "mended!"))
    piece = log.all[-1].piece
    assert isinstance(piece, Slice)
    (chunk,) = read_slice(graph.sources[0].definition, piece, chunk_size=100)  # type: ignore[arg-type]
    assert chunk.batch.to_pylist()[-1] == {"text": "mended!"}


class Looking:
    """A run that looks as often as it is told."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self.log = Log(folder)
        self.arrivals = Arrivals(graph, self.log, folder, fail)
        self.arrivals.open(0)

    def look(self) -> list[str]:
        self.arrivals.look_once()
        return read(self.log)


@pytest.mark.parametrize(
    ("before", "after"), [("", "text\na\n"), ("text\n", "text\na\n"), ("text\n\n\r\n", "text\na\n")]
)
def test_a_file_without_rows_is_read_when_it_has_some(tmp_path: Path, before: str, after: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.csv").write_text(before)
    run = Looking(graph_of(ab.read_csv(folder, Word)), tmp_path)
    assert run.look() == run.look() == []
    (folder / "1.csv").write_text(after)
    assert run.look() == run.look() == ["a"]


def test_a_file_of_blank_lines_has_no_rows_where_the_format_has_none(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1").write_text("\n  \n" * 100)
    run = Looking(graph_of(ab.read_jsonl(folder, Word)), tmp_path)
    assert run.look() == run.look() == []
    (folder / "1").write_text("\n" * 100 + '{"text": "a"}\n')
    assert run.look() == run.look() == [*[""] * 100, '{"text": "a"}']


def test_blank_lines_may_be_rows(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1").write_text("\n \n")
    for name, source in (
        ("of lines", ab.read_lines(folder, Word)),
        ("of csv", ab.read_csv(folder, Word, header=False)),
    ):
        (tmp_path / name).mkdir()
        assert Looking(graph_of(source), tmp_path / name).look() == ["", " "]


def test_a_file_without_rows_is_nothing_at_the_end(words: Path, tmp_path: Path) -> None:
    (words / "a.txt").touch()
    log = looked(graph_of(ab.read_lines(words, Word)), tmp_path, is_ending=True)
    assert len(read(log)) == 30
    assert log.all[-1].piece is None


def test_a_folder_that_is_gone_for_a_moment_does_not_end_its_source(words: Path, tmp_path: Path) -> None:
    run = Looking(graph_of(ab.read_lines(words, Word)), tmp_path)
    before = run.look()
    words.rename(tmp_path / "aside")
    run.arrivals.look_once()
    assert not run.arrivals.have_ended
    (tmp_path / "aside").rename(words)
    (words / "z.txt").write_text("z\n")
    assert run.look() == [*before, "z"]


def test_files_that_are_known_are_not_asked_for_anything(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Looking(graph_of(ab.read_lines(words, Word)), tmp_path)
    run.look()
    asked: list[str] = []
    stat = os.stat

    def asking(path: Any, *rest: Any, **options: Any) -> Any:
        asked.append(str(path))
        return stat(path, *rest, **options)

    monkeypatch.setattr(os, "stat", asking)
    run.look()
    monkeypatch.undo()
    assert [path for path in asked if path.endswith("m.txt")] == []


# The log --------------------------------------------------------------------------------------------------------------


def test_half_a_line_and_what_is_written_behind_it_meanwhile_is_no_entry(tmp_path: Path) -> None:
    writer = Log(tmp_path)
    entries = [Entry("s", Numbers(number, number + 1), 1.5, 10) for number in range(3)]
    writer.append(entries)
    whole = writer.path.read_bytes()
    for cut in range(len(whole)):
        writer.path.write_bytes(whole[:cut])
        with open_and_grow(writer.path, whole[cut:]):
            reader = EntryLog(writer.path)
            reader.look()
            assert len(reader) == whole[:cut].count(b"\n")
        reader.look()
        assert reader.entries(0, 3) == entries


@contextmanager
def open_and_grow(path: Path, rest: bytes) -> Iterator[None]:
    """A file that grows as soon as somebody who reads it has come to its end."""

    class Growing(io.BytesIO):
        def readline(self, *_: Any) -> bytes:
            line = super().readline()
            if not line.endswith(b"\n"):
                self.write(rest)
                self.seek(-len(rest), os.SEEK_CUR)
            return line

        def __next__(self) -> bytes:
            if line := self.readline():
                return line
            raise StopIteration

    with pytest.MonkeyPatch.context() as patch:
        content = path.read_bytes()
        patch.setattr(Path, "open", lambda *_: Growing(content))
        yield
    with path.open("ab") as file:
        file.write(rest)


def test_entries_of_a_turn_are_written_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(tmp_path)
    written: list[int] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: written.append(len(data)) or write(file, data))
    log.append([Entry("s", Numbers(0, 1), 1.5)] * 3_000)
    assert len(written) == 1
    assert len(log) == 3_000


# Compressed files -----------------------------------------------------------------------------------------------------


def test_a_compressed_file_arrives_as_one_slice_and_once(tmp_path: Path) -> None:
    arriving = tmp_path / "in"
    arriving.mkdir()
    graph = graph_of(ab.read_lines(arriving, Word))
    words = "".join(f"word {n}\n" for n in range(1_000))
    (arriving / "words.gz").write_bytes(gzip.compress(words.encode()))
    for _ in range(2):
        [entry] = looked(graph, tmp_path).all
        assert isinstance(entry.piece, Slice)
        assert entry.piece.is_compressed
        found = read_slice(graph.sources[0].definition, entry.piece, chunk_size=100)  # type: ignore[arg-type]
        assert [row.text for chunk in found for row in chunk.rows] == words.split("\n")[:-1]  # type: ignore[union-attr]
