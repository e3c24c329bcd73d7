"""What was measured, as tables for people and as one JSON object of named figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.codegen.measure import Figure
from benchmarks.spark.figures import FIGURES, Asked
from benchmarks.spark.memory import MEGABYTE, Peak
from benchmarks.spark.race import Times


def print_times(console: Console, title: str, count: int, times: Times) -> None:
    table = _table(f"{title}, {count:,} tuples", "contestant", ("s", "spread", "M tuples/s"))
    for name, seconds in times.items():
        figure = Figure.of(seconds)
        table.add_row(name, f"{figure.median:.2f}", _spread(figure), f"{count / figure.median / 1e6:.3g}")
    console.print(table)


def print_peaks(console: Console, peaks: Mapping[int, Sequence[Peak]]) -> None:
    """Medians of all rounds, each for itself."""
    table = _table("peak memory, in MB", "tuples", ("Python workers and JVM", "Python workers", "JVM", "driver"))
    for count, each in peaks.items():
        sizes = zip(*((peak.workers, peak.python, peak.jvm, peak.driver) for peak in each), strict=True)
        table.add_row(f"{count:,}", *(f"{Figure.of(size).median / MEGABYTE:.0f}" for size in sizes))
    console.print(table)


def print_batches(console: Console, milliseconds: Mapping[str, Sequence[float]]) -> None:
    table = _table("micro-batches, in milliseconds", "batch", ("median", "spread", "batches"))
    for name, each in milliseconds.items():
        figure = Figure.of(each)
        table.add_row(name, _number(figure.median), _spread(figure), str(len(each)))
    console.print(table)


def print_failure(console: Console, names: Iterable[str], problem: Exception) -> None:
    console.print(f"{', '.join(names)}: not measured, {type(problem).__name__}: {problem}", style="red", markup=False)


def print_figures(
    console: Console, figures: Mapping[str, Figure], known: Mapping[str, Asked] = FIGURES
) -> dict[str, Any]:
    """The table of named figures, and the same for JSON."""
    table = _table("named figures", "figure", ("median", "spread", "asked for"))
    table.add_column("what")
    for name, figure in figures.items():
        asked = known[name]
        style = "" if not str(asked) else "green" if asked.is_met(figure.median) else "red"
        table.add_row(name, _number(figure.median), _spread(figure), str(asked), asked.what, style=style)
    console.print(table)
    spreads = {name: [_rounded(figure.least), _rounded(figure.most)] for name, figure in figures.items()}
    return {**{name: _rounded(figure.median) for name, figure in figures.items()}, "spread": spreads}


def _table(title: str, first: str, others: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _spread(figure: Figure) -> str:
    return f"{_number(figure.least)} – {_number(figure.most)}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
