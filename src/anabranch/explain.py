"""`ab.explain`: what the compiler found out about a program and decided, for people and for programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from anabranch.api.app import App
from anabranch.api.base import Sink
from anabranch.errors import UsageError
from anabranch.graph.degree import Channels, asked_channels
from anabranch.graph.draw import as_svg
from anabranch.graph.format import as_text
from anabranch.graph.model import Edge, Operator, Port, Program
from anabranch.graph.page import as_page
from anabranch.graph.phrases import form_words, names, reasons_of, why_sequential
from anabranch.graph.plan import PE, Plan, Region, Segment
from anabranch.graph.properties import Reason
from anabranch.run import FORMS, as_program

VERSION = 1  # of the JSON: members may be added to it, none changes its meaning or goes away


@dataclass(frozen=True)
class Explanation:
    """What the compiler knows of a program; `str()` of it is made for people, `to_dict()` for programs.

    `channels` holds the number of channels of each region to draw, where it was given. Sources `in_slices` are in no
    region, but on Spark many tasks read them.
    """

    plan: Plan
    stage: str
    channels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    in_slices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 100) -> str:
        """Plain text: the graph, operators, regions and PEs, and what is not parallel and why."""
        return as_text(self.plan, self.channels, width, self.in_slices)

    def to_svg(self) -> str:
        """A drawing of the graph with its regions, joints and PEs."""
        return as_svg(self.plan, self.channels)

    def to_html(self) -> str:
        """A page of its own with the drawing and tables."""
        return as_page(self.plan, self.channels, self.in_slices)

    def to_code(self) -> str:
        """The source of the functions that are generated for the PEs, each behind a comment that says what it is.

        It is made when it is asked for, and nothing is compiled.
        """
        from anabranch.codegen.choose_forms import generated_sources

        if not self.plan.pes:
            raise UsageError(
                f"after the stage '{self.stage}' there is no code yet",
                hint="leave out the stage: code is generated after the last",
            )
        pieces = [
            f"# {pe.id}: {names(segment.operators)}: {form_words(segment)}\n\n{source.strip()}".strip() + "\n"
            for pe, segment, source in generated_sources(self.plan)
        ]
        return "\n\n".join(pieces)

    def _repr_svg_(self) -> str:
        """Notebooks show the drawing."""
        return self.to_svg()

    def is_parallel(self, name: str) -> bool:
        """Whether an operator is in a parallel region, or a source that Spark reads in slices."""
        return name in self.in_slices or self.plan.region_of(self._operator(name).id) is not None

    def why_not(self, name: str) -> tuple[Reason, ...]:
        """Why an operator is not parallel; nothing if it is."""
        return () if name in self.in_slices else why_sequential(self.plan, self._operator(name))

    def _operator(self, name: str) -> Operator:
        for operator in self.plan.graph.operators:
            if operator.id == name:
                return operator
        known = ", ".join(operator.id for operator in self.plan.graph.operators)
        raise UsageError(f"'{self.plan.graph.name}' has no operator '{name}'", hint=f"its operators: {known}")

    def to_dict(self) -> dict[str, Any]:
        """A stable description, ready for JSON."""
        plan = self.plan
        return {
            "version": VERSION,
            "program": plan.graph.name,
            "stage": self.stage,
            "operators": [_operator(plan, operator, self.in_slices) for operator in plan.graph.operators],
            "regions": [_region(region, self.channels) for region in plan.regions],
            "streams": [_stream(plan, edge) for edge in plan.graph.edges],
            "pes": [_pe(pe) for pe in plan.pes],
        }


def explain(
    program: Program | App[...] | Sink,
    *more: Sink,
    stage: str | None = None,
    channels: Channels = "auto",
    form: str = "auto",
) -> Explanation:
    """Compile a program and say what came of it: properties, regions, joints, ordering, PEs, and the reasons.

    `stage` stops the compiler early: "build", "properties", "regions", "joints", "ordering", "order_keys", "fuse" or
    "generate". `channels` is the degree of parallelism to draw, for all regions or for each by its name; it decides
    nothing. `form` is that of generated code: "native", "python", or "auto", which is native where that can be.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> readings = ab.from_items(Reading, [Reading(1.0), Reading(2.0)])
    >>> explanation = ab.explain(readings.filter(lambda r: r.value > 1.0).collect("high"))
    >>> explanation.is_parallel("filter")
    True
    >>> [reason.text for reason in explanation.why_not("high")]
    ['an ordered sink is written in one place']
    """
    # Imported here because the compiler brings the whole analysis along, which running a program may not need.
    from anabranch.compiler import STAGE_NAMES, compile
    from anabranch.engines.spark.runs.explaining import read_in_slices

    if stage is not None and stage not in STAGE_NAMES:
        raise UsageError(f"the compiler has no stage '{stage}'", hint=f"use one of: {', '.join(STAGE_NAMES)}")
    if form not in FORMS:
        raise UsageError(f"there is no form '{form}' of generated code", hint=f"use one of: {', '.join(FORMS)}")
    plan = compile(as_program(program, *more).graph, until=stage, form=form)
    in_slices = tuple(each for each in read_in_slices(plan.graph) if each in plan.properties)
    for source in in_slices:
        plan = _told_of_slices(plan, source)
    return Explanation(plan, stage or STAGE_NAMES[-1], asked_channels(plan, channels), in_slices)


def _told_of_slices(plan: Plan, source: str) -> Plan:
    """The plan without the advice to partition a source that many tasks read as it is."""
    why = Reason(
        "state", "it is one stream, which on Spark many tasks read, a slice each", plan.graph.operator(source).location
    )
    properties = replace(plan.properties[source], reasons=(why,))
    sequential = {each: (why,) if each == source else reasons for each, reasons in plan.sequential.items()}
    return replace(
        plan,
        properties=MappingProxyType({**plan.properties, source: properties}),
        sequential=MappingProxyType(sequential),
    )


# JSON ------------------------------------------------------------------------------------------------------------


def _operator(plan: Plan, operator: Operator, in_slices: Collection[str]) -> dict[str, Any]:
    properties, region, pe = plan.properties.get(operator.id), plan.region_of(operator.id), plan.pe_of(operator.id)
    return {
        "id": operator.id,
        "name": operator.id,
        "kind": operator.kind,
        "location": str(operator.location),
        "state": properties.state.value if properties is not None else None,
        "key": list(properties.key) if properties is not None else [],
        "selectivity": properties.selectivity.value if properties is not None else None,
        "forwards": dict(properties.forwards) if properties is not None else {},
        "region": region.id if region is not None else None,
        "in_slices": operator.id in in_slices,
        "reasons": [_reason(reason) for reason in reasons_of(plan, operator)],
        "pe": pe.id if pe is not None else None,
        "on_error": operator.on_error,
        "inputs": [_port(port) for port in operator.inputs],
        "outputs": [_port(port) for port in operator.outputs],
    }


def _port(port: Port) -> dict[str, Any]:
    attributes = {attribute.name: str(attribute.type) for attribute in port.schema.attributes}
    return {
        "name": port.name,
        "type": port.schema.name,
        "attributes": attributes,
        "punctuated": port.is_punctuated,
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "about": reason.about,
        "text": reason.text,
        "location": str(reason.location) if reason.location is not None else None,
        "hint": reason.hint,
    }


def _region(region: Region, channels: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": region.id,
        "operators": list(region.operators),
        "key": list(region.key),
        "first_joint": region.first_joint.value if region.first_joint is not None else None,
        "last_joint": region.last_joint.value if region.last_joint is not None else None,
        "ordering": region.ordering.value if region.ordering is not None else None,
        "selectivity": region.selectivity.value,
        "clocks": list(region.clocks),
        "channels": channels.get(region.id),
        "reasons": [_reason(reason) for reason in region.reasons],
    }


def _stream(plan: Plan, edge: Edge) -> dict[str, Any]:
    leaving = plan.graph.operator(edge.source).outputs[edge.source_port]
    entering = plan.graph.operator(edge.target).inputs[edge.target_port]
    return {
        "from": edge.source,
        "to": edge.target,
        "type": leaving.schema.name,
        "order_key": list(plan.order_keys.get(edge, ())),
        "from_port": leaving.name,
        "to_port": entering.name,
        "feedback": edge.is_feedback,
    }


def _pe(pe: PE) -> dict[str, Any]:
    forms = list(dict.fromkeys(segment.form for segment in pe.segments))
    reasons = [segment.why_not_native for segment in pe.segments if segment.why_not_native is not None]
    return {
        "id": pe.id,
        "operators": list(pe.operators),
        "region": pe.region,
        "form": forms[0] if len(forms) == 1 else "mixed" if forms else None,
        "reason": _reason(reasons[0]) if reasons else None,
        "stretches": [_segment(segment) for segment in pe.segments],
    }


def _segment(segment: Segment) -> dict[str, Any]:
    why = segment.why_not_native
    return {
        "operators": list(segment.operators),
        "form": segment.form,
        "reason": _reason(why) if why is not None else None,
    }
