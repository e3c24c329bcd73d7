"""An output whose name says that it is compressed is, on every engine, and is read again as what was written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.operators.formats import compressing, text_writer
from anabranch.operators.formats.growing_text import GrowingTextWriter
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Row(NamedTuple):
    n: int
    text: str


class Line(NamedTuple):
    text: str


def unzstd(data: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
    "xz": lzma.decompress,
    "zst": unzstd,
}
ROWS = [Row(n, "é" * (n % 5)) for n in range(2_000)]
FORMATS: dict[str, Any] = {
    "csv": lambda rows, path: rows.write_csv(path),
    "jsonl": lambda rows, path: rows.write_jsonl(path),
    "txt": lambda rows, path: rows.map(as_line).write_lines(path),
}
ENGINES = pytest.mark.parametrize("engine", ["sequential", "fused", "in channels"])


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_writer, "PART", 1_000)
    monkeypatch.setattr(text_writer, "_BUFFER", 1_000)


def same(row: Row) -> Row:
    return row


def as_line(row: Row) -> Line:
    return Line(row.text)


def fails(row: Row) -> Row:
    if row.n == 1_500:
        raise ValueError("no")
    return row


def run(sink: Any, engine: str) -> None:
    if engine == "in channels":
        run_on(Simulated(), compile(as_program(sink).graph), Metrics(), "python", channels=3, stretch=100)
    else:
        ab.run(sink, engine=engine)


@ENGINES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_file_holds_what_it_would_without_the_ending(format: str, kind: str, engine: str, tmp_path: Path) -> None:
    rows = ab.from_items(Row, ROWS).map(same)
    plain, path = tmp_path / f"out.{format}", tmp_path / f"out.{format}.{kind}"
    run(FORMATS[format](rows, plain), engine)
    run(FORMATS[format](rows, path), engine)
    assert KINDS[kind](path.read_bytes()) == plain.read_bytes()
    assert path.stat().st_size < plain.stat().st_size
    if format == "csv":
        assert ab.run(ab.read_csv(path, Row).collect("out"), engine="fused").items("out") == ROWS


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_the_same_on_every_engine(kind: str, tmp_path: Path) -> None:
    found = set()
    for engine in ("sequential", "fused", "in channels"):
        run(ab.from_items(Row, ROWS).map(same).write_csv(tmp_path / f"out.csv.{kind}"), engine)
        found.add((tmp_path / f"out.csv.{kind}").read_bytes())
    assert len(found) == 1


@ENGINES
@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_a_folder_are_compressed(kind: str, engine: str, tmp_path: Path) -> None:
    folder = tmp_path / f"out.csv.{kind}"
    for _ in range(2):  # the second replaces the first
        run(ab.from_items(Row, ROWS).map(same).write_csv(f"{folder}/"), engine)
        parts = sorted(folder.iterdir())
        assert engine != "in channels" or len(parts) > 1
        assert [part.name for part in parts[:1]] == [f"part-00000000.csv.{kind}"]
        assert ab.run(ab.read_csv(f"{folder}/", Row).collect("out"), engine="fused").items("out") == ROWS


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_rows_is_a_compressed_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.jsonl.{kind}"
    ab.run(ab.from_items(Row, []).write_jsonl(path), engine="sequential")
    assert KINDS[kind](path.read_bytes()) == b""
    assert path.stat().st_size > 0


@pytest.mark.parametrize("engine", ["sequential", "fused"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_of_an_output_is_whole(kind: str, engine: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.csv.{kind}"
    with pytest.raises(ab.OperatorError):
        ab.run(ab.from_items(Row, ROWS).map(fails).write_csv(path), engine=engine)
    assert not path.exists()
    kept = KINDS[kind](path.with_name(f"{path.name}.partial").read_bytes())
    assert len(kept.splitlines()) == 1_501


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_goes_on_behind_what_it_has_synced(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.txt.{kind}"
    writer = GrowingTextWriter(lambda item: f"{item}\n", "head\n")
    writer.resume(path, None)
    writer.write("one")
    position = writer.sync()
    writer.write("lost" * 1_000)
    writer.close()
    writer = GrowingTextWriter(lambda item: f"{item}\n", "head\n")
    writer.check_written(path, position)
    writer.resume(path, position)
    writer.write("two")
    writer.sync()
    writer.close()
    assert KINDS[kind](path.read_bytes()) == b"head\none\ntwo\n"


def test_names_of_other_ways_to_compress_are_refused(tmp_path: Path) -> None:
    rows = ab.from_items(Row, ROWS)
    for name in ("out.zip", "out.csv.lz4", "out.csv.Z"):
        with pytest.raises(ab.BuildError, match="in a way that is not written"):
            rows.write_csv(tmp_path / name)
    for name in ("out.parquet.gz", "out.zst/"):
        with pytest.raises(ab.BuildError, match="compresses its columns itself"):
            rows.write_parquet(f"{tmp_path}/{name}")


def test_a_pipe_is_not_written_compressed(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.gz"
    os.mkfifo(path)
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as reader:
        with pytest.raises(ab.SinkError, match="what is compressed is written to files only"):
            ab.run(ab.from_items(Row, ROWS).write_csv(path), engine="sequential")
        path.open("wb").close()
        assert reader.stdout is not None
        assert reader.stdout.read() == b""


@pytest.mark.parametrize(("kind", "command"), [("gz", "gunzip"), ("bz2", "bunzip2"), ("xz", "unxz"), ("zst", "unzstd")])
def test_the_usual_commands_read_what_is_written(kind: str, command: str, tmp_path: Path) -> None:
    if shutil.which(command) is None:
        pytest.skip(f"there is no {command}")
    path = tmp_path / f"out.jsonl.{kind}"
    ab.run(ab.from_items(Row, ROWS).write_jsonl(path), engine="sequential")
    with path.open("rb") as file:
        found = subprocess.run([command, "-c"], stdin=file, capture_output=True, check=True).stdout
    assert found == KINDS[kind](path.read_bytes())
    assert compressing.suffix_of(path.name) == f".{kind}"
