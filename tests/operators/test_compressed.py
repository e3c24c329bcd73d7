"""Compressed files are read as what is in them, on every engine; one that is cut off gives what is whole."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.dataflow.sources import source_slices
from anabranch.dataflow.sources.reading import compressed_slices, read_slice, slices_of
from tests.codegen.exactness import exact
from tests.dataflow.sources.reading.compare import source
from tests.engines.every_engine import assert_same_everywhere


class Row(NamedTuple):
    n: int
    text: str


class Line(NamedTuple):
    text: str
    number: int


ROWS = [Row(n, f'{n * n % 9973}, "{"é" * (n % 5)}"\nb' if n % 7 == 0 else f"row {n}") for n in range(3_000)]
CSV = b"n,text\n" + b"".join(f'{row.n},"{row.text.replace(chr(34), chr(34) * 2)}"\n'.encode() for row in ROWS)
JSONL = b"".join(b'{"n": %d, "text": "t"}\n' % n for n in range(3_000))


def zstd(data: bytes) -> bytes:
    into = pa.BufferOutputStream()
    with pa.CompressedOutputStream(into, "zstd") as stream:
        stream.write(data)
    return bytes(into.getvalue().to_pybytes())


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_slices, "_BLOCK", 10_000)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(KINDS[path.suffix[1:]](data))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_a_compressed_file_is_what_is_read(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"in.{kind}", CSV)
    collected, _, error = assert_same_everywhere(ab.read_csv(path, Row).collect("out"))
    assert (collected["out"], error) == (exact(ROWS), None)


def test_every_format_of_text_may_be_compressed(tmp_path: Path) -> None:
    rows, _, _ = assert_same_everywhere(ab.read_jsonl(write(tmp_path / "a.gz", JSONL), Row).collect("out"))
    assert rows["out"] == exact([Row(n, "t") for n in range(3_000)])
    path = write(tmp_path / "b.bz2", "one\r\ntwo\n\né".encode())
    found, _, _ = assert_same_everywhere(ab.read_lines(path, Line).collect("out"))
    assert found["out"] == exact([Line("one", 1), Line("two", 2), Line("", 3), Line("é", 4)])


def test_files_follow_one_another_whether_they_are_compressed_or_not(tmp_path: Path) -> None:
    lines = JSONL.splitlines(keepends=True)
    write(tmp_path / "a.gz", b"".join(lines[:100]))
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines[100:200]))
    two = [gzip.compress(b"".join(part)) for part in (lines[200:300], lines[300:])]
    (tmp_path / "c").write_bytes(b"".join(two))  # names do not matter
    rows, _, error = assert_same_everywhere(ab.read_jsonl(tmp_path, Row).collect("out"))
    assert (rows["out"], error) == (exact([Row(n, "t") for n in range(3_000)]), None)


def test_large_files_are_read_by_one_task_in_many_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_slices, "_LARGEST_COMPRESSED", 100)
    path = write(tmp_path / "in.gz", CSV)
    source = ab.read_csv(path, Row).filter(lambda row: row.n % 3 != 0)
    rows, _, error = assert_same_everywhere(source.collect("out"))
    assert (rows["out"], error) == (exact([row for row in ROWS if row.n % 3]), None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keeps", [0.99, 0.6])
def test_a_file_that_is_cut_off_gives_its_whole_rows_and_then_an_error(tmp_path: Path, kind: str, keeps: float) -> None:
    whole = KINDS[kind](CSV)
    path = tmp_path / f"in.{kind}"
    path.write_bytes(whole[: int(len(whole) * keeps)])
    rows, _, error = assert_same_everywhere(ab.read_csv(path, Row).collect("out"))
    said = str(error)
    assert f"{path}: the compressed file is cut off: it ends before what is in it does" in said
    assert "test_compressed.py" in said
    found: Any = rows["out"]
    assert found == exact(ROWS[: len(found[1])])
    assert len(found[1]) > 0 or kind in ("bz2", "zst", "xz")  # these give whole blocks


def test_a_file_that_is_damaged_says_so_behind_what_is_whole(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(CSV, mtime=0))
    for at in range(len(whole) // 2, len(whole) // 2 + 40):
        whole[at] ^= 0xFF
    path = tmp_path / "in.gz"
    path.write_bytes(whole)
    for on_error in ("stop", "skip"):
        _, _, error = assert_same_everywhere(ab.read_csv(path, Row, on_error=on_error).collect("out"))
        assert error is not None


def test_rows_that_cannot_be_read_are_named_by_their_lines(tmp_path: Path) -> None:
    lines = [b"%d,x" % n for n in range(5_000)]
    lines[4_000] = b"many,x"
    path = write(tmp_path / "in.gz", b"n,text\n" + b"\n".join(lines))
    _, _, error = assert_same_everywhere(ab.read_csv(path, Row).collect("out"))
    assert f"{path}:4002" in str(error)


def test_a_row_without_an_end_is_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch.operators.formats import text_lines

    monkeypatch.setattr(text_lines, "LONGEST_ROW", 30_000)
    path = write(tmp_path / "in.gz", b"1,a\n2," + b"x" * 90_000 + b"\n3,c\n")
    source = ab.read_csv(path, Row, header=False, on_error="skip")
    rows, skipped, _ = assert_same_everywhere(source.collect("out"))
    assert (rows["out"], list(skipped.values())) == (exact([Row(1, "a"), Row(3, "c")]), [1])


def test_archives_and_compressed_parquet_files_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"PK\x03\x04...")
    with pytest.raises(ab.SourceError, match=r"is an archive \(zip\)") as caught:
        ab.run(ab.read_csv(tmp_path / "in.csv", Row).collect("out"), engine="sequential")
    assert caught.value.hint == f"unpack it first: unzip {tmp_path}/in.csv"
    path = write(tmp_path / "in.gz", b"PAR1")
    with pytest.raises(ab.SourceError, match="a Parquet file compresses its columns itself") as caught:
        ab.run(ab.read_parquet(path, Row).collect("out"), engine="sequential")
    assert caught.value.hint == f"decompress it first: gunzip -k {path}"


def test_the_commands_work_whatever_the_file_is_called(tmp_path: Path) -> None:
    odd = tmp_path / "a b.parquet"
    odd.write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(ab.SourceError) as caught:
        ab.run(ab.read_parquet(odd, Row).collect("out"), engine="sequential")
    assert caught.value.hint is not None
    subprocess.run(caught.value.hint.removeprefix("decompress it first: "), shell=True, check=True)
    assert (tmp_path / "a b.parquet.plain").read_bytes() == b"PAR1"
    (tmp_path / "a b.csv").write_bytes(b"PK\x03\x04...")
    with pytest.raises(ab.SourceError) as caught:
        ab.run(ab.read_csv(tmp_path / "a b.csv", Row).collect("out"), engine="sequential")
    assert caught.value.hint == f"unpack it first: unzip '{tmp_path}/a b.csv'"


def test_a_compressed_file_that_has_changed_since_it_was_found_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "in.gz", JSONL)
    definition = source("jsonl", Row, path)
    (part,) = slices_of(definition) or ()
    as_found = replace(part, found=part.stop)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ab.SourceError, match=rf"{path}: it has become shorter since it was found"):
        list(read_slice(definition, as_found, chunk_size=100))
    path.write_bytes(JSONL[: part.stop])
    with pytest.raises(ab.SourceError, match=rf"{path}: it was compressed when it was found"):
        list(read_slice(definition, as_found, chunk_size=100))


def test_a_text_that_only_looks_compressed_by_its_name_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "plain.gz").write_text("BZh is a text\n")
    rows, _, _ = assert_same_everywhere(ab.read_lines(tmp_path / "plain.gz", Line).collect("out"))
    assert rows["out"] == exact([Line("BZh is a text", 1)])
