"""How a part of a program is cut into segments, each in the form that suits it, and why one is not native."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from anabranch.analysis.program import look_at_program
from anabranch.codegen.costs import native_pays
from anabranch.codegen.functions import Refusal
from anabranch.codegen.native.assemble import check
from anabranch.codegen.native.values import NotNative
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.stages import cut_after, cut_before
from anabranch.errors import UsageError
from anabranch.graph.forms import FORMS, Form
from anabranch.passes.effects import has_effects

MOST_OPERATORS = 100  # in a native function: compiling more would take longer than it saves


@dataclass(frozen=True, eq=False)
class Stage:
    """A segment of a part in one form. `operator` is the one that keeps it from being native, and `why` the reason."""

    part: Part
    form: Literal["python", "native"]
    operator: str | None = None
    why: Refusal | None = None

    def __str__(self) -> str:
        if self.form == "native":
            return "native form"
        return f"Python form: `{self.operator}` {self.why}" if self.why else "Python form, as asked for"


def decide(part: Part, form: Form = "auto", *, origins: bool = False) -> list[Stage]:
    """Native where it can be and pays, unless another form is asked for. Nothing is compiled here."""
    if form not in FORMS:
        raise UsageError(f"there is no form '{form}'", hint=f"use one of {', '.join(FORMS)}")
    if form == "python":
        return [Stage(part, "python")]
    with look_at_program(part.graph, thoroughly=False):
        # What gives origins stays in one function, unless fusion cuts it: handing over costs more there.
        stages = [_stage(part)] if origins else stages_of(part)
        return _worthwhile(stages) if form == "auto" else stages


def _worthwhile(stages: list[Stage]) -> list[Stage]:
    """Segments that are native only where that pays for handing tuples over."""
    found: list[Stage] = []
    for form, following in groupby(stages, key=lambda stage: stage.form):
        each = list(following)
        parts = [stage.part for stage in each]
        is_whole = len(each) == len(stages)
        pays = form == "python" or is_whole or native_pays(parts, is_first=not found)
        found += each if pays else [Stage(part, "python") for part in parts]
    return _joined(found)


def _stage(part: Part) -> Stage:
    try:
        check(part)
    except NotNative as problem:
        return Stage(part, "python", problem.operator, problem.refusal)
    return Stage(part, "native")


def stages_of(part: Part) -> list[Stage]:
    """The part in one piece if it can be native, else cut around the operator that keeps it from that."""
    if len(part.operators) > MOST_OPERATORS:
        first = part.operators[0]
        why = Refusal("is part of a graph too large to be compiled at once", part.operator(first).location)
        return [Stage(part, "python", first, why)]
    whole = _stage(part)
    if whole.form == "native" or whole.operator is None or len(part.operators) == 1:
        return [whole]
    if any(has_effects(part.operator(operator_id)) for operator_id in part.operators):
        return [whole]  # what one stage does to a chunk would be seen by another, before its time or too late
    before = cut_before(part, whole.operator)
    if before is not None:
        return _joined([*stages_of(before[0]), *stages_of(before[1])])
    after = cut_after(part, whole.operator)
    if after is not None:
        second = stages_of(after[1])
        if any(stage.form == "native" for stage in second):
            return [Stage(after[0], "python", whole.operator, whole.why), *second]
    return [whole]


def _joined(stages: list[Stage]) -> list[Stage]:
    """Segments in the Python form that follow one another are one."""
    found: list[Stage] = []
    for stage in stages:
        if found and found[-1].form == stage.form == "python":
            before = found.pop()
            part = part_of(stage.part.graph, (*before.part.operators, *stage.part.operators))
            reason = before if before.why is not None else stage  # one that would not pay has none
            found.append(Stage(part, "python", reason.operator, reason.why))
        else:
            found.append(stage)
    return found
