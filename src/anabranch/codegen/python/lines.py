"""Generated text, in which every line knows the operator it works for and every expression the user's line it is from.

So errors cost nothing until they happen: what an exception means is read off the place where it was raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from anabranch.errors import Location
from anabranch.graph.model import Edge

_INDEX_COST, _UNPACK_COST, _PART_COST = 18, 10, 8  # nanoseconds, to get at attributes of a NamedTuple

Mark = tuple[int, int, Location]  # columns from, to (in bytes), and the line of the user's that stands there


@dataclass(frozen=True)
class Code:
    """A piece of a line."""

    text: str
    marks: tuple[Mark, ...] = ()

    def __str__(self) -> str:
        return self.text


def joined(*parts: Code | str) -> Code:
    text, marks = "", []
    for part in parts:
        if isinstance(part, Code):
            shift = len(text.encode())
            marks += [(start + shift, end + shift, location) for start, end, location in part.marks]
        text += str(part)
    return Code(text, tuple(marks))


@dataclass(frozen=True)
class Place:
    """What a line is for: if it raises, `operator` failed on `item` (an expression over the locals).

    `pending` are the streams on which the item has not been delivered yet at this point, although counting would say
    so, and `has_emitted` is whether the operator had.
    """

    operator: str
    item: str = "None"
    during: str = "process"
    pending: tuple[Edge, ...] = ()
    has_emitted: bool = False


@dataclass(frozen=True)
class Line:
    text: str
    place: Place | None = None
    marks: tuple[Mark, ...] = ()
    location: Location | None = None  # of the user's statement


class Lines:
    """The lines of one generated function."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.place: Place | None = None
        self.location: Location | None = None
        self.depth = 0  # of blocks
        self.loops = 0  # around the line that comes next

    def add(self, code: Code | str) -> None:
        code = code if isinstance(code, Code) else Code(code)
        indent = "    " * self.depth
        marks = tuple((start + len(indent), end + len(indent), location) for start, end, location in code.marks)
        self.lines.append(Line(indent + code.text, self.place, marks, self.location))

    def comment(self, text: str) -> None:
        self.lines.append(Line("    " * self.depth + f"# {' '.join(text.split())}"))

    @contextmanager
    def block(self, *header: Code | str) -> Iterator[None]:
        """An indented block; `pass` where nothing is written in it."""
        self.add(joined(*header))
        is_loop = str(header[0]).startswith(("for ", "while ", "try:"))
        self.depth += 1
        self.loops += is_loop
        before = len(self.lines)
        try:
            yield
        finally:
            if all(line.text.lstrip().startswith("#") for line in self.lines[before:]):
                self.add("pass")
            self.depth -= 1
            self.loops -= is_loop

    @contextmanager
    def at(self, place: Place | None, location: Location | None = None) -> Iterator[None]:
        """Lines written inside are for this place."""
        outer = self.place, self.location
        self.place, self.location = place, location
        try:
            yield
        finally:
            self.place, self.location = outer

    @property
    def text(self) -> str:
        return "".join(line.text + "\n" for line in self.lines)


def unpack(lines: Lines, start: int, name: str, width: int) -> None:
    """Take a tuple apart at once wherever the lines from `start` on read many of its attributes.

    That is decided anew behind each filter: most tuples may not come that far.
    """
    leaving = "    " * (lines.depth + 1) + "continue"
    begins = [start, *(at + 1 for at in range(start, len(lines.lines)) if lines.lines[at].text == leaving)]
    for begin, end in reversed(list(zip(begins, [*begins[1:], None], strict=True))):
        lines.lines[begin:end] = _unpacked(lines.lines[begin:end], "    " * lines.depth, name, width)


def _unpacked(lines: list[Line], indent: str, name: str, width: int) -> list[Line]:
    read = re.compile(rf"({indent} *)(\w+) = {name}\[(\d+)\]$")
    parts: dict[int, str] = {}
    rest, saved = [], 0.0
    for line in lines:
        match = read.match(line.text)
        if match is None or int(match[3]) in parts:
            rest.append(line)
        else:
            parts[int(match[3])] = match[2]
            saved += _INDEX_COST if match[1] == indent else _INDEX_COST / 2  # in a block, which may not be entered
    if saved <= _UNPACK_COST + width * _PART_COST:
        return lines
    targets = "".join(f"{parts.get(at, '_')}, " for at in range(width))
    return [Line(f"{indent}{targets}= {name}"), *rest]


def unpack_in_header(lines: Lines, begin: int, name: str, made: Callable[[list[str]], str]) -> None:
    """Take tuples apart where the loop gets them, if only rare calls need them whole; `made` puts one together."""
    header, first = lines.lines[begin - 1 : begin + 1]
    targets, _, taken_apart = first.text.strip().rpartition(", = ")
    parts = targets.split(", ")
    if header.text.strip() != f"for {name} in rows:" or taken_apart != name or "_" in parts:
        return
    is_used, is_rare = re.compile(rf"\b{name}\b"), re.compile(rf" arrive_\w+\({name}\)$")
    behind = lines.lines[begin + 1 :]
    if any(is_used.search(line.text) and not is_rare.search(line.text) for line in behind):
        return
    whole = made(parts)
    lines.lines[begin - 1] = replace(header, text=header.text.replace(f"for {name} in", f"for {targets}, in"))
    lines.lines[begin:] = [
        replace(
            line,
            text=line.text.replace(f"({name})", f"({whole})") if is_used.search(line.text) else line.text,
            place=replace(line.place, item=whole) if line.place and line.place.item == name else line.place,
        )
        for line in behind
    ]
