"""A kernel while it is written: one function over the tuples of a batch, and what it needs to be called with.

A tuple has no effect on the state before all of it was computed: stores wait until its end. So a kernel can stop at any
tuple as if it had never seen it: where Python would give another value (`bad`), or where an array is full (`full`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anabranch.codegen.native.values import ALWAYS, STORABLE, ZEROS, Column, NotNative, Value
from anabranch.codegen.native.writer import Writer
from anabranch.codegen.part import Part
from anabranch.codegen.types import Type, type_of_attribute
from anabranch.graph.schema import Schema

if TYPE_CHECKING:
    from anabranch.codegen.native.records import Record

RESERVED = (
    "np", "math", "meta", "i", "n", "bad", "full", "at", "base", "key", "process", "njit", "range", "len", "abs",
    "min", "max", "bool", "int", "float", "turns", "turn", "order", "position", "step", "stop", "place",
    "rows", "slots", "first", "chosen", "pick",
)  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """An array that a kernel is called with: what it is called there, and what it is."""

    name: str
    role: str  # column | state | pool | output
    of: tuple[Any, ...] = ()  # (input, attribute, part) | (operator, part) | (part,) | (output, attribute, part)


@dataclass(frozen=True)
class Cell:
    """A word of `meta`: the variable that holds it during a call, and its place."""

    variable: str
    place: int
    kind: str


@dataclass(frozen=True)
class Lookup:
    """A search for a key that may be done before it is a tuple's turn, since it only needs attributes of the input."""

    slot: str  # the variable of its result
    ahead: str  # the search, for row `i`


COMMIT, TALLY = "#commit ", "#count "  # comments that name an operator, perhaps a `commit`, begin with "# "

# The first cells of `meta` are the same in every kernel.
START, STOP, STATUS, TEXTS, SHIFT, FIRST_CELL = range(6)


@dataclass(frozen=True)
class OutputMode:
    """How an attribute of an output is written: as a value, or as the row of the input column it comes from."""

    column: Column | None = None


@dataclass
class Knowledge:
    """What a first pass over a part found out for the second."""

    dropped: frozenset[str] = frozenset()  # variables of state that are never read
    outputs: dict[tuple[int, str], OutputMode] = field(default_factory=dict)
    growing: frozenset[int] = frozenset()  # outputs of which a tuple may cause any number


class Kernel:
    """Collects the lines, the arguments, and the cells of `meta` of one kernel."""

    def __init__(self, part: Part, known: Knowledge, *, origins: bool, tracks_changes: bool) -> None:
        self.part = part
        self.known = known
        self.origins = origins
        self.turns = origins and part.has_turns
        self.tracks_changes = tracks_changes
        self.writer = Writer(RESERVED)
        self.arguments: dict[tuple[str, tuple[Any, ...]], Argument] = {}
        self.cells: dict[str, Cell] = {}
        self.records: dict[str, Record] = {}  # the state, by operator
        self.lookups: dict[str, Lookup] = {}  # by the line in which it is done in turn
        self.imports: dict[str, None] = {}
        self.texts: list[str] = []  # constants that are in the pool from the start: their place is their number
        self.byte_constants: dict[str, str] = {}
        self.counters: dict[str, str] = {}  # the variables of cells that count
        self.loops = 0
        self.input = 0  # whose tuple is processed
        self.is_closing = False  # what windows hold is emitted, without a tuple
        self.fresh_each_tuple: dict[str, str] = {}  # variables and what they begin each tuple with
        self.commits: list[list[str]] = []  # stores, at the places in the lines that are marked with their number
        self.visited: dict[str, int] = {}
        self.seen_modes: dict[tuple[int, str], list[Column | None]] = {}
        self.seen_growing: dict[int, bool] = {}
        self.state_names: dict[str, str] = {}  # variables of state, and whose
        self.emitted_names: dict[str, None] = {}  # variables that are part of what operators emit
        self.most_emitted: dict[int, int] = {}
        self._numbers: dict[tuple[int, str], str] = {}  # variables for the numbers of texts of the current tuple
        if self.turns:
            self.cell("given")  # punctuations and ends are counted even where no tuple ever is given

    # Code -------------------------------------------------------------------------------------------------------

    def uses(self, function: str) -> None:
        self.imports[function] = None

    def check(self, condition: str) -> None:
        self.writer.line(f"bad |= {condition}")

    def named(self, value: Value, hint: str) -> str:
        """An expression as a single name, so that it can be written twice."""
        if value.code.isidentifier() or value.is_stable:
            return value.code
        name = self.writer.fresh(hint)
        self.writer.line(f"{name} = {value.code}")
        return name

    def commit(self, lines: list[str]) -> None:
        """Stores that are final: they are written here if nothing behind can fail, and else at the end of the tuple."""
        self.writer.line(f"{COMMIT}{len(self.commits)}")
        self.commits.append(lines)

    @contextmanager
    def in_loop(self) -> Iterator[None]:
        self.loops += 1
        yield
        self.loops -= 1

    def begins_with(self, hint: str, code: str) -> str:
        """A variable that has this value at the beginning of every tuple."""
        name = self.writer.fresh(hint)
        self.fresh_each_tuple[name] = code
        return name

    def cell(self, name: str, kind: str = "int") -> str:
        """A word that is kept between calls, as the kernel's variable for it."""
        if name not in self.cells:
            self.cells[name] = Cell(self.writer.fresh(name), FIRST_CELL + len(self.cells), kind)
        return self.cells[name].variable

    def float_cell(self, name: str) -> str:
        self.uses("bits_of")
        self.uses("float_of")
        return self.cell(name, "float")

    def counter(self, name: str) -> str:
        """A cell that counts while a tuple is processed, and is set back when the tuple is not to have happened."""
        self.counters[name] = self.cell(name)
        return self.counters[name]

    def tally(self, name: str, many: str = "1") -> None:
        """Count a tuple, or as many as it stands for, once it is certain that it happened."""
        if self.loops or self.is_closing:
            self.writer.line(f"{self.counter(name)} += {many}")
        else:
            self.writer.line(f"{TALLY}{self.cell(name)} += {many}")

    def argument(self, role: str, of: tuple[Any, ...], hint: str) -> str:
        known = self.arguments.get((role, of))
        if known is None:
            known = self.arguments[role, of] = Argument(self.writer.fresh(hint), role, of)
        return known.name

    def read_by(self, emitted: Value) -> None:
        """What an operator emits it reads, whether or not anybody behind it does: what it keeps is its own affair."""
        for member in (emitted.members or {}).values():
            self.read_by(member)
        self.emitted_names.update(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", f"{emitted.code} {emitted.has}")))

    # Inputs -----------------------------------------------------------------------------------------------------

    @property
    def row(self) -> str:
        """The number of the current tuple in the chunk of its input."""
        return "i" if len(self.part.inputs) == 1 else f"i{self.input}"

    def column(self, attribute: str, part: str) -> str:
        prefix = "in" if len(self.part.inputs) == 1 else f"in{self.input}"
        suffix = "" if part == "values" else f"_{part}"
        return self.argument("column", (self.input, attribute, part), f"{prefix}_{attribute}{suffix}")

    def is_input(self, code: str) -> bool:
        """Whether an expression is an attribute of the current tuple, as it came."""
        return any(code == f"{each.name}[{self.row}]" for each in self.arguments.values() if each.role == "column")

    def input_tuple(self, schema: Schema) -> Value:
        """The current tuple: its attributes are read where they are used."""
        members = {}
        for each in schema.attributes:
            kind = type_of_attribute(each.type)
            has = f"{self.column(each.name, 'has')}[{self.row}]" if kind.optional else ALWAYS
            if kind.kind in ("int", "float", "bool"):
                code = f"{self.column(each.name, 'values')}[{self.row}]"
                members[each.name] = Value(kind, code, has, is_stable=True)
            else:
                members[each.name] = Value(kind, has=has, column=Column(self.input, each.name), is_stable=True)
        kind = Type("tuple", members=tuple((n, v.type) for n, v in members.items()), named=schema.type)
        return Value(kind, members=members, is_stable=True)

    # Texts ------------------------------------------------------------------------------------------------------

    def text_number(self, value: Value) -> str:
        """The number of a string in the pool."""
        if value.type.kind == "none":
            return ZEROS["str"]
        if value.code:
            return value.code
        if value.column is None:
            if value.constant not in self.texts:
                self.texts.append(value.constant)
            return str(self.texts.index(value.constant))
        assert value.column.input == self.input
        attribute = value.column.attribute
        names = [self.column(attribute, part) for part in ("offsets", "data")]
        number = self.known_number(attribute)
        pool = ", ".join(self.pool(part) for part in ("table", "offsets", "bytes"))
        self.uses("intern")
        place = f"{names[1]}, {names[0]}[{self.row}], {names[0]}[{self.row} + 1]"
        condition = f"if {number} < 0:" if value.has == ALWAYS else f"if {number} < 0 and {value.has}:"
        with self.writer.block(condition):
            self.writer.line(f"{number} = intern({pool}, meta, {place})")
            self.writer.line(f"if {number} < 0: full = 1")
        return number

    def known_number(self, attribute: str) -> str:
        if (self.input, attribute) not in self._numbers:
            self._numbers[self.input, attribute] = self.begins_with(f"in_{attribute}_number", "-1")
        return self._numbers[self.input, attribute]

    def pool(self, part: str) -> str:
        return self.argument("pool", (part,), f"pool_{part}")

    def strings_equal(self, one: Value, other: Value) -> str:
        if other.column is not None and one.column is None:
            one, other = other, one
        if one.column is not None and other.constant is not None:
            names = [self.column(one.column.attribute, part) for part in ("offsets", "data")]
            self.uses("equals")
            place = f"{names[0]}[{self.row}], {names[0]}[{self.row} + 1]"
            return f"equals({names[1]}, {place}, {self._bytes(other.constant)})"
        return f"({self.text_number(one)} == {self.text_number(other)})"

    def _bytes(self, text: str) -> str:
        if text not in self.byte_constants:
            self.byte_constants[text] = self.writer.fresh(
                "TEXT_" + "".join(c for c in text.upper() if c.isalnum())[:12]
            )
        return self.byte_constants[text]

    # Outputs ----------------------------------------------------------------------------------------------------

    def write_output(self, output: int, schema: Schema, value: Value) -> None:
        """Append a tuple to an output."""
        count = self.counter(f"out{output}_count")
        # How many windows close is known before; what is done with each of them is not.
        is_repeated = self.loops > (1 if self.is_closing else 0)
        self.seen_growing[output] = self.seen_growing.get(output, False) or is_repeated
        self.most_emitted[output] = self.most_emitted.get(output, 0) + 1
        self.uses("natural")
        lines = [f"place = natural({count})"]
        lines += [line for each in schema.attributes for line in self._output_lines(output, each.name, value)]
        if self.origins:
            name = self.argument("output", (output, "", "origin"), f"out{output}_origin")
            lines.append(f"{name}[place] = {'turn' if len(self.part.inputs) > 1 else 'i'} + meta[{SHIFT}]")
        if self.turns:
            given = self.counter("given")
            name = self.argument("output", (output, "", "turn"), f"out{output}_turn")
            lines += [f"{name}[place] = {given}", f"{given} += 1"]
        if output in self.known.growing:
            with self.writer.block(f"if {count} < {self.cell(f'out{output}_room')}:"):
                for line in lines:
                    self.writer.line(line)
                self.writer.line(f"{count} += 1")
            with self.writer.block("else:"):
                self.writer.line(f"full = {2 + output}")
        else:
            for line in lines:
                self.writer.line(line)
            self.writer.line(f"{count} += 1")

    def _output_lines(self, output: int, attribute: str, whole: Value) -> list[str]:
        assert whole.members is not None
        value = whole.members[attribute]
        mode = self.known.outputs.get((output, attribute))
        self.seen_modes.setdefault((output, attribute), []).append(value.column)
        if value.type.kind not in (*STORABLE, "none") and value.column is None:
            raise NotNative(f"makes a {value.type.kind} for `{attribute}`")
        if mode is None or mode.column is not None:
            column = mode.column if mode is not None else value.column
            if column is not None:
                name = self.argument("output", (output, "", "row", column.input), f"out{output}_row{column.input}")
                return [f"{name}[place] = {self.row}"]
        if value.type.kind not in (*STORABLE, "none"):
            raise NotNative(f"takes `{attribute}`, a {value.type.kind}, from several columns")
        lines = []
        name = self.argument("output", (output, attribute, "values"), f"out{output}_{attribute}")
        code = self.text_number(value) if value.type.kind == "str" else value.code
        if value.type.kind != "none":
            lines.append(f"{name}[place] = {code}")
        kind = next(each.type for each in self._schema(output).attributes if each.name == attribute)
        if kind.optional:
            has = self.argument("output", (output, attribute, "has"), f"out{output}_{attribute}_has")
            lines.append(f"{has}[place] = {value.has}")
        return lines

    def _schema(self, output: int) -> Schema:
        return self.part.schema(self.part.outputs[output])
