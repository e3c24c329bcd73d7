"""Windows in native code: what all shapes of them share. What each does with a tuple is in files of their own."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from anabranch.codegen.native import grouped_visits, listed_visits, recent_visits, sliding_visits, tumbling_visits
from anabranch.codegen.native.accumulators import Accumulator, accumulator
from anabranch.codegen.native.distinct_values import DistinctValues, distinct_values
from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.records import Record, Word
from anabranch.codegen.native.values import NotNative, Value
from anabranch.codegen.types import Type
from anabranch.graph.model import Operator
from anabranch.graph.values import LARGEST_INT
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import LOW_BITS, Aggregate, WindowEdge
from anabranch.operators.windows import CLOCK, Axis

if TYPE_CHECKING:
    from anabranch.codegen.native.visits import Visits


class WindowCode:
    """One window operator while a kernel is written."""

    def __init__(self, visits: Visits, operator: Operator, definition: WindowAggregate) -> None:
        self.visits = visits
        self.kernel: Kernel = visits.kernel
        self.operator = operator
        self.definition = definition
        self.shape = _shape(operator, definition)
        is_recent = self.shape == "sliding count"
        self.names = definition.key_names if is_recent else (*definition.key_names, *definition.group_by)
        self.axis = Axis(definition.window, operator.inputs[0].schema) if definition.window.is_by_time else None
        key, of_key = self._key_words(self.names), self._key_words(definition.key_names)
        prefix = self.kernel.writer.fresh(operator.id)
        self.ring: recent_visits.Ring | None = None
        self.contents = self.record = Record(operator.id, prefix, key, shape=self.shape)
        if self.shape in ("sliding time", "listed time"):
            self.record.key_kinds = ("int", *key)  # the window's end comes first, or what stands for it
        elif is_recent:
            self.ring = recent_visits.Ring(definition, operator.inputs[0].schema)
            self.record.key_kinds = key or ("int",)
            self.record.tail, self.record.entry = self.ring.words, self.ring.entry
            self.record.texts = self.ring.texts
            self.contents = self._made_anew(prefix)
        visits.records[operator.id] = self.record
        if self.contents.is_keyed:
            self.kernel.records[self.contents.operator] = self.contents
        # The tuples of the window; 0 where there is none.
        self.size = self.contents.add(self.kernel.writer.fresh(f"{prefix}_size"), "int", ("", "size")).name
        self.order: grouped_visits.KeyOrder | None = None
        self.lists: listed_visits.Lists | None = None
        if self.shape.startswith("listed"):
            self.record.of_key = len(of_key)
            self.lists = listed_visits.Lists(self, of_key)
        elif definition.key_names and definition.group_by and not is_recent:
            self.record.of_key = len(of_key)
            if self.shape == "shared clock":
                self.order = grouped_visits.KeyOrder(self, of_key)
        self.slot = ""  # the variable of the record that a tuple is added to
        self.accumulators = {
            name: self._accumulator(name, column)
            for name, column in definition.columns
            if isinstance(column, Aggregate)
        }
        if any(not isinstance(column, Aggregate | WindowEdge) for _, column in definition.columns):
            raise NotNative("has an aggregate of the user's own", operator.location)

    def _key_words(self, names: tuple[str, ...]) -> tuple[str, ...]:
        from anabranch.codegen.native.visits import _key_kind, _key_words

        return _key_words(tuple(_key_kind(self.operator, 0, name) for name in names))

    def _made_anew(self, prefix: str) -> Record:
        """What the last tuples give, for every output: one record, or one for each group."""
        if not self.definition.group_by:
            return Record(self.operator.id, prefix)
        prefix = self.kernel.writer.fresh(f"{prefix}_groups")
        key = self._key_words(self.definition.group_by)
        return Record(f"{self.operator.id}: its groups", prefix, key, shape="groups", windows_of=self.operator.id)

    def _accumulator(self, name: str, column: Aggregate) -> Accumulator:
        if column.function == "count_distinct":
            return distinct_values(self, name, column)
        return accumulator(self.kernel, self.contents, self.operator, name, column, self.size)

    @property
    def distinct(self) -> list[DistinctValues]:
        return [each for each in self.accumulators.values() if isinstance(each, DistinctValues)]

    def store_values(self) -> tuple[str, ...]:
        """Lines that remember the values of a tuple, once it is through; the record must have its slot then."""
        return tuple(line for each in self.distinct for line in each.store())

    def forget_values(self) -> tuple[str, ...]:
        """Lines that forget all values, where no window is open any more."""
        return tuple(line for each in self.distinct for line in each.forget())

    @property
    def prefix(self) -> str:
        return self.record.prefix

    def word(self, what: str, kind: str) -> str:
        """A further word of the record."""
        for word in self.record.words:
            if word.path == ("", what):
                return word.name
        return self.record.add(self.kernel.writer.fresh(f"{self.prefix}_{what}"), kind, ("", what)).name

    def zeros(self) -> list[str]:
        return [f"{self.size} = 0", *(line for each in self.accumulators.values() for line in each.begin())]

    def begin(self, item: Value) -> None:
        """A window begins with a tuple."""
        for line in self.zeros():
            self.kernel.writer.line(line)
        self._add(item, is_first=True)

    def add(self, item: Value) -> None:
        """A tuple joins those of an open window."""
        self._add(item, is_first=False)

    def _add(self, item: Value, *, is_first: bool) -> None:
        self.kernel.writer.line(f"{self.size} = 1" if is_first else f"{self.size} += 1")
        for each in self.accumulators.values():
            each.add(item, is_first=is_first)

    def emit(self, names: dict[str, str], end: str) -> None:
        """The output of a window; `names` says where its variables are, `end` is the boundary it ends at."""
        members: dict[str, Value] = {}
        for name, column in self.definition.columns:
            if isinstance(column, WindowEdge):
                members[name] = self.edge(column.edge, end)
            else:
                members[name] = self.accumulators[name].result(names)
        schema = self.operator.outputs[0].schema
        kind = Type("tuple", members=tuple((n, v.type) for n, v in members.items()), named=schema.type)
        self.visits.emit(self.operator, 0, Value(kind, members=members, is_stable=True))

    def same_names(self) -> dict[str, str]:
        return {word.name: word.name for word in self.contents.words}

    def key(self, item: Value) -> list[Value]:
        assert item.members is not None
        return [item.members[name] for name in self.names]

    def emit_at_the_end(self) -> None:
        """The window that is open in a record, in the kernel that closes them."""
        match self.shape:
            case "sliding count":
                recent_visits.emit_recent(self, "slot")
            case "sliding time":
                self.kernel.uses("natural")
                self.emit_record("slot", f"{self.record.records(self.kernel)}[natural(slot * {self.record.width})]")
            case "shared clock":
                self.emit_record("slot", f"({self.kernel.cell(f'{self.prefix}_reached')} + 1)")
            case _:
                self.emit_record("slot")

    def emit_record(self, slot: str, end: str = "0", mine: str = "") -> None:
        """Load the record of a slot into variables of its own, and emit its window.

        `mine` is the slot of the record whose variables hold what is to be stored there.
        """
        contents, writer = self.contents, self.kernel.writer
        names = {word.name: writer.fresh(f"closing_{word.name}") for word in contents.words}
        copy = Record(contents.operator, contents.prefix, contents.key_kinds,
                      [Word(names[word.name], word.kind, word.path) for word in contents.words],
                      tail=contents.tail)  # fmt: skip
        loads = list(copy.load(self.kernel, slot if contents.is_keyed else "0"))
        if mine:
            with writer.block(f"if {slot} == {mine}:"):
                for name, closing in names.items():
                    writer.line(f"{closing} = {name}")
            writer.line("else:")
        for line in loads:
            writer.line(f"    {line}" if mine else line)
        if self.shape == "own clock":
            end = f"({self._closing(copy, 'reached')} + 1)"
        elif self.shape == "listed time":
            end = self._closing(copy, "end")
        self.emit(names, end)

    def _closing(self, copy: Record, what: str) -> str:
        return next(word.name for word in copy.words if word.path == ("", what))

    # Time -------------------------------------------------------------------------------------------------------

    @property
    def is_float(self) -> bool:
        return self.axis is not None and self.axis.kind == "float"

    def time(self, item: Value) -> str:
        assert self.axis is not None
        assert item.members is not None
        value = item.members[self.axis.attribute]
        if value.type.kind not in ("int", "float"):
            raise NotNative(f"has windows on a {value.type.kind}", self.operator.location)
        return self.kernel.named(value, f"{self.prefix}_time")

    def boundary(self, time: str) -> str:
        """Write the computation of the last boundary at or before a time."""
        p, q = self._slide()
        if self.is_float:
            return self._checked("boundary", "boundary_float", f"{time}, {p}, {q}")
        index = self._checked("boundary", "floordiv_int", f"{time}, {p}")
        if p == 1:
            self.kernel.check(f"{index} == {LARGEST_INT}")  # the next boundary has no index
        return index

    def point(self, index: str, *, before: bool = False) -> str:
        """Write the computation of a boundary's place, or of the place by the length `before` it."""
        p, q = self._slide()
        length = 0
        if before:
            q = math.lcm(q, self.definition.window.length.denominator)
            p, length = int(self._slide_length() * q), int(self.definition.window.length * q)
        if self.is_float:
            return self._checked("edge", "edge_float", f"{index}, {p}, {q}, {length}")
        place = self._checked("edge", "mul_int", f"{index}, {p}")
        return self._checked("edge", "sub_int", f"{place}, {length}") if before else place

    def _slide_length(self) -> Fraction:
        return self.definition.window.slide or self.definition.window.length

    def _slide(self) -> tuple[int, int]:
        return self._slide_length().as_integer_ratio()

    @property
    def overlapping(self) -> int:
        """How many windows by time a tuple is in, at most."""
        return math.ceil(self.definition.window.length / self._slide_length())

    @property
    def divides(self) -> bool:
        """Whether the slide divides the length, so that every tuple is in as many windows."""
        return (self.definition.window.length / self._slide_length()).denominator == 1

    def _checked(self, what: str, function: str, arguments: str) -> str:
        writer = self.kernel.writer
        result, wrong = writer.fresh(f"{self.prefix}_{what}"), writer.fresh("wrong")
        self.kernel.uses(function)
        writer.line(f"{result}, {wrong} = {function}({arguments})")
        self.kernel.check(wrong)
        return result

    def edge(self, which: str, end: str) -> Value:
        if which == "index_size":  # what is native has a number of 64 bits
            return Value(Type("int"), "0", is_stable=True)
        if which == "index_high":
            return Value(Type("int"), f"({end} >> {LOW_BITS})", is_stable=True)
        if which == "index_low":
            return Value(Type("int"), f"({end} & {(1 << LOW_BITS) - 1})", is_stable=True)
        if which == "end":
            place = self.point(end)
        else:
            place = self.point(f"({end} - {self.overlapping})") if self.divides else self.point(end, before=True)
        return Value(Type("float" if self.is_float else "int"), place, is_stable=True)

    def late(self, item: Value) -> None:
        if self.definition.late is None:
            assert item.members is not None
            size = self.definition.size
            many = "1" if size is None else item.members[size].code
            self.kernel.tally(f"late_{self.visits.part.operators.index(self.operator.id)}", many)
            return
        self.visits.emit(self.operator, self.operator.output(self.definition.late), item)


def _shape(operator: Operator, definition: WindowAggregate) -> str:
    """Which of the native shapes a window has."""
    window = definition.window
    if window.shape == "punctuated":
        return "punctuated"
    slide = window.slide or window.length
    common = math.lcm(slide.denominator, window.length.denominator)
    if max(int(slide * common), int(window.length * common), common) > LARGEST_INT:
        raise NotNative("has windows of a length beyond 64 bits", operator.location)
    has_groups, has_both = bool(definition.group_by), bool(definition.group_by and definition.key_names)
    has_key_clock = window.clock == "key"
    if not window.is_by_time:
        if window.shape == "sliding":
            return "sliding count"
        if has_both:
            return "listed count"
        return "count of groups" if has_groups else "count"
    if window.shape == "sliding":
        return "listed time" if has_key_clock or has_both else "sliding time"
    if has_key_clock:
        return "listed time" if has_groups else "own clock"
    return "shared clock" if definition.key_names or has_groups else "own clock"


def code_of(visits: Visits, operator: Operator, definition: WindowAggregate) -> WindowCode:
    known = visits.window_codes
    if operator.id not in known:
        known[operator.id] = WindowCode(visits, operator, definition)
    return known[operator.id]


def visit(visits: Visits, operator: Operator, definition: WindowAggregate, item: Value, port: int) -> None:
    """A tuple arrives at a window."""
    visits.visits_state(operator)
    code = code_of(visits, operator, definition)
    if port == CLOCK:
        _clock(code, item)
        return
    for each in code.accumulators.values():
        each.check(item)
    match code.shape:
        case "count":
            tumbling_visits.by_count(code, item)
        case "own clock":
            tumbling_visits.own_clock(code, item)
        case "shared clock":
            tumbling_visits.shared_clock(code, item)
        case "count of groups":
            grouped_visits.by_count(code, item)
        case "listed count":
            listed_visits.by_count(code, item)
        case "listed time":
            listed_visits.by_time(code, item)
        case "sliding count":
            recent_visits.by_count(code, item)
        case "sliding time":
            sliding_visits.by_time(code, item)
        case _:
            tumbling_visits.punctuated(code, item)


def _clock(code: WindowCode, item: Value) -> None:
    """A tuple that only has a time: windows that have ended close."""
    match code.shape:
        case "shared clock":
            tumbling_visits.clock(code, code.time(item))
        case "sliding time":
            sliding_visits.clock(code, code.time(item))
        case "listed time":
            listed_visits.clock(code, code.time(item))
        case _:
            raise AssertionError(f"windows that are {code.shape} have no clock that others move")
