"""What a stream is known by: a restart goes on only with the program that began it."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from anabranch.codegen.build import Decision
from anabranch.engines.spark.layout import Layout, Place
from anabranch.engines.spark.streams.checkpoint import CheckpointError
from anabranch.graph.model import Operator
from anabranch.graph.schema import Schema
from anabranch.operators.sources.beacon import Beacon
from anabranch.version import VERSION


def identity_of(
    layout: Layout, generated: Mapping[str, Decision], channels: Mapping[str, int], partitions: int
) -> dict[str, Any]:
    """All that the state of a stream depends on."""
    return {
        "anabranch": VERSION,
        "program": layout.graph.name,
        "channels": dict(channels),
        "partitions": partitions,
        "operators": {each.id: _operator(each) for each in layout.graph.operators},
        "streams": [[edge.source, edge.source_port, edge.target, edge.target_port] for edge in layout.graph.edges],
        "places": {place.id: _place(layout, place, generated) for place in layout.places},
    }


def _operator(operator: Operator) -> dict[str, Any]:
    return {
        "kind": operator.definition.record.kind,
        "key": list(getattr(operator.definition, "key", ()) or ()),
        "takes": [_schema(port.schema) for port in operator.inputs],
        "gives": [_schema(port.schema) for port in operator.outputs],
        "code": _code(operator),
    }


def _schema(schema: Schema) -> str:
    return f"{schema.name}({', '.join(f'{each.name}: {each.type}' for each in schema.attributes)})"


def _place(layout: Layout, place: Place, generated: Mapping[str, Decision]) -> dict[str, Any]:
    decision = generated.get(place.id)
    stages = decision.stages if decision is not None else ()
    forms = [stage.form if stage.assembled is None else _mark(stage.assembled.source) for stage in stages]
    # States hold where tuples were in the order: in other columns that would mean something else.
    order = _mark(repr([(arrival.stream, arrival.lineage) for arrival in layout.arriving(place.id)]))
    return {"operators": list(place.operators), "channels": place.channels, "forms": forms, "order": order}


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _code(operator: Operator) -> str:
    """A mark of the user's code in an operator, and of its plain settings; sinks and sources may change theirs."""
    if isinstance(operator.definition, Beacon):
        return _mark("\n".join(_texts(operator.definition.fn)))
    if operator.is_source or operator.is_sink:
        return ""
    return _mark("\n".join(_texts(operator.definition)))


def _texts(value: Any) -> Iterator[str]:
    if inspect.isfunction(value) or inspect.isclass(value):
        yield _without_layout(value)
    elif is_dataclass(value):
        for each in fields(value):
            yield each.name
            yield from _texts(getattr(value, each.name))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, int | float | str | bytes | bool | type(None)):
        yield repr(value)
    else:
        yield type(value).__qualname__


def _without_layout(code: Any) -> str:
    """Comments and blank lines do not matter."""
    try:
        return ast.dump(ast.parse(textwrap.dedent(inspect.getsource(code))))
    except (OSError, TypeError, SyntaxError):  # a lambda in the middle of a line, or code that has no source
        compiled = getattr(code, "__code__", None)
        text = "" if compiled is None else f" {compiled.co_code.hex()} {compiled.co_consts!r}"
        return f"{code.__qualname__}{text}"


def check_same(folder: Any, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Say what has changed since a stream began, if its state cannot be used any more."""
    problem = _difference(before, now)
    if problem is not None:
        raise CheckpointError(
            f"{folder}: the checkpoint was written by another program: {problem}",
            hint="begin with a new folder (and other outputs), or start the program that it belongs to",
        )


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    if before["program"] != now["program"]:
        return f"by '{before['program']}', and this is '{now['program']}'"
    old, new = before["operators"], now["operators"]
    for name in (*old, *new):
        if name not in new:
            return f"it had an operator '{name}'"
        if name not in old:
            return f"it had no operator '{name}'"
        for what, text in (("kind", "was"), ("key", "had the key"), ("takes", "took"), ("gives", "gave")):
            if old[name][what] != new[name][what]:
                return f"'{name}' {text} {_said(old[name][what])}, and now {_said(new[name][what])}"
        if old[name]["code"] != new[name]["code"]:
            return f"the code or the settings of '{name}' have changed"
    if before["streams"] != now["streams"]:
        return "its operators were connected in another way"
    if before["places"] != now["places"] or before["anabranch"] != now["anabranch"]:
        return f"it was laid out in another way, by anabranch {before['anabranch']}"
    return None


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
