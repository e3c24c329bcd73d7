"""Which sources are sliced, and how: cheaply, in order, and read by columns where the file is an ordinary one."""

from __future__ import annotations

import errno
import os
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.sources.reading import (
    Slice,
    chunks_of,
    cuts,
    read_slice,
    slices_of,
    slices_of_file,
    text_slices,
)
from anabranch.dataflow.sources.source_count import Failed
from anabranch.errors import SourceError
from anabranch.graph.schema import schema_of
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.run import as_program
from tests.dataflow.sources.reading.compare import assert_same, small_limits, source


class Call(NamedTuple):
    phone: int
    area: str
    x: float


class Line(NamedTuple):
    text: str


ROWS = [(number, ["New York", "425", "", "é"][number % 4], number / 8) for number in range(20_000)]
CSV = "phone,area,x\n" + "".join(f"{phone},{area},{x}\n" for phone, area, x in ROWS)
QUOTED = "phone,area,x\r\n" + "".join(f'{phone},"{area}, ""USA""\n",{x}\r\n' for phone, area, x in ROWS)
JSONL = "".join(f'{{"phone": {phone}, "area": "{area}", "x": {x}}}\n' for phone, area, x in ROWS)


@pytest.mark.parametrize(("format_name", "row_type", "content"), [
    ("csv", Call, CSV), ("csv", Call, QUOTED), ("jsonl", Call, JSONL), ("lines", Line, CSV),
])  # fmt: skip
def test_an_ordinary_file_is_never_read_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_name: str, row_type: type, content: str
) -> None:
    path = tmp_path / "file"
    path.write_text(content, newline="")
    definition = source(format_name, row_type, path)
    assert_same(definition, size=100_000, chunk_size=5000)
    monkeypatch.setattr(text_slices.TextSlice, "_rows", _never)
    monkeypatch.setattr(cuts, "_row_end_by_rows", _never)
    slices = slices_of(definition, size=100_000)
    assert slices is not None
    assert len(slices) > 3
    chunks = [chunk for each in slices for chunk in read_slice(definition, each, chunk_size=5000)]
    assert all(isinstance(chunk, Chunk) and chunk.has_batch for chunk in chunks)


def test_a_bad_row_makes_only_its_neighbourhood_be_read_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV + "x,y,z\n" + CSV.partition("\n")[2])
    definition = source("csv", Call, path)
    read: list[int] = []
    by_rows = text_slices.TextSlice._rows
    monkeypatch.setattr(
        text_slices.TextSlice,
        "_rows",
        lambda self, block: read.append(block.stop - block.start) or by_rows(self, block),
    )
    (whole,) = slices_of(definition, size=10**9) or ()
    found = list(read_slice(definition, whole, chunk_size=1000))
    assert sum(len(each) for each in found if isinstance(each, Chunk) and each.has_batch) == 40_000
    assert 0 < sum(read) < 2**17


def _never(*_: Any) -> Any:
    raise AssertionError("read by rows")


def test_cutting_a_file_without_quotes_looks_only_for_the_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV)
    slices = slices_of(source("csv", Call, path), size=50_000)
    assert slices is not None
    content = path.read_bytes()
    assert [slices[0].start, slices[-1].stop] == [len("phone,area,x\n"), len(content)]
    for one, other in pairwise(slices):
        assert one.stop == other.start
        assert content[one.stop - 1 : one.stop] == b"\n"
        assert 50_000 <= one.stop - one.start < 50_100


def test_a_slice_travels_between_processes_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "calls.csv").write_text("phone,area,x\n1,a,2.5\nbad\n")
    monkeypatch.chdir(tmp_path)
    definition = source("csv", Call, "calls.csv")
    (part,) = slices_of(definition) or ()
    monkeypatch.chdir("/")
    chunk, unreadable = read_slice(definition, pickle.loads(pickle.dumps(part)), chunk_size=10)
    assert chunk.batch.to_pylist() == [{"phone": 1, "area": "a", "x": 2.5}]
    assert unreadable.where == "calls.csv:3"


def test_what_cannot_be_sliced_is_left_to_the_row_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert slices_of(source("lines", Line, pipe)) is None
    (tmp_path / "1.csv").write_text("phoneéareaéx\n1éaé2\n")
    assert slices_of(source("csv", Call, tmp_path / "1.csv", delimiter="é")) is None
    assert slices_of(source("lines", Line, "/proc/self/status")) is None  # its size is said to be 0


def test_partitions_drawn_in_turn_are_sliced_one_by_one(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text(CSV)
    definition = ReadFiles("csv", schema_of(Call), f"{tmp_path}/*.csv", partition_by=("area",))
    assert slices_of(definition) is None
    slices = slices_of_file(definition, tmp_path / "2.csv", size=100_000)
    assert slices is not None
    assert {each.name for each in slices} == {str(tmp_path / "2.csv")}


def test_a_source_without_rows_has_no_slices(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text("phone,area,x")
    (tmp_path / "empty").write_text("")
    assert slices_of(source("csv", Call, tmp_path / "calls.csv")) == []
    assert slices_of(source("lines", Line, tmp_path / "empty")) == []


def test_the_files_of_a_folder_are_read_one_after_the_other(tmp_path: Path) -> None:
    for name in ("b", "a", ".c"):
        (tmp_path / name).write_text("".join(f"{name} {number}\n" for number in range(50)))
    assert_same(source("lines", Line, tmp_path), size=100, chunk_size=10)


def test_a_file_that_has_gone_is_an_error_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\n")
    definition = source("lines", Line, path)
    (part,) = slices_of(definition) or ()
    path.unlink()
    with pytest.raises(SourceError, match="no such file"):
        next(read_slice(definition, part, chunk_size=10))


def test_what_the_disk_refuses_to_give_is_an_error_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines"
    path.write_text("a\n")
    definition = source("lines", Line, path)
    (part,) = slices_of(definition) or ()

    def refuse(*_: Any) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(text_slices.TextSlice, "_read", refuse)
    with pytest.raises(SourceError, match=f"{path}: input/output error"):
        next(read_slice(definition, part, chunk_size=10))


def test_what_is_added_to_a_file_later_is_in_no_slice(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb")
    definition = source("lines", Line, path)
    (part,) = slices_of(definition) or ()
    path.write_text("a\nbcd\ne\n")
    (chunk,) = read_slice(definition, part, chunk_size=10)
    assert chunk.batch.to_pylist() == [{"text": "a"}, {"text": "b"}]


def test_an_error_of_a_file_is_raised_anew_by_everyone_who_reads_it(tmp_path: Path) -> None:
    part = Slice(str(tmp_path), str(tmp_path), problem=SourceError("gone", where="x:1"))
    definition = source("lines", Line, tmp_path)
    errors = []
    for _ in range(2):
        with pytest.raises(SourceError, match="gone") as caught:
            next(read_slice(definition, part, chunk_size=1))
        errors.append(caught.value)
    assert errors[0] is not errors[1]
    assert [each.where for each in errors] == ["x:1", "x:1"]


class Nested(NamedTuple):
    phone: int
    more: Line


NESTED = "".join(f'{{"phone": {number}, "more": {{"text": "{number}"}}}}\n' for number in range(20_000))


@pytest.mark.parametrize(("format_name", "row_type", "content"), [
    ("csv", Call, CSV), ("csv", Call, QUOTED), ("jsonl", Call, JSONL), ("jsonl", Nested, NESTED), ("lines", Line, CSV),
])  # fmt: skip
@pytest.mark.parametrize("block", [64, 2**20])
def test_a_file_that_has_become_shorter_is_an_error(
    tmp_path: Path, format_name: str, row_type: type, content: str, block: int
) -> None:
    """Also where it ends in the middle of a row that can be read, or where a row ends."""
    path = tmp_path / "file"
    path.write_text(content[:20_000], newline="")
    definition = source(format_name, row_type, path)
    with small_limits(block):
        slices = slices_of(definition, size=5_000) or []
        sizes = [slices[1].stop, slices[1].stop - 1, slices[1].stop + 9, slices[1].start, slices[0].start + 1, 0]
        for size in sizes:
            os.truncate(path, size)
            for part in slices:
                if part.stop > size:
                    with pytest.raises(SourceError, match=rf"{path}: it has become shorter since it was found"):
                        list(read_slice(definition, part, chunk_size=100))
                else:
                    list(read_slice(definition, part, chunk_size=100))


def test_a_file_that_has_become_shorter_is_an_error_at_the_line_of_its_source(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb\n")
    graph = as_program(ab.read_lines(path, Line).collect("out")).graph
    (part,) = slices_of(source("lines", Line, path)) or ()
    os.truncate(path, 2)
    (failed,) = chunks_of(graph.sources[0], part, chunk_size=10)
    assert isinstance(failed, Failed)
    assert isinstance(failed.cause, SourceError)
    assert failed.cause.location == graph.sources[0].location
