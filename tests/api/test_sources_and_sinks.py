"""Every source and every sink as users write them, from one end to the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab


class Reading(NamedTuple):
    sensor: str
    value: float
    tags: list[int] | None


class Flat(NamedTuple):
    sensor: str
    value: float


class Line(NamedTuple):
    text: str


READINGS = [Reading("a", 1.5, [1, 2]), Reading("b, c", -0.0, None), Reading("é", 1e300, [])]
FLAT = [Flat(reading.sensor, reading.value) for reading in READINGS]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_file_is_read_as_it_was_written(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"readings.{format}"
    stream = ab.from_items(Reading, READINGS)
    ab.run(stream.write_jsonl(path) if format == "jsonl" else stream.write_parquet(path))
    read = ab.read_jsonl(path, Reading) if format == "jsonl" else ab.read_parquet(path, Reading)
    assert ab.run(read.collect("out")).items("out") == READINGS


def test_a_csv_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    plain, bare = tmp_path / "plain.csv", tmp_path / "bare.csv"
    stream = ab.from_items(Flat, FLAT)
    ab.run(stream.write_csv(plain), stream.write_csv(bare, header=False, delimiter=";"))
    assert plain.read_text(encoding="utf-8").splitlines()[:3] == ["sensor,value", "a,1.5", '"b, c",-0.0']
    assert bare.read_text(encoding="utf-8").splitlines()[:2] == ["a;1.5", "b, c;-0.0"]
    for read in (ab.read_csv(plain, Flat), ab.read_csv(bare, Flat, header=False, delimiter=";")):
        assert repr(ab.run(read.collect("out")).items("out")) == repr(FLAT)


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    lines = [Line("one"), Line(""), Line(" three ")]
    ab.run(ab.from_items(Line, lines).write_lines(path))
    assert ab.run(ab.read_lines(path, Line).collect("out")).items("out") == lines


def test_a_glob_reads_files_in_order_of_their_names_and_partitions_alternately(tmp_path: Path) -> None:
    for name, sensor in (("2.csv", "b"), ("1.csv", "a"), ("3.txt", "c")):
        (tmp_path / name).write_text(f"sensor,value\n{sensor},1\n{sensor},2\n")
    pattern = tmp_path / "*.csv"
    one_by_one = ab.run(ab.read_csv(pattern, Flat).collect("out")).items("out")
    assert [tuple(r) for r in one_by_one] == [("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", 2.0)]
    in_turn = ab.run(ab.read_csv(pattern, Flat, partition_by="sensor").collect("out")).items("out")
    assert [tuple(r) for r in in_turn] == [("a", 1.0), ("b", 1.0), ("a", 2.0), ("b", 2.0)]


def test_rows_that_cannot_be_read_stop_are_skipped_or_sent_on(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text("sensor,value\na,1\nb,x\nc,3\n")
    with pytest.raises(ab.SourceError, match=r"readings\.csv:3") as caught:
        ab.run(ab.read_csv(path, Flat).collect("out"))
    assert caught.value.result.items("out") == [Flat("a", 1.0)]
    skipping = ab.run(ab.read_csv(path, Flat, on_error="skip").named("rows").collect("out"))
    assert [r.sensor for r in skipping.items("out")] == ["a", "c"]
    assert skipping.metrics["rows"].skipped == 1
    source = ab.read_csv(path, Flat, on_error="dead_letter")
    result = ab.run(source.collect("out"), source.outputs.dead_letter.collect("dead"))
    assert [r.sensor for r in result.items("out")] == ["a", "c"]
    (letter,) = result.items("dead")
    assert (letter.where.endswith("readings.csv:3"), letter.item) == (True, "b,x")


@contextmanager
def server(sends: bytes = b"") -> Iterator[tuple[int, list[bytes]]]:
    """A server for one client: sends some bytes, then takes what the client sends until it hangs up."""
    received: list[bytes] = []
    with socket.create_server(("localhost", 0)) as listening:
        listening.settimeout(30)

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(30)
                connection.sendall(sends)
                connection.shutdown(socket.SHUT_WR)
                while chunk := connection.recv(65536):
                    received.append(chunk)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], received
        thread.join(30)
        assert not thread.is_alive()


def test_a_tcp_source_reads_lines_until_the_server_closes() -> None:
    with server(b'{"sensor":"a","value":1.5}\n{"sensor":"b","value":2}\n') as (port, _):
        out = ab.run(ab.read_tcp(port, Flat).collect("out")).items("out")
    assert out == [Flat("a", 1.5), Flat("b", 2.0)]


def test_a_tcp_sink_sends_every_tuple_as_a_line() -> None:
    with server() as (port, received):
        ab.run(ab.from_items(Flat, FLAT[:2]).write_tcp(port, format="csv"))
    assert b"".join(received) == b'a,1.5\n"b, c",-0.0\n'


def test_beacon_counts() -> None:
    stream = ab.beacon(Flat, lambda n: Flat("tick", n), count=3, rate=1000.0)
    assert [tuple(r) for r in ab.run(stream.collect("out")).items("out")] == [
        ("tick", 0.0),
        ("tick", 1.0),
        ("tick", 2.0),
    ]


def test_generate_is_a_source_of_the_user_s() -> None:
    def read(sensor: str) -> Iterator[Flat]:
        for n in range(2):
            yield Flat(sensor, n)

    stream = ab.generate(Flat, read, partition_by="sensor", partitions=["x", "y"])
    sink = stream.collect("out")
    for _ in range(2):  # anew for every run
        assert [tuple(r) for r in ab.run(sink).items("out")] == [("x", 0.0), ("y", 0.0), ("x", 1.0), ("y", 1.0)]


def test_for_each_is_called_with_every_tuple_in_order() -> None:
    seen: list[Any] = []
    ab.run(ab.from_items(Flat, FLAT).for_each(seen.append))
    assert seen == FLAT


def test_a_sink_without_order_has_the_same_tuples(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    stream = ab.from_items(Flat, FLAT)
    result = ab.run(stream.collect("out", ordered=False), stream.write_csv(path, ordered=False))
    assert sorted(result.items("out")) == sorted(FLAT)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


def test_a_result_has_items_figures_and_the_plan() -> None:
    result = ab.run(ab.from_items(Flat, FLAT).filter(lambda r: r.value > 1).named("large").collect("out"))
    assert len(result.items("out")) == 2
    assert (result.metrics.tuples_in, result.metrics.tuples_out) == (3, 2)
    assert (result.metrics["large"].received, result.metrics["large"].emitted) == (3, 2)
    assert [operator.id for operator in result.plan.graph.operators] == ["from_items", "large", "out"]
    with pytest.raises(ab.UsageError, match="nothing was collected as 'other'"):
        result.items("other")


def test_an_app_builds_a_program_from_its_parameters() -> None:
    @ab.app
    def large(limit: float = 1.0) -> None:
        """Large readings."""
        ab.from_items(Flat, FLAT).filter(lambda r: r.value > limit).collect("large")

    assert [r.sensor for r in ab.run(large).items("large")] == ["a", "é"]
    program = large(limit=2.0)
    assert (program.name, dict(program.parameters)) == ("large", {"limit": 2.0})
    assert [r.sensor for r in ab.run(program).items("large")] == ["é"]


@pytest.mark.parametrize("address", ["ftp://host/out.csv", "s3a://bucket/out/", Path("s3://bucket/out.csv")])
def test_an_address_that_is_none_of_ours_is_refused_where_it_is_given(address: str | Path) -> None:
    for build in (lambda: ab.from_items(Flat, FLAT).write_csv(address), lambda: ab.read_csv(address, Flat)):
        with pytest.raises(ab.BuildError, match=r"no way to read or write|a Path cannot hold an address") as refused:
            build()
        assert refused.value.location is not None
        assert refused.value.hint


@pytest.mark.parametrize("engine", ["sequential", "fused"])
@pytest.mark.parametrize("address", ["s3://bucket/out.csv", "s3://bucket/folder/"])
def test_nothing_is_written_below_a_folder_that_is_called_like_an_address(
    address: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ab.SinkError, match=r"s3://bucket/.*: (no answer|access is denied)"):
        ab.run(ab.from_items(Flat, FLAT).write_csv(address), engine=engine)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_called_like_an_address_is_named_with_a_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ab.run(ab.from_items(Flat, FLAT).write_csv("./s3:/out.csv"))
    assert ab.run(ab.read_csv("./s3:/out.csv", Flat).collect("out")).items("out") == FLAT


def test_what_is_secret_in_an_address_is_in_no_message() -> None:
    address = "s3://key:SECRET@bucket/out.csv?token=SECRET"
    for build in (
        lambda: ab.from_items(Flat, FLAT).write_csv("s3://key:SECRET@bucket/out.csv?token=SECRET"),
        lambda: ab.read_csv("s3://key:SECRET@bucket/out.csv?token=SECRET", Flat),
        lambda: ab.read_csv(Path(address), Flat),
    ):
        with pytest.raises(ab.BuildError, match=r"bucket/out\.csv") as caught:
            build()
        assert "SECRET" not in str(caught.value)
