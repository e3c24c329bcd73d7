"""Which files a folder or a glob means: hidden names and marks of other programs are no data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anabranch as ab
from anabranch.errors import SourceError
from anabranch.operators.sources.patterns import matching_files, matching_names


class Row(NamedTuple):
    text: str


ROWS = [Row("one"), Row("two")]
READERS: dict[str, Any] = {
    "csv": ab.read_csv,
    "jsonl": ab.read_jsonl,
    "parquet": ab.read_parquet,
    "lines": ab.read_lines,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Spark leaves behind a job."""
    written = tmp_path / "spark"
    written.mkdir()
    for number, row in enumerate(ROWS):
        table = pa.table({"text": [row.text]})
        pq.write_table(table, written / f"part-0000{number}-5f.snappy.parquet")
        (written / f".part-0000{number}-5f.snappy.parquet.crc").write_bytes(b"crc")
    (written / "_SUCCESS").touch()
    (written / "._SUCCESS.crc").write_bytes(b"crc")
    (written / "_temporary").mkdir()
    (written / "_temporary" / "part-0.parquet").write_bytes(b"half")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", ["sequential", "fused"])
@pytest.mark.parametrize("pattern", ["spark", "spark/", "spark/*", "spark/**", "spar?/*.parquet", "**/*.parquet"])
def test_a_folder_that_spark_wrote_is_read(folder: Path, engine: Any, pattern: str) -> None:
    assert ab.run(ab.read_parquet(pattern, Row).collect("out"), engine=engine).items("out") == ROWS


def test_the_same_names_are_found_while_a_folder_grows(folder: Path) -> None:
    assert [os.path.basename(name) for name in matching_names("spark")] == [
        "part-00000-5f.snappy.parquet",
        "part-00001-5f.snappy.parquet",
    ]


def test_who_names_such_a_file_means_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_raw").mkdir()
    for name in ("_raw/a.txt", "_raw/_b.txt", "_raw/.c.txt", "_raw/d.partial"):
        (tmp_path / name).write_text("one\n")
    found = {
        pattern: [path.name for path in matching_files(pattern)]
        for pattern in ("_raw", "_raw/*.txt", "_raw/_b.txt", "_raw/_*", "_raw/.*", "_*/a.txt", "_raw/*.partial")
    }
    assert found == {
        "_raw": ["a.txt"],
        "_raw/*.txt": ["a.txt"],
        "_raw/_b.txt": ["_b.txt"],
        "_raw/_*": ["_b.txt"],
        "_raw/.*": [".c.txt"],
        "_*/a.txt": ["a.txt"],
        "_raw/*.partial": ["d.partial"],
    }


def test_where_all_names_are_passed_over_the_error_says_so(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(SourceError, match="no file matches") as caught:
        matching_files(tmp_path)
    assert caught.value.hint == f"{tmp_path}/_SUCCESS is passed over for its name; to read it, name it in full"


@pytest.mark.parametrize("path", ["a\0b", "\0", "half \ud800 of a character"])
def test_a_path_that_no_file_can_have_is_refused_when_the_program_is_built(path: str) -> None:
    rows = ab.from_items(Row, ROWS)
    for make in (*READERS.values(), *(getattr(rows, f"write_{kind}") for kind in READERS)):
        arguments = (path, Row) if make in READERS.values() else (path,)
        for given in (path, Path(path)):
            with pytest.raises(ab.BuildError, match="cannot be the path of a file"):
                make(given, *arguments[1:])
