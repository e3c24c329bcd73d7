"""A plan as text: the graph drawn in the terminal, what is known and decided, and what is not parallel and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from anabranch.graph.format_layout import layout_lines, pe_place
from anabranch.graph.format_regions import region_rows
from anabranch.graph.index import GraphIndex
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.lanes import DrawnRow, rows_of, state_sign
from anabranch.graph.model import Operator
from anabranch.graph.phrases import (
    columns,
    elided,
    forms_words,
    forwards_words,
    joint_sentence,
    joint_words,
    names,
    printable,
    reason_words,
    selectivity_words,
    sequential_operators,
    settings_words,
    state_words,
    summary,
    types_out,
)
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Reason
from anabranch.graph.wrapping import padded, wrapped

_LABEL_COLUMNS = 44  # names of the drawing beyond that push their properties to the right


def as_text(plan: Plan, channels: Mapping[str, int], width: int = 100) -> str:
    """The whole explanation, plain text of at most `width` columns."""
    sections = [
        [f"{printable(plan.graph.name)}: {summary(plan)}", *_settings(plan, width)],
        list(_drawing(as_laid_out(plan), channels, width)),
        list(_operators(plan, width)),
        list(_regions(plan, channels, width)),
        list(layout_lines(plan, width)),
        list(_pes(plan, width)),
        list(_not_parallel(plan, width, plan.in_slices)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _settings(plan: Plan, width: int) -> Iterator[str]:
    """What the plan is made for."""
    if plan.phases:
        yield from wrapped(f"for {settings_words(plan)}", width, indent=0, hanging=2)


# The drawing -----------------------------------------------------------------------------------------------------


def _drawing(plan: Plan, channels: Mapping[str, int], width: int) -> Iterator[str]:
    """What runs where once that is known; `plan` has the regions to be drawn."""
    channels = {**channels, **plan.channels}
    index = GraphIndex(plan.graph)
    rows = rows_of(plan, index)
    labels = [_label(plan, row) for row in rows]
    name_columns = min(max(map(columns, labels)), _LABEL_COLUMNS)
    table = [_cells(plan, index, row, channels) for row in rows]
    state_columns = max((columns(cells[0]) for cells in table if len(cells) > 1), default=0)
    for label, cells in zip(labels, table, strict=True):
        details = cells[0]
        if len(cells) > 1:
            details = f"{padded(cells[0], min(state_columns, 28))}  {padded(cells[1], 7)}  {cells[2]}"
        yield elided(f"  {padded(label, name_columns)}  {details}".rstrip(), width)
    if plan.properties:
        yield ""
        key = "○ stateless   ◐ partitioned   ● stateful" + ("   ║ in parallel" if plan.regions else "")
        yield from wrapped(key, width, indent=2, hanging=2)


def _label(plan: Plan, row: DrawnRow) -> str:
    if row.joint is not None:
        return f"{row.lanes} [{joint_words(row.joint.kind) if row.joint.kind else 'region'}]"
    if row.operator is None:
        return row.lanes
    name = printable(row.operator.id)
    if plan.region_of(row.operator.id) is not None:
        name = f"{state_sign(plan, row.operator)} {name}"
    return f"{row.lanes} {name}"


def _cells(plan: Plan, index: GraphIndex, row: DrawnRow, channels: Mapping[str, int]) -> list[str]:
    """What stands beside a row: a sentence for a joint, three columns for an operator."""
    if row.joint is not None:
        return [joint_sentence(row.joint, channels)]
    if row.operator is None:
        return [""]
    return _operator_cells(plan, index, row.operator, row.unseen)


def _operator_cells(plan: Plan, index: GraphIndex, operator: Operator, unseen: tuple[str, ...]) -> list[str]:
    properties = plan.properties.get(operator.id)
    state = state_words(properties) if properties is not None else operator.kind
    selectivity = selectivity_words(properties.selectivity) if properties is not None and operator.inputs else ""
    return [state, selectivity, "  ".join(_stream_notes(plan, index, operator, unseen))]


def _stream_notes(plan: Plan, index: GraphIndex, operator: Operator, unseen: tuple[str, ...]) -> Iterator[str]:
    """What a person cannot see from the lanes: types, ports, feedback, and streams without a lane."""
    ports = [
        f"{edge.source}.{plan.graph.operator(edge.source).outputs[edge.source_port].name}"
        for edge in index.entering(operator.id)
        if len(plan.graph.operator(edge.source).outputs) > 1 and not edge.is_feedback
    ]
    arriving = ports or list(unseen)
    if arriving:
        yield f"← {names(arriving)}"
    if operator.outputs and _changes_type(operator):
        yield f"→ {types_out(operator)}"
    back = [edge.target for edge in index.leaving(operator.id) if edge.is_feedback]
    if back:
        yield f"↺ back to {names(back)}"


def _changes_type(operator: Operator) -> bool:
    if len(operator.outputs) > 1 or not operator.inputs:
        return True
    return operator.outputs[0].schema != operator.inputs[0].schema


# The sections ----------------------------------------------------------------------------------------------------


def _operators(plan: Plan, width: int) -> Iterator[str]:
    if not plan.properties:
        return
    yield "Operators"
    size = _name_columns(plan.graph.operators)
    for operator in plan.graph.operators:
        yield from _operator_lines(plan, operator, width, size)


def _name_columns(operators: Iterable[Operator]) -> int:
    return min(max(columns(printable(operator.id)) for operator in operators), 24)


def _operator_lines(plan: Plan, operator: Operator, width: int, name_columns: int) -> Iterator[str]:
    properties = plan.properties[operator.id]
    facts = [state_words(properties)]
    if operator.inputs:
        facts.append(selectivity_words(properties.selectivity))
    facts += [words for words in (forwards_words(operator, properties),) if words]
    region, pe = plan.region_of(operator.id), plan.pe_of(operator.id)
    facts += [part.id for part in (region, pe) if part is not None]
    facts.append(printable(str(operator.location)))
    label = padded(printable(operator.id), name_columns)
    margin = 4 + name_columns
    yield from wrapped(f"{label}  {' · '.join(facts)}", width, indent=2, hanging=margin)
    for reason in properties.reasons:
        words = f"{reason.about}: {reason_words(reason, operator.location)}"
        yield from wrapped(words, width, indent=margin, hanging=margin + 2)


def _regions(plan: Plan, channels: Mapping[str, int], width: int) -> Iterator[str]:
    if not plan.regions:
        return
    yield "Regions"
    rows = region_rows(plan, channels)
    table = [[row.title, row.routing, row.joints, row.ordering] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*table, strict=True)]
    for row, cells in zip(rows, table, strict=True):
        line = "  ".join(padded(cell, size) for cell, size in zip(cells, widths, strict=True))
        yield elided(f"  {line}".rstrip(), width)
        yield from wrapped(names(row.region.operators), width, indent=6, hanging=6)
        for words in (*row.elsewhere, *map(_region_reason, row.region.reasons)):
            yield from wrapped(words, width, indent=6, hanging=8)


def _region_reason(reason: Reason) -> str:
    words = reason_words(reason)
    return f"{reason.about}: {words}" if reason.about != "region" else words


def _pes(plan: Plan, width: int) -> Iterator[str]:
    if not plan.pes:
        return
    yield "PEs"
    size = max(columns(pe.id) for pe in plan.pes)
    for pe in plan.pes:
        where = f"  ({place})" if (place := pe_place(plan, pe)) else ""
        yield from wrapped(f"{padded(pe.id, size)}  {names(pe.operators)}{where}", width, indent=2, hanging=4 + size)
        for words in forms_words(pe):
            yield from wrapped(words, width, indent=4 + size, hanging=6 + size)


def _not_parallel(plan: Plan, width: int, apart: Collection[str]) -> Iterator[str]:
    """Why each operator that is in no region is in none, and the smallest edit that would change that, said once."""
    outside = sequential_operators(plan, apart)
    if not outside:
        return
    yield "Not parallel"
    size = _name_columns([operator for operators, _ in outside for operator in operators[:1]])
    advised: dict[str, str] = {}
    for operators, reasons in outside:
        label = padded(printable(operators[0].id), size) + "  "
        if len(operators) > 1:
            yield from wrapped(names(operator.id for operator in operators), width, indent=2, hanging=2)
            label = " " * columns(label)
        yield from why_not_lines([_advised_once(each, advised, operators[0]) for each in reasons], width, label)


def _advised_once(reason: Reason, advised: dict[str, str], operator: Operator) -> Reason:
    """Of a hint that was given before, for which operator that was."""
    hint = reason.hint
    if hint is None:
        return reason
    if hint not in advised:
        advised[hint] = operator.id
        return reason
    return replace(reason, hint=None if advised[hint] == operator.id else min(hint, f"as for {advised[hint]}", key=len))


def why_not_lines(reasons: Iterable[Reason], width: int, label: str = "") -> Iterator[str]:
    """Why one operator is not parallel, at which line, and what to try, beside a label."""
    margin = 2 + columns(label)
    for reason in reasons:
        yield from wrapped(f"{label}{reason_words(reason)}", width, indent=2, hanging=margin)
        code = reason.location.code if reason.location is not None else ""
        if code:
            yield elided(" " * margin + f"│ {printable(code)}", width)
        if reason.hint:
            yield from wrapped(f"try: {printable(reason.hint)}", width, indent=margin, hanging=margin + 5)
        label = " " * columns(label)
