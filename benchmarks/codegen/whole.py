"""All measurements in a row, each printed as soon as it is there."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.codegen import chains, crossings, memory, report, startup, throughput
from benchmarks.codegen.chains import Curve
from benchmarks.codegen.elements import NATIVE, PYTHON, Missing
from benchmarks.codegen.pipelines import PIPELINES
from benchmarks.codegen.plots import plot_curves, plot_outcomes
from benchmarks.machine import print_machine

MEMORY_TUPLES = 500_000


def measure_all(parts: Collection[str], plots: Path, *, is_quick: bool) -> dict[str, Any]:
    console = Console(width=110, highlight=False)
    print_machine(console, ("numba", "numpy", "pyarrow", "bytewax"))
    figures: dict[str, Any] = {}
    if "pipelines" in parts:
        figures |= _pipelines(console, plots, throughput.QUICK if is_quick else throughput.Sizes())
    if "chains" in parts:
        figures["fused_vs_unfused"] = _chains(console, plots, chains.QUICK if is_quick else chains.FULL)
    if "crossings" in parts:
        figures["crossings_ns"] = _crossings(console)
    if "startup" in parts:
        figures |= _startup(console, repeats=1 if is_quick else 2)
    if "memory" in parts:
        figures["memory_growth_mb"] = _memory(console, MEMORY_TUPLES // 5 if is_quick else MEMORY_TUPLES)
    return figures


def _pipelines(console: Console, plots: Path, sizes: throughput.Sizes) -> dict[str, Any]:
    outcomes = []
    for pipeline in PIPELINES:
        outcome = throughput.contest(pipeline, sizes)
        report.print_outcome(console, outcome)
        outcomes.append(outcome)
    plot_outcomes(plots / "pipelines.svg", outcomes)
    return report.print_ratios(console, outcomes)


def _chains(console: Console, plots: Path, scale: chains.Scale) -> dict[str, Any]:
    """How many times as fast the longest chain is in one element as in one element per operator."""
    gains: dict[str, Any] = {}
    for measure in (chains.chain_length, chains.tuple_size, chains.computation_size):
        curves = []
        for form in (PYTHON, NATIVE):
            try:
                curve = measure(form, scale)
            except Missing as reason:
                console.print(f"  no chains in the {form} form: {reason}", style="yellow")
                continue
            _print_curve(console, curve)
            curves.append(curve)
        if curves:
            plot_curves(plots / f"{measure.__name__}.svg", curves)
        if measure is chains.chain_length:
            gains = {curve.form: _gain(curve) for curve in curves}
    return gains


def _print_curve(console: Console, curve: Curve) -> None:
    table = Table(title=f"{curve.title}, {curve.form} form: M tuples/s", title_justify="left")
    table.add_column(curve.varies)
    places = list(next(iter(curve.lines.values())))
    for place in places:
        table.add_column(str(place), justify="right")
    for name, points in curve.lines.items():
        table.add_row(name, *(f"{points[at].median / 1e6:.3g}" if at in points else "" for at in places))
    console.print(table)


def _gain(curve: Curve) -> dict[str, float]:
    longest = max(chains.LENGTHS)
    fused = curve.lines[f"{longest} per PE"][longest].median
    others = {name: points[longest].median for name, points in curve.lines.items() if longest in points}
    return {name: float(f"{fused / speed:.3g}") for name, speed in others.items() if speed != fused}


def _crossings(console: Console) -> dict[str, float]:
    table = Table(title="what a tuple costs between the forms, and in them: ns", title_justify="left")
    table.add_column("figure")
    for name in ("measured", "in costs.py"):
        table.add_column(name, justify="right")
    found = crossings.measured()
    for name, (now, known) in found.items():
        table.add_row(name, f"{now:.0f}", f"{known:.0f}")
    console.print(table)
    table = Table(title="programs that can be native in part: s per million tuples", title_justify="left")
    table.add_column("program")
    for name in ("Python form", "cut into stages", "chosen"):
        table.add_column(name, justify="right")
    for name, (whole, cut, chosen) in crossings.mixed().items():
        table.add_row(name, f"{whole:.2f}", f"{cut:.2f}", chosen)
    console.print(table)
    return {name: round(now, 1) for name, (now, _) in found.items()}


def _startup(console: Console, repeats: int) -> dict[str, Any]:
    built = startup.build_times(repeats)
    table = Table(title="building a PE and its first chunk, in s (numba imported before)", title_justify="left")
    for name in ("pipeline", "form"):
        table.add_column(name)
    for name in ("cold", "cached"):
        table.add_column(name, justify="right")
    for (pipeline, form), times in built.items():
        table.add_row(pipeline, form, f"{times.cold:.3f}", f"{times.cached:.3f}")
    console.print(table)

    firsts = startup.first_outputs(repeats)
    table = Table(
        title=f"`anabranch run` on {startup.FIRST_TUPLES:,} tuples: s to its first output", title_justify="left"
    )
    table.add_column("engine or form")
    for name in ("cold", "warm"):
        table.add_column(name, justify="right")
    for name, first in firsts.items():
        cells = (f"{first.cold:.2f}", f"{first.cached:.2f}") if first else ("not run in this form", "")
        table.add_row(name, *cells)
    console.print(table)
    slowest = {
        form: {
            "cold": max(round(times.cold, 3) for (_, each), times in built.items() if each == form),
            "cached": max(round(times.cached, 3) for (_, each), times in built.items() if each == form),
        }
        for form in (PYTHON, NATIVE)
    }
    seconds = {
        name: first and {"cold": round(first.cold, 2), "warm": round(first.cached, 2)} for name, first in firsts.items()
    }
    return {"slowest_compile_seconds": slowest, "first_output_seconds": seconds}


def _memory(console: Console, tuples: int) -> dict[str, float]:
    found = memory.growth(tuples)
    table = Table(title=f"peak memory of the native form, {memory.TIMES} × {tuples:,} tuples", title_justify="left")
    table.add_column("pipeline")
    table.add_column("MB more than after the first tenth", justify="right")
    for name, megabytes in found.items():
        table.add_row(name, f"{megabytes:.1f}")
    if found:
        console.print(table)
    else:
        console.print("  memory: there is no native form yet", style="yellow")
    return found
