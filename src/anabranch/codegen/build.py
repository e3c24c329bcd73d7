"""From a part of a program to the processing element that runs it: which form it takes, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from anabranch.analysis.modules import held_world
from anabranch.codegen.costs import native_pays
from anabranch.codegen.effects import has_effects
from anabranch.codegen.forms import FORMS, Form
from anabranch.codegen.functions import Refusal
from anabranch.codegen.native.assemble import Assembled, assemble, check
from anabranch.codegen.native.values import NotNative
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import python_form
from anabranch.codegen.stages import Staged, cut_after, cut_before
from anabranch.errors import UsageError

MOST_OPERATORS = 100  # in a native function: compiling more would take longer than it saves


@dataclass(frozen=True, eq=False)
class Stage:
    """A segment of a part in one form. `operator` is the one that keeps it from being native, and `why` the reason."""

    part: Part
    form: Literal["python", "native"]
    assembled: Assembled | None = None
    operator: str | None = None
    why: Refusal | None = None

    def __str__(self) -> str:
        if self.form == "native":
            return "native form"
        return f"Python form: `{self.operator}` {self.why}" if self.why else "Python form, as asked for"


@dataclass(frozen=True, eq=False)
class Decision:
    """The forms of a part: of all of it, or of its stages."""

    stages: tuple[Stage, ...]

    @property
    def form(self) -> str:
        return " and ".join(dict.fromkeys(stage.form for stage in self.stages))

    def __str__(self) -> str:
        if len(self.stages) == 1:
            return str(self.stages[0])
        return "; ".join(f"{', '.join(stage.part.operators)}: {stage}" for stage in self.stages)


def decide(part: Part, form: Form = "auto") -> Decision:
    """The forms of a part, without its native code."""
    with held_world(thoroughly=False):
        return _decide(part, form, None)


def _decide(part: Part, form: Form, options: dict[str, bool] | None) -> Decision:
    """Native where it can be and pays, unless another form is asked for; `options` are those of native code."""
    if form == "python":
        return Decision((Stage(part, "python"),))
    origins = options is not None and options["origins"]
    # Where a tuple comes from is not known beyond a cut, so what needs origins stays in one piece.
    stages = stages_of(part, options) if not origins else [_stage(part, options)]
    return Decision(tuple(_worthwhile(stages) if form == "auto" else stages))


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


def _stage(part: Part, options: dict[str, bool] | None) -> Stage:
    try:
        if options is None:
            check(part)
            return Stage(part, "native")
        return Stage(part, "native", assemble(part, **options))
    except NotNative as problem:
        return Stage(part, "python", None, problem.operator, problem.refusal)


def stages_of(part: Part, options: dict[str, bool] | None = None) -> list[Stage]:
    """The part in one piece if it can be native, else cut around the operator that keeps it from that."""
    if len(part.operators) > MOST_OPERATORS:
        first = part.operators[0]
        why = Refusal("is part of a graph too large to be compiled at once", part.operator(first).location)
        return [Stage(part, "python", None, first, why)]
    whole = _stage(part, options)
    if whole.form == "native" or whole.operator is None or len(part.operators) == 1:
        return [whole]
    if any(has_effects(part.operator(operator_id)) for operator_id in part.operators):
        return [whole]  # what one stage does to a chunk would be seen by another, before its time or too late
    before = cut_before(part, whole.operator)
    if before is not None:
        origins = None if options is None else {**options, "origins": True}
        return _joined([*stages_of(before[0], origins), *stages_of(before[1], options)])
    after = cut_after(part, whole.operator)
    if after is not None:
        second = stages_of(after[1], options)
        if any(stage.form == "native" for stage in second):
            return [Stage(after[0], "python", None, whole.operator, whole.why), *second]
    return [whole]


def _joined(stages: list[Stage]) -> list[Stage]:
    """Segments in the Python form that follow one another are one."""
    found: list[Stage] = []
    for stage in stages:
        if found and found[-1].form == stage.form == "python":
            before = found.pop()
            part = part_of(stage.part.graph, (*before.part.operators, *stage.part.operators))
            reason = before if before.why is not None else stage  # one that would not pay has none
            found.append(Stage(part, "python", None, reason.operator, reason.why))
        else:
            found.append(stage)
    return found


def build_pe(
    part: Part, form: Form = "auto", *, origins: bool = False, tracks_changes: bool = False
) -> ProcessingElement:
    """The processing element of a part; `native` asked for where it cannot be is an error that says why."""
    decision = generate(part, form, origins=origins, tracks_changes=tracks_changes)
    return built(decision, origins=origins, tracks_changes=tracks_changes)


def generate(part: Part, form: Form = "auto", *, origins: bool = False, tracks_changes: bool = False) -> Decision:
    """The first half of `build_pe`, which needs the source of the user's code: what native code there is, as text."""
    if form not in FORMS:
        raise UsageError(f"there is no form '{form}'", hint=f"use one of {', '.join(FORMS)}")
    with held_world(thoroughly=False):
        decision = _decide(part, form, {"origins": origins, "tracks_changes": tracks_changes})
    refused = next((stage for stage in decision.stages if stage.why is not None), None)
    if form == "native" and refused is not None and refused.why is not None:
        raise UsageError(
            f"'{refused.operator}' cannot be native: it {refused.why.reason}",
            location=refused.why.location,
            hint="let the form be chosen (auto): it takes the Python form where native code cannot be",
        )
    return decision


def built(decision: Decision, *, origins: bool = False, tracks_changes: bool = False) -> ProcessingElement:
    """The second half, perhaps in another process; options as they were generated for."""
    with held_world(thoroughly=False):
        return _built(decision.stages, origins=origins, tracks_changes=tracks_changes)


def staged(part: Part, *, tracks_changes: bool = False) -> ProcessingElement:
    """The processing element with all native segments there can be, whether they pay or not."""
    with held_world(thoroughly=False):
        stages = stages_of(part, {"origins": False, "tracks_changes": tracks_changes})
        return _built(stages, origins=False, tracks_changes=tracks_changes)


def _built(stages: Sequence[Stage], *, origins: bool, tracks_changes: bool) -> ProcessingElement:
    last = len(stages) - 1
    elements = [
        _element(stage, origins=origins or number < last, tracks_changes=tracks_changes)
        for number, stage in enumerate(stages)
    ]
    return elements[0] if len(elements) == 1 else Staged(elements)


def _element(stage: Stage, *, origins: bool, tracks_changes: bool) -> ProcessingElement:
    if stage.assembled is None:
        return python_form(stage.part, origins=origins, tracks_changes=tracks_changes)
    from anabranch.codegen.native.compiled import compiled
    from anabranch.codegen.native.element import NativeElement

    kernels = compiled(stage.part, stage.assembled)
    return NativeElement(stage.part, stage.assembled, kernels, origins=origins, tracks_changes=tracks_changes)
