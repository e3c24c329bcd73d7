"""Files of streams: what was synced is in them once, however often and wherever the stream was killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.errors import SinkError
from anabranch.operators.formats import parquet_writer, text_writer
from tests.operators.streaming import (
    HERE,
    ONE,
    THREE,
    TWO,
    Word,
    by_batch,
    by_rows,
    content,
    every_format,
    file_sink,
    resumed,
    synced,
    tear,
    text_formats,
)

# Going on -----------------------------------------------------------------------------------------------------------


@every_format
def test_a_streams_file_goes_on_where_it_was_synced(name: str, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "out"
    first = resumed(file_sink(name, out), None)
    position = synced(first, [ONE, TWO])
    assert content(name, out) == [ONE, TWO], "it is there before the sink is closed"
    first.close()
    second = resumed(file_sink(name, out), position)
    synced(second, [THREE])
    second.close()
    assert content(name, out) == [ONE, TWO, THREE]


@every_format
def test_what_was_written_behind_the_last_sync_is_cut_off(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_writer, "_BUFFER", 4)
    first = resumed(file_sink(name, tmp_path / "out"), None)
    kept = synced(first, [ONE])
    synced(first, [TWO, TWO])  # synced, but nobody kept the position
    by_rows(first, [THREE, THREE])  # not even synced, and the process is killed now
    second = resumed(file_sink(name, tmp_path / "out"), kept)
    assert content(name, tmp_path / "out") == [ONE]
    assert synced(second, [TWO]) != kept
    assert content(name, tmp_path / "out") == [ONE, TWO]


@every_format
def test_what_is_not_synced_when_the_sink_is_closed_is_not_in_the_output(name: str, tmp_path: Path) -> None:
    meaning = resumed(file_sink(name, tmp_path / "out"), None)
    synced(meaning, [ONE])
    by_rows(meaning, [TWO])
    meaning.close()
    meaning.close()
    assert content(name, tmp_path / "out") == [ONE]
    if name == "parquet":
        assert os.listdir(tmp_path / "out") == ["part-00000000.parquet"]


@every_format
def test_a_stream_that_was_killed_before_its_first_sync_begins_anew(name: str, tmp_path: Path) -> None:
    killed = resumed(file_sink(name, tmp_path / "out"), None)
    synced(killed, [ONE, TWO])
    by_rows(killed, [THREE])
    synced(resumed(file_sink(name, tmp_path / "out"), None), [THREE])
    assert content(name, tmp_path / "out") == [THREE]


@every_format
def test_one_meaning_can_be_resumed_again_and_again(name: str, tmp_path: Path) -> None:
    meaning = file_sink(name, tmp_path / "out")
    position = synced(resumed(meaning, None), [ONE])
    by_rows(meaning, [THREE])
    position = synced(resumed(meaning, position), [TWO])
    meaning.close()
    synced(resumed(meaning, position), [THREE])
    assert content(name, tmp_path / "out") == [ONE, TWO, THREE]


def test_a_header_is_written_where_the_stream_begins_and_only_there(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    position = resumed(file_sink("csv", out), None).sync()
    assert out.read_text() == "text\n"
    assert position == {"bytes": 5}
    synced(resumed(file_sink("csv", out), position), [ONE])
    assert out.read_text() == "text\none\n"
    synced(resumed(file_sink("csv", tmp_path / "bare.csv", header=False), None), [ONE])
    assert (tmp_path / "bare.csv").read_text() == "one\n"


def test_text_is_written_in_place_through_links_so_that_others_can_follow_it(tmp_path: Path) -> None:
    (tmp_path / "real").touch(mode=0o600)
    (tmp_path / "link").symlink_to("real")
    meaning = resumed(file_sink("lines", tmp_path / "link"), None)
    with (tmp_path / "real").open("rb") as follower:
        synced(meaning, [ONE])
        assert follower.read() == b"one\n"
        synced(meaning, [TWO])
        assert follower.read() == b"two\n"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


Kill = tuple[Callable[[Any, list[Any]], None], list[Any], list[Any], bool]
words = st.text('ab"\\,é', max_size=12).map(Word)
stretches = st.lists(
    st.tuples(
        st.sampled_from([by_rows, by_batch]),
        st.lists(words, max_size=12),  # what is synced
        st.lists(words, max_size=12),  # what comes behind it, and is lost with the process
        st.booleans(),  # whether it is killed
    ),
    max_size=6,
)


@every_format
@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(parts=stretches)
def test_a_stream_that_is_killed_anywhere_writes_what_a_run_writes(
    name: str, parts: list[Kill], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("sinks")
    rows = [row for _, kept, _, _ in parts for row in kept]
    with monkeypatch.context() as patch:
        for module, size, small in ((text_writer, "_BUFFER", 40), (parquet_writer, "_ROW_GROUP", 5)):
            patch.setattr(module, size, small)
        run = file_sink(name, folder / "run")
        run.open()
        by_rows(run, rows)
        run.close()
        meaning = resumed(file_sink(name, folder / "stream"), None)
        position = meaning.sync()
        for feed, kept, behind, is_killed in parts:
            feed(meaning, kept)
            position = meaning.sync()
            if is_killed:
                feed(meaning, behind)
                tear(folder / "stream")
                meaning.close()
                meaning = resumed(file_sink(name, folder / "stream"), position)
        meaning.close()
    if name == "parquet":
        assert content(name, folder / "stream") == rows
        stretches_with_rows = [kept for _, kept, _, _ in parts if kept]
        assert position == {"parts": len(stretches_with_rows)}
        assert sorted(os.listdir(folder / "stream")) == [
            f"part-{number:08d}.parquet" for number in range(len(stretches_with_rows))
        ]
    else:
        assert (folder / "stream").read_bytes() == (folder / "run").read_bytes()


# Refused ------------------------------------------------------------------------------------------------------------


@text_formats
@pytest.mark.parametrize(("left", "why"), [(None, "it is gone"), (3, "only 3 are there")])
def test_a_file_that_became_shorter_is_refused(name: str, left: int | None, why: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    position = synced(resumed(file_sink(name, out), None), [ONE, TWO])
    if left is None:
        out.unlink()
    else:
        os.truncate(out, left)
    with pytest.raises(SinkError) as caught:
        file_sink(name, out).resume(position, tmp_path)
    assert caught.value.message == f"{out}: the stream wrote {position['bytes']} bytes to it, and {why}"
    assert caught.value.hint == "put back what is missing, or begin anew with another checkpoint and another path"
    assert caught.value.location == HERE
    assert out.exists() is (left is not None), "and left as it is"


def test_a_missing_part_is_refused_before_anything_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    meaning = resumed(file_sink("parquet", out), None)
    positions = [synced(meaning, [word]) for word in (ONE, TWO, THREE)]
    (out / "part-00000001.parquet").unlink()
    with pytest.raises(SinkError, match=r"wrote 2 parts to it, and part-00000001\.parquet is gone") as caught:
        file_sink("parquet", out).resume(positions[1], tmp_path)
    assert "another checkpoint" in str(caught.value.hint)
    assert sorted(os.listdir(out)) == ["part-00000000.parquet", "part-00000002.parquet"]


@every_format
def test_what_is_not_of_the_stream_is_refused_when_it_begins_and_left_alone(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    file_sink(name, out).check_new()
    somebodys = out
    if name == "parquet":
        out.mkdir()
        file_sink(name, out).check_new()
        somebodys = out / "precious"
    else:
        out.touch()
        file_sink(name, out).check_new()
    somebodys.write_text("precious")
    with pytest.raises(SinkError) as caught:
        file_sink(name, out).check_new()
    assert caught.value.message == f"{out} exists, and is not of this stream"
    assert caught.value.hint == "move it away, or choose another path for the output"
    assert caught.value.location == HERE
    assert somebodys.read_text() == "precious"


def test_files_of_others_in_a_folder_of_parts_are_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    others = [".keep", "notes.txt", "part-1.parquet", "part-000000001.parquet", "part-00000000.parquet.bak"]
    for name in others:
        (out / name).touch()
    synced(resumed(file_sink("parquet", out), None), [ONE])
    assert sorted(os.listdir(out)) == sorted([*others, "part-00000000.parquet"])


@text_formats
def test_what_cannot_be_cut_back_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, why in ((tmp_path, "is a directory"), (tmp_path / "pipe", "is a pipe"), (Path("/dev/null"), "a device")):
        for call in (lambda sink: sink.check_new(), lambda sink: sink.resume(None, tmp_path)):
            with pytest.raises(SinkError, match=f"{path}: .*{why}") as caught:
                call(file_sink(name, path))
            assert caught.value.hint is not None


def test_a_file_where_parts_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")
    for call in (lambda sink: sink.check_new(), lambda sink: sink.resume(None, tmp_path)):
        with pytest.raises(SinkError, match="out: is not a folder, and a stream writes a folder of Parquet files"):
            call(file_sink("parquet", tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "precious"


@every_format
def test_a_file_in_place_of_a_folder_above_is_a_sink_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SinkError, match="out: a part of its path is not a directory"):
        file_sink(name, tmp_path / "file" / "out").resume(None, tmp_path)
