"""`ab.run`: from a program to its result, on the engine of choice."""

from __future__ import annotations

from typing import Any

from anabranch.api.app import App
from anabranch.api.base import Sink
from anabranch.api.draft import freeze_sinks
from anabranch.api.where import caller
from anabranch.codegen.forms import FORMS, Form
from anabranch.engines import sequential
from anabranch.engines.base import Metrics, Result
from anabranch.errors import UsageError, shown
from anabranch.graph.model import Program

__all__ = ["ENGINES", "FORMS", "as_program", "run"]

ENGINES = ("sequential", "fused")


def run(
    program: Program | App[...] | Sink,
    *more: Sink,
    engine: str = "sequential",
    form: Form = "auto",
    metrics: Metrics | None = None,
) -> Result:
    """Run a program to its end.

    `program` is what an `@ab.app` function returns, the app itself where all its parameters have defaults, or, for
    short programs, one or more sinks. `engine` is "sequential", one tuple after the other in plain steps, or "fused",
    which generates code for the program; `form` is the form of that code ("python", "native", or "auto": native where
    it can be). An operator that fails raises an `OperatorError`; what was written or
    collected before it is kept (`error.result`).

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> result = ab.run(ab.from_items(Reading, [Reading(1.0), Reading(2.0)]).collect("out"))
    >>> result.items("out")
    [Reading(value=1.0), Reading(value=2.0)]
    >>> result.metrics.tuples_in
    2
    """
    graph = as_program(program, *more).graph
    if engine not in ENGINES:
        raise UsageError(
            f"there is no engine '{engine}'",
            location=caller().location,
            hint=f"use one of {', '.join(ENGINES)}",
        )
    if form not in FORMS:
        raise UsageError(
            f"there is no form '{form}' of generated code",
            location=caller().location,
            hint=f"use one of {', '.join(FORMS)}",
        )
    if form != "auto" and engine != "fused":
        raise UsageError(
            f"the engine '{engine}' generates no code, so it has no form '{form}'",
            location=caller().location,
            hint='use engine="fused" (on the command line: --engine fused)',
        )
    if engine == "fused":
        from anabranch.engines import fused  # with the compiler and pyarrow, which the oracle does without

        return fused.run(graph, metrics, form)
    return sequential.run(graph, metrics)


def as_program(program: Any, *more: Any) -> Program:
    """What the user gave, as a program."""
    if isinstance(program, Program) and not more:
        return program
    if isinstance(program, App) and not more:
        return program()
    sinks = (program, *more)
    if all(isinstance(sink, Sink) for sink in sinks):
        return Program(freeze_sinks("program", [sink._node for sink in sinks]))
    raise UsageError(
        f"{shown(program)} is not a program",
        location=caller().location,
        hint="pass what an @ab.app function returns, or the sinks of a program made outside an app",
    )
