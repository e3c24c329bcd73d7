"""Outputs in a bucket appear whole when a run has succeeded, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.operators.formats import remote_files, uploaded_file
from anabranch.operators.formats.replacing import INCOMPLETE
from tests.addresses.buckets import Bucket, run_simulated


class Row(NamedTuple):
    n: int
    text: str


class Line(NamedTuple):
    text: str


ROWS = [Row(n, f"row {n}") for n in range(500)]


def rows() -> Any:
    return ab.from_items(Row, ROWS)


def as_line(row: Row) -> Line:
    return Line(row.text)


def fails(row: Row) -> Row:
    if row.n == 400:
        raise ValueError("no")
    return row


WRITE: dict[str, Any] = {
    "csv": lambda path: rows().write_csv(path),
    "jsonl": lambda path: rows().write_jsonl(path),
    "parquet": lambda path: rows().write_parquet(path),
    "txt": lambda path: rows().map(as_line).write_lines(path),
}


@pytest.mark.parametrize("engine", ["sequential", "fused", "in channels"])
@pytest.mark.parametrize("kind", WRITE)
def test_an_object_is_the_file_that_would_be_written(kind: str, engine: str, bucket: Bucket, tmp_path: Path) -> None:
    bucket.put(f"out/rows.{kind}", b"of an earlier run")
    run(WRITE[kind](tmp_path / f"rows.{kind}"), engine)
    run(WRITE[kind](bucket.address(f"out/rows.{kind}")), engine)
    assert bucket.get(f"out/rows.{kind}") == (tmp_path / f"rows.{kind}").read_bytes()
    assert bucket.keys == [f"out/rows.{kind}"]


@pytest.mark.parametrize("engine", ["sequential", "fused", "in channels"])
@pytest.mark.parametrize("kind", WRITE)
def test_a_folder_in_a_bucket_has_the_parts_that_would_be_written(
    kind: str, engine: str, bucket: Bucket, tmp_path: Path
) -> None:
    for number in range(40):
        bucket.put(f"out/part-{number:08d}.{kind}", b"of an earlier run")
    run(WRITE[kind](f"{tmp_path / 'out'}/"), engine)
    run(WRITE[kind](bucket.address("out/")), engine)
    written = {f"out/{file.name}": file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert engine != "in channels" or len(written) > 1
    assert {key: bucket.get(key) for key in bucket.keys} == written


def run(sink: Any, engine: str) -> None:
    if engine == "in channels":
        run_simulated(sink, channels=3, stretch=50)
    else:
        ab.run(sink, engine=engine)


@pytest.mark.parametrize("engine", ["sequential", "fused"])
def test_what_was_written_before_an_error_is_kept_beside_the_address(engine: str, bucket: Bucket) -> None:
    bucket.put("out.csv", b"of an earlier run")
    with pytest.raises(ab.OperatorError) as stopped:
        ab.run(rows().map(fails).write_csv(bucket.address("out.csv")), engine=engine)
    assert bucket.keys == ["out.csv", "out.csv.partial"]
    assert bucket.get("out.csv") == b"of an earlier run"
    assert len(bucket.get("out.csv.partial").splitlines()) == 401
    assert bucket.address("out.csv.partial") in str(stopped.value)

    ab.run(rows().write_csv(bucket.address("out.csv")), engine=engine)
    assert bucket.keys == ["out.csv"]


def test_parts_before_an_error_are_kept_in_a_folder_beside_it(bucket: Bucket) -> None:
    with pytest.raises(ab.OperatorError):
        run_simulated(rows().map(fails).write_csv(bucket.address("out/")), channels=3, stretch=50)
    kept = [key for key in bucket.keys if ".partial/part-" in key]
    assert kept
    assert kept == bucket.keys
    assert b"".join(bucket.get(key).partition(b"\n")[2] for key in kept).count(b"\n") == 400


def test_of_several_outputs_none_appears_where_one_cannot_be_put(bucket: Bucket, tmp_path: Path) -> None:
    refused = uploaded_file.remote_files.upload

    def upload(place: Path, address: Any) -> None:
        if place.stat().st_size and "second" in address.name and not address.name.endswith("second.csv.partial"):
            raise remote_files.RemoteProblem("no answer", "check the network")
        refused(place, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_files, "upload", upload)
        with pytest.raises(ab.SinkError, match=r"second\.csv: no answer") as stopped:
            ab.run(
                rows().write_csv(bucket.address("first.csv")), rows().write_csv(bucket.address("second.csv")),
                engine="sequential",
            )  # fmt: skip
    assert bucket.keys == ["first.csv.partial", "second.csv.partial"]
    assert "check the network" in str(stopped.value)


def test_where_nothing_can_be_put_any_more_the_file_stays_on_this_machine(bucket: Bucket) -> None:
    def upload(place: Path, address: Any) -> None:
        if place.stat().st_size:
            raise remote_files.RemoteProblem("the credentials have expired", "get new ones")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_files, "upload", upload)
        with pytest.raises(ab.SinkError, match=r"out\.csv: the credentials have expired") as stopped:
            ab.run(rows().write_csv(bucket.address("out.csv")), engine="sequential")
    assert bucket.keys == []
    [kept] = stopped.value.kept.values()
    assert str(kept) in str(stopped.value)
    assert len(Path(kept).read_text().splitlines()) == 501
    Path(kept).unlink()


def test_a_folder_whose_files_are_being_replaced_is_not_read(bucket: Bucket) -> None:
    run_simulated(rows().write_csv(bucket.address("out/")), channels=3, stretch=50)
    bucket.put(f"out/{INCOMPLETE}", b"")
    for path in ("out/", "out/*.csv", "*/*.csv"):
        with pytest.raises(ab.SourceError, match="a run is putting its files there"):
            ab.run(ab.read_csv(bucket.address(path), Row).collect("out"), engine="sequential")
    run_simulated(rows().write_csv(bucket.address("out/")), channels=3, stretch=50)
    assert INCOMPLETE not in "".join(bucket.keys)
    assert ab.run(ab.read_csv(bucket.address("out/"), Row).collect("out"), engine="sequential").items("out") == ROWS


def test_a_folder_with_other_files_is_not_replaced(bucket: Bucket) -> None:
    bucket.put("out/mine.txt", b"mine")
    for write in (rows().write_csv, rows().write_jsonl):
        with pytest.raises(ab.SinkError, match=r"holds 'mine\.txt'"):
            ab.run(write(bucket.address("out/")), engine="sequential")
    assert bucket.keys == ["out/mine.txt"]


def test_a_program_does_not_write_over_what_it_reads(bucket: Bucket) -> None:
    address = bucket.put("in/1.csv", b"n,text\n1,a\n")
    for path in (address, bucket.address("in/2.csv"), bucket.address("in/")):
        with pytest.raises(ab.SinkError, match=r"write to|would read"):
            ab.run(ab.read_csv(bucket.address("in/*.csv"), Row).write_csv(path), engine="sequential")
    assert bucket.keys == ["in/1.csv"]
