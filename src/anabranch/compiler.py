"""The compiler: from a graph to a plan, one named stage after the other."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anabranch.analysis.modules import held_world
from anabranch.codegen import choose_forms
from anabranch.errors import AnabranchError
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.graph.verify import verify_plan
from anabranch.passes import (
    assign_order_keys,
    choose_ordering,
    form_regions,
    fuse_all,
    infer_properties,
    insert_joints,
)

Pass = Callable[[Plan], Plan]

STAGES: tuple[tuple[str, Pass], ...] = (
    ("properties", infer_properties.apply),  # what each operator keeps, emits and forwards, and why
    ("regions", form_regions.apply),  # which operators may run in parallel channels together
    ("joints", insert_joints.apply),  # how tuples enter and leave each region
    ("ordering", choose_ordering.apply),  # how the order is restored behind each region
    ("order_keys", assign_order_keys.apply),  # what tuples carry, so that it can be
    ("fuse", fuse_all.apply),  # which operators become one function
    ("generate", choose_forms.apply),  # whether it can be native, and why not
)
STAGE_NAMES = ("build", *(name for name, _ in STAGES))


def compile(graph: Graph, *, until: str | None = None, form: str = "auto") -> Plan:
    """Compile a program; `until` names the stage to stop after, and `form` is that of the code to generate."""
    plan = Plan(graph, form)
    if until == "build":
        return plan
    with held_world(thoroughly=True), _uncollected():
        for name, apply in STAGES:
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
