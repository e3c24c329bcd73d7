"""`ab.run`: from a program to its result, on the engine of choice."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from anabranch.api.app import App
from anabranch.api.base import Sink
from anabranch.api.draft import freeze_sinks
from anabranch.api.where import caller
from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.tail.interrupts import shielded
from anabranch.engines import sequential
from anabranch.errors import Location, UsageError, shown
from anabranch.graph.forms import FORMS, Form
from anabranch.graph.model import Program
from anabranch.graph.settings import FUSIONS, Channels, Settings

__all__ = ["ENGINES", "FORMS", "as_program", "default_engine", "run"]

ENGINES = ("sequential", "fused", "multicore", "spark")


def default_engine() -> str:
    """The engine of whoever asks for none: Spark, or what the environment says."""
    return os.environ.get("ANABRANCH_ENGINE") or "spark"


def run(
    program: Program | App[...] | Sink,
    *more: Sink,
    engine: str | None = None,
    form: Form = "auto",
    channels: Channels = "auto",
    fuse: str = "all",
    spark: Any = None,
    master: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    ui: bool = False,
    workers: int | None = None,
    metrics: Metrics | None = None,
) -> Result:
    """Run a program to its end.

    `program` is what an `@ab.app` function returns, the app itself where all its parameters have defaults, or, for
    short programs, one or more sinks. `engine` is "sequential", one tuple after the other in plain steps; "fused",
    which generates code for the program and runs it in this process; "multicore", where as many `workers` as there are
    cores (threads of this process) run its places and their channels; or "spark". `form` is the form of generated code
    ("python", "native", or "auto": native where it can be and pays), and `fuse` says which operators become one
    processing element: "all" that run at one place, "none", or those that `.place(pe=…)` names ("manual").

    On multicore and on Spark, `channels` is how many channels a parallel region has (a number, or numbers by region;
    "auto": as many as there are cores). On Spark, `spark` is a session to run in, and otherwise `master` says where to
    make one ("local[*]"), `spark_conf` its settings, and `ui` whether it shows its pages.

    An operator that fails raises an `OperatorError`; what was written or collected before it is kept
    (`error.kept`, `error.result`).

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
    chosen = engine or default_engine()
    where = caller().location
    must_be_one(chosen, "engine", ENGINES, where)
    must_be_one(form, "form of generated code", FORMS, where)
    must_be_one(fuse, "fusion", FUSIONS, where)
    for asked_for, what in ((form, "form"), (fuse, "fusion")):
        if asked_for not in ("auto", "all") and chosen == "sequential":
            raise UsageError(
                f"the engine '{chosen}' generates no code, so it has no {what} '{asked_for}'",
                location=where,
                hint='use engine="fused" (on the command line: --engine fused)',
            )
    asked = None if channels == "auto" else channels
    _must_be_used(chosen, ("multicore", "spark"), {"channels": asked}, where)
    _must_be_used(chosen, ("multicore",), {"workers": workers}, where)
    on_spark = {"spark": spark, "master": master, "spark_conf": spark_conf, "ui": ui or None}
    _must_be_used(chosen, ("spark",), on_spark, where)
    # The oracle does without the compiler, pyarrow and Spark.
    if chosen == "sequential":
        return sequential.run(graph, metrics)
    if chosen == "fused":
        from anabranch.engines import fused

        return fused.run(graph, metrics, form, fuse=fuse)
    if chosen == "multicore":
        from anabranch.engines.multicore import engine as multicore

        with caller().blamed():
            number = multicore.number_of_workers(workers)
        return multicore.run(graph, metrics, number, channels, form, fuse)
    from anabranch.compiler import compile, this_machine
    from anabranch.engines.spark.runs import engine as spark_engine
    from anabranch.engines.spark.session.session import spark_options

    with shielded():  # from the beginning: Spark takes seconds to start
        with caller().blamed():  # before Spark is started: a mistake should not take ten seconds to show
            plan = compile(graph, Settings(this_machine(), channels, form, fuse=fuse))
            options = spark_options(spark, master, spark_conf, ui, graph.name)
        return spark_engine.run(plan, metrics, options)


def _must_be_used(
    chosen: str, engines: tuple[str, ...], given: Mapping[str, Any], where: Location | None = None
) -> None:
    """What was asked for has to mean something on the engine that was chosen."""
    unused = [name for name, value in given.items() if value is not None]
    if unused and chosen not in engines:
        raise UsageError(
            f"the engine '{chosen}' has no use for {unused[0]}=",
            location=where,
            hint=f'use engine="{engines[-1]}" (on the command line: --engine {engines[-1]})',
        )


def must_be_one(given: str, what: str, known: tuple[str, ...], where: Location | None = None) -> None:
    if given not in known:
        kind, _, rest = what.partition(" ")
        raise UsageError(
            f"there is no {kind} '{given}'{' ' + rest if rest else ''}",
            location=where,
            hint=f"use one of {', '.join(known)}",
        )


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
