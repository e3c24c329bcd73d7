"""`python -m benchmarks.channels`: what channels bring, figure by figure, in one run.

Tables for people come first; the last line is one JSON object of named figures. A figure that could not be measured, or
that came with a wrong answer, is null there; `missed` has those that are not what was asked for. Either makes the
command fail, but a miss not where it is only looked at (`--quick`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Collection
from typing import Any

from rich.console import Console

from benchmarks.channels.figures import PARTS
from benchmarks.codegen.measure import Figure
from benchmarks.machine import print_machine
from benchmarks.spark import report


def main() -> None:
    options = _options()
    start = time.perf_counter()
    figures = measure(options.only or tuple(PARTS), is_quick=options.quick)
    figures["seconds"] = round(time.perf_counter() - start)
    print(json.dumps(figures))
    if None in figures.values() or (figures["missed"] and not options.quick):
        sys.exit(1)


def measure(wanted: Collection[str], *, is_quick: bool) -> dict[str, Any]:
    """All wanted figures; where one could not be measured, it is said why, it is null, and the others are there."""
    console = Console(width=150, highlight=False)
    print_machine(console, ("pyspark", "pyarrow", "numba"))
    figures: dict[str, Figure] = {}
    failed: list[str] = []
    for name in wanted:
        try:
            figures[name] = PARTS[name].measure(console, is_quick)
        except Exception as problem:  # what else was measured should not be lost
            report.print_failure(console, [name], problem)
            failed.append(name)
    asked = {name: part.asked for name, part in PARTS.items()}
    missed = [name for name, figure in figures.items() if not asked[name].is_met(figure.median)]
    return {**dict.fromkeys(failed), **report.print_figures(console, figures, asked), "missed": missed}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.channels", description="What channels bring.")
    parser.add_argument("--quick", action="store_true", help="few tuples, one round: a look, not a measurement")
    parser.add_argument("--only", action="append", choices=tuple(PARTS), help="leave out the other figures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
