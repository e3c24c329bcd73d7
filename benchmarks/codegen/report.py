"""What was measured, as tables for people and as one JSON object of named ratios."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.codegen.elements import NATIVE, PYTHON
from benchmarks.codegen.measure import Figure, ratio
from benchmarks.codegen.throughput import BYTEWAX, KERNEL, KERNEL_WHOLE, LOOP, Outcome

Which = Callable[[Outcome], bool]


def _is_numeric(outcome: Outcome) -> bool:
    return outcome.pipeline.is_native and not outcome.pipeline.has_string_keys


def _has_strings(outcome: Outcome) -> bool:
    return outcome.pipeline.has_string_keys


def _is_native(outcome: Outcome) -> bool:
    return outcome.pipeline.is_native


def _is_json(outcome: Outcome) -> bool:
    return not outcome.pipeline.is_native


def _is_any(outcome: Outcome) -> bool:
    return True


# name, contestants, the pipelines it is the worst of, and what is asked for (None: reported only)
NAMED: tuple[tuple[str, str, str, Which, float | None], ...] = (
    ("native_vs_handwritten", NATIVE, KERNEL, _is_native, 0.8),
    ("native_vs_handwritten_one_array", NATIVE, KERNEL_WHOLE, _is_native, None),
    ("python_vs_handwritten", PYTHON, LOOP, _is_any, 0.8),
    ("native_vs_python", NATIVE, PYTHON, _is_numeric, 20),
    ("native_vs_python_strings", NATIVE, PYTHON, _has_strings, 5),
    ("python_vs_bytewax", PYTHON, BYTEWAX, _is_native, 10),
    ("native_vs_bytewax", NATIVE, BYTEWAX, _is_numeric, 100),
    ("native_vs_bytewax_strings", NATIVE, BYTEWAX, _has_strings, 30),
    ("json_python_vs_bytewax", PYTHON, BYTEWAX, _is_json, None),
)


def print_outcome(console: Console, outcome: Outcome) -> None:
    table = Table(title=outcome.pipeline.name, title_justify="left")
    table.add_column("contestant")
    for name in ("tuples", "M tuples/s", "spread", "native is", "Python form is"):
        table.add_column(name, justify="right")
    for name, speeds in outcome.speeds.items():
        speed = Figure.of([each / 1e6 for each in speeds])
        times = [_times(ratio(outcome.speeds, form, name)) if form != name else "" for form in (NATIVE, PYTHON)]
        table.add_row(name, f"{outcome.tuples[name]:,}", _number(speed.median), _spread(speed), *times)
    console.print(table)
    for form, reason in outcome.missing.items():
        console.print(f"  no {form} form: {reason}", style="yellow")


def worst(outcomes: Iterable[Outcome], one: str, other: str, which: Which) -> tuple[Figure, str] | None:
    """The smallest ratio, and the pipeline it comes from."""
    found = [
        (figure, outcome.pipeline.name)
        for outcome in outcomes
        if which(outcome) and (figure := ratio(outcome.speeds, one, other)) is not None
    ]
    return min(found, key=lambda each: each[0].median, default=None)


def print_ratios(console: Console, outcomes: list[Outcome]) -> dict[str, Any]:
    """The table of named ratios, and the same for JSON."""
    table = Table(title="named ratios: the worst over the pipelines they apply to", title_justify="left")
    for name in ("ratio", "worst at"):
        table.add_column(name)
    for name in ("median", "spread", "asked for"):
        table.add_column(name, justify="right")
    ratios: dict[str, Any] = {}
    spreads: dict[str, Any] = {}
    for name, one, other, which, asked in NAMED:
        found = worst(outcomes, one, other, which)
        ratios[name] = found and _rounded(found[0].median)
        spreads[name] = found and [_rounded(found[0].least), _rounded(found[0].most)]
        wanted = f"≥ {asked:g}" if asked is not None else ""
        if found is None:
            table.add_row(name, "", "not measured", "", wanted)
            continue
        figure, where = found
        style = "" if asked is None else "green" if figure.median >= asked else "red"
        table.add_row(name, where, _times(figure), _spread(figure), wanted, style=style)
    console.print(table)
    return {**ratios, "spread": spreads}


def _number(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _times(figure: Figure | None) -> str:
    return f"{_number(figure.median)} ×" if figure is not None else ""


def _spread(figure: Figure) -> str:
    return f"{_number(figure.least)} – {_number(figure.most)}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
