"""What must hold of a plan before anything of it runs: an engine that decides nothing has to be told everything."""

from __future__ import annotations

from typing import Any

from anabranch.errors import BuildError
from anabranch.graph.model import Definition
from anabranch.graph.places import Layout
from anabranch.graph.plan import Plan
from anabranch.graph.verify import verify_plan
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.passes.layout.lineages import verify_order_keys
from anabranch.passes.layout.lines_in_channels import verify_lines


def verify_executable(plan: Plan) -> None:
    """Raise a `BuildError` where a plan says what no stage of the compiler could have decided."""
    verify_plan(plan)
    if not plan.phases:
        raise BuildError("the plan is not laid out yet")
    for phase in plan.phases:
        verify_order_keys(phase.layout)
        verify_lines(phase.layout)
        _verify_clocks(phase.layout)


def _verify_clocks(layout: Layout) -> None:
    """The time of a stream is sent to who asks for it, by its own window."""
    for arrival in layout.arrivals:
        if arrival.clock is None:
            continue
        asking = [layout.graph.operator(each).definition for each in layout.place(arrival.place).operators[:1]]
        for definition in asking:
            if arrival.clock.window not in _windows_of(definition):
                raise BuildError(f"'{arrival.stream.operator}' brings a time to {arrival.place} that nobody asks for")


def _windows_of(definition: Definition) -> tuple[Any, ...]:
    match definition:
        case Join(left=left, right=right):
            return (left, right)
        case WindowAggregate(window=window) | Distinct(window=window):
            return (window,)
    return ()
