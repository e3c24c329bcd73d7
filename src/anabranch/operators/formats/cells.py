"""Values as the cells of a CSV file: scalars as text, lists and nested tuples as JSON."""

from __future__ import annotations

from anabranch.graph.schema import AttributeType
from anabranch.operators.formats.json_values import dump_json, from_json, parse_json, to_json
from anabranch.operators.formats.text_values import PARSERS, WRITERS, Parse, Show


def cell_parser(kind: AttributeType) -> Parse:
    """A function from a cell's text to a value in normal form; `ValueProblem` where the text is none.

    An empty cell is None where the attribute allows it, also for `str | None`: the empty string and empty
    bytes of such an attribute are read back as None.
    """
    parse = PARSERS[kind.kind] if kind.kind in PARSERS else _json_parser(kind)
    if not kind.optional:
        return parse
    return lambda text: None if text == "" else parse(text)


def cell_writer(kind: AttributeType) -> Show:
    """A function from a value to its cell's text."""
    show = WRITERS[kind.kind] if kind.kind in WRITERS else _json_writer(kind)
    if not kind.optional:
        return show
    return lambda value: "" if value is None else show(value)


def _json_parser(kind: AttributeType) -> Parse:
    convert = from_json(kind.without_none())
    return lambda text: convert(parse_json(text))


def _json_writer(kind: AttributeType) -> Show:
    convert = to_json(kind.without_none())
    return lambda value: dump_json(convert(value))
