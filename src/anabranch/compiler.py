"""The compiler: from a graph to a plan, one named stage after the other."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anabranch.analysis.program import look_at_program
from anabranch.dataflow.layout import choose_forms, weigh_channels
from anabranch.errors import AnabranchError
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Settings, Target
from anabranch.graph.verify import verify_plan
from anabranch.passes import choose_ordering, form_regions, fuse, infer_properties, insert_joints, lay_out

Pass = Callable[[Plan], Plan]

# What the program says by itself, whoever runs it.
SAFETY: tuple[tuple[str, Pass], ...] = (
    ("properties", infer_properties.apply),  # what each operator keeps, emits and forwards, and why
    ("regions", form_regions.apply),  # which operators may run in parallel channels together
    ("joints", insert_joints.apply),  # how tuples enter and leave each region
    ("ordering", choose_ordering.apply),  # how the order is restored behind each region
)
# What follows from that on one engine, with so many channels.
EXECUTION: tuple[tuple[str, Pass], ...] = (
    ("layout", lay_out.apply),  # which operators run where, how tuples get there, and what they carry for their order
    ("fuse", fuse.apply),  # which operators of a place become one function
    ("forms", choose_forms.apply),  # whether that can be native, and why not
    ("weigh", weigh_channels.apply),  # whether channels save more than the exchange before them costs
)
STAGE_NAMES = ("build", *(name for name, _ in (*SAFETY, *EXECUTION)))


def this_machine() -> Target:
    """Spark on this machine, as far as a plan depends on it."""
    return Target("spark", cores=len(os.sched_getaffinity(0)))


def compile(graph: Graph, settings: Settings | None = None, *, until: str | None = None) -> Plan:
    """Compile a program for a target; `until` names the stage to stop after."""
    plan = Plan(graph, settings or Settings(this_machine()))
    if until == "build":
        return plan
    return _run_stages(plan, (*SAFETY, *EXECUTION), until, thoroughly=True)


def execute_with(plan: Plan, settings: Settings) -> Plan:
    """What is safe stays as it was found out: only what follows from it on a target is decided anew."""
    fresh = Plan(plan.graph, settings, plan.properties, plan.regions, plan.sequential)
    return _run_stages(fresh, EXECUTION, None, thoroughly=False)


def _run_stages(plan: Plan, stages: tuple[tuple[str, Pass], ...], until: str | None, *, thoroughly: bool) -> Plan:
    with look_at_program(plan.graph, thoroughly=thoroughly), _uncollected():
        for name, apply in stages:
            plan = apply(plan)
            _verify(plan, name)
            if name == until:
                break
    return plan


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nearly all that is made stays in use to the end: looking for garbage would be a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _verify(plan: Plan, stage: str) -> None:
    try:
        verify_plan(plan)
    except AnabranchError as problem:
        raise AssertionError(f"the stage '{stage}' of the compiler broke the plan: {problem}") from problem
