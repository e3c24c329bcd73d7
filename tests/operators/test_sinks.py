"""Sinks: files appear whole or not at all, whatever ends the run; connections and functions get every tuple."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anabranch.errors import BuildError, Location, SinkError
from anabranch.graph.model import Definition, Operator, Port
from anabranch.graph.schema import schema_of
from anabranch.operators.base import SinkMeaning
from anabranch.operators.formats import FILE_FORMATS, file_format, parquet_writer, text_writer
from anabranch.operators.sinks import Collect, ForEach, SinkDefinition, WriteFile, WriteTcp


class Word(NamedTuple):
    text: str


class Stamped(NamedTuple):
    at: datetime


WORDS = [Word("one"), Word("two"), Word("three")]
HERE = Location("app.py", 12)


def operator_for(definition: Definition, row_type: type = Word) -> Operator:
    return Operator("sink", definition, (Port("in", schema_of(row_type)),), (), HERE)


def meaning_of(definition: SinkDefinition, row_type: type = Word) -> SinkMeaning:
    return definition.meaning(operator_for(definition, row_type))


def run(definition: SinkDefinition, items: list[Any]) -> SinkMeaning:
    meaning = meaning_of(definition)
    meaning.open()
    feed(meaning, items)
    meaning.close()
    return meaning


def feed(meaning: SinkMeaning, items: Iterable[Any]) -> None:
    for item in items:
        assert meaning.process(0, item) == ()


def read(format_name: str, path: Path) -> list[Any]:
    return list(file_format(format_name).read(path, schema_of(Word)))


every_format = pytest.mark.parametrize("name", FILE_FORMATS)


# Files ------------------------------------------------------------------------------------------------------


@every_format
def test_a_file_holds_the_tuples_in_their_order(name: str, tmp_path: Path) -> None:
    run(WriteFile(name, tmp_path / "out"), WORDS)
    assert read(name, tmp_path / "out") == WORDS
    assert os.listdir(tmp_path) == ["out"]


def test_text_files_look_as_a_person_expects(tmp_path: Path) -> None:
    for name in ("csv", "jsonl", "lines"):
        run(WriteFile(name, str(tmp_path / name)), WORDS[:1])
    run(WriteFile("csv", tmp_path / "bare", {"header": False}), WORDS[:1])
    contents = {name: (tmp_path / name).read_bytes() for name in ("csv", "jsonl", "lines", "bare")}
    assert contents == {"csv": b"text\none\n", "jsonl": b'{"text":"one"}\n', "lines": b"one\n", "bare": b"one\n"}


@every_format
def test_the_file_appears_at_its_place_only_when_it_is_closed(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    meaning = meaning_of(WriteFile(name, target))
    meaning.open()
    meaning.process(0, WORDS[0])
    assert target.read_text() == "old"
    meaning.close()
    assert read(name, target) == WORDS[:1]


@every_format
def test_closing_twice_or_without_opening_does_nothing_more(name: str, tmp_path: Path) -> None:
    meaning_of(WriteFile(name, tmp_path / "never")).close()
    meaning = run(WriteFile(name, tmp_path / "out"), WORDS)
    (tmp_path / "out").unlink()
    meaning.close()
    assert os.listdir(tmp_path) == []


@every_format
def test_discarding_leaves_what_was_there_before(name: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    definition = WriteFile(name, tmp_path / "out")
    meaning = definition.meaning(operator_for(definition))
    meaning.open()
    meaning.process(0, WORDS[0])
    meaning.discard()
    meaning.close()
    assert (tmp_path / "out").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@every_format
def test_missing_folders_are_created(name: str, tmp_path: Path) -> None:
    run(WriteFile(name, tmp_path / "a" / "b" / "out"), WORDS)
    assert read(name, tmp_path / "a" / "b" / "out") == WORDS


@every_format
def test_a_directory_cannot_be_written_and_the_error_names_path_and_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(SinkError) as caught:
        meaning_of(WriteFile(name, tmp_path)).open()
    assert caught.value.message == f"{tmp_path}: is a directory"
    assert caught.value.location == HERE


@every_format
def test_a_file_in_place_of_a_folder_is_a_sink_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "out", tmp_path / "file" / "deeper" / "out"):
        meaning = meaning_of(WriteFile(name, path))
        with pytest.raises(SinkError, match="not a directory"):
            meaning.open()
        meaning.close()
    assert os.listdir(tmp_path) == ["file"]


@every_format
def test_a_folder_that_may_not_be_written_is_a_sink_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    meaning = meaning_of(WriteFile(name, tmp_path / "out"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)  # file modes do not stop root, who may run these tests
        with pytest.raises(SinkError, match="out: permission denied"):
            meaning.open()
    meaning.close()
    assert os.listdir(tmp_path) == []


@every_format
@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("path", ["/proc/out", "/proc/nothing/out"])
def test_a_folder_that_is_there_and_takes_no_file_is_named(name: str, is_folder: bool, path: str) -> None:
    with pytest.raises(SinkError, match=f"^{path}: it cannot be written in /proc\n") as caught:
        meaning_of(WriteFile(name, Path(path), is_folder=is_folder)).open()
    assert caught.value.hint == "choose another folder"


def test_a_stream_says_the_same_of_its_files() -> None:
    with pytest.raises(SinkError, match=r"^/proc/out: it cannot be written in /proc\n"):
        meaning_of(WriteFile("csv", Path("/proc/out"))).check_new()


@every_format
def test_a_file_that_is_read_only_is_not_replaced(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").write_text("precious")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SinkError, match="out: permission denied"):
        meaning_of(WriteFile(name, tmp_path / "out")).open()
    assert (tmp_path / "out").read_text() == "precious"


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_a_full_disk_is_said_already_at_open_where_something_is_written_then(name: str) -> None:
    meaning = meaning_of(WriteFile(name, "/dev/full"))
    with pytest.raises(SinkError, match="/dev/full: the disk is full"):
        meaning.open()
    meaning.close()
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode), "the device is still the device"


@pytest.mark.parametrize("name", ["jsonl", "lines"])
def test_a_full_disk_is_said_at_the_latest_when_the_sink_is_closed(name: str) -> None:
    meaning = meaning_of(WriteFile(name, "/dev/full"))
    meaning.open()
    meaning.process(0, WORDS[0])
    with pytest.raises(SinkError, match="/dev/full: the disk is full"):
        meaning.close()
    meaning.close()


def test_a_disk_that_fills_up_leaves_a_text_file_of_whole_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_writer, "_BUFFER", 40)
    room = 200
    pwrite = os.pwrite

    def write_until_full(descriptor: int, data: Any, offset: int) -> int:
        if offset >= room:
            raise OSError(28, "No space left on device")
        return pwrite(descriptor, data[: room - offset], offset)

    monkeypatch.setattr(os, "pwrite", write_until_full)
    meaning = meaning_of(WriteFile("csv", tmp_path / "out.csv"))
    meaning.open()
    with pytest.raises(SinkError, match=r"out\.csv: the disk is full"):
        feed(meaning, [Word("some words")] * 1000)
    assert meaning.keep() == tmp_path / "out.csv.partial"
    rows = read("csv", tmp_path / "out.csv.partial")
    assert len(rows) > 5
    assert set(rows) == {Word("some words")}


def test_a_disk_that_fills_up_leaves_no_half_parquet_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "_ROW_GROUP", 2)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    meaning = meaning_of(WriteFile("parquet", tmp_path / "out"))
    meaning.open()
    meaning.process(0, WORDS[0])
    monkeypatch.setattr(parquet_writer.pq.ParquetWriter, "write_table", fail)
    monkeypatch.setattr(parquet_writer.pq.ParquetWriter, "close", fail)
    with pytest.raises(SinkError, match="out: the disk is full"):
        meaning.process(0, WORDS[1])
    assert meaning.keep() is None
    assert os.listdir(tmp_path) == []


def test_an_interrupted_write_is_repeated_when_it_is_kept_without_doubling_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_writer, "_BUFFER", 16)
    pwrite = os.pwrite
    meaning = meaning_of(WriteFile("lines", tmp_path / "out"))
    meaning.open()

    def interrupted(descriptor: int, data: Any, offset: int) -> int:
        pwrite(descriptor, data[:5], offset)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "pwrite", interrupted)
    rows = iter([Word(f"row {number}") for number in range(100)])
    with pytest.raises(KeyboardInterrupt):
        feed(meaning, rows)
    monkeypatch.setattr(os, "pwrite", pwrite)
    meaning.keep()
    unwritten = list(rows)
    assert len(unwritten) > 50
    assert read("lines", tmp_path / "out.partial") + unwritten == [Word(f"row {number}") for number in range(100)]


@every_format
def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(name: str, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    run(WriteFile(name, tmp_path / "link"), WORDS)
    assert (tmp_path / "link").is_symlink()
    assert read(name, tmp_path / "real") == WORDS


def test_a_new_file_has_the_usual_mode_and_a_replaced_one_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    (tmp_path / "kept").touch(mode=0o600)
    run(WriteFile("csv", tmp_path / "new"), WORDS)
    run(WriteFile("csv", tmp_path / "kept"), WORDS)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "new", "kept")}
    assert modes["new"] == modes["plain"]
    assert modes["kept"] == 0o600


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    run(WriteFile("lines", pipe), WORDS)
    reader.join(timeout=10)
    assert received == [b"one\ntwo\nthree\n"]
    assert pipe.is_fifo()


def test_what_the_process_has_open_is_written_where_it_is(tmp_path: Path) -> None:
    """As `/dev/stdout` of a program whose output goes to a file, with what others write before it and behind it."""
    with (tmp_path / "all").open("wb", buffering=0) as everything:
        everything.write(b"before\n")
        (tmp_path / "link").symlink_to(f"/dev/fd/{everything.fileno()}")
        run(WriteFile("lines", f"/dev/fd/{everything.fileno()}"), WORDS)
        run(WriteFile("lines", tmp_path / "link"), WORDS[:1])
        everything.write(b"behind\n")
    assert (tmp_path / "all").read_text() == "before\none\ntwo\nthree\none\nbehind\n"
    with pytest.raises(SinkError, match="/dev/fd/987654"):
        meaning_of(WriteFile("lines", "/dev/fd/987654")).open()


def test_a_tuple_that_cannot_be_written_stops_with_the_line_of_the_sink(tmp_path: Path) -> None:
    meaning = meaning_of(WriteFile("lines", tmp_path / "out"))
    meaning.open()
    meaning.process(0, WORDS[0])
    with pytest.raises(SinkError) as caught:
        meaning.process(0, Word("two\nlines"))
    assert caught.value.location == HERE
    meaning.keep()
    assert read("lines", tmp_path / "out.partial") == WORDS[:1]


def test_kinds_options_and_types_are_checked_when_the_program_is_built() -> None:
    assert [operator_for(WriteFile(name, "out")).kind for name in FILE_FORMATS] == [
        "write_csv", "write_jsonl", "write_parquet", "write_lines",
    ]  # fmt: skip
    with pytest.raises(BuildError, match="no file format 'xml'"):
        WriteFile("xml", "out")
    with pytest.raises(BuildError, match="no option 'delimiter'"):
        WriteFile("jsonl", "out", {"delimiter": ";"})
    with pytest.raises(BuildError, match="exactly one attribute, a str"):
        WriteFile("lines", "out").check_schema(schema_of(Stamped))
    assert hash(WriteFile("csv", "out", {"header": False})) == hash(WriteFile("csv", "out", {"header": False}))


# Memory and functions ---------------------------------------------------------------------------------------


def test_collect_keeps_every_tuple_in_order_under_its_name() -> None:
    definition = Collect("words")
    meaning = definition.meaning(operator_for(definition))
    meaning.open()
    for word in WORDS:
        assert meaning.process(0, word) == ()
    meaning.close()
    assert meaning.items == WORDS
    assert (definition.label, definition.ordered) == ("words", True)
    assert definition.meaning(operator_for(definition)).items == [], "each run collects anew"


def test_for_each_calls_the_function_and_lets_its_errors_through() -> None:
    seen: list[Word] = []
    run(ForEach(seen.append), WORDS)
    assert seen == WORDS

    def fail(word: Word) -> None:
        raise ZeroDivisionError(word.text)

    with pytest.raises(ZeroDivisionError):
        run(ForEach(fail), WORDS)
    with pytest.raises(BuildError, match="is not a function"):
        ForEach("print")  # type: ignore[arg-type]  # what is checked


# Connections ------------------------------------------------------------------------------------------------


@contextmanager
def server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server for one connection; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            connection, _ = listening.accept()
            with connection:
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            thread.join(timeout=10)
            assert not thread.is_alive()


def receive_all(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.read()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("jsonl", b'{"text":"one"}\n{"text":"two"}\n{"text":"three"}\n'), ("csv", b"one\ntwo\nthree\n")],
)
def test_a_connection_gets_a_line_per_tuple_until_it_is_closed(name: str, expected: bytes) -> None:
    received: list[bytes] = []
    with server(lambda connection: received.append(receive_all(connection))) as port:
        meaning = run(WriteTcp("127.0.0.1", port, name), WORDS)
        meaning.close()
    assert received == [expected]


def test_a_tuple_is_sent_at_once_and_not_only_at_the_end() -> None:
    arrived = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            assert stream.readline() == b'{"text":"one"}\n'
            arrived.set()
            stream.read()

    with server(serve) as port:
        meaning = meaning_of(WriteTcp("127.0.0.1", port))
        meaning.open()
        meaning.process(0, WORDS[0])
        assert arrived.wait(timeout=10)
        meaning.close()


def test_a_refused_connection_is_a_sink_error_with_a_hint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    meaning = meaning_of(WriteTcp("127.0.0.1", port))
    with pytest.raises(SinkError, match=f"tcp://127.0.0.1:{port}: the connection was refused") as caught:
        meaning.open()
    assert "start the server" in str(caught.value.hint)
    assert caught.value.location == HERE
    meaning.close()


def test_a_broken_connection_is_a_sink_error() -> None:
    with server(lambda connection: connection.close()) as port:
        meaning = meaning_of(WriteTcp("127.0.0.1", port))
        meaning.open()
        with pytest.raises(SinkError, match="the connection was"):
            feed(meaning, [Word("x" * 100)] * 100_000)
        meaning.close()


def test_discarding_a_connection_closes_it() -> None:
    received: list[bytes] = []
    with server(lambda connection: received.append(receive_all(connection))) as port:
        meaning = meaning_of(WriteTcp("127.0.0.1", port))
        meaning.open()
        meaning.discard()
        meaning.close()
    assert received == [b""]


# Interrupts -------------------------------------------------------------------------------------------------

INTERRUPTED_RUNS = """
import os, random, signal, sys, threading
from pathlib import Path
from typing import NamedTuple

from anabranch.graph.schema import schema_of
from anabranch.operators.formats import file_format, parquet_writer, text_writer

class Whole(NamedTuple):
    n: int

parquet_writer._ROW_GROUP, text_writer._BUFFER = 500, 300
schema, dice, path = schema_of(Whole), random.Random(7), Path(sys.argv[1])
for name in ["csv", "parquet"] * 15:
    writer, written = file_format(name).writer(schema), 0
    writer.open(path)
    timer = threading.Timer(dice.uniform(0.001, 0.03), os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            writer.write(Whole(written))
            written += 1
    except KeyboardInterrupt:
        kept = writer.keep()
    found = [row.n for row in file_format(name).read(kept, schema)] if kept else []
    assert found == list(range(len(found))), (name, found)
    assert len(found) in (written, written + 1), (name, written, len(found))
"""


def test_a_run_that_is_interrupted_anywhere_leaves_exactly_the_rows_written_so_far(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED_RUNS, str(tmp_path / "out")]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    assert os.listdir(tmp_path) == ["out.partial"]
