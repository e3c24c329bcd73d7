"""What a stream is known by: a restart goes on only with the program that began it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from anabranch.codegen.build import Code, marks_of
from anabranch.dataflow.streams.checkpoint import CheckpointError
from anabranch.dataflow.streams.code_texts import CodeTexts, plain_text
from anabranch.graph.forms import Form
from anabranch.graph.model import Operator
from anabranch.graph.places import Layout, Place
from anabranch.graph.schema import Schema
from anabranch.operators.base import Unreadable
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.version import VERSION


def identity_of(
    layout: Layout, code: Mapping[str, Code], channels: Mapping[str, int], partitions: int, form: Form, fuse: str
) -> dict[str, Any]:
    """All that the state of a stream depends on."""
    return {
        "anabranch": VERSION,
        "python": ".".join(map(str, sys.version_info[:2])),
        "program": layout.graph.name,
        "channels": dict(channels),
        "partitions": partitions,
        "form": form,
        "fuse": fuse,
        "operators": {each.id: _operator(each) for each in layout.graph.operators},
        "streams": [[edge.source, edge.source_port, edge.target, edge.target_port] for edge in layout.graph.edges],
        "places": {place.id: _place(layout, place, code) for place in layout.places},
    }


def _operator(operator: Operator) -> dict[str, Any]:
    return {
        "kind": operator.definition.record.kind,
        "key": list(getattr(operator.definition, "key", ()) or ()),
        "takes": [_schema(port.schema) for port in operator.inputs],
        "gives": [_schema(port.schema) for port in operator.outputs],
        **_code(operator),
    }


def _schema(schema: Schema) -> str:
    return f"{schema.name}({', '.join(f'{each.name}: {each.type}' for each in schema.attributes)})"


def _place(layout: Layout, place: Place, code: Mapping[str, Code]) -> dict[str, Any]:
    functions = code[place.id].functions if place.id in code else []
    marks = marks_of(code[place.id]) if place.id in code else []
    # States hold where tuples were in the order: in other columns that would mean something else.
    order = _mark(repr([(arrival.stream, arrival.lineage) for arrival in layout.arriving(place.id)]))
    forms = [each.form for each in functions]
    return {
        "operators": list(place.operators), "channels": place.channels, "forms": forms, "order": order, "code": marks
    }  # fmt: skip


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _code(operator: Operator) -> dict[str, Any]:
    """Marks of the user's code in an operator, and of what it uses. Sinks may change theirs, and what reads files."""
    texts = CodeTexts()
    if isinstance(operator.definition, Beacon):
        texts.read(operator.definition.fn)
    elif isinstance(operator.definition, FromItems):
        return {"code": "", "values": {}, "items": _items(operator.definition.items)}
    elif isinstance(operator.definition, FromFrame):
        return {"code": "", "values": {}, "items": _marks_of(operator.definition.partitions(operator)[0])}
    elif not operator.is_source and not operator.is_sink:
        texts.read(operator.definition)
    return {"code": _mark("\n".join(texts.code)), "values": {name: _mark(text) for name, text in texts.values.items()}}


def _items(items: Any) -> str:
    """A mark of the contents of `from_items`, as far as they are plain."""
    if isinstance(items, range):
        return repr(items)
    return _marks_of(items if isinstance(items, tuple) else ())  # others a stream refuses


def _marks_of(items: Iterable[Any]) -> str:
    found = hashlib.sha256()
    for each in items:
        item = each.raw if isinstance(each, Unreadable) else each
        found.update(f"{plain_text(item) or type(item).__qualname__}\n".encode(errors="surrogatepass"))
    return found.hexdigest()[:16]


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
        changed = _changed_code(name, old[name], new[name])
        if changed is not None:
            is_upgraded = before["python"] != now["python"]  # which compares code in other words
            return f"it was begun with Python {before['python']}" if is_upgraded else changed
    if before["streams"] != now["streams"]:
        return "its operators were connected in another way"
    if before["anabranch"] != now["anabranch"]:
        return f"it was laid out in another way, by anabranch {before['anabranch']}"
    if before["places"] != now["places"]:
        if before["form"] != now["form"]:
            return f"its code had the form '{before['form']}', and now '{now['form']}'"
        if before["fuse"] != now["fuse"]:
            return f"its operators were fused with '{before['fuse']}', and now '{now['fuse']}'"
        if _without_code(before["places"]) == _without_code(now["places"]):
            return "its code was laid out by another version of anabranch"
        return "it was laid out in another way: by another version of anabranch, or for other hints (.place)"
    return None


def _without_code(places: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**place, "code": None} for name, place in places.items()}


def _changed_code(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    if old.get("items") != new.get("items"):
        return f"the items of '{name}' have changed"
    # First what has a name: where a value is of another kind, the code is not the same either.
    for used in old["values"]:  # those that only one side knows are in code that differs, or were seen to change
        if old["values"][used] != new["values"].get(used, old["values"][used]):
            return f"'{used.rpartition(':')[2]}', which '{name}' uses, has another value"
    return f"the code or the settings of '{name}' have changed" if old["code"] != new["code"] else None


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
