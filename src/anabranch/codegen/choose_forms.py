"""Which form the code of each processing element takes, and why it is not native where it is not.

Nothing is compiled here, and numba is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from anabranch.codegen.build import Decision, Stage, decide
from anabranch.codegen.forms import Form
from anabranch.codegen.native.assemble import assemble
from anabranch.codegen.part import part_of
from anabranch.codegen.python import python_form
from anabranch.graph.plan import PE, Plan, Segment
from anabranch.graph.properties import Reason


def apply(plan: Plan) -> Plan:
    """Native where it can be and pays, unless another form is wanted."""
    return replace(plan, pes=tuple(_with_forms(plan, pe) for pe in plan.pes))


def _with_forms(plan: Plan, pe: PE) -> PE:
    decision = _decision(plan, pe)
    return pe if decision is None else replace(pe, segments=tuple(_segment(plan, each) for each in decision.stages))


def _decision(plan: Plan, pe: PE) -> Decision | None:
    """None for a PE of sources and sinks only: these are the engine's business."""
    operators = [plan.graph.operator(operator_id) for operator_id in pe.operators]
    inner = tuple(operator.id for operator in operators if not operator.is_source and not operator.is_sink)
    return decide(part_of(plan.graph, inner), cast(Form, plan.wanted_form)) if inner else None


def _segment(plan: Plan, stage: Stage) -> Segment:
    why = _why_not_native(plan, stage)
    cannot_be_had = why is not None and plan.wanted_form == "native"
    return Segment(stage.part.operators, None if cannot_be_had else stage.form, why)


def _why_not_native(plan: Plan, stage: Stage) -> Reason | None:
    if stage.why is None or stage.operator is None:
        return None
    location = stage.why.location or plan.graph.operator(stage.operator).location
    return Reason("form", f"`{stage.operator}` {stage.why.reason}", location)


def generated_sources(plan: Plan) -> Iterator[tuple[PE, Segment, str]]:
    """The source of every segment, in the order of the PEs; an empty one where it cannot have the wanted form."""
    for pe in plan.pes:
        decision = _decision(plan, pe)
        for stage in decision.stages if decision is not None else ():
            segment = _segment(plan, stage)
            if stage.form == "native":
                yield pe, segment, assemble(stage.part).source
            else:
                yield pe, segment, python_form(stage.part).source if segment.form is not None else ""
