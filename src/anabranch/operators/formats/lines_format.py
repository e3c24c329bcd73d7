"""Plain lines: each line is a tuple with one string, and with its number if the type has an int for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from anabranch.errors import BuildError, SinkError
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.base import Item, TextFormat
from anabranch.operators.formats.text_lines import Line, printable, text_lines
from anabranch.operators.formats.text_values import shown


def check_lines_schema(schema: Schema) -> None:
    """Lines hold exactly one string each; a `BuildError` where the type asks for something else."""
    if [attribute.type for attribute in schema.attributes] != [AttributeType("str")]:
        raise BuildError(
            f"lines of text need a tuple with exactly one attribute, a str; {schema} is not that",
            hint="use a type such as class Line(NamedTuple): text: str",
        )


def check_numbered_lines_schema(schema: Schema) -> None:
    """A line that is read may also be told its number in the file."""
    kinds = sorted(str(attribute.type) for attribute in schema.attributes)
    if kinds not in (["str"], ["int", "str"]):
        raise BuildError(
            f"a line of text is a str, and if wanted its number, an int; {schema} is not that",
            hint="use a type such as class Line(NamedTuple): text: str",
        )


class LinesFormat(TextFormat):
    """No options. Lines end at newlines only; one carriage return at a line's end is not part of it."""

    name = "lines"

    def check_schema(self, schema: Schema) -> None:
        check_lines_schema(schema)

    def check_read_schema(self, schema: Schema) -> None:
        check_numbered_lines_schema(schema)

    def read_stream(self, stream: BinaryIO, name: str, schema: Schema, **options: Any) -> Iterator[Item]:
        yield from read_plain_lines(text_lines(stream, name, skip_mark=False), name, schema)

    def encoder(self, schema: Schema, **options: Any) -> Callable[[Any], str]:
        return _encode


def _encode(item: Any) -> str:
    (line,) = item
    if "\n" in line or line.endswith("\r"):
        raise SinkError(
            f"{shown(line)} cannot be written as one line: it holds a newline or ends in a carriage return",
            hint="write it as JSON lines or CSV, or replace those characters first",
        )
    return f"{line}\n"


LINES = LinesFormat()


def read_plain_lines(lines: Iterable[Line], name: str, schema: Schema) -> Iterator[Item]:
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    is_number = [attribute.type.kind == "int" for attribute in schema.attributes]
    for number, text, problem in lines:
        line = text[:-1] if text.endswith("\r") else text
        if problem is None:
            yield make(number if wanted else line for wanted in is_number)
        else:
            yield Unreadable(problem, where=f"{name}:{number}", raw=printable(line))
