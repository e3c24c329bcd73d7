"""What a person sees while a program runs, and when it has ended."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from anabranch.dataflow.result import Flow, Metrics, Result
from anabranch.errors import path_from_here
from anabranch.graph.model import Graph
from anabranch.operators.formats import file_format
from anabranch.operators.formats.addresses import Address
from anabranch.operators.sinks import WriteFile, WriteTcp

if TYPE_CHECKING:
    from anabranch.engines.spark.streams.query import Progress, Query

_NARROWEST = 6  # columns a table leaves to what it shortens
_ROWS_SHOWN = 20
_FILE_ROWS_SHOWN = 10
_CELL_COLUMNS = 40
_FLOAT_COLUMNS = 12
_SHORTEST_START = 0.5  # seconds: a session that is there already is found in less
_SOURCES = "sources"  # the place where they are read on Spark; the name is not imported, since Spark would be too


@contextmanager
def shown(console: Console, name: str, metrics: Metrics, *, is_on_spark: bool = False) -> Iterator[None]:
    """A line that is kept up to date while the block runs."""
    view = _Line(name, metrics, is_on_spark=is_on_spark)
    with Live(console=console, refresh_per_second=8, transient=True, get_renderable=view):
        yield


class StreamLine:
    """How far a stream is; it has a query once Spark has started."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.query: Query | None = None
        self._began = time.monotonic()
        self._first: int | None = None  # the batch that it goes on behind

    def __str__(self) -> str:
        if self.query is None:
            return f"starting Spark · {_duration(time.monotonic() - self._began)}"
        progress = self.query.progress
        if not self._is_before_the_first(progress):
            return stream_figures(progress)
        return f"first batch · {_duration(time.monotonic() - self._began)} · {_bytes(progress.backlog)} waiting"

    def _is_before_the_first(self, progress: Progress) -> bool:
        """Of this run: it takes longest, and there is something to wait for."""
        if self._first is None:
            self._first = progress.batch
        return progress.batch == self._first and progress.backlog > 0

    @property
    def is_starting(self) -> bool:
        return self.query is None or self._is_before_the_first(self.query.progress)


@contextmanager
def stream_shown(console: Console, line: StreamLine) -> Iterator[None]:
    """The same for a stream."""
    spinner = Spinner("dots")

    def view() -> RenderableType:
        spinner.update(text=Text(f"{line.name}   {line}"))
        return spinner

    with Live(console=console, refresh_per_second=4, transient=True, get_renderable=view):
        yield


@contextmanager
def stream_told(console: Console, line: StreamLine, every: float = 10.0) -> Iterator[None]:
    """Where there is no terminal: now and then a line while it starts, which takes up to a minute."""
    is_over = threading.Event()

    def tell() -> None:
        while not is_over.wait(every) and line.is_starting:
            console.print(f"{line.name}: {line}")

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def stream_figures(progress: Progress) -> str:
    """How far a stream is, on one line."""
    if progress.batch < 0:
        return f"no batch yet · {_bytes(progress.backlog)} waiting"
    parts = [
        f"batch {progress.batch:,}",
        f"{progress.tuples_in:,} in",
        f"{progress.tuples_out:,} out",
        f"{progress.input_rate:,.0f} tuples/s come",
        f"{progress.processing_rate:,.0f} tuples/s processed",
        f"{_bytes(progress.backlog)} waiting",
        f"{progress.latency:.1f} s behind",
    ]
    return " · ".join(parts)


def _bytes(count: float) -> str:
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while count >= 1_000 and len(units) > 1:
        count /= 1_000
        units.pop(0)
    return f"{count:,.0f} bytes" if units[0] == "bytes" else f"{count:,.1f} {units[0]}"


class _Line:
    """The figures of a run, and under them those of the regions that other processes run."""

    def __init__(self, name: str, metrics: Metrics, *, is_on_spark: bool = False) -> None:
        self._name = name
        self._metrics = metrics
        self._is_on_spark = is_on_spark
        self._spinner = Spinner("dots")

    def __call__(self) -> RenderableType:
        self._spinner.update(text=Text(f"{self._name}   {self._how_far()}"))
        flows = dict(self._metrics.flows)
        if not flows:
            return self._spinner
        width = max(map(len, flows))
        lines = [Text(f"    {name.ljust(width)}   {_flow(flow)}") for name, flow in flows.items()]
        return Group(self._spinner, *lines)

    def _how_far(self) -> str:
        """Spark takes a while to start, and figures that stay at 0 would look as if nothing moved."""
        metrics = self._metrics
        # A run in the driver has noted why it is there before it waits for its first tuple.
        if self._is_on_spark and not (metrics.tuples_in or metrics.flows or metrics.notes):
            what = "starting Spark" if not metrics.spark_start else "Spark starts its first tasks"
            return f"{what} · {_duration(metrics.elapsed)}"
        return figures(metrics)


def _flow(flow: Flow) -> str:
    rate = flow.received / flow.seconds if flow.seconds > 0 else 0.0
    return f"{flow.received:,} in · {flow.emitted:,} out · {rate:,.0f} tuples/s"


def figures(metrics: Metrics) -> str:
    """Tuples in and out, the rate, and the time a run has taken, on one line; without that of Spark's start."""
    is_going_on = metrics.stopped is None
    return " · ".join(_parts(metrics, _read_so_far(metrics) if is_going_on else metrics.tuples_in))


def figures_so_far(metrics: Metrics, *, is_on_spark: bool = False) -> str:
    """The same of a run that was interrupted. A 0 is none where workers have not told yet of what they did."""
    parts = _parts(metrics, _read_so_far(metrics))
    return " · ".join(part for part in parts if not (is_on_spark and part.startswith("0 ")))


def _parts(metrics: Metrics, tuples_in: int) -> list[str]:
    seconds = metrics.elapsed - metrics.spark_start
    rate = tuples_in / seconds if seconds > 0 else 0.0
    parts = [
        f"{tuples_in:,} in",
        f"{metrics.tuples_out:,} out",
        f"{rate:,.0f} tuples/s",
        _duration(seconds),
    ]
    for count, what in (
        (metrics.skipped, "skipped"),
        (metrics.dead_letters, "dead letters"),
        (metrics.late, "late"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    return parts


def spark_start(metrics: Metrics) -> str | None:
    """How long Spark took to start, which is not in the figures; None where it was there."""
    if metrics.spark_start < _SHORTEST_START:
        return None
    return f"Spark started in {_duration(metrics.spark_start)}, not counted above"


def _read_so_far(metrics: Metrics) -> int:
    """Also what other processes have read that has not come to this one."""
    return max(metrics.tuples_in, metrics.flows.get(_SOURCES, Flow()).received)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def print_notes(console: Console, name: str, metrics: Metrics) -> None:
    """How it ran: under the figures on a terminal; elsewhere there are none, and the name says who speaks."""
    before = "  " if console.is_terminal else f"{name}: "
    for note in metrics.notes:
        console.print(f"{before}{note}")


def written(graph: Graph, metrics: Metrics) -> list[str]:
    """A line for every sink that left something outside the program."""
    lines = []
    for operator in graph.sinks:
        target = getattr(operator.definition, "path", None) or getattr(operator.definition, "address", None)
        if target is not None:
            lines.append(f"{target}: {_tuples(metrics[operator.id].received)}")
    return lines


def written_so_far(graph: Graph, metrics: Metrics, kept: Mapping[str, Path]) -> list[str]:
    """The same of a run that was interrupted, which kept its files elsewhere, by the names of their sinks."""
    lines = []
    for operator in graph.sinks:
        count = metrics[operator.id].received if operator.id in metrics.operators else 0
        if operator.id in kept:
            # What tasks have written is counted when they have ended, which an interrupt does not wait for.
            counted = f": {_tuples(count)}" if count else ""
            lines.append(f"{path_from_here(str(kept[operator.id]))}{counted}")
        elif isinstance(operator.definition, WriteTcp) and count:
            lines.append(f"{operator.definition.address}: {_tuples(count)}")
    return lines


def _tuples(count: int) -> str:
    return f"{count:,} tuple{'' if count == 1 else 's'}"


def print_collected(console: Console, result: Result) -> None:
    """The tuples of `collect` sinks as small tables."""
    for name, items in result.collected.items():
        _print_count(console, name, len(items))
        _print_table(console, items[:_ROWS_SHOWN], len(items), str)


def print_files(console: Console, graph: Graph, metrics: Metrics) -> None:
    """The first tuples of every file that a program wrote as small tables, a line each: the file has it all."""
    for operator in graph.sinks:
        sink = operator.definition
        if not isinstance(sink, WriteFile):
            continue
        count = metrics[operator.id].received
        if isinstance(sink.path, Address):
            _print_count(console, str(sink.path), count)
        elif Path(sink.path).is_file():
            _print_count(console, str(sink.path), count)
            rows = file_format(sink.format).read(Path(sink.path), operator.inputs[0].schema, **sink.options)
            _print_table(console, list(itertools.islice(rows, _FILE_ROWS_SHOWN)), count, _in_short)


def _print_count(console: Console, name: str, count: int) -> None:
    console.print(Text(f"{name}: {_tuples(count)}"), soft_wrap=True)


def _print_table(console: Console, first: list[Any], count: int, as_text: Callable[[Any], str]) -> None:
    if first:
        console.print(_table(first, as_text, console.width))
    if count > len(first):
        console.print(f"… and {count - len(first):,} more")


def _table(items: list[Any], as_text: Callable[[Any], str], room: int) -> Table:
    names = items[0]._fields
    rows = [[as_text(value) for value in item] for item in items]
    table = Table()
    widths = _widths([list(names), *rows], room - 3 * len(names) - 1)
    for name, value, width in zip(names, items[0], widths, strict=True):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(name, justify="right" if is_number else "left", no_wrap=as_text is not str, width=width)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    return table


def _widths(rows: list[list[str]], room: int) -> list[int]:
    """The columns as wide as they need; where there is no room for that, the widest give way first."""
    widths = [
        max(len(line) for cell in column for line in cell.splitlines() or [""]) for column in zip(*rows, strict=True)
    ]
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _in_short(value: Any) -> str:
    """A value on one line of bounded length: fewer digits, nested tuples without their names."""
    match value:
        case float():
            text = str(value) if len(str(value)) <= _FLOAT_COLUMNS else f"{value:.6g}"
        case datetime():
            digits = "milliseconds" if value.microsecond else "seconds"
            text = value.isoformat(sep=" ", timespec=digits).replace("+00:00", "Z")
        case tuple() | list():
            text = repr(_plain(value))
        case _:
            text = str(value).partition("\n")[0]
    return text if len(text) <= _CELL_COLUMNS else f"{text[: _CELL_COLUMNS - 1]}…"


def _plain(value: Any) -> Any:
    match value:
        case tuple():
            return tuple(map(_plain, value))
        case list():
            return [_plain(element) for element in value]
        case _:
            return value
