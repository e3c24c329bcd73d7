"""Windows in native code.

Three shapes cover tumbling windows, of which a clock has at most one open: windows by count; windows by time of which
each record has its own clock (one window for the whole stream, or `clock="key"`); and windows by time of all keys under
the stream's clock, which close together. Sliding windows are in sliding_visits.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native import sliding_visits
from anabranch.codegen.native.accumulators import Accumulator, accumulator
from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.keyed import check_room, find_slot, found_by, keep, keep_found, named_words, stored_as_new
from anabranch.codegen.native.records import Record, Word
from anabranch.codegen.native.values import NotNative, Value
from anabranch.codegen.types import Type
from anabranch.graph.model import Operator
from anabranch.graph.values import LARGEST_INT
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate, WindowEdge
from anabranch.operators.windows import Axis

if TYPE_CHECKING:
    from anabranch.codegen.native.visits import Visits


class WindowCode:
    """One window operator while a kernel is written."""

    def __init__(self, visits: Visits, operator: Operator, definition: WindowAggregate) -> None:
        self.visits = visits
        self.kernel: Kernel = visits.kernel
        self.operator = operator
        self.definition = definition
        self.names = definition.key_names or definition.group_by
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
        self.accumulators: dict[str, Accumulator] = {
            name: accumulator(self.kernel, self.contents, operator, name, column, self.size)
            for name, column in definition.columns
            if isinstance(column, Aggregate)
        }
        if any(not isinstance(column, Aggregate | WindowEdge) for _, column in definition.columns):
            raise NotNative("has an aggregate of the user's own", operator.location)
        self.axis = Axis(definition.window, operator.inputs[0].schema) if definition.window.is_by_time else None
        visits.records[operator.id] = self.record

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

    def emit_record(self, slot: str, end: str = "0") -> None:
        """Load the record of a slot into variables of its own, and emit its window."""
        names = {word.name: self.kernel.writer.fresh(f"closing_{word.name}") for word in self.record.words}
        copy = Record(self.operator.id, self.prefix, self.record.key_kinds,
                      [Word(names[word.name], word.kind, word.path) for word in self.record.words])  # fmt: skip
        for line in copy.load(self.kernel, slot if self.record.is_keyed else "0"):
            self.kernel.writer.line(line)
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
        raise NotNative("has a key and groups", operator.location)
    if window.shape == "sliding" and window.is_by_time:
        if window.clock == "key" and definition.key_names:
            raise NotNative("slides by the key's own clock", operator.location)
        sliding_visits.overlapping(definition)
    if max(*window.length.as_integer_ratio(), *(window.slide or window.length).as_integer_ratio()) > LARGEST_INT:
        raise NotNative("has windows of a length beyond 64 bits", operator.location)
    if window.shape == "punctuated":
        return "punctuated"
    if not window.is_by_time:
        if definition.group_by:
            raise NotNative("counts tuples of several groups together", operator.location)
        return "sliding count" if window.shape == "sliding" else "count"
    if window.shape == "sliding":
        return "sliding time"
    if window.clock == "key" and definition.key_names:
        return "own clock"
    return "shared clock" if definition.key_names or definition.group_by else "own clock"


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
            _count(code, item)
        case "own clock":
            _own_clock(code, item)
        case "shared clock":
            _shared_clock(code, item)
        case "sliding count":
            sliding_visits.by_count(code, item)
        case "sliding time":
            sliding_visits.by_time(code, item)
        case _:
            _punctuated(code, item)


def _count(code: WindowCode, item: Value) -> None:
    """Closes with its n-th tuple. `opened` is when it began: open windows close in that order at the end."""
    kernel, writer = code.kernel, code.kernel.writer
    new = code.zeros()
    if code.record.is_keyed:
        opened = code.word("opened", "int")
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        new.append(f"{opened} = 0")
    slot, words = find_slot(kernel, code.record, code.key(item), new)
    since = writer.position
    with writer.block(f"if {code.size} == 0:"):
        code.begin(item)
        if code.record.is_keyed:
            writer.line(f"{opened} = {arrivals}")
    with writer.block("else:"):
        code.add(item)
    with writer.block(f"if {code.size} == {int(code.definition.window.length)}:"):
        code.emit(code.same_names(), "0")
        writer.line(f"{code.size} = 0")
    keep(kernel, code.record, slot, words, since, (f"{arrivals} += 1",) if code.record.is_keyed else ())


def _own_clock(code: WindowCode, item: Value) -> None:
    """The record knows the stretch of time [low, high) of its open window: most tuples only compare with that."""
    kernel, writer = code.kernel, code.kernel.writer
    kind = "float" if code.is_float else "int"
    begun, reached = code.word("begun", "bool"), code.word("reached", "int")
    low, high = code.word("low", kind), code.word("high", kind)
    time = code.time(item)
    zero = "0.0" if code.is_float else "0"
    new = [f"{begun} = False", f"{reached} = 0", f"{low} = {zero}", f"{high} = {zero}", *code.zeros()]
    if code.record.is_keyed:
        opened = code.word("opened", "int")
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        new.append(f"{opened} = 0")
    slot, words = find_slot(kernel, code.record, code.key(item), new)
    # A window is open while its stretch is set: before the first tuple, and after a close, low equals high.
    with writer.block(f"if {low} <= {time} < {high}:"):
        since = writer.position
        code.add(item)
        keep(kernel, code.record, slot, words, since)
    with writer.block("else:"):
        since = writer.position
        boundary = code.boundary(time)
        with writer.block(f"if {begun} and {boundary} < {reached}:"):
            code.late(item)
        with writer.block("else:"):
            with writer.block(f"if {code.size} != 0:"):
                code.emit(code.same_names(), f"({reached} + 1)")
            writer.line(f"{begun} = True")
            writer.line(f"{reached} = {boundary}")
            writer.line(f"{low} = {code.point(boundary)}")
            writer.line(f"{high} = {code.point(f'({boundary} + 1)')}")
            code.begin(item)
            if code.record.is_keyed:
                writer.line(f"{opened} = {arrivals}")
            keep(kernel, code.record, slot, words, since, (f"{arrivals} += 1",) if code.record.is_keyed else ())


def _shared_clock(code: WindowCode, item: Value) -> None:
    """All records belong to the one open window; when time passes its end they are emitted, and begin anew."""
    kernel, writer, record, prefix = code.kernel, code.kernel.writer, code.record, code.prefix
    begun, reached = kernel.cell(f"{prefix}_begun"), kernel.cell(f"{prefix}_reached")
    make = kernel.float_cell if code.is_float else kernel.cell
    low, high = make(f"{prefix}_low"), make(f"{prefix}_high")
    count = kernel.cell(f"{prefix}_count")
    time = code.time(item)
    words = named_words(kernel, record, code.key(item))
    slot = writer.fresh(f"{prefix}_slot")
    with writer.block(f"if {low} <= {time} < {high}:"):
        writer.line(f"{slot} = {found_by(kernel, record, words)}")
        with writer.block(f"if {slot} >= 0:"):
            for line in record.load(kernel, slot):
                writer.line(line)
            since = writer.position
            code.add(item)
            keep_found(kernel, record, slot, since)
        with writer.block("else:"):
            check_room(kernel, record)
            code.begin(item)
            kernel.commit(stored_as_new(kernel, record, slot, words))
    with writer.block("else:"):
        boundary = code.boundary(time)
        with writer.block(f"if {begun} != 0 and {boundary} < {reached}:"):
            code.late(item)
        with writer.block("else:"):
            with kernel.in_loop():
                at = writer.fresh("at")
                with writer.block(f"for {at} in range({count}):"):
                    code.emit_record(at, f"({reached} + 1)")
            next_low, next_high = code.point(boundary), code.point(f"({boundary} + 1)")
            code.begin(item)
            kernel.commit([
                f"{begun} = 1",
                f"{reached}, {low}, {high} = {boundary}, {next_low}, {next_high}",
                f"{kernel.cell(f'{prefix}_before')} += {count}",
                f"{count} = 0",
                *stored_as_new(kernel, record, slot, words),
            ])  # fmt: skip


def _punctuated(code: WindowCode, item: Value) -> None:
    """Only adds; a punctuation closes it from outside of the kernel."""
    kernel, writer = code.kernel, code.kernel.writer
    slot, words = find_slot(kernel, code.record, code.key(item), code.zeros())
    since = writer.position
    with writer.block(f"if {code.size} == 0:"):
        code.begin(item)
    with writer.block("else:"):
        code.add(item)
    keep(kernel, code.record, slot, words, since)
