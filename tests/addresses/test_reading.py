"""Files in a bucket are read as files of this machine are, on every engine."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources import source_slices
from tests.addresses.buckets import Bucket
from tests.codegen.exactness import exact
from tests.engines.every_engine import assert_same_everywhere


class Row(NamedTuple):
    n: int
    text: str


class Line(NamedTuple):
    text: str
    number: int


ROWS = [Row(n, f'{n * n % 9973}, "x"\nb' if n % 7 == 0 else f"row {n}") for n in range(300)]


@pytest.fixture
def written(tmp_path: Path, bucket: Bucket) -> Path:
    """A folder of files, and the same files below `in/`."""
    folder = tmp_path / "in"
    rows = ab.from_items(Row, ROWS)
    lines = rows.map(as_text)
    ab.run(
        rows.write_csv(folder / "a.csv"),
        rows.write_jsonl(folder / "a.jsonl"),
        rows.write_parquet(folder / "a.parquet"),
        lines.write_lines(folder / "a.txt"),
        engine="sequential",
    )
    (folder / "b.csv").write_bytes((folder / "a.csv").read_bytes())
    (folder / "c.csv").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    (folder / "b.csv.partial").write_text("no data")
    for file in folder.iterdir():
        bucket.put(f"in/{file.name}", file.read_bytes())
    return folder


class Text(NamedTuple):
    text: str


def as_text(row: Row) -> Text:
    return Text(f"{row.n} lines")


READ: dict[str, Any] = {
    "a.csv": lambda path: ab.read_csv(path, Row),
    "c.csv": lambda path: ab.read_csv(path, Row),
    "*.csv": lambda path: ab.read_csv(path, Row),
    "[ab].?sv": lambda path: ab.read_csv(path, Row),
    "**/a.csv": lambda path: ab.read_csv(path, Row),
    "a.jsonl": lambda path: ab.read_jsonl(path, Row),
    "a.parquet": lambda path: ab.read_parquet(path, Row),
    "a.txt": lambda path: ab.read_lines(path, Line),
}


@pytest.mark.parametrize("name", READ)
def test_files_in_a_bucket_are_read_as_those_of_a_folder(
    name: str, bucket: Bucket, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_slices, "SLICE_SIZE", 1_000)
    expected = ab.run(READ[name](str(written / name)).collect("out"), engine="sequential").items("out")

    found, _, error = assert_same_everywhere(READ[name](bucket.address(f"in/{name}")).collect("out"))

    assert error is None
    assert expected
    assert found["out"] == exact(expected)


def test_a_folder_in_a_bucket_stands_for_the_files_in_it(bucket: Bucket) -> None:
    for name in ("2.csv", "1.csv", "_SUCCESS", "deeper/3.csv"):
        bucket.put(f"in/{name}", f"n,text\n{name[0] if name[0] in '12' else 9},{name}\n".encode())
    for path in ("in", "in/"):
        found = ab.run(ab.read_csv(bucket.address(path), Row).collect("out"), engine="sequential")
        assert [row.text for row in found.items("out")] == ["1.csv", "2.csv"]


def test_partitions_are_drawn_in_turn(bucket: Bucket) -> None:
    for n in (1, 2):
        bucket.put(f"in/{n}.csv", f"n,text\n{n},a\n{n},b\n".encode())
    program = ab.read_csv(bucket.address("in/*.csv"), Row, partition_by="n").collect("out")
    assert_same_everywhere(program)
    found = ab.run(program, engine="fused").items("out")
    assert [tuple(row) for row in found] == [(1, "a"), (2, "a"), (1, "b"), (2, "b")]


def test_a_bad_row_is_named_with_its_address_and_line(bucket: Bucket) -> None:
    address = bucket.put("in.csv", b"n,text\n1,a\nx,b\n")
    with pytest.raises(ab.SourceError, match=rf"{address}:3"):
        ab.run(ab.read_csv(address, Row).collect("out"), engine="fused")


def test_the_server_may_be_said_in_the_address(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put("in/1.csv", b"n,text\n1,a\n")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    address = bucket.address(f"in/?.csv?endpoint_override=127.0.0.1:{bucket.port}&scheme=http")
    assert ab.run(ab.read_csv(address, Row).collect("out"), engine="fused").items("out") == [Row(1, "a")]


def test_a_path_may_be_a_file_address(tmp_path: Path) -> None:
    path = tmp_path / "a b.csv"
    ab.run(ab.from_items(Row, ROWS).write_csv(f"file://{str(path).replace(' ', '%20')}"), engine="sequential")
    assert exact(ab.run(ab.read_csv(path.as_uri(), Row).collect("out"), engine="fused").items("out")) == exact(ROWS)
