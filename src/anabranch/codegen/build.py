"""From what a plan says of a place to the processing elements that run there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from anabranch.analysis.program import look_at_program
from anabranch.codegen.native.assemble import Assembled, assemble
from anabranch.codegen.native.saving import code_mark
from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import python_form
from anabranch.codegen.segments import Stage, decide, stages_of
from anabranch.codegen.stages import PEs, Staged, cut_into
from anabranch.errors import UsageError
from anabranch.graph.forms import Form
from anabranch.graph.plan import Segment
from anabranch.graph.properties import Reason


@dataclass(frozen=True, eq=False)
class Function:
    """A segment as it will be called: with its native code as text, or in the Python form."""

    part: Part
    native: Assembled | None = None

    @property
    def form(self) -> str:
        return "python" if self.native is None else "native"


@dataclass(frozen=True, eq=False)
class Code:
    """All that runs at a place: its PEs one behind the other, each as functions that hand chunks to one another."""

    part: Part
    pes: tuple[tuple[Function, ...], ...]
    origins: bool = False
    tracks_changes: bool = False

    @property
    def functions(self) -> list[Function]:
        return [function for pe in self.pes for function in pe]


def generate(
    part: Part, pes: Sequence[Sequence[Segment]], *, origins: bool = False, tracks_changes: bool = False
) -> Code:
    """The code of PEs, just as they are given. It needs the source of the user's code, which workers may not have."""
    pes = pes or [[Segment((), "python")]]  # what comes is what leaves
    segments = [segment for pe in pes for segment in pe]
    parts = cut_into(part, [segment.operators for segment in segments])
    last = len(parts) - 1
    with look_at_program(part.graph, thoroughly=False):
        made = iter(
            [
                _function(each, segment, origins=origins or number < last, tracks_changes=tracks_changes)
                for number, (each, segment) in enumerate(zip(parts, segments, strict=True))
            ]
        )
    return Code(part, tuple(tuple(next(made) for _ in pe) for pe in pes), origins, tracks_changes)


def _function(part: Part, segment: Segment, **options: bool) -> Function:
    if segment.form is None:
        why = segment.why_not_native
        raise UsageError(
            f"the form 'native' cannot be had: {why.text if why is not None else segment.operators[0]}",
            location=why.location if why is not None else None,
            hint="let the form be chosen (auto): it takes the Python form where native code cannot be",
        )
    return Function(part, assemble(part, **options) if segment.form == "native" else None)


def build_elements(code: Code) -> ProcessingElement:
    """What runs, perhaps in another process than it was generated in."""
    last = code.functions[-1]
    with look_at_program(code.part.graph, thoroughly=False):
        pes = []
        for functions in code.pes:
            elements = [
                _element(each, origins=code.origins or each is not last, tracks_changes=code.tracks_changes)
                for each in functions
            ]
            pes.append(elements[0] if len(elements) == 1 else Staged(elements))
    return pes[0] if len(pes) == 1 else PEs(pes)


def _element(function: Function, *, origins: bool, tracks_changes: bool) -> ProcessingElement:
    if function.native is None:
        return python_form(function.part, origins=origins, tracks_changes=tracks_changes)
    from anabranch.codegen.native.compiled import compiled
    from anabranch.codegen.native.element import NativeElement

    kernels = compiled(function.part, function.native)
    return NativeElement(function.part, function.native, kernels, origins=origins, tracks_changes=tracks_changes)


def marks_of(code: Code) -> list[str]:
    """Of each function a mark of its code, and of what it keeps: what a saved state is the state of."""
    last = code.functions[-1]
    with look_at_program(code.part.graph, thoroughly=False):
        return [_mark(code, each, origins=code.origins or each is not last) for each in code.functions]


def _mark(code: Code, function: Function, *, origins: bool) -> str:
    if function.native is not None:
        return code_mark(function.native.source)[:16]
    part = function.part
    element = python_form(part, origins=origins, tracks_changes=code.tracks_changes)
    kept = [each for each in element.state_names if each[0] not in part.operators or not part.operator(each[0]).is_sink]
    has_sinks = any(part.operator(each).is_sink for each in part.operators)  # those may change, and so may their code
    return sha256(f"{kept if has_sinks else (kept, code_mark(element.source))}".encode()).hexdigest()[:16]


# A part by itself ------------------------------------------------------------------------------------------------


def segment_of(stage: Stage, form: Form = "auto") -> Segment:
    """A stage as the plan has it."""
    why: Reason | None = None
    if stage.why is not None and stage.operator is not None:
        location = stage.why.location or stage.part.operator(stage.operator).location
        why = Reason("form", f"`{stage.operator}` {stage.why.reason}", location)
    cannot_be_had = why is not None and form == "native"
    return Segment(stage.part.operators, None if cannot_be_had else stage.form, why)


def build_pe(
    part: Part, form: Form = "auto", *, origins: bool = False, tracks_changes: bool = False
) -> ProcessingElement:
    """The processing element of a part that is in no plan; `native` asked for where it cannot be is an error."""
    stages = decide(part, form, origins=origins)
    segments = [segment_of(stage, form) for stage in stages]
    return build_elements(generate(part, [segments], origins=origins, tracks_changes=tracks_changes))


def staged(part: Part, *, tracks_changes: bool = False) -> ProcessingElement:
    """The processing element with all native segments there can be, whether they pay or not."""
    with look_at_program(part.graph, thoroughly=False):
        segments = [segment_of(stage) for stage in stages_of(part)]
    return build_elements(generate(part, [segments], tracks_changes=tracks_changes))
