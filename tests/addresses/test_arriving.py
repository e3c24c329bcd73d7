"""Objects that appear in a bucket arrive in a stream once, in order, also over a restart; and are read as they were."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import Slice, read_slice
from anabranch.dataflow.streams.checkpoint import CheckpointError, folder_of
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.addresses.buckets import Bucket
from tests.dataflow.streams.test_arrivals import Log, graph_of, looked


class Row(NamedTuple):
    n: int


def rows_of(graph: Graph, log: Log) -> list[int]:
    definition = graph.sources[0].definition
    return [
        row.n
        for entry in log.all
        if isinstance(entry.piece, Slice)
        for chunk in read_slice(definition, entry.piece, chunk_size=10)  # type: ignore[arg-type]
        for row in chunk.rows  # type: ignore[union-attr]
    ]


def test_new_objects_arrive_once_and_by_name(bucket: Bucket, tmp_path: Path) -> None:
    graph = graph_of(ab.read_csv(bucket.address("in/*.csv"), Row))
    assert looked(graph, tmp_path).all == []
    bucket.put("in/2.csv", b"n\n2\n3\n")
    bucket.put("in/1.csv", gzip.compress(b"n\n1\n"))
    bucket.put("in/0.csv.partial", b"n\n0\n")
    assert rows_of(graph, looked(graph, tmp_path)) == [1, 2, 3]
    bucket.put("in/0.csv", b"n\n4\n")
    assert rows_of(graph, looked(graph, tmp_path)) == [1, 2, 3, 4]
    log = looked(graph, tmp_path, is_ending=True)
    assert rows_of(graph, log) == [1, 2, 3, 4]
    assert log.all[-1].piece is None


def test_an_object_without_rows_arrives_when_it_has_some(bucket: Bucket, tmp_path: Path) -> None:
    graph = graph_of(ab.read_csv(bucket.address("in/"), Row))
    for content in (b"", b"n\n", b"n\n\n\n"):
        bucket.put("in/1.csv", content)
        assert looked(graph, tmp_path).all == []
    bucket.put("in/1.csv", b"n\n1\n")
    assert rows_of(graph, looked(graph, tmp_path)) == [1]


def test_an_object_that_is_replaced_after_it_arrived_is_not_read(bucket: Bucket, tmp_path: Path) -> None:
    graph = graph_of(ab.read_csv(bucket.address("in/"), Row))
    bucket.put("in/1.csv", b"n\n1\n")
    log = looked(graph, tmp_path)
    bucket.put("in/1.csv", b"n\n2\n")
    with pytest.raises(ab.SourceError, match="it has changed since it was found"):
        rows_of(graph, log)
    bucket.put("in/1.csv", b"n\n1\n")
    assert rows_of(graph, log) == [1]


def test_the_rest_of_an_object_is_read_after_a_kill(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.dataflow.streams.arrivals._SLICE", 40)
    graph = graph_of(ab.read_csv(bucket.address("in/"), Row))
    bucket.put("in/1.csv", b"n\n" + b"".join(b"%d\n" % n for n in range(100)))
    log = looked(graph, tmp_path)
    whole = len(log)
    assert whole > 3
    log.cut(2)
    log = looked(graph, tmp_path)
    assert len(log) == whole
    assert rows_of(graph, log) == list(range(100))
    log.cut(2)
    bucket.put("in/1.csv", b"n\n1\n")
    with pytest.raises(ab.SourceError, match="a part of it was processed, and it has changed since or is gone"):
        looked(graph, tmp_path)


def test_a_checkpoint_and_the_output_of_a_stream_are_in_a_file_system(bucket: Bucket) -> None:
    with pytest.raises(CheckpointError, match="not an address"):
        folder_of(bucket.address("checkpoint"))
    for write in (ab.from_items(Row, [Row(1)]).write_csv, ab.from_items(Row, [Row(1)]).write_parquet):
        for path in ("out", "out/"):
            graph = graph_of_sink(write(bucket.address(path)))
            with pytest.raises(ab.SinkError, match="a stream writes"):
                graph.sinks[0].definition.meaning(graph.sinks[0]).check_new()  # type: ignore[attr-defined]
    assert bucket.keys == []


def graph_of_sink(sink: ab.Sink) -> Graph:

    return as_program(sink).graph
