"""What a person sees while a program runs, and when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from anabranch.engines.base import Metrics, Result
from anabranch.graph.model import Graph

_ROWS_SHOWN = 20


@contextmanager
def shown(console: Console, name: str, metrics: Metrics) -> Iterator[None]:
    """A line that is kept up to date while the block runs."""
    view = _Line(name, metrics)
    with Live(console=console, refresh_per_second=8, transient=True, get_renderable=view):
        yield


class _Line:
    def __init__(self, name: str, metrics: Metrics) -> None:
        self._name = name
        self._metrics = metrics
        self._spinner = Spinner("dots")

    def __call__(self) -> Spinner:
        self._spinner.update(text=Text(f"{self._name}   {figures(self._metrics)}"))
        return self._spinner


def figures(metrics: Metrics) -> str:
    """Tuples in and out, the rate, and the time a run has taken, on one line."""
    seconds = metrics.elapsed
    rate = metrics.tuples_in / seconds if seconds > 0 else 0.0
    parts = [
        f"{metrics.tuples_in:,} in",
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
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def written(graph: Graph, metrics: Metrics) -> list[str]:
    """A line for every sink that left something outside the program."""
    lines = []
    for operator in graph.sinks:
        target = getattr(operator.definition, "path", None) or getattr(operator.definition, "address", None)
        if target is not None:
            count = metrics[operator.id].received
            lines.append(f"{target}: {count:,} tuple{'' if count == 1 else 's'}")
    return lines


def print_collected(console: Console, result: Result) -> None:
    """The tuples of `collect` sinks as small tables."""
    for name, items in result.collected.items():
        console.print(f"{name}: {len(items):,} tuple{'' if len(items) == 1 else 's'}")
        if items:
            console.print(_table(items))
        if len(items) > _ROWS_SHOWN:
            console.print(f"… and {len(items) - _ROWS_SHOWN:,} more")


def _table(items: list[Any]) -> Table:
    table = Table()
    for column, value in zip(items[0]._fields, items[0], strict=True):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(column, justify="right" if is_number else "left")
    for item in items[:_ROWS_SHOWN]:
        table.add_row(*[Text(str(value)) for value in item])
    return table
