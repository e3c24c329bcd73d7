"""JSON lines: one object per line, members matched to attributes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from anabranch.graph.schema import Schema
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.base import Item, TextFormat
from anabranch.operators.formats.json_values import dump_json, parse_json, tuple_from_json, tuple_to_json
from anabranch.operators.formats.text_lines import Line, printable, text_lines


class JsonlFormat(TextFormat):
    """No options. Blank lines are skipped; NaN and Infinity are written as such and read."""

    name = "jsonl"

    def read_stream(self, stream: BinaryIO, name: str, schema: Schema, **options: Any) -> Iterator[Item]:
        yield from read_json_lines(text_lines(stream, name), name, schema)

    def encoder(self, schema: Schema, **options: Any) -> Callable[[Any], str]:
        convert = tuple_to_json(schema)
        return lambda item: dump_json(convert(item)) + "\n"


JSONL = JsonlFormat()


def read_json_lines(lines: Iterable[Line], name: str, schema: Schema) -> Iterator[Item]:
    convert = tuple_from_json(schema)
    for number, text, problem in lines:
        if problem is None:
            if not text or text.isspace():
                continue
            try:
                item = convert(parse_json(text))
            except ValueProblem as unfit:
                problem = str(unfit)
        if problem is not None:
            item = Unreadable(problem, where=f"{name}:{number}", raw=printable(text).removesuffix("\r"))
        yield item
