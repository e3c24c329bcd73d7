"""Windows in native code: what all shapes of them share. What each does with a tuple is in files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native import grouped_visits, sliding_visits, tumbling_visits
from anabranch.codegen.native.accumulators import Accumulator, accumulator
from anabranch.codegen.native.distinct_values import DistinctValues, distinct_values
from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.records import Record, Word
from anabranch.codegen.native.values import NotNative, Value
from anabranch.codegen.types import Type
from anabranch.graph.model import Operator
from anabranch.graph.values import LARGEST_INT
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate, WindowEdge
from anabranch.operators.windows import Axis, Window

if TYPE_CHECKING:
    from anabranch.codegen.native.visits import Visits


class WindowCode:
    """One window operator while a kernel is written."""

    def __init__(self, visits: Visits, operator: Operator, definition: WindowAggregate) -> None:
        self.visits = visits
        self.kernel: Kernel = visits.kernel
        self.operator = operator
        self.definition = definition
        self.names = (*definition.key_names, *definition.group_by)
        self.shape = _shape(operator, definition)
        from anabranch.codegen.native.visits import _key_kind, _key_words

        key = _key_words(tuple(_key_kind(operator, 0, name) for name in self.names))
        prefix = self.kernel.writer.fresh(operator.id)
        self.ring: sliding_visits.Ring | None = None
        self.contents = self.record = Record(operator.id, prefix, key, shape=self.shape)
        if self.shape == "sliding time":
            self.record.key_kinds = ("int", *key)  # the window's end comes first
        elif self.shape == "sliding count":
            self.ring = sliding_visits.Ring(definition, operator.inputs[0].schema)
            self.record.key_kinds = key or ("int",)
            self.record.tail, self.record.entry = self.ring.words, self.ring.entry
            self.contents = Record(operator.id, prefix)  # made anew for every output
        # The tuples of the window; 0 where there is none.
        self.size = self.contents.add(self.kernel.writer.fresh(f"{prefix}_size"), "int", ("", "size")).name
        visits.records[operator.id] = self.record
        self.order: grouped_visits.KeyOrder | None = None
        if definition.key_names and definition.group_by:
            of_key = _key_words(tuple(_key_kind(operator, 0, name) for name in definition.key_names))
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
        self.axis = Axis(definition.window, operator.inputs[0].schema) if definition.window.is_by_time else None

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
                sliding_visits.emit_recent(self, "slot")
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
        names = {word.name: self.kernel.writer.fresh(f"closing_{word.name}") for word in self.record.words}
        copy = Record(self.operator.id, self.prefix, self.record.key_kinds,
                      [Word(names[word.name], word.kind, word.path) for word in self.record.words])  # fmt: skip
        for line in copy.load(self.kernel, slot if self.record.is_keyed else "0"):
            self.kernel.writer.line(line)
        if mine:
            with self.kernel.writer.block(f"if {slot} == {mine}:"):
                for name, closing in names.items():
                    self.kernel.writer.line(f"{closing} = {name}")
        if self.shape == "own clock":
            reached = next(word.name for word in copy.words if word.path == ("", "reached"))
            end = f"({reached} + 1)"
        self.emit(names, end)

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

    def point(self, index: str) -> str:
        """Write the computation of a boundary's place."""
        p, q = self._slide()
        if self.is_float:
            return self._checked("edge", "edge_float", f"{index}, {p}, {q}")
        return self._checked("edge", "mul_int", f"{index}, {p}")

    def _slide(self) -> tuple[int, int]:
        window = self.definition.window
        return (window.slide or window.length).as_integer_ratio()

    def _checked(self, what: str, function: str, arguments: str) -> str:
        writer = self.kernel.writer
        result, wrong = writer.fresh(f"{self.prefix}_{what}"), writer.fresh("wrong")
        self.kernel.uses(function)
        writer.line(f"{result}, {wrong} = {function}({arguments})")
        self.kernel.check(wrong)
        return result

    def edge(self, which: str, end: str) -> Value:
        before = sliding_visits.overlapping(self.definition)
        place = self.point(end if which == "end" else f"({end} - {before})")
        return Value(Type("float" if self.is_float else "int"), place, is_stable=True)

    def late(self, item: Value) -> None:
        if self.definition.late is None:
            self.kernel.tally(f"late_{self.visits.part.operators.index(self.operator.id)}")
            return
        self.visits.emit(self.operator, self.operator.output(self.definition.late), item)


def _shape(operator: Operator, definition: WindowAggregate) -> str:
    """Which of the native shapes a window has."""
    window = definition.window
    if definition.key_names and definition.group_by:
        if window.shape == "sliding":
            raise NotNative("has a key and groups, and slides", operator.location)
        if not _closes_all_keys(window):
            raise NotNative("has groups, and closes the window of each key by itself", operator.location)
    if window.shape == "sliding" and window.is_by_time:
        if window.clock == "key" and definition.key_names:
            raise NotNative("slides by the key's own clock", operator.location)
        sliding_visits.overlapping(definition)
    if max(*window.length.as_integer_ratio(), *(window.slide or window.length).as_integer_ratio()) > LARGEST_INT:
        raise NotNative("has windows of a length beyond 64 bits", operator.location)
    if window.shape == "punctuated":
        return "punctuated"
    if not window.is_by_time:
        if definition.group_by and window.shape == "sliding":
            raise NotNative("has groups of the last tuples", operator.location)
        if definition.group_by:
            return "count of groups"
        return "sliding count" if window.shape == "sliding" else "count"
    if window.shape == "sliding":
        return "sliding time"
    if window.clock == "key" and definition.key_names:
        return "own clock"
    return "shared clock" if definition.key_names or definition.group_by else "own clock"


def _closes_all_keys(window: Window) -> bool:
    """Whether the windows of all keys close at once."""
    return window.shape == "punctuated" or (window.is_by_time and window.clock == "stream")


def code_of(visits: Visits, operator: Operator, definition: WindowAggregate) -> WindowCode:
    known = visits.window_codes
    if operator.id not in known:
        known[operator.id] = WindowCode(visits, operator, definition)
    return known[operator.id]


def visit(visits: Visits, operator: Operator, definition: WindowAggregate, item: Value) -> None:
    """A tuple arrives at a window."""
    visits.visits_state(operator)
    code = code_of(visits, operator, definition)
    match code.shape:
        case "count":
            tumbling_visits.by_count(code, item)
        case "own clock":
            tumbling_visits.own_clock(code, item)
        case "shared clock":
            tumbling_visits.shared_clock(code, item)
        case "count of groups":
            grouped_visits.by_count(code, item)
        case "sliding count":
            sliding_visits.by_count(code, item)
        case "sliding time":
            sliding_visits.by_time(code, item)
        case _:
            tumbling_visits.punctuated(code, item)
