"""How properties, regions and reasons are put into words: the same in the text, the drawing and the page."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from anabranch.errors import Location
from anabranch.graph.joints import Joint
from anabranch.graph.laid_out import ARRIVED, FILES, READERS, SLICES
from anabranch.graph.model import Operator
from anabranch.graph.places import PARTS, Arrival
from anabranch.graph.plan import PE, JointKind, Ordering, Plan, Region, Segment
from anabranch.graph.properties import Properties, Reason, Selectivity, State
from anabranch.graph.settings import Target

ORDERING_MEANS: dict[Ordering, str] = {
    Ordering.NONE: "nothing behind the region can observe the order",
    Ordering.ROUND_ROBIN: "channels are emptied in turn, as they were filled",
    Ordering.SEQNO: "by sequence number; every number comes exactly once",
    Ordering.STRICT: "by sequence number; pulses tell how far a channel is when it drops tuples",
    Ordering.RELAXED: "by sequence number; a number may come several times, pulses tell when it is over",
}
JOINT_MEANS: dict[JointKind, str] = {
    JointKind.SOURCE: "many tasks read the source, a part each",
    JointKind.SPLIT: "deals the stream out to the channels",
    JointKind.SHUFFLE: "deals out again what many channels or tasks have",
    JointKind.MERGE: "puts the tuples of all channels in order again",
    JointKind.SINK: "many tasks write the output, a part each",
}
_BY_MANY_TASKS = {
    SLICES: "read in slices",
    READERS: "read by a task for each file",
    ARRIVED: "what has come, read by many tasks",
    FILES: "written by many tasks",
}


def printable(text: str) -> str:
    """The text with control characters made visible, so that no name can move a cursor or break a file."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _visible(character) for character in text)


def _visible(character: str) -> str:
    return " " if character in "\t\n\r" else f"\\u{ord(character):04x}"


def elided(text: str, width: int) -> str:
    """The text, cut to a width in columns with an ellipsis where it is longer."""
    if columns(text) <= width:
        return text
    kept = text[: max(width - 1, 0)]
    while kept and columns(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def columns(text: str) -> int:
    """How wide a text is in a fixed-width font, where East Asian characters take two columns."""
    if text.isascii():
        return len(text)
    return sum(_column_width(character) for character in text)


@cache
def _column_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def summary(plan: Plan) -> str:
    """How big a program is, on one line."""
    parts = [counted(len(plan.graph.operators), "operator")]
    if is_partitioned_into_regions(plan):
        parts.append(counted(len(plan.regions), "parallel region") if plan.regions else "no parallel region")
    if plan.pes:
        parts.append(counted(len(plan.pes), "PE"))
    return ", ".join(parts)


def is_partitioned_into_regions(plan: Plan) -> bool:
    """Whether the compiler has got as far as forming regions."""
    return bool(plan.regions or plan.sequential)


# Operators ------------------------------------------------------------------------------------------------------


def state_words(properties: Properties) -> str:
    if properties.state is State.PARTITIONED:
        return f"partitioned by {names(properties.key)}"
    return str(properties.state.value)


def selectivity_words(selectivity: Selectivity) -> str:
    return selectivity.value.replace("inf", "∞")


def forwards_words(operator: Operator, properties: Properties) -> str:
    """Which attributes leave as they came, in as few words as that takes."""
    if not operator.inputs or not operator.outputs:
        return ""
    if not properties.forwards:
        return "forwards nothing"
    unchanged = {out for out, into in properties.forwards if out == into}
    if unchanged.issuperset(operator.inputs[0].schema.names):
        return "forwards everything"
    return "forwards " + ", ".join(
        printable(out if out == into else f"{into} as {out}") for out, into in properties.forwards
    )


def types_out(operator: Operator) -> str:
    """What leaves an operator, by port where there are several."""
    if len(operator.outputs) == 1:
        return printable(operator.outputs[0].schema.name)
    return ", ".join(printable(f"{port.name}: {port.schema.name}") for port in operator.outputs)


def names(attributes: Iterable[str]) -> str:
    return printable(", ".join(attributes))


# Reasons --------------------------------------------------------------------------------------------------------


def reason_words(reason: Reason, besides: Location | None = None) -> str:
    """A reason with the line it speaks of, unless that is the line of the operator itself."""
    text = printable(reason.text)
    return f"{text} ({printable(str(reason.location))})" if _is_elsewhere(reason, besides) else text


def _is_elsewhere(reason: Reason, besides: Location | None) -> bool:
    return reason.location is not None and reason.location != besides


def reasons_of(plan: Plan, operator: Operator) -> tuple[Reason, ...]:
    """Everything that is known about an operator, each reason once."""
    properties = plan.properties.get(operator.id)
    known = properties.reasons if properties is not None else ()
    return tuple(dict.fromkeys((*known, *plan.sequential.get(operator.id, ()), *_why_in_one_place(plan, operator))))


def why_sequential(plan: Plan, operator: Operator) -> tuple[Reason, ...]:
    """Why an operator does not run in channels; nothing where it does, or where that is not decided yet."""
    if plan.region_of(operator.id) is not None:
        return _why_in_one_place(plan, operator)
    if not is_partitioned_into_regions(plan):
        return ()
    return plan.sequential.get(operator.id) or (Reason("region", "no reason is known", operator.location),)


def _why_in_one_place(plan: Plan, operator: Operator) -> tuple[Reason, ...]:
    """Why an operator of a region is not in channels after all."""
    region = plan.region_of(operator.id)
    if region is None:
        return ()
    if operator.id in plan.light:
        where = plan.graph.operator(region.entry).location
        return (Reason("region", f"{region.id} is not worth its channels: {plan.light[operator.id]}", where),)
    why = plan.in_one_place.get(region.id)
    if why is not None:
        return (Reason("region", f"{region.id} is in one place: {why}", plan.graph.operator(region.entry).location),)
    reader = plan.read_in_one_place.get(operator.id)
    return (Reason("region", f"it could be read in parallel, but {reader}", operator.location),) if reader else ()


def sequential_operators(plan: Plan, apart: Collection[str]) -> list[tuple[list[Operator], tuple[Reason, ...]]]:
    """The operators that are not in channels and not `apart`, and why; those with the very same reasons together.

    An engine may do some operators in parallel without a region, which are `apart`.
    """
    found: dict[tuple[Reason, ...], list[Operator]] = {}
    for operator in plan.graph.operators:
        reasons = () if operator.id in apart else why_sequential(plan, operator)
        if reasons:
            found.setdefault(reasons, []).append(operator)
    return [(operators, reasons) for reasons, operators in found.items()]


# Processing elements --------------------------------------------------------------------------------------------


def forms_words(pe: PE) -> list[str]:
    """The form of each of its segments, why it is not native, and who is in it, or not, otherwise than asked for."""
    together = [f"in one PE: {reason_words(reason)}" for reason in pe.why_together]
    apart = [f"not in one PE: {reason_words(reason)}" for reason in pe.why_apart]
    if len(pe.segments) == 1:
        return [form_words(pe.segments[0]), *together, *apart]
    return [*(f"{names(segment.operators)}: {form_words(segment)}" for segment in pe.segments), *together, *apart]


def form_words(segment: Segment) -> str:
    why = reason_words(segment.why_not_native) if segment.why_not_native is not None else None
    match segment.form:
        case "native":
            return "native form"
        case None:
            return f"cannot be native: {why}"
        case _:
            return f"Python form: {why}" if why is not None else "Python form, as asked for"


# Regions --------------------------------------------------------------------------------------------------------


def routing_words(region: Region) -> str:
    if region.id in _BY_MANY_TASKS:
        return _BY_MANY_TASKS[region.id]
    return f"key {names(region.key)}" if region.key else "any tuple to any channel"


def arrival_words(arrival: Arrival) -> str:
    """Which channel takes which tuples."""
    if arrival.place == PARTS:
        return "whole epochs put in order"
    if not arrival.key:
        return "whole epochs in turn"
    return f"{'ranges of' if arrival.bounds else 'key'} {names(arrival.key)}"


def joint_sentence(joint: Joint, channels: Mapping[str, int]) -> str:
    """What happens at a joint."""
    region = joint.region
    if joint.is_entry and region.id in _BY_MANY_TASKS and not joint.edges:
        return routing_words(region)
    if joint.is_entry:
        routing = arrival_words(joint.arrivals[0]) if joint.arrivals else routing_words(region)
        return f"{region_title(region, channels)}: {routing}"
    if region.id == FILES:
        return "a file for each epoch"
    if region.id in _BY_MANY_TASKS:
        return f"{region.id} end, order: as read"
    return f"{region.id} ends" + (f", order: {region.ordering.value}" if region.ordering is not None else "")


def joint_words(kind: JointKind | None) -> str:
    match kind:
        case None:
            return "not chosen yet"
        case JointKind.SOURCE:
            return "parallel source"
        case JointKind.SINK:
            return "parallel sink"
        case _:
            return str(kind.value)


def ordering_words(region: Region) -> str:
    return region.ordering.value if region.ordering is not None else "not chosen yet"


def region_title(region: Region, channels: Mapping[str, int]) -> str:
    """A region's name, with its number of channels where that is known."""
    count = channels.get(region.id)
    return f"{region.id} ×{count}" if count is not None else region.id


def settings_words(plan: Plan) -> str:
    """The target, and what was asked for."""
    settings, target = plan.settings, plan.settings.target
    where = target_words(target) + (f" on {counted(target.cores, 'core')}" if target.has_channels else "")
    tuples = f"about {plan.expected:,} tuples" if plan.expected is not None else "an unknown number of tuples"
    if target.is_endless:
        tuples = "a stream"
    return f"{where}, {tuples}, form {settings.form}, fuse {settings.fuse}"


def target_words(target: Target) -> str:
    return "Spark" if target.name == "spark" else f"the {target.name} engine"
