"""`ab.explain`: what the compiler found out about a program and decided, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.api.app import App
from anabranch.api.base import Sink
from anabranch.errors import UsageError
from anabranch.graph.degree import asked_channels, channels_of
from anabranch.graph.draw import as_svg
from anabranch.graph.format import as_text
from anabranch.graph.format_layout import order_key
from anabranch.graph.forms import Form
from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import joints_of
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.model import Edge, Operator, Port, Program
from anabranch.graph.order_keys import Branch, Step
from anabranch.graph.page import as_fragment, as_page
from anabranch.graph.phrases import form_words, names, reasons_of, summary, why_sequential
from anabranch.graph.places import Arrival, Clock, Layout, Phase, Place
from anabranch.graph.plan import PE, Plan, Region, Segment
from anabranch.graph.properties import Reason
from anabranch.graph.settings import FUSIONS, IN_PROCESS, Channels, Settings, multicore
from anabranch.run import FORMS, as_program

PLANNED_ENGINES = ("spark", "multicore", "fused")
VERSION = 2  # of the JSON: members may be added to it, none changes its meaning or goes away


@dataclass(frozen=True)
class Explanation:
    """What the compiler knows of a program; `str()` of it is made for people, `to_dict()` for programs.

    Up to the stage `layout` it holds for every engine; from there on for the target at the head of the plan, and then
    it is what runs there.
    """

    plan: Plan
    stage: str

    @property
    def channels(self) -> Mapping[str, int]:
        """The number of channels of each region, once it is laid out, or where it was asked for."""
        return channels_of(self.plan)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 100) -> str:
        """Plain text: the graph, operators, regions and PEs, and what is not parallel and why."""
        return as_text(self.plan, self.channels, width)

    def to_svg(self) -> str:
        """A drawing of the graph with its regions, joints and PEs."""
        return as_svg(self.plan, self.channels)

    def to_html(self) -> str:
        """A page of its own with the drawing and tables."""
        return as_page(self.plan, self.channels)

    def to_code(self) -> str:
        """The source of the functions that are generated for the PEs, each behind a comment that says what it is.

        It is made when it is asked for, and nothing is compiled.
        """
        from anabranch.dataflow.layout.choose_forms import generated_sources

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

    def __repr__(self) -> str:
        return f"<Explanation of {self.plan.graph.name}: {summary(self.plan)}>"

    def _repr_html_(self) -> str:
        """Notebooks show the drawing, and the tables of the page below it."""
        return as_fragment(self.plan, self.channels)

    def is_parallel(self, name: str) -> bool:
        """Whether an operator is in a parallel region that runs in channels, or a source that many tasks read."""
        operator = self._operator(name)
        is_in_region = self.plan.region_of(name) is not None
        return name in self.plan.in_slices or (is_in_region and not why_sequential(self.plan, operator))

    def why_not(self, name: str) -> tuple[Reason, ...]:
        """Why an operator is not parallel; nothing if it is."""
        return () if name in self.plan.in_slices else why_sequential(self.plan, self._operator(name))

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
            "target": asdict(plan.settings.target),
            "settings": _settings(plan),
            "operators": [_operator(plan, operator) for operator in plan.graph.operators],
            "regions": [_region(region, self.channels) for region in plan.regions],
            "joints": _joints(plan),
            "streams": [_stream(plan, edge) for edge in plan.graph.edges],
            "phases": [_phase(plan, phase) for phase in plan.phases],
            "loop": asdict(plan.loop) if plan.loop is not None else None,
            "pes": [_pe(pe) for pe in plan.pes],
        }


def explain(
    program: Program | App[...] | Sink,
    *more: Sink,
    stage: str | None = None,
    engine: str = "spark",
    channels: Channels = "auto",
    form: Form = "auto",
    fuse: str = "all",
    expect: int | None = None,
    stream: bool = False,
) -> Explanation:
    """Compile a program and say what came of it: properties, regions, joints, ordering, places, PEs, and the reasons.

    `stage` stops the compiler early: "build", "properties", "regions", "joints", "ordering", "layout", "fuse", "forms"
    or "weigh". From the layout on a plan is one for an `engine` ("spark", "multicore" or "fused"), with so many
    `channels`, for all regions or for each by its name. `form` is that of generated code: "native", "python", or
    "auto", which is native where that can be and pays for as many tuples as are expected: `expect`, or what the
    sources look like. Of a `stream` it is the plan that `ab.start` runs at its first start, here.

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
    from anabranch.compiler import STAGE_NAMES, compile, this_machine
    from anabranch.dataflow.streams.source_checks import check_sources

    if stage is not None and stage not in STAGE_NAMES:
        raise UsageError(f"the compiler has no stage '{stage}'", hint=f"use one of: {', '.join(STAGE_NAMES)}")
    if form not in FORMS:
        raise UsageError(f"there is no form '{form}' of generated code", hint=f"use one of: {', '.join(FORMS)}")
    if engine not in PLANNED_ENGINES:
        raise UsageError(
            f"there is no plan for the engine '{engine}'", hint=f"use one of: {', '.join(PLANNED_ENGINES)}"
        )
    if fuse not in FUSIONS:
        raise UsageError(f"there is no fusion '{fuse}'", hint=f"use one of: {', '.join(FUSIONS)}")
    if expect is not None and (isinstance(expect, bool) or expect < 0):
        raise UsageError(f"{expect!r} tuples cannot be expected", hint="give a whole number, 0 or more")
    if stream and engine != "spark":
        raise UsageError(f"the engine '{engine}' runs no streams", hint='leave engine= out, or use "spark"')
    if stream and expect is not None:
        raise UsageError("of a stream nobody says how many tuples come", hint="leave expect= out")
    target = {"spark": this_machine(), "multicore": multicore(this_machine().cores), "fused": IN_PROCESS}[engine]
    settings = Settings(target.for_stream if stream else target, channels, form, expect, fuse)
    graph = as_program(program, *more).graph
    if stream:
        check_sources(graph, once=False)
    plan = compile(graph, settings, until=stage)
    asked_channels(plan, channels)
    return Explanation(plan, stage or STAGE_NAMES[-1])


# JSON ------------------------------------------------------------------------------------------------------------


def _operator(plan: Plan, operator: Operator) -> dict[str, Any]:
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
        "in_slices": operator.id in plan.in_slices,
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


def _joints(plan: Plan) -> list[dict[str, Any]]:
    """Those of the drawing."""
    joints = joints_of(as_laid_out(plan), GraphIndex(plan.graph))
    return [
        {
            "kind": joint.kind.value if joint.kind is not None else None,
            "region": joint.region.id,
            "is_entry": joint.is_entry,
            "from": joint.edges[0].source if joint.edges else None,
            "to": [edge.target for edge in joint.edges],
            "key": list(joint.arrivals[0].key if joint.arrivals else joint.region.key) if joint.is_entry else [],
        }
        for joint in joints
    ]


def _stream(plan: Plan, edge: Edge) -> dict[str, Any]:
    leaving = plan.graph.operator(edge.source).outputs[edge.source_port]
    entering = plan.graph.operator(edge.target).inputs[edge.target_port]
    return {
        "from": edge.source,
        "to": edge.target,
        "type": leaving.schema.name,
        "order_key": list(order_key(plan, edge)),
        "from_port": leaving.name,
        "to_port": entering.name,
        "feedback": edge.is_feedback,
    }


def _settings(plan: Plan) -> dict[str, Any]:
    return {
        "channels": dict(plan.channels),
        "form": plan.settings.form,
        "expected": plan.expected,
        "fuse": plan.settings.fuse,
    }


def _phase(plan: Plan, phase: Phase) -> dict[str, Any]:
    return {
        "name": phase.name,
        "reading": phase.reading.value,
        "taking": phase.taking.value if phase.taking is not None else None,
        "why": phase.why,
        "watched": list(phase.watched),
        "is_ordered": phase.layout.is_ordered,
        "in_one_place": dict(phase.layout.refused),
        "light": dict(plan.light),
        "worth": dict(plan.worth),
        "unweighed": dict(plan.unweighed),
        "first_steps": dict(phase.layout.first_steps),
        "places": [_place(phase.layout, place) for place in phase.layout.places],
    }


def _place(layout: Layout, place: Place) -> dict[str, Any]:
    return {
        "id": place.id,
        "operators": list(place.operators),
        "level": place.level,
        "channels": place.channels,
        "region": place.region,
        "follows": place.follows,
        "arrivals": [_arrival(arrival) for arrival in layout.arriving(place.id)],
    }


def _arrival(arrival: Arrival) -> dict[str, Any]:
    return {
        "from": arrival.stream.operator,
        "port": arrival.stream.port,
        "key": list(arrival.key),
        "bounds": [str(bound) for bound in arrival.bounds],
        "order_key": [_step(step) for step in arrival.lineage],
        "clock": str(arrival.clock.window) if arrival.clock is not None else None,
        "moves": _moves(arrival.clock) if arrival.clock is not None else None,
        "lines": arrival.lines.format if arrival.lines is not None else None,
    }


def _moves(clock: Clock) -> str:
    """What is sent for the time of a stream."""
    if clock.is_bare:
        return "times"
    return "past boundaries" if clock.has_boundaries else "the latest"


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, Branch):
        return {"branch": step.at, "number": step.number}
    return {"number_of": step.of}


def _pe(pe: PE) -> dict[str, Any]:
    forms = list(dict.fromkeys(segment.form for segment in pe.segments))
    reasons = [segment.why_not_native for segment in pe.segments if segment.why_not_native is not None]
    return {
        "id": pe.id,
        "operators": list(pe.operators),
        "phase": pe.phase,
        "place": pe.place,
        "form": forms[0] if len(forms) == 1 else "mixed" if forms else None,
        "reason": _reason(reasons[0]) if reasons else None,
        "why_together": [_reason(reason) for reason in pe.why_together],
        "why_apart": [_reason(reason) for reason in pe.why_apart],
        "segments": [_segment(segment) for segment in pe.segments],
    }


def _segment(segment: Segment) -> dict[str, Any]:
    why = segment.why_not_native
    return {
        "operators": list(segment.operators),
        "form": segment.form,
        "reason": _reason(why) if why is not None else None,
    }
