"""A plan as one self-contained page: the drawing, and tables of everything that is known and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from anabranch.graph.draw import as_svg, drawing_and_legend
from anabranch.graph.drawing.markup import Element, as_html, as_inner_html, element
from anabranch.graph.drawing.style import PAGE_STYLE
from anabranch.graph.format_layout import order_key, order_rows, pe_place, phase_notes, phase_title, place_rows
from anabranch.graph.format_regions import RegionRow, region_rows
from anabranch.graph.model import Edge, Operator
from anabranch.graph.phrases import (
    ORDERING_MEANS,
    forms_words,
    forwards_words,
    names,
    reason_words,
    selectivity_words,
    sequential_operators,
    settings_words,
    state_words,
    summary,
)
from anabranch.graph.plan import PE, Plan
from anabranch.graph.properties import Reason

_DASH = "–"
_DRAWN = '<div style="overflow-x:auto">{}</div>'


def as_page(plan: Plan, channels: Mapping[str, int]) -> str:
    title = f"{plan.graph.name}: {summary(plan)}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", PAGE_STYLE),
    )
    drawing, key = drawing_and_legend(plan, channels)
    body = element(
        "body", element("figure", element("div", drawing, class_="drawing"), element("div", key, class_="key"))
    )
    body.extend(_sections(plan, channels))
    return as_html(element("html", head, body, lang="en"))


def as_fragment(plan: Plan, channels: Mapping[str, int]) -> str:
    """The same to be shown within another page, as that of a notebook: the tables unfold."""
    tables = element("details", element("summary", "How it runs, and why"), *_sections(plan, channels))
    return fragment(_DRAWN.format(as_svg(plan, channels)), tables if plan.regions or plan.phases else None)


def fragment(*parts: Element | str | None) -> str:
    """Parts of another page; texts are HTML already."""
    return "\n".join(part if isinstance(part, str) else as_inner_html(part) for part in parts if part is not None)


def _sections(plan: Plan, channels: Mapping[str, int]) -> list[Element]:
    settings = [element("p", f"for {settings_words(plan)}", class_="settings")] if plan.phases else []
    return [
        *settings,
        *_regions(plan, channels),
        *_layout(plan),
        *_pes(plan),
        *_not_parallel(plan, plan.in_slices),
        *_operators(plan),
        *_streams(plan),
    ]


# Sections --------------------------------------------------------------------------------------------------------


def _regions(plan: Plan, channels: Mapping[str, int]) -> list[Element]:
    rows = [_region_row(row) for row in region_rows(plan, channels)]
    return _section("Parallel regions", ("region", "operators", "routing", "joints", "order"), rows)


def _region_row(row: RegionRow) -> list[Element | str]:
    region = row.region
    order: Element | str = _DASH
    if region.ordering is not None:
        meaning = element("div", ORDERING_MEANS[region.ordering], class_="why")
        order = element("div", row.ordering, meaning)
        order.extend(_reason(reason) for reason in region.reasons if reason.about == "ordering")
    operators = element("div", names(region.operators))
    operators.extend(element("div", words, class_="why") for words in row.elsewhere)
    operators.extend(_reason(reason) for reason in region.reasons if reason.about != "ordering")
    return [element("b", row.title), operators, row.routing, row.joints or _DASH, order]


def _layout(plan: Plan) -> list[Element]:
    """Every phase: its places, what is to be said of them, and how the order comes back."""
    made: list[Element] = []
    for phase in plan.phases:
        places: list[list[Element | str]] = [
            [row.where, row.channels, row.operators, _lines(row.arrivals)] for row in place_rows(plan, phase)
        ]
        orders: list[list[Element | str]] = [
            [element("b", row.strategy), f"{row.how} {row.numbers}"] for row in order_rows(plan, phase)
        ]
        title = phase_title(plan, phase)
        made += _section(title, ("stage", "channels", "operators", "what comes there, and in which order"), places)
        made += [element("h2", title)] if not places else []
        made += [element("p", note) for note in phase_notes(plan, phase)]
        made += table(("order of", "how it comes back"), orders)
    return made


def _lines(texts: Iterable[str]) -> Element | str:
    made = [element("div", text) for text in texts]
    return element("div", *made) if made else _DASH


def _not_parallel(plan: Plan, apart: Collection[str]) -> list[Element]:
    rows: list[list[Element | str]] = []
    for operators, reasons in sequential_operators(plan, apart):
        why = element("div", *(_reason(reason, with_code=True) for reason in reasons))
        hints = dict.fromkeys(reason.hint for reason in reasons if reason.hint)
        edits = element("div", *(element("div", hint) for hint in hints)) if hints else _DASH
        rows.append([element("div", *(element("div", _name(each)) for each in operators)), why, edits])
    return _section("Not parallel", ("operator", "why", "what would help"), rows)


def _operators(plan: Plan) -> list[Element]:
    heads = ("operator", "kind", "state", "selectivity", "attributes", "region", "PE", "reasons")
    return _section("Operators", heads, [_operator_row(plan, operator) for operator in plan.graph.operators])


def _operator_row(plan: Plan, operator: Operator) -> list[Element | str]:
    properties, region, pe = plan.properties.get(operator.id), plan.region_of(operator.id), plan.pe_of(operator.id)
    where = element("div", str(operator.location), class_="why")
    known = [_DASH, _DASH, _DASH]
    reasons: list[Element] = []
    if properties is not None:
        selectivity = selectivity_words(properties.selectivity) if operator.inputs else _DASH
        known = [state_words(properties), selectivity, forwards_words(operator, properties) or _DASH]
        reasons = [_reason(reason, about=reason.about, besides=operator) for reason in properties.reasons]
    return [
        element("div", _name(operator), where),
        operator.kind,
        *known,
        region.id if region is not None else _DASH,
        pe.id if pe is not None else _DASH,
        element("div", *reasons),
    ]


def _pes(plan: Plan) -> list[Element]:
    rows = [_pe_row(plan, pe) for pe in plan.pes]
    return _section("Processing elements", ("PE", "operators fused into one function", "place", "code"), rows)


def _pe_row(plan: Plan, pe: PE) -> list[Element | str]:
    forms = element("div", *(element("div", words) for words in forms_words(pe))) if pe.segments else _DASH
    return [element("b", pe.id), names(pe.operators), pe_place(plan, pe) or _DASH, forms]


def _streams(plan: Plan) -> list[Element]:
    rows = [_stream_row(plan, edge) for edge in plan.graph.edges]
    return _section("Streams", ("from", "to", "type", "order key"), rows)


def _stream_row(plan: Plan, edge: Edge) -> list[Element | str]:
    source, target = plan.graph.operator(edge.source), plan.graph.operator(edge.target)
    leaving = f".{source.outputs[edge.source_port].name}" if len(source.outputs) > 1 else ""
    entering = f".{target.inputs[edge.target_port].name}" if len(target.inputs) > 1 else ""
    return [
        element("code", f"{source.id}{leaving}"),
        element("code", f"{target.id}{entering}" + (" (feedback)" if edge.is_feedback else "")),
        element("code", str(source.outputs[edge.source_port].schema)),
        names(order_key(plan, edge)) or _DASH,
    ]


# Pieces ----------------------------------------------------------------------------------------------------------


def _section(title: str, heads: Iterable[str], rows: list[list[Element | str]]) -> list[Element]:
    return [element("h2", title), *table(heads, rows)] if rows else []


def table(heads: Iterable[str], rows: list[list[Element | str]]) -> list[Element]:
    if not rows:
        return []
    made = element("table", element("thead", element("tr", *(element("th", head) for head in heads))))
    made.append(element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows)))
    return [element("div", made, class_="table")]


def _name(operator: Operator) -> Element:
    return element("code", operator.id, class_="name")


def _reason(
    reason: Reason, *, about: str | None = None, besides: Operator | None = None, with_code: bool = False
) -> Element:
    words = reason_words(reason, besides.location if besides is not None else None)
    made = element("div", f"{about}: {words}" if about is not None else words, class_="why")
    if with_code and reason.location is not None and reason.location.code:
        made.append(element("pre", reason.location.code))
    return made
