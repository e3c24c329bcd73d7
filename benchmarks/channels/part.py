"""What each file of a figure gives: a bound, and a function that prints its table and gives the figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from benchmarks.codegen.measure import Figure
from benchmarks.spark.figures import Asked


@dataclass(frozen=True)
class Part:
    """`measure` is told whether a look is enough: few tuples, and one round."""

    asked: Asked
    measure: Callable[[Console, bool], Figure]
