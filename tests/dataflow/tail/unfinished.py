"""Programs that write an output, on every engine, and that fail or are interrupted at a line."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Line(NamedTuple):
    text: str


class Running:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Line) -> Iterator[Line]:
        self.seen += 1
        yield Line(f"{item.text} {self.seen}")


def on_spark(graph: Graph) -> None:
    run_on(Simulated(cores=3), compile(graph), Metrics(), channels=2, stretch=7)


ENGINES: dict[str, Callable[[Graph], Any]] = {
    "sequential": sequential.run,
    "fused": fused.run,
    "spark": on_spark,
}
READERS: dict[str, Any] = {
    "csv": ab.read_csv,
    "jsonl": ab.read_jsonl,
    "parquet": ab.read_parquet,
    "lines": ab.read_lines,
}
LINES = [Line("abcde"[n % 5]) for n in range(100)]
BAD = Line("bad")


def fail(item: Line) -> Line:
    if item.text.startswith("bad"):
        raise ValueError("a bad line")
    return item


def interrupt(item: Line) -> Line:
    if item.text.startswith("bad"):
        signal.raise_signal(signal.SIGINT)
    return item


def program(lines: list[Line], *outs: str, kind: str = "lines", check: Any = fail, ordered: bool = True) -> Graph:
    stream = ab.from_items(Line, lines).process(Running, key="text").map(check)
    return as_program(*[getattr(stream, f"write_{kind}")(out, ordered=ordered) for out in outs]).graph


def rows_of(path: str, kind: str = "lines") -> list[Line]:
    return ab.run(READERS[kind](path, Line).collect("rows"), engine="sequential").items("rows")


def rows_before(bad: int) -> list[Line]:
    """What the program above gives for the first lines."""
    stream = ab.from_items(Line, LINES[:bad]).process(Running, key="text").collect("rows")
    return ab.run(stream, engine="sequential").items("rows")
