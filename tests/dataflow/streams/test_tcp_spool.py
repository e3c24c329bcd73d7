"""Lines from TCP are kept before they are processed, whole, and once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import read_slice
from anabranch.dataflow.streams import tcp_spool
from anabranch.dataflow.streams.arrivals import Arrivals
from anabranch.dataflow.streams.sealed_files import read_sealed
from anabranch.errors import SourceError, UsageError
from tests.dataflow.streams.test_arrivals import Log, Word, fail, graph_of, read
from tests.engines.spark.streams.running_streams import wait_until


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


class Spooling:
    """A run that receives lines."""

    def __init__(self, server: socket.socket, folder: Path, format: str = "lines") -> None:
        self.graph = graph_of(ab.read_tcp(server.getsockname()[1], Word, host="127.0.0.1", format=format))
        folder.mkdir(exist_ok=True)
        self.log = Log(folder)
        self.arrivals = Arrivals(self.graph, self.log, folder, fail)
        self.arrivals.open(0)
        self.connection = server.accept()[0]
        self.source: Any = self.arrivals._sources[0]

    def receive(self, text: str) -> None:
        """Get lines sent, without looking at them."""
        before = len(self.source._waiting)
        self.connection.sendall(text.encode())
        wait_until(lambda: len(self.source._waiting) == before + len(text), seconds=20)

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
        kept.append([read_sealed(path) for path in sorted(run.source.folder.iterdir())])
    run.stop()
    assert kept == [[b"a\n"], [b"b\n"], [b"c\n"]]


@pytest.mark.parametrize(("format", "mark"), [("csv", ""), ("lines", "\ufeff")])
def test_a_byte_order_mark_at_the_start_of_a_connection_is_passed_over_where_a_run_does(
    server: socket.socket, tmp_path: Path, format: str, mark: str
) -> None:
    run = Spooling(server, tmp_path, format)
    run.connection.sendall("\ufeffa\n".encode())
    wait_until(lambda: len(run.source._waiting) == 5, seconds=20)
    run.look()
    run.connection.sendall("\ufeffb\n".encode())
    wait_until(lambda: len(run.source._waiting) == 5, seconds=20)
    run.look()
    run.stop()
    assert read(run.log) == [f"{mark}a", "\ufeffb"]


def test_a_line_that_is_longer_than_a_file_should_be_comes_alone(
    server: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.dataflow.streams.tcp_spool._LARGEST", 10)
    run = Spooling(server, tmp_path)
    run.receive("a\nb\n" + "c" * 100 + "\nd\n")
    for _ in range(3):
        run.look()
    run.stop()
    assert read(run.log) == ["a", "b", "c" * 100, "d"]
    assert [entry.size for entry in run.log.all] == [4, 101, 2]


def test_half_a_line_is_no_line_where_a_stream_is_ended(server: socket.socket, tmp_path: Path) -> None:
    run = Spooling(server, tmp_path)
    run.receive("a\nhalf a li")
    run.arrivals.end()
    run.look()
    run.look()
    assert run.arrivals.have_ended
    run.stop()
    assert read(run.log) == ["a"]
    assert [entry.piece is None for entry in run.log.all] == [False, True]


def test_the_last_line_needs_no_newline_where_the_server_has_closed(server: socket.socket, tmp_path: Path) -> None:
    run = Spooling(server, tmp_path)
    run.receive("a\nb")
    run.connection.close()
    wait_until(lambda: run.source._is_closed)
    run.look()
    run.stop()
    assert read(run.log) == ["a", "b"]
    assert run.arrivals.have_ended


@pytest.mark.parametrize("format", ["lines", "csv"])
def test_a_line_that_never_ends_is_an_error(
    server: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setattr(tcp_spool, "_MOST_WAITING", 1_000)
    run = Spooling(server, tmp_path, format)
    run.receive("a\n" + ('"\n' if format == "csv" else "") + "b" * 1_001)
    run.look()
    with pytest.raises(SourceError, match=r"tcp://.*: a line is longer than .* bytes") as caught:
        run.look()
    run.stop()
    assert caught.value.location == run.graph.sources[0].location
    assert read(run.log) == ["a"]


def test_rows_of_csv_with_newlines_in_quotes_stay_whole(
    server: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'plain\n"a\nb"\n5" pipe\n"c ""\n"" d"\n"e"\n\nf\n' * 3
    rows = ["plain\n", '"a\nb"\n', '5" pipe\n', '"c ""\n"" d"\n', '"e"\n', "\n", "f\n"] * 3
    ends = {sum(map(len, rows[:count])) for count in range(len(rows) + 1)}
    for largest in (1, 8, 20, 1_000):
        monkeypatch.setattr(tcp_spool, "_LARGEST", largest)
        run = Spooling(server, tmp_path / str(largest), "csv")
        for at in range(0, len(text), 5):
            run.receive(text[at : at + 5])
            run.look()
        for _ in range(len(rows)):
            run.look()
        run.stop()
        kept = [read_sealed(Path(entry.piece.path)).decode() for entry in run.log.all]  # type: ignore[union-attr]
        assert "".join(kept) == text
        assert {sum(map(len, kept[:count])) for count in range(len(kept))} <= ends


def test_what_is_there_now_cannot_be_said_of_tcp(tmp_path: Path) -> None:
    program = ab.read_tcp(1, Word, host="127.0.0.1", format="lines").collect("out")
    with pytest.raises(UsageError, match="'read_tcp' gives lines as they come") as caught:
        ab.start(program, checkpoint=tmp_path / "state", once=True)
    assert caught.value.location is not None
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("format", "lines"),
    [("csv", b'"a\nb"\nc\n'), ("jsonl", b'{"text": "a\\nb"}\n{"text": "c"}\n'), ("lines", b"a b\nc\n")],
)
def test_kept_lines_are_read_from_behind_their_checksum(format: str, lines: bytes, tmp_path: Path) -> None:
    source = graph_of(ab.read_tcp(1, Word, host="127.0.0.1", format=format)).sources[0]
    spool = tcp_spool.TcpSpool(source, tmp_path)
    entry = spool._entry(spool._kept_in_a_file(lines))
    definition = tcp_spool.as_files(source).definition
    (chunk,) = read_slice(definition, entry.piece, chunk_size=10)  # type: ignore[arg-type]
    assert chunk.batch.to_pylist() == [{"text": "a b" if format == "lines" else "a\nb"}, {"text": "c"}]
    assert entry.size == len(lines)
