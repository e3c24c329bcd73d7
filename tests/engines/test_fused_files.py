"""Files that the fused engine writes from native code, a chunk at a time, are the oracle's, and so are the errors."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.engines import fused, sequential
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from anabranch.operators.formats import file_format, text_writer
from anabranch.run import as_program


class Reading(NamedTuple):
    sensor: int
    value: float
    label: str


class Line(NamedTuple):
    text: str
    number: int


class Text(NamedTuple):
    text: str


READINGS = [
    Reading(n, value, label)
    for n, (value, label) in enumerate(
        [(0.1, "plain"), (1e16, 'say "hi"'), (-0.0, "a,b"), (12345678901.5, "é\n"), (1e-05, ""), (7.0, "\ufeff")] * 50
    )
]
NUMBERED = [Line("two\nlines" if n == 77 else f"line {n}", n) for n in range(100)]


def outcome(run: Any, graph: Graph, **options: Any) -> tuple[str | None, Any]:
    """The error, and the figures of the sink: operators before it may be ahead by a chunk when it fails."""
    error: RunError | None = None
    try:
        result = run(graph, **options)
    except RunError as stopped:
        error, result = stopped, stopped.result
    return error and str(error), (astuple(result.metrics.operators[graph.sinks[0].id]), result.metrics.tuples_out)


def assert_same(graph: Graph, file: Path, read: Any) -> None:
    expected = outcome(sequential.run, graph), read()
    for size in (7, 1000):
        file.unlink()
        assert (outcome(fused.run, graph, form="native", chunk_size=size), read()) == expected


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_a_file_from_native_code_is_the_oracles(name: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    kept = ab.from_items(Reading, READINGS).filter(lambda reading: reading.sensor % 3 != 1)
    graph = as_program(getattr(kept, f"write_{name}")(file)).graph
    if name == "parquet":
        assert_same(graph, file, lambda: repr(list(file_format(name).read(file, graph.sinks[0].inputs[0].schema))))
    else:
        assert_same(graph, file, file.read_bytes)


def test_a_row_that_cannot_be_written_stops_native_code_where_it_stops_the_oracle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_writer, "_ENCODED_ROWS", 3)  # so that some of the chunk is written before it is met
    file = tmp_path / "out"
    texts = (
        ab.from_items(Line, NUMBERED).filter(lambda line: line.number != 5).map(lambda line: Text(line.text), out=Text)
    )
    graph = as_program(texts.write_lines(file)).graph
    kept = tmp_path / "out.partial"
    assert_same(graph, kept, kept.read_bytes)
    assert kept.read_text().splitlines() == [line.text for line in NUMBERED[:77] if line.number != 5]
